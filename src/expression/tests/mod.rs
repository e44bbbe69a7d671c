//! Shared helpers of the tests: an object, variables and assertions.

mod functions;
mod hostile;
mod names;
mod oracle;
mod semantics;
mod templates;

use std::borrow::Cow;
use std::cell::RefCell;

use super::*;

/// An object with values of all kinds.
pub(super) const OBJECT: &str = r#"{
    "metadata": {"name": "shop", "labels": {"region": "eu", "app.kubernetes.io/name": "shop", "tier": "web"}},
    "spec": {"replicas": 3, "ratio": 1.50, "big": 18446744073709551615, "paused": false, "nothing": null, "share": "25%",
        "containers": [
            {"name": "app", "image": "registry.example.com/shop:1.42.0", "resources": {"limits": {"cpu": "1", "memory": "512Mi"}},
                "env": [{"name": "DB_HOST", "value": "db"}, {"name": "LOG", "value": "info"}]},
            {"name": "proxy", "image": "registry.example.com/envoy:1.30.1", "resources": {"limits": {"cpu": "250m", "memory": "128Mi"}}}],
        "numbers": [3, 1, 2], "empty": [], "zeta": {"b": 1, "a": 2, "c": {"d": [1, 2]}}}}"#;

/// The variables of the tests, as JSON. `original` and `cluster.provider` are unknown, and `cluster.zone` is
/// absent.
pub(super) const VARIABLES: [(Variable, &str); 8] = [
    (Variable::Object, OBJECT),
    (Variable::Replicas, "2"),
    (Variable::ClusterName, "\"member1\""),
    (Variable::ClusterLabels, r#"{"zone": "eu-1", "region": "eu"}"#),
    (Variable::ClusterRegion, "\"eu\""),
    (Variable::BindingReplicas, "5"),
    (
        Variable::BindingClusters,
        r#"[{"name": "member1", "replicas": 2}, {"name": "member2", "replicas": 3}]"#,
    ),
    (Variable::Replicas, "2"),
];

/// Bindings of [`VARIABLES`] that record the lookups.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) asked: RefCell<Vec<String>>,
}

impl Bindings<'static> for Known {
    fn look_up(&self, variable: &Variable) -> Result<Cow<'_, Value<'static>>, Missing> {
        self.asked.borrow_mut().push(variable.to_string());
        let known = VARIABLES.iter().find(|(name, _)| name == variable);
        match (known, variable) {
            (Some((_, text)), _) => Ok(Cow::Owned(parse(text))),
            (None, Variable::Allocation(name)) if name == "fort" => Ok(Cow::Owned(Value::from("member2"))),
            (None, Variable::Declared(name)) if name == "zone" => Ok(Cow::Owned(Value::from("eu-1"))),
            (None, Variable::Declared(name)) if name == "table" => {
                Err(Missing::Lacking("there is no entry".to_owned()))
            }
            (None, Variable::Original | Variable::ClusterProvider) => {
                Err(Missing::Unknown("nobody has said".to_owned()))
            }
            _ => Err(Missing::Absent),
        }
    }
}

pub(super) fn parse(text: &'static str) -> Value<'static> {
    Value::parse(text.as_bytes()).unwrap()
}

pub(super) fn scope() -> Scope {
    Scope::new().with_variable("zone").with_variable("later").with_variable("table").with_allocation("fort")
}

/// The value of a source as JSON, or the error.
pub(super) fn answer(source: &str) -> Result<String, String> {
    let expression = Expression::compile(source, &scope()).map_err(|error| format!("refused: {error}"))?;
    let value = expression.evaluate(&Known::default(), &mut Budget::default());
    value.map(|value| value.to_string()).map_err(|error| error.problem())
}

/// Asserts the value of each source.
#[track_caller]
pub(super) fn all(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(answer(source).as_deref(), Ok(*expected), "{source}");
    }
}

/// Asserts that each source fails with a message that contains the given text.
#[track_caller]
pub(super) fn none(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        match answer(source) {
            Ok(value) => panic!("{source} gives {value}"),
            Err(problem) => assert!(problem.contains(expected), "{source}: {problem}"),
        }
    }
}
