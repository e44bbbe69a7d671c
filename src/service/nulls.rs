//! Nulls that were lost on the way to the API server.
//!
//! `kubectl apply`, unless it is `--server-side`, sends an object without the nulls in its maps. In a patch a null takes something away:
//! without it the policy is stored, accepted, and does nothing. What was meant is in an annotation.

use crate::json::{Pointer, Value};
use crate::policy::Finding;

/// Where `kubectl apply` keeps what it was given.
const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Below one of these a null has a meaning. Elsewhere it is the same as nothing.
const FREE: [&str; 6] = ["value", "match", "generate", "elsewhere", "patch", "matchLabels"];

/// The nulls that `kubectl apply` was given and `object` lacks.
pub(super) fn lost(object: &Value<'static>) -> Vec<Finding> {
    let annotation = object.at(&Pointer::of(["metadata", "annotations", APPLIED])).and_then(Value::as_str);
    // One that is no JSON says nothing.
    let Some(applied) = annotation.and_then(|text| Value::parse(text.as_bytes()).ok()) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let mut pending = vec![(&applied, object, Pointer::ROOT)];
    while let Some((applied, there, field)) = pending.pop() {
        if let (Some(applied), Some(there)) = (applied.as_object(), there.as_object()) {
            for (name, applied) in applied.iter() {
                match there.get(name) {
                    Some(there) => pending.push((applied, there, field.join(name))),
                    None if applied.is_null() && has_meaning(&field) => {
                        findings.push(finding(field.join(name)));
                    }
                    None => {}
                }
            }
        } else if let (Some(applied), Some(there)) = (applied.as_array(), there.as_array())
            && applied.len() == there.len()
        {
            let items = applied.iter().zip(there).enumerate();
            pending.extend(
                items.map(|(position, (applied, there))| (applied, there, field.join(position.to_string()))),
            );
        }
    }
    findings.sort_by(|a, b| a.field.tokens().cmp(b.field.tokens()));
    findings
}

fn has_meaning(field: &Pointer) -> bool {
    field.tokens().iter().any(|token| FREE.contains(&token.as_str()))
}

fn finding(field: Pointer) -> Finding {
    let problem = "is null in what was applied, and `kubectl apply` has dropped it; apply with --server-side (a patch may also be written as a text)";
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
        lost(&object).iter().map(|finding| finding.field.to_string()).collect()
    }

    #[test]
    fn a_null_that_a_patch_has_lost_is_found_and_one_that_means_nothing_is_not() {
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
            // Another number of items: nobody can tell which is which.
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
