//! Decoding requests, refusing invalid ones, and encoding replies.

use super::{Decoded, Unreadable, encode, parse};
use crate::domain::{Answer, Failure, Operation, Question};
use crate::json::{Text, Value};
use crate::patch::Patch;

/// Leaks the body, so that the result can borrow from it.
fn decode(body: &[u8]) -> Result<Decoded<'static, Question<'static>>, Unreadable> {
    let body = Box::leak(Box::new(body.to_vec()));
    let text: &'static Text<'static> = Box::leak(Box::new(parse(body)?));
    super::decode(text)
}

/// A valid request with these members replaced or added; null removes a member.
fn request(changes: serde_json::Value) -> String {
    let mut body = serde_json::json!({
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterContext",
        "request": {
            "uid": "u-1",
            "kind": {"group": "deploy.example.com", "version": "v1alpha1", "kind": "Rollout"},
            "namespace": "shop",
            "name": "checkout",
            "operation": "ReviseObject",
            "clusterName": "cluster-z",
            "replicas": 0,
            "targetClusters": [{"name": "cluster-x", "replicas": 3}, {"name": "cluster-z"}],
            "object": {"apiVersion": "deploy.example.com/v1alpha1", "kind": "Rollout", "metadata": {"name": "checkout", "namespace": "shop"}},
        }
    });
    if let serde_json::Value::Object(changes) = changes {
        for (name, value) in changes {
            let place =
                if name == "apiVersion" || name == "kind:" { &mut body } else { &mut body["request"] };
            let name = name.trim_end_matches(':');
            match value {
                serde_json::Value::Null => drop(place.as_object_mut().unwrap().remove(name)),
                value => place[name] = value,
            }
        }
    }
    body.to_string()
}

fn failure(body: &str) -> (u16, String) {
    let decoded = decode(body.as_bytes()).unwrap();
    assert_eq!(decoded.head.uid, "u-1");
    let failure = decoded.content.expect_err("nothing was wrong");
    (failure.code().status(), failure.message())
}

#[test]
fn a_revise_object_request_is_decoded() {
    let body = request(serde_json::json!({"originalObject": {"a": 1}, "unknown": [1]}));
    let decoded = decode(body.as_bytes()).unwrap();
    assert_eq!((decoded.head.uid.as_ref(), decoded.head.operation), ("u-1", "ReviseObject"));
    assert_eq!((decoded.head.name.as_ref(), decoded.head.cluster.as_ref()), ("checkout", "cluster-z"));
    let question = decoded.content.unwrap();
    assert_eq!(question.workload.to_string(), "Rollout/checkout");
    let Operation::ReviseObject(target) = question.operation else { panic!("another operation") };
    assert_eq!((target.cluster.as_str(), target.replicas), ("cluster-z", Some(0)));
    let schedule = target.schedule.unwrap();
    let listed: Vec<_> =
        schedule.clusters().iter().map(|entry| (entry.name.as_str(), entry.replicas)).collect();
    assert_eq!(listed, [("cluster-x", 3), ("cluster-z", 0)]);
    assert_eq!(target.original.unwrap().text(), r#"{"a":1}"#);
}

#[test]
fn missing_replicas_are_those_of_the_schedule_or_unknown() {
    let replicas = |changes| {
        let body = request(changes);
        let question = decode(body.as_bytes()).unwrap().content.unwrap();
        let Operation::ReviseObject(target) = question.operation else { panic!("another operation") };
        (target.replicas, target.schedule.map(|schedule| schedule.clusters().len()))
    };
    assert_eq!(
        replicas(serde_json::json!({"replicas": null, "clusterName": "cluster-x"})),
        (Some(3), Some(2))
    );
    assert_eq!(replicas(serde_json::json!({"replicas": null, "clusterName": "cluster-y"})), (None, Some(2)));
    assert_eq!(replicas(serde_json::json!({"replicas": null, "targetClusters": null})), (None, None));
    assert_eq!(replicas(serde_json::json!({"targetClusters": []})), (Some(0), Some(0)));
}

#[test]
fn the_identity_is_in_the_object_and_completed_from_the_envelope() {
    let workload = |object| {
        let body = request(serde_json::json!({"object": object}));
        let workload = decode(body.as_bytes()).unwrap().content.unwrap().workload;
        (workload.gvk.api_version(), workload.gvk.kind, workload.namespace, workload.name)
    };
    let own = |parts: [&str; 4]| parts.map(str::to_owned).into();
    assert_eq!(
        workload(serde_json::json!({})),
        own(["deploy.example.com/v1alpha1", "Rollout", "shop", "checkout"])
    );
    assert_eq!(
        workload(
            serde_json::json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "n", "namespace": "m"}})
        ),
        own(["v1", "A", "m", "n"])
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is one table")]
fn an_invalid_request_is_refused_with_its_uid_and_the_path() {
    let deep = |levels: usize| {
        let mut value = serde_json::json!({});
        for _ in 1..levels {
            value = serde_json::json!({ "a": value });
        }
        value
    };
    assert!(decode(request(serde_json::json!({"object": deep(512)})).as_bytes()).unwrap().content.is_ok());
    for (changes, code, message) in [
        (
            serde_json::json!({"apiVersion": "v1"}),
            400,
            "apiVersion: must be \"config.karmada.io/v1alpha1\", is \"v1\"",
        ),
        (serde_json::json!({"kind:": null}), 400, "kind: must be \"ResourceInterpreterContext\", is missing"),
        (serde_json::json!({"operation": null}), 400, "request.operation: is missing"),
        (serde_json::json!({"operation": 7}), 400, "request.operation: must be a string, is a number"),
        (serde_json::json!({"operation": "Revise"}), 400, "request.operation: \"Revise\" does not exist"),
        (
            serde_json::json!({"operation": "Retain"}),
            400,
            "request.operation: \"Retain\" is not answered by this version",
        ),
        (serde_json::json!({"kind": null}), 400, "request.kind: must be a map"),
        (serde_json::json!({"kind": "Rollout"}), 400, "request.kind: must be a map"),
        (serde_json::json!({"kind": {"group": "g", "kind": "Rollout"}}), 400, "request.kind: must be a map"),
        (serde_json::json!({"object": null}), 400, "request.object: is missing"),
        (
            serde_json::json!({"object": []}),
            422,
            "Rollout/checkout cluster \"cluster-z\": request.object: must be a map, is a list",
        ),
        (
            serde_json::json!({"object": {"apiVersion": "v1", "kind": "List", "items": []}}),
            422,
            "Rollout/checkout cluster \"cluster-z\": request.object: is a List of objects; send each of its items",
        ),
        (
            serde_json::json!({"object": deep(513)}),
            422,
            "Rollout/checkout cluster \"cluster-z\": request.object: nested 513 levels deep",
        ),
        (
            serde_json::json!({"object": {"metadata": {"name": 1}}}),
            422,
            "Rollout/checkout cluster \"cluster-z\": /metadata/name: must be a string, is a number",
        ),
        (serde_json::json!({"name": null, "object": {}}), 422, "/metadata/name: is missing"),
        (
            serde_json::json!({"originalObject": "text"}),
            422,
            "Rollout/checkout cluster \"cluster-z\": request.originalObject: must be a map, is a string",
        ),
        (serde_json::json!({"clusterName": null}), 400, "request.clusterName: is missing"),
        (serde_json::json!({"clusterName": ""}), 400, "request.clusterName: is empty"),
        (
            serde_json::json!({"replicas": 3.5}),
            400,
            "request.replicas: must be an integer from 0 to 2147483647, is 3.5",
        ),
        (
            serde_json::json!({"replicas": "3"}),
            400,
            "request.replicas: must be an integer from 0 to 2147483647, is a string",
        ),
        (
            serde_json::json!({"replicas": -1}),
            400,
            "request.replicas: must be an integer from 0 to 2147483647, is -1",
        ),
        (
            serde_json::json!({"replicas": 1_i64 << 40}),
            400,
            "request.replicas: must be an integer from 0 to 2147483647, is 1099511627776",
        ),
        (
            serde_json::json!({"operation": "ReviseReplica", "replicas": null}),
            400,
            "request.replicas: is missing",
        ),
        (
            serde_json::json!({"targetClusters": {}}),
            400,
            "request.targetClusters: must be a list of {name, replicas}, is a map",
        ),
        (
            serde_json::json!({"targetClusters": [{"replicas": 1}]}),
            400,
            "request.targetClusters[0].name: must be a string",
        ),
        (
            serde_json::json!({"targetClusters": [{"name": "a", "replicas": "1"}]}),
            400,
            "request.targetClusters[0].replicas: must be an integer",
        ),
        (
            serde_json::json!({"targetClusters": [{"name": "a"}, {"name": "a"}]}),
            400,
            "request.targetClusters: cluster \"a\" is listed twice",
        ),
    ] {
        let body = request(changes);
        let (found, text) = failure(&body);
        assert!(
            found == code && text.starts_with(message),
            "{found} {text}\nshould begin with\n{code} {message}"
        );
    }
    let twice =
        request(serde_json::json!({})).replace(r#""namespace":"shop","#, r#""namespace":"shop","name":"x","#);
    assert_eq!(failure(&twice).0, 400);
}

#[test]
fn a_request_without_a_uid_is_unreadable() {
    for body in [
        "",
        "nonsense",
        "[]",
        r#"{"request":[]}"#,
        r#"{"apiVersion":"config.karmada.io/v1alpha1"}"#,
        r#"{"request":{"uid":"a","uid":"b"}}"#,
        r#"{"request":{"uid":"a"},"request":{"uid":"b"}}"#,
        &request(serde_json::json!({"uid": null})),
        &request(serde_json::json!({"uid": ""})),
        &request(serde_json::json!({"uid": 7})),
        &request(serde_json::json!({}))[..200],
    ] {
        assert!(decode(body.as_bytes()).is_err(), "{body}");
    }
    assert!(decode(b"{\"request\":{\"uid\":\"\xff\"}}").is_err());
}

#[test]
fn replies_are_these_bytes() {
    let body = request(serde_json::json!({"uid": "u \"1\""}));
    let head = decode(body.as_bytes()).unwrap().head;
    let reply = |answer| encode(&head, &answer);
    let start = r#"{"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterContext","response":{"uid":"u \"1\"","#;
    assert_eq!(
        reply(Ok(Answer::Revision(Patch::default()))),
        format!(r#"{start}"successful":true,"patchType":"JSONPatch","patch":"W10="}}}}"#)
    );
    assert_eq!(
        reply(Ok(Answer::Replicas { replicas: 4, requirements: None })),
        format!(r#"{start}"successful":true,"replicas":4}}}}"#)
    );
    assert_eq!(
        reply(Ok(Answer::Replicas { replicas: 0, requirements: Some(Value::empty_object()) })),
        format!(r#"{start}"successful":true,"replicas":0,"replicaRequirements":{{}}}}}}"#)
    );
    assert_eq!(
        reply(Err(Failure::unprocessable("no \"good\""))),
        format!(r#"{start}"successful":false,"status":{{"code":422,"message":"no \"good\""}}}}}}"#)
    );
}
