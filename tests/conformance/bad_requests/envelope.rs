//! The uid can be read, and something else of the envelope is wrong.

use super::Gets::Code;
use super::{UID, check, revise, with};
use crate::Site;
use crate::karmada::Verdict;

#[test]
fn what_is_wrong_in_the_envelope_is_told_to_the_uid() {
    let kind = r#""kind":{"group":"deploy.example.com","version":"v1alpha1","kind":"Rollout"},"#;
    check(vec![
        (
            "another version",
            revise("config.karmada.io/v1alpha1", "config.karmada.io/v1"),
            Code(400, "apiVersion: must be \"config.karmada.io/v1alpha1\", is \"config.karmada.io/v1\""),
        ),
        (
            "no envelope kind",
            revise(r#""kind":"ResourceInterpreterContext","#, ""),
            Code(400, "kind: must be \"ResourceInterpreterContext\", is missing"),
        ),
        (
            "two apiVersions",
            revise(r#"{"apiVersion":"config"#, r#"{"apiVersion":"v1","apiVersion":"config"#),
            Code(400, "the member \"apiVersion\" is there twice"),
        ),
        (
            "two operations",
            revise(r#""operation":"#, r#""operation":"Retain","operation":"#),
            Code(400, "the member \"operation\" is there twice"),
        ),
        (
            "two objects",
            revise(r#""object":"#, r#""object":{},"object":"#),
            Code(400, "the member \"object\" is there twice"),
        ),
        (
            "no kind",
            revise(kind, ""),
            Code(400, "request.kind: must be a map of the strings group, version and kind"),
        ),
        (
            "a kind that is text",
            revise(kind, r#""kind":"Rollout","#),
            Code(400, "request.kind: must be a map"),
        ),
        (
            "no operation",
            revise(r#""operation":"ReviseObject","#, ""),
            Code(400, "request.operation: is missing"),
        ),
        (
            "an unknown operation",
            with("Revise", UID, UID),
            Code(400, "request.operation: \"Revise\" does not exist; name only "),
        ),
        ("no object", revise(r#""object":"#, r#""objects":"#), Code(400, "request.object: is missing")),
        (
            "an object that is null",
            revise(r#""object":"#, r#""object":null,"ignored":"#),
            Code(400, "request.object: is missing"),
        ),
        (
            "an object that is a list",
            revise(r#""object":"#, r#""object":[],"ignored":"#),
            Code(422, "Rollout/checkout cluster \"cluster-z\": request.object: must be a map, is a list"),
        ),
    ]);
}

#[test]
fn what_is_wrong_with_cluster_and_schedule_is_told_to_the_uid() {
    let targets =
        r#""targetClusters":[{"name":"cluster-x","replicas":3},{"name":"cluster-z","replicas":1}],"#;
    check(vec![
        (
            "no cluster",
            revise(r#""clusterName":"cluster-z","#, ""),
            Code(400, "request.clusterName: is missing"),
        ),
        (
            "an empty cluster",
            revise(r#""clusterName":"cluster-z""#, r#""clusterName":"""#),
            Code(400, "request.clusterName: is empty"),
        ),
        (
            "a cluster that is a number",
            revise(r#""clusterName":"cluster-z""#, r#""clusterName":7"#),
            Code(400, "request.clusterName: must be a string, is a number"),
        ),
        (
            "no schedule",
            revise(targets, ""),
            Code(
                503,
                "ClusterRevisionPolicy/rollout-fort rule \"canary-steps\" cluster \"cluster-z\": allocation \"fort\": the schedule of the workload is not known; give `request.targetClusters`",
            ),
        ),
        (
            "a schedule that is a map",
            revise(targets, r#""targetClusters":{},"#),
            Code(400, "request.targetClusters: must be a list of {name, replicas}, is a map"),
        ),
        (
            "a cluster twice",
            revise("cluster-x", "cluster-z"),
            Code(400, "request.targetClusters: cluster \"cluster-z\" is listed twice"),
        ),
        (
            "a nameless cluster",
            revise(r#"{"name":"cluster-x","replicas":3}"#, r#"{"replicas":3}"#),
            Code(400, "request.targetClusters[0].name: must be a string that is not empty"),
        ),
        (
            "a schedule of text",
            revise(r#"{"name":"cluster-x","replicas":3}"#, r#""cluster-x""#),
            Code(400, "request.targetClusters[0].name: must be a string that is not empty"),
        ),
        (
            "a negative weight",
            revise(r#"cluster-x","replicas":3"#, r#"cluster-x","replicas":-3"#),
            Code(400, "request.targetClusters[0].replicas: must be an integer from 0 to 2147483647, is -3"),
        ),
        (
            "an original that is text",
            revise(r#""object":"#, r#""originalObject":"","object":"#),
            Code(
                422,
                "Rollout/checkout cluster \"cluster-z\": request.originalObject: must be a map, is a string",
            ),
        ),
    ]);
}

#[test]
fn operations_that_are_not_answered_say_so() {
    let cases = [
        "InterpretComponent",
        "Retain",
        "AggregateStatus",
        "InterpretStatus",
        "InterpretHealth",
        "InterpretDependency",
        "Prune",
    ];
    check(
        cases
            .map(|operation| (operation, with(operation, UID, UID), Code(400, "request.operation: ")))
            .into(),
    );
    let site = Site::start();
    for operation in cases {
        let Ok(Verdict::Refused(400, message)) = site.interpret(&with(operation, UID, UID)) else {
            panic!("{operation}")
        };
        let expected =
            "is not answered by this version; name only InterpretReplica, ReviseReplica, ReviseObject in the";
        assert!(message.starts_with(&format!("request.operation: {operation:?} {expected}")), "{message}");
    }
}
