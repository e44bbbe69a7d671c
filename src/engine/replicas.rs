//! The operations `InterpretReplica` and `ReviseReplica`. They build only the parts of the object that they
//! need.

use super::requirements::replica_requirements;
use crate::domain::Failure;
use crate::json::{Kind, ParseError, Pointer, Raw, Value};
use crate::patch::{Operation, Patch};

/// Karmada and Kubernetes keep replicas in 32 bits.
const MAX_REPLICAS: i64 = i32::MAX as i64;

/// Where objects of a kind have what the interpreter operations read and write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpretation {
    /// Where `InterpretReplica` reads the replicas.
    pub replicas: Pointer,
    /// Where `InterpretReplica` reads the pod template.
    pub pod_template: Pointer,
    /// Where rules find pod templates. A step `*` stands for each item of a list.
    pub pod_templates: Vec<Pointer>,
    /// Whether `InterpretReplica` states requirements at 0 replicas too.
    pub requirements_at_zero: bool,
    /// Where `ReviseReplica` writes the replicas.
    pub revised_replicas: Pointer,
}

impl Default for Interpretation {
    fn default() -> Self {
        let replicas = Pointer::of(["spec", "replicas"]);
        let pod_template = Pointer::of(["spec", "template"]);
        Self {
            pod_templates: vec![pod_template.clone()],
            pod_template,
            requirements_at_zero: false,
            revised_replicas: replicas.clone(),
            replicas,
        }
    }
}

/// The replicas that an object wants, and what one of them needs: Karmada's `ReplicaRequirements`.
///
/// At 0 replicas the requirements are left out, unless the interpretation asks for them: with them Karmada
/// calls ReviseReplica also for 0, but a scheduler without `--enable-empty-workload-propagation` then deletes
/// the Works of a divided workload. If the interpretation asks for them, they are there even if they are
/// empty.
pub fn interpret_replica<'a>(
    object: &Raw<'a>,
    namespace: &str,
    interpretation: &Interpretation,
) -> Result<(i64, Option<Value<'a>>), Failure> {
    let pointer = &interpretation.replicas;
    let replicas = match at(object, pointer, "replicaResource.replicas")? {
        Location::Value(raw) => integer(&raw, pointer)?,
        Location::Missing(_) => {
            return Err(Failure::unprocessable(format!(
                "{pointer}: the number of replicas is missing; set it, or name its place in a ResourceInterpretation \
                 (replicaResource.replicas)"
            )));
        }
    };
    if replicas == 0 && !interpretation.requirements_at_zero {
        return Ok((0, None));
    }
    let pointer = &interpretation.pod_template;
    let requirements = match at(object, pointer, "replicaResource.podTemplate")? {
        Location::Missing(_) => None,
        Location::Value(raw) => {
            let template = raw.to_value().map_err(|error| misread(&error, pointer))?;
            replica_requirements(&template, namespace)
                .map_err(|error| Failure::unprocessable(format!("{pointer}{error}; change the object")))?
        }
    };
    let requirements = requirements.map(|requirements| requirements.to_value());
    if replicas == 0 {
        return Ok((0, Some(requirements.unwrap_or_else(Value::empty_object))));
    }
    Ok((replicas, requirements))
}

pub fn revise_replica<'a>(
    object: &Raw<'a>,
    replicas: i64,
    interpretation: &Interpretation,
) -> Result<Patch<'a>, Failure> {
    let pointer = &interpretation.revised_replicas;
    Ok(Patch(match at(object, pointer, "replicaRevision.replicas")? {
        Location::Value(raw) if integer(&raw, pointer)? == replicas => Vec::new(),
        Location::Value(_) => vec![Operation::Replace(pointer.clone(), replicas.into())],
        Location::Missing(Missing { depth, null }) => {
            // The maps from the missing place down are made in the same operation.
            let rest = &pointer.tokens()[depth..];
            let value = rest.iter().rev().fold(Value::from(replicas), |inner, token| {
                Value::Object([(token.clone(), inner)].into_iter().collect())
            });
            let place = pointer.prefix(depth);
            vec![if null { Operation::Replace(place, value) } else { Operation::Add(place, value) }]
        }
    }))
}

enum Location<'a> {
    Value(Raw<'a>),
    Missing(Missing),
}

/// How many tokens of the pointer lead to the first place without a value, and whether null is there.
struct Missing {
    depth: usize,
    null: bool,
}

/// Looks up `pointer`, through maps. Null counts as missing. `field` is the field of the interpretation that
/// names it.
fn at<'a>(object: &Raw<'a>, pointer: &Pointer, field: &str) -> Result<Location<'a>, Failure> {
    let mut place = *object;
    for (depth, token) in pointer.tokens().iter().enumerate() {
        let here = || pointer.prefix(depth);
        if place.kind() != Kind::Object {
            return Err(Failure::unprocessable(format!(
                "{}: must be a map, is {}; change the object, or `{field}` of the ResourceInterpretation, which is {pointer}",
                here(),
                place.kind()
            )));
        }
        match place.get(token).map_err(|error| misread(&error, &here()))? {
            Some(next) if next.is_null() => {
                return Ok(Location::Missing(Missing { depth: depth + 1, null: true }));
            }
            Some(next) => place = next,
            None => return Ok(Location::Missing(Missing { depth: depth + 1, null: false })),
        }
    }
    Ok(Location::Value(place))
}

fn misread(error: &ParseError, pointer: &Pointer) -> Failure {
    Failure::unprocessable(format!("{pointer}: {error}; change the object"))
}

fn integer(raw: &Raw<'_>, pointer: &Pointer) -> Result<i64, Failure> {
    let refused = |what: String| {
        Failure::unprocessable(format!(
            "{pointer}: must be an integer from 0 to {MAX_REPLICAS}, is {what}; change the object"
        ))
    };
    let Some(number) = raw.as_number() else {
        return Err(refused(raw.kind().to_string()));
    };
    number.as_i64().filter(|value| (0..=MAX_REPLICAS).contains(value)).ok_or_else(|| {
        // A number can be as long as a body, and is ASCII.
        let text = number.as_str();
        refused(if text.len() > 40 { format!("{}...", &text[..40]) } else { text.to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Text;

    /// Tests are short: nothing is given back.
    fn raw(text: &str) -> Raw<'static> {
        let text = Box::leak(Box::new(text.to_owned()));
        Box::leak(Box::new(Text::parse(text.as_bytes()).unwrap())).root()
    }

    fn revised(object: &str, replicas: i64) -> String {
        let patch = revise_replica(&raw(object), replicas, &Interpretation::default());
        patch.map_or_else(|failure| failure.message(), |patch| patch.to_text())
    }

    #[test]
    fn replicas_are_replaced_or_added_with_the_maps_on_the_way() {
        assert_eq!(revised(r#"{"spec":{"replicas":3}}"#, 3), "[]");
        assert_eq!(
            revised(r#"{"spec":{"replicas":3}}"#, 0),
            r#"[{"op":"replace","path":"/spec/replicas","value":0}]"#
        );
        assert_eq!(revised(r#"{"spec":{}}"#, 2), r#"[{"op":"add","path":"/spec/replicas","value":2}]"#);
        assert_eq!(
            revised(r#"{"spec":{"replicas":null}}"#, 2),
            r#"[{"op":"replace","path":"/spec/replicas","value":2}]"#
        );
        assert_eq!(
            revised(r#"{"spec":null}"#, 2),
            r#"[{"op":"replace","path":"/spec","value":{"replicas":2}}]"#
        );
        assert_eq!(revised("{}", 2), r#"[{"op":"add","path":"/spec","value":{"replicas":2}}]"#);
    }

    #[test]
    fn other_places_are_as_good() {
        let interpretation = Interpretation {
            replicas: Pointer::of(["spec", "size"]),
            revised_replicas: Pointer::of(["spec", "limits/max", "n"]),
            pod_template: Pointer::of(["spec", "pod"]),
            requirements_at_zero: true,
            ..Interpretation::default()
        };
        let object = raw(
            r#"{"spec":{"size":7,"limits/max":{"n":1},"pod":{"spec":{"containers":[{"resources":{"requests":{"cpu":0.1}}}]}}}}"#,
        );
        assert_eq!(
            revise_replica(&object, 2, &interpretation).unwrap().to_text(),
            r#"[{"op":"replace","path":"/spec/limits~1max/n","value":2}]"#
        );
        let (replicas, requirements) = interpret_replica(&object, "n", &interpretation).unwrap();
        assert_eq!(
            (replicas, requirements.unwrap().to_string().as_str()),
            (7, r#"{"resourceRequest":{"cpu":"100m"},"namespace":"n"}"#)
        );
    }

    #[test]
    fn requirements_at_zero_are_given_only_on_request_and_then_always() {
        let at_zero = |object: &str, requirements_at_zero| {
            let interpretation = Interpretation { requirements_at_zero, ..Interpretation::default() };
            let (replicas, requirements) = interpret_replica(&raw(object), "", &interpretation).unwrap();
            assert_eq!(replicas, 0);
            requirements.map(|requirements| requirements.to_string())
        };
        let bare = r#"{"spec":{"replicas":0}}"#;
        let needy = r#"{"spec":{"replicas":0,"template":{"spec":{"nodeSelector":{"a":"b"}}}}}"#;
        assert_eq!((at_zero(bare, false), at_zero(needy, false)), (None, None));
        assert_eq!(at_zero(bare, true).as_deref(), Some("{}"));
        assert_eq!(at_zero(needy, true).as_deref(), Some(r#"{"nodeClaim":{"nodeSelector":{"a":"b"}}}"#));
    }

    #[test]
    fn what_is_no_number_of_replicas_is_refused_with_its_place() {
        let refused = |replicas: &str| {
            let text = format!(r#"{{"spec":{{"replicas":{replicas}}}}}"#);
            let failure = interpret_replica(&raw(&text), "", &Interpretation::default()).unwrap_err();
            assert_eq!(revised(&text, 1).split(';').next(), failure.message().split(';').next());
            failure.message()
        };
        for (replicas, is) in [
            ("3.5", "3.5"),
            (r#""3""#, "a string"),
            ("-1", "-1"),
            ("1099511627776", "1099511627776"),
            ("3.0", "3.0"),
            ("[]", "a list"),
        ] {
            let expected = format!("/spec/replicas: must be an integer from 0 to 2147483647, is {is};");
            assert!(refused(replicas).starts_with(&expected), "{}", refused(replicas));
        }
        let missing = interpret_replica(&raw(r#"{"spec":{}}"#), "", &Interpretation::default()).unwrap_err();
        assert!(
            missing.message().starts_with("/spec/replicas: the number of replicas is missing;"),
            "{missing}"
        );
        let listed = Interpretation {
            replicas: Pointer::of(["spec", "groups", "0", "n"]),
            ..Interpretation::default()
        };
        let in_a_list = interpret_replica(&raw(r#"{"spec":{"groups":[{"n":1}]}}"#), "", &listed).unwrap_err();
        assert_eq!(
            in_a_list.message(),
            "/spec/groups: must be a map, is a list; change the object, or `replicaResource.replicas` of the ResourceInterpretation, which is /spec/groups/0/n"
        );
        let bad = interpret_replica(
            &raw(r#"{"spec":{"replicas":1,"template":{"spec":{"containers":{}}}}}"#),
            "",
            &Interpretation::default(),
        );
        let message = bad.unwrap_err().message();
        assert!(message.starts_with("/spec/template/spec/containers: "), "{message}");
    }
}
