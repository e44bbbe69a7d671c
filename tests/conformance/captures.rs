//! What a real Karmada sent, byte by byte as it came, and what it gets.

use serde_json::{Value, json};

use crate::Site;
use crate::karmada::Verdict;

macro_rules! capture {
    ($name:literal) => {
        ($name, include_bytes!(concat!("../data/captures/", $name, ".json")).as_slice())
    };
}

#[test]
fn replicas_and_what_one_needs_are_told() {
    // 250m and 50m of the containers; 512Mi of the init container, which is more than 256Mi and 64Mi
    // together.
    let needs = json!({"resourceRequest": {"cpu": "300m", "memory": "512Mi"}, "namespace": "shop"});
    let site = Site::start();
    for ((name, body), replicas, requirements) in [
        (capture!("interpret-replica-4"), 4, Some(&needs)),
        (capture!("interpret-replica-4-repeat"), 4, Some(&needs)),
        (capture!("interpret-replica-0"), 0, None),
        (capture!("interpret-replica-scaled-to-0"), 0, None),
    ] {
        let verdict = site.interpret(body).unwrap_or_else(|broken| panic!("{name}: {broken}"));
        assert_eq!(verdict, Verdict::Replicas(replicas, requirements.cloned()), "{name}");
    }
}

#[test]
fn replicas_are_revised_and_nothing_else() {
    let site = Site::start();
    for ((name, body), patch) in [
        (capture!("revise-replica-cluster-x-w31"), r#"[{"op":"replace","path":"/spec/replicas","value":3}]"#),
        (capture!("revise-replica-cluster-z-w31"), r#"[{"op":"replace","path":"/spec/replicas","value":1}]"#),
        (capture!("revise-replica-cluster-x-r0"), "[]"),
        (capture!("revise-replica-cluster-z-r0"), "[]"),
        (capture!("revise-replica-stale-share"), r#"[{"op":"replace","path":"/spec/replicas","value":2}]"#),
    ] {
        let verdict = site.interpret(body).unwrap_or_else(|broken| panic!("{name}: {broken}"));
        assert_eq!(verdict, Verdict::Revised(patch.to_owned()), "{name}");
    }
}

#[test]
fn the_same_template_is_revised_for_each_cluster() {
    let nulled = r#"[{"op":"replace","path":"/spec/strategy/canary/steps/0/properties/pull","value":null},{"op":"replace","path":"/spec/strategy/canary/steps/1/properties/pull","value":null}]"#;
    let (_, body) = capture!("revise-replica-cluster-x-w31");
    let mut request: Value = serde_json::from_slice(body).unwrap();
    request["request"]["operation"] = "ReviseObject".into();
    request["request"]["targetClusters"] =
        json!([{"name": "cluster-x", "replicas": 3}, {"name": "cluster-z", "replicas": 1}]);
    let site = Site::start();
    for (cluster, patch) in [("cluster-z", nulled), ("cluster-x", "[]"), ("cluster-z", nulled)] {
        request["request"]["clusterName"] = cluster.into();
        let verdict = site
            .interpret(request.to_string().as_bytes())
            .unwrap_or_else(|broken| panic!("{cluster}: {broken}"));
        assert_eq!(verdict, Verdict::Revised(patch.to_owned()), "{cluster}");
    }
}

#[test]
fn what_is_not_answered_is_told_to_the_uid() {
    let site = Site::start();
    for ((name, body), operation) in [
        (capture!("retain-cluster-x"), "Retain"),
        (capture!("aggregate-status-both"), "AggregateStatus"),
        (capture!("interpret-status-cluster-x"), "InterpretStatus"),
        (capture!("interpret-health-cluster-x"), "InterpretHealth"),
        (capture!("interpret-dependency"), "InterpretDependency"),
    ] {
        let verdict = site.interpret(body).unwrap_or_else(|broken| panic!("{name}: {broken}"));
        let Verdict::Refused(400, message) = verdict else { panic!("{name}: {verdict:?}") };
        let beginning =
            format!("request.operation: {operation:?} is not answered by this version; name only ");
        assert!(message.starts_with(&beginning), "{name}: {message}");
    }
}
