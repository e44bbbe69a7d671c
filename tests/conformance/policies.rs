//! What an API server makes of the replies of the door for policies that are custom resources.

use serde_json::{Value, json};

use crate::Site;
use crate::admission::Verdict;

/// A review of this operation by `kubectl`.
fn review(operation: &str, resource: &str, object: &Value, old: &Value) -> Vec<u8> {
    let kind = if object.is_null() { &old["kind"] } else { &object["kind"] };
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u-1", "operation": operation, "name": "p", "dryRun": false, "object": object, "oldObject": old,
        "kind": {"group": "reviser.io", "version": "v1alpha1", "kind": kind},
        "resource": {"group": "reviser.io", "version": "v1alpha1", "resource": resource},
    }})
    .to_string()
    .into_bytes()
}

fn policy(rules: &Value) -> Value {
    json!({"apiVersion": "reviser.io/v1alpha1", "kind": "ClusterRevisionPolicy",
        "metadata": {"name": "p", "creationTimestamp": "2026-01-01T00:00:00Z", "uid": "1", "managedFields": []},
        "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}], "rules": rules}})
}

fn env(count: usize) -> Value {
    (0..count)
        .map(|number| json!({"name": format!("r{number}"), "env": {"nane": "A", "value": "b"}}))
        .collect()
}

#[test]
fn a_policy_is_allowed_denied_with_all_findings_or_allowed_with_warnings() {
    let site = Site::start();
    let door = |body: &[u8]| site.admit_at("/validate/policies?timeout=5s", body).unwrap();
    let ask = |operation: &str, object: &Value, old: &Value| {
        door(&review(operation, "clusterrevisionpolicies", object, old))
    };
    let well = policy(&json!([{"name": "r", "env": {"name": "A", "value": "b"}}]));
    let faulty = policy(&json!([{"name": "r", "env": {"nane": "A", "value": "${x}"}}]));
    let null = Value::Null;
    assert_eq!(ask("CREATE", &well, &null), Verdict::nothing());
    let message = "ClusterRevisionPolicy/p: 3 things are wrong:\n\
                - spec.rules[0].env.name: is required\n\
                - spec.rules[0].env.value: line 1, column 3 of the text: unknown variable `x`; `${...}` is an expression; write `$${` for a literal one\n\
                - spec.rules[0].env.nane: unknown field; did you mean \"name\"?";
    let denied = Verdict::Denied(422, message.to_owned());
    assert_eq!(ask("CREATE", &faulty, &null), denied);
    assert_eq!(ask("UPDATE", &faulty, &well), denied);
    assert_eq!(ask("UPDATE", &well, &faulty), Verdict::nothing());
    assert_eq!(ask("DELETE", &null, &faulty), Verdict::nothing());

    let lacking = policy(
        &json!([{"name": "r", "fort": {"allocation": "lead", "steps": "/spec/steps", "field": "/go"}}]),
    );
    let Verdict::Allowed { patch: None, warnings } = ask("CREATE", &lacking, &null) else {
        panic!("it may come first")
    };
    assert_eq!(
        warnings,
        [
            "it is not active until this is fixed: spec.rules[0].fort.allocation: no policy defines the allocation \"lead\"; define it under `spec.allocations`"
        ]
    );
}

#[test]
fn a_faulty_policy_can_be_deleted_also_where_finalizers_have_to_go_first() {
    let site = Site::start();
    let faulty = policy(&env(1));
    let with = |metadata: &Value| {
        let mut object = faulty.clone();
        object["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
        object
    };
    let ask = |object: &Value, old: &Value| {
        site.admit_at("/validate/policies", &review("UPDATE", "clusterrevisionpolicies", object, old))
            .unwrap()
    };
    let held = with(&json!({"finalizers": ["example.com/f"]}));
    let Verdict::Allowed { patch: None, warnings } = ask(&faulty, &held) else {
        panic!("metadata may change")
    };
    assert_eq!(
        warnings,
        [
            "it is invalid and not active: spec.rules[0].env.name: is required",
            "it is invalid and not active: spec.rules[0].env.nane: unknown field; did you mean \"name\"?",
        ]
    );
    let going = with(&json!({"deletionTimestamp": "2026-01-02T00:00:00Z"}));
    assert_eq!(ask(&going, &held), Verdict::nothing());
    let mut status = faulty.clone();
    status["status"] = json!({"observedGeneration": 1});
    let sub = String::from_utf8(review("UPDATE", "clusterrevisionpolicies", &status, &faulty)).unwrap();
    let sub = sub.replace(r#""uid":"u-1""#, r#""uid":"u-1","subResource":"status""#);
    assert_eq!(site.admit_at("/validate/policies", sub.as_bytes()).unwrap(), Verdict::nothing());
}

#[test]
fn many_findings_are_told_as_far_as_they_fit_with_how_many_more() {
    let site = Site::start();
    let many = policy(&env(300));
    let body = review("CREATE", "clusterrevisionpolicies", &many, &Value::Null);
    let Verdict::Denied(422, message) = site.admit_at("/validate/policies", &body).unwrap() else {
        panic!("it is faulty")
    };
    assert!(
        message.starts_with(
            "ClusterRevisionPolicy/p: 600 things are wrong:\n- spec.rules[0].env.name: is required\n"
        ),
        "{message}"
    );
    let lines = message.lines().count();
    assert!(message.len() > 3000, "{}", message.len());
    assert!(
        message.ends_with(&format!("\n- and {} more; `reviser check` lists all of them", 600 - (lines - 2))),
        "{message}"
    );
}

#[test]
fn what_is_no_policy_is_allowed_with_a_warning_and_what_makes_no_sense_is_denied() {
    let site = Site::start();
    let ask = |body: &[u8]| site.admit_at("/validate/policies", body).unwrap();
    let well = policy(&json!([{"name": "r", "env": {"name": "A", "value": "b"}}]));
    let Verdict::Allowed { patch: None, warnings } = ask(&review("CREATE", "works", &well, &Value::Null))
    else {
        panic!("it is none of our business")
    };
    assert_eq!(
        warnings,
        [
            "reviser validates the policies of reviser.io here and was asked about works (reviser.io); fix the rules of the ValidatingWebhookConfiguration"
        ]
    );
    for (object, expected) in [
        (json!({}), "/: apiVersion: is required"),
        (
            json!({"apiVersion": "reviser.io/v1alpha1", "kind": "Policy"}),
            "Policy/: kind: \"Policy\" is not one of ",
        ),
        (
            json!({"apiVersion": "reviser.io/v2", "kind": "RevisionPolicy"}),
            "RevisionPolicy/: apiVersion: must be \"reviser.io/v1alpha1\"",
        ),
    ] {
        let Verdict::Denied(422, message) = ask(&review("CREATE", "revisionpolicies", &object, &Value::Null))
        else {
            panic!("{object} is no policy")
        };
        assert!(message.starts_with(expected), "{message}");
    }
}
