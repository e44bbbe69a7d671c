//! Reads whether the cluster of a reply hosts the allocation.

use base64::Engine as _;
use serde_json::Value;

/// Whether a cluster hosts an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hosting {
    /// The object is unchanged.
    Hosts,
    /// Every step of the type has its field set to null.
    Elsewhere,
}

/// Reads the reply to a request with this uid and object. The error describes the first defect of the reply.
pub(crate) fn read_reply(body: &[u8], uid: &str, object: &Value) -> Result<Hosting, String> {
    let reply: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let response = &reply["response"];
    if response["uid"] != uid || response["successful"] != true || response["patchType"] != "JSONPatch" {
        return Err(format!("the reply to {uid} is {reply}"));
    }
    let patch = response["patch"].as_str().ok_or("there is no patch")?;
    let patch = base64::engine::general_purpose::STANDARD.decode(patch).map_err(|error| error.to_string())?;
    let patch: json_patch::Patch = serde_json::from_slice(&patch).map_err(|error| error.to_string())?;
    let mut revised = object.clone();
    json_patch::patch(&mut revised, &patch).map_err(|error| error.to_string())?;
    meaning(object, revised)
}

/// Compares `object` with its revision. Only the field of the steps may differ.
fn meaning(object: &Value, mut revised: Value) -> Result<Hosting, String> {
    const STEPS: &str = "/spec/strategy/canary/steps";
    let mut nulled = Vec::new();
    let steps = revised.pointer_mut(STEPS).and_then(Value::as_array_mut).ok_or("the steps are gone")?;
    let before = object.pointer(STEPS).and_then(Value::as_array).ok_or("there were no steps")?;
    for (step, before) in steps.iter_mut().zip(before).filter(|(_, before)| before["type"] == "Fort") {
        let pull = step.pointer_mut("/properties/pull").ok_or("a step has lost its field")?;
        nulled.push(pull.is_null());
        if pull.is_null() {
            pull.clone_from(&before["properties"]["pull"]);
        }
    }
    if revised != *object {
        return Err(format!("more has changed than the field of the steps: {revised}"));
    }
    match (nulled.contains(&true), nulled.contains(&false)) {
        (false, true) => Ok(Hosting::Hosts),
        (true, false) => Ok(Hosting::Elsewhere),
        _ => Err(format!("some of the steps are nulled and some are not: {nulled:?}")),
    }
}

#[test]
fn an_invalid_revision_is_an_error() {
    let object = crate::history::Workload::new("Rollout", "ns", "app", Vec::new()).object;
    let change = |path: &str, value: Value| {
        let mut revised = object.clone();
        *revised.pointer_mut(path).unwrap() = value;
        revised
    };
    let pull = |step: usize| format!("/spec/strategy/canary/steps/{step}/properties/pull");
    assert_eq!(meaning(&object, object.clone()), Ok(Hosting::Hosts));
    let mut both = change(&pull(0), Value::Null);
    both.pointer_mut(&pull(2)).unwrap().take();
    assert_eq!(meaning(&object, both), Ok(Hosting::Elsewhere));
    for wrong in [
        change(&pull(0), Value::Null),
        change(&pull(1), Value::Null),
        change(&pull(0), "no".into()),
        change("/spec/replicas", 1.into()),
        change("/spec/strategy/canary/steps/0/properties", Value::Null),
        change("/spec/strategy/canary/steps", Value::Null),
        change("/metadata/name", "other".into()),
    ] {
        assert!(meaning(&object, wrong.clone()).is_err(), "{wrong}");
    }
    let reply = |uid: &str, patch: &str| {
        let patch = base64::engine::general_purpose::STANDARD.encode(patch);
        serde_json::json!({"response": {"uid": uid, "successful": true, "patchType": "JSONPatch", "patch": patch}})
            .to_string()
    };
    assert_eq!(read_reply(reply("1", "[]").as_bytes(), "1", &object), Ok(Hosting::Hosts));
    for wrong in [reply("2", "[]"), reply("1", "null"), "{}".to_owned(), String::new()] {
        assert!(read_reply(wrong.as_bytes(), "1", &object).is_err(), "{wrong}");
    }
}
