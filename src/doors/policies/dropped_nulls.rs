//! Nulls that `kubectl apply` dropped.
//!
//! Client-side `kubectl apply` sends an object without the nulls in its maps. In a patch a null removes a
//! member, so the stored policy would do nothing. The applied document is in an annotation.

use crate::json::{Pointer, Value};
use crate::policy::Finding;

/// The annotation with the document that `kubectl apply` was given.
const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields below which a null has a meaning. Elsewhere it is the same as a missing member.
const FREE_FORM: [&str; 6] = ["value", "match", "generate", "elsewhere", "patch", "matchLabels"];

/// The nulls of the applied document that `object` lacks.
pub(super) fn find(object: &Value<'static>) -> Vec<Finding> {
    let annotation = object.at(&Pointer::of(["metadata", "annotations", APPLIED])).and_then(Value::as_str);
    let Some(applied) = annotation.and_then(|text| Value::parse(text.as_bytes()).ok()) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let mut pending = vec![(&applied, object, Pointer::ROOT)];
    while let Some((applied, stored, field)) = pending.pop() {
        if let (Some(applied), Some(stored)) = (applied.as_object(), stored.as_object()) {
            for (name, applied) in applied.iter() {
                match stored.get(name) {
                    Some(stored) => pending.push((applied, stored, field.join(name))),
                    None if applied.is_null() && has_meaning(&field) => {
                        findings.push(finding(field.join(name)));
                    }
                    None => {}
                }
            }
        } else if let (Some(applied), Some(stored)) = (applied.as_array(), stored.as_array())
            && applied.len() == stored.len()
        {
            let items = applied.iter().zip(stored).enumerate();
            pending
                .extend(items.map(|(position, (applied, stored))| {
                    (applied, stored, field.join(position.to_string()))
                }));
        }
    }
    findings.sort_by(|a, b| a.field.tokens().cmp(b.field.tokens()));
    findings
}

fn has_meaning(field: &Pointer) -> bool {
    field.tokens().iter().any(|token| FREE_FORM.contains(&token.as_str()))
}

fn finding(field: Pointer) -> Finding {
    let problem = "is null in the applied document, and `kubectl apply` dropped it; apply with --server-side, or write the patch as a string";
    Finding { document: 0, field, problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost_fields(applied: &str, stored: &str) -> Vec<String> {
        let mut object = Value::parse(stored.as_bytes()).unwrap().into_owned();
        let annotation = Value::parse(b"{\"metadata\":{\"annotations\":{}}}").unwrap().into_owned();
        let metadata = annotation.get("metadata").unwrap().clone();
        object.object_mut().unwrap().insert("metadata", metadata);
        let at = Pointer::of(["metadata", "annotations"]);
        assert!(object.at(&at).is_some());
        let text = object.to_string().replace(
            "\"annotations\":{}",
            &format!("\"annotations\":{{\"{APPLIED}\":{}}}", Value::string(applied.to_owned())),
        );
        let object = Value::parse(text.as_bytes()).unwrap().into_owned();
        find(&object).iter().map(|finding| finding.field.to_string()).collect()
    }

    #[test]
    fn a_null_below_a_free_form_field_is_found() {
        for (applied, stored, found) in [
            (
                r#"{"spec":{"rules":[{"name":"a","patch":{"value":{"spec":{"paused":null,"b":1}}}}]}}"#,
                r#"{"spec":{"rules":[{"name":"a","patch":{"value":{"spec":{"b":1}}}}]}}"#,
                &["/spec/rules/0/patch/value/spec/paused"][..],
            ),
            (
                r#"{"spec":{"rules":[{"patch":{"value":{"spec":{"paused":null}}}}]}}"#,
                r#"{"spec":{"rules":[{"patch":{"value":{"spec":{"paused":null}}}}]}}"#,
                &[],
            ),
            (r#"{"spec":{"priority":null,"rules":[]}}"#, r#"{"spec":{"rules":[]}}"#, &[]),
            (
                r#"{"spec":{"resourceSelectors":[{"labelSelector":{"matchLabels":{"team":null}}}]}}"#,
                r#"{"spec":{"resourceSelectors":[{"labelSelector":{"matchLabels":{}}}]}}"#,
                &["/spec/resourceSelectors/0/labelSelector/matchLabels/team"],
            ),
            // Lists of different lengths cannot be compared item by item.
            (
                r#"{"spec":{"rules":[{"patch":{"value":{"a":null}}},{}]}}"#,
                r#"{"spec":{"rules":[{"patch":{"value":{}}}]}}"#,
                &[],
            ),
            ("no JSON", r#"{"spec":{}}"#, &[]),
        ] {
            assert_eq!(lost_fields(applied, stored), found, "{applied}");
        }
    }
}
