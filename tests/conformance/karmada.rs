//! What Karmada's interpreter client makes of a reply, from the bytes of the reply alone.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/resourceinterpreter/customized/webhook/customized.go` (`callHook`,
//! `applyPatch`) and `pkg/resourceinterpreter/customized/webhook/request/resourceinterpretercontext.go`
//! (`VerifyResourceInterpreterContext`); the fields are those of
//! `pkg/apis/config/v1alpha1/interpretercontext_types.go`. Where we hold replies to more than Karmada does,
//! or to something else, it says `DIFFERENCE`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::reply::{Broken, Reply, Rule};

/// The longest message of a failure, in bytes, is shorter than this.
const MAX_MESSAGE: usize = 1024;

/// What the client keeps of its request until the reply comes.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) uid: String,
    pub(crate) operation: String,
    /// The object, to which a patch has to apply; `None` if it is nothing that this reader could hold.
    pub(crate) object: Option<Value>,
}

impl Asked {
    /// What the body of a request asks.
    pub(crate) fn of(body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap();
        let text = |name: &str| body["request"][name].as_str().unwrap_or_default().to_owned();
        let object = body["request"].get("object").cloned();
        Self { uid: text("uid"), operation: text("operation"), object }
    }
}

/// What the client goes on with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Replicas, and what one of them needs.
    Replicas(i64, Option<Value>),
    /// A patch, its bytes as text, that applies.
    Revised(String),
    /// An error with this code and message.
    Refused(i64, String),
}

/// Judges the reply to a request.
pub(crate) fn verify(asked: &Asked, reply: &Reply) -> Result<Verdict, Broken> {
    // Anything but a 200 is an error whose body is not looked at; a 204 has none.
    if reply.status != 200 {
        return Err(Broken::new(Rule::HttpStatus, reply.status.to_string()));
    }
    // DIFFERENCE: any content type would do, and trailing white space; Go refuses trailing bytes as
    // serde_json does.
    let document = reply.json()?;
    // DIFFERENCE: a reply without them is taken too; one with others is not.
    let meta = (document["apiVersion"].as_str(), document["kind"].as_str());
    if meta != (Some("config.karmada.io/v1alpha1"), Some("ResourceInterpreterContext")) {
        return Err(Broken::new(Rule::TypeMeta, format!("{meta:?}")));
    }
    let response = document["response"].as_object();
    let response = response.ok_or_else(|| Broken::new(Rule::Uid, "no response"))?;
    if response.get("uid").and_then(Value::as_str) != Some(&asked.uid) {
        let found = format!("{:?} instead of {:?}", response.get("uid"), asked.uid);
        return Err(Broken::new(Rule::Uid, found));
    }
    match response.get("successful") {
        Some(Value::Bool(true)) => {}
        Some(Value::Bool(false)) => return failure(response),
        // DIFFERENCE: Go reads a missing one as false.
        other => return Err(Broken::new(Rule::Failure, format!("successful: {other:?}"))),
    }
    if let Some(status) = response.get("status") {
        return Err(Broken::new(Rule::Failure, format!("a success with the status {status}")));
    }
    match asked.operation.as_str() {
        "InterpretReplica" => replicas(response),
        // DIFFERENCE: Karmada has no ReviseObject yet (#3436 proposes it); it is judged as the others that
        // patch.
        "ReviseReplica" | "ReviseObject" => revision(asked, response),
        other => Err(Broken::new(Rule::Failure, format!("a success of {other:?}, which is not answered"))),
    }
}

/// Without a status the client has nothing to show.
///
/// DIFFERENCE: code and message may be missing or of any length there, and other members beside them.
fn failure(response: &Map<String, Value>) -> Result<Verdict, Broken> {
    let broken = |found: &str| Broken::new(Rule::Failure, found);
    let status = response.get("status").and_then(Value::as_object).ok_or_else(|| broken("no status"))?;
    let code = status.get("code").and_then(Value::as_i64);
    let code = code.filter(|code| (400..600).contains(code)).ok_or_else(|| broken("no code of a failure"))?;
    let message = status.get("message").and_then(Value::as_str).filter(|message| !message.is_empty());
    let message = message.ok_or_else(|| broken("no message"))?;
    if message.len() >= MAX_MESSAGE {
        return Err(broken("a message of 1 KiB or more"));
    }
    if let Some(name) = response.keys().find(|name| !["uid", "successful", "status"].contains(&name.as_str()))
    {
        return Err(broken(name));
    }
    Ok(Verdict::Refused(code, message.to_owned()))
}

/// Go decodes into `*int32`: "3", 3.0 and 3e0 are errors there.
fn replicas(response: &Map<String, Value>) -> Result<Verdict, Broken> {
    let found = response.get("replicas");
    let replicas =
        found.and_then(Value::as_i64).filter(|replicas| (0..=i64::from(i32::MAX)).contains(replicas));
    let replicas = replicas.ok_or_else(|| Broken::new(Rule::Replicas, format!("{found:?}")))?;
    let requirements = response.get("replicaRequirements");
    if let Some(requirements) = requirements {
        let decodes = requirements.as_object().is_some_and(|members| members.iter().all(is_requirement));
        if !decodes {
            return Err(Broken::new(Rule::Requirements, requirements.to_string()));
        }
    }
    Ok(Verdict::Replicas(replicas, requirements.cloned()))
}

/// Whether a member is one of `ReplicaRequirements`, and of its type.
///
/// Source: karmada-io/karmada@f8fdd02 `pkg/apis/work/v1alpha2/binding_types.go`
///
/// DIFFERENCE: Go passes over members that it does not know, and takes a number for a quantity.
fn is_requirement((name, value): (&String, &Value)) -> bool {
    match name.as_str() {
        "namespace" | "priorityClassName" => value.is_string(),
        "resourceRequest" => value
            .as_object()
            .is_some_and(|amounts| amounts.values().all(|amount| amount.as_str().is_some_and(is_quantity))),
        "nodeClaim" => value.as_object().is_some_and(|claim| {
            claim.iter().all(|(name, value)| match name.as_str() {
                "hardNodeAffinity" | "nodeSelector" => value.is_object(),
                "tolerations" => value.is_array(),
                _ => false,
            })
        }),
        _ => false,
    }
}

/// An amount in canonical spelling: an integer, and a suffix if any.
fn is_quantity(text: &str) -> bool {
    const SUFFIXES: [&str; 16] =
        ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let digits = text.trim_end_matches(|byte: char| byte.is_ascii_alphabetic());
    !digits.is_empty() && digits.parse::<i64>().is_ok() && SUFFIXES.contains(&&text[digits.len()..])
}

/// `verifyResourceInterpreterContextWithPatch`, and `applyPatch` after it.
fn revision(asked: &Asked, response: &Map<String, Value>) -> Result<Verdict, Broken> {
    // DIFFERENCE: both may be missing in this Karmada; older ones fail, or panic, so that both have to be
    // there.
    let pair = (response.get("patch"), response.get("patchType").and_then(Value::as_str));
    let (Some(Value::String(patch)), Some("JSONPatch")) = pair else {
        return Err(Broken::new(Rule::PatchPair, format!("{pair:?}")));
    };
    let text = decoded(patch)?;
    if text.is_empty() {
        return Err(Broken::new(Rule::PatchPair, "an empty patch"));
    }
    operations(&text)?;
    if let Some(object) = &asked.object {
        same(object, &applied(object, &text)?)?;
    }
    Ok(Verdict::Revised(text))
}

/// DIFFERENCE: Go's decoder passes over line breaks in it.
pub(crate) fn decoded(patch: &str) -> Result<String, Broken> {
    let broken = |error: &dyn std::fmt::Display| Broken::new(Rule::PatchEncoding, error.to_string());
    let bytes = STANDARD.decode(patch).map_err(|error| broken(&error))?;
    String::from_utf8(bytes).map_err(|error| broken(&error))
}

/// DIFFERENCE: `test`, `move` and `copy` would do; reviser never needs them.
pub(crate) fn operations(patch: &str) -> Result<(), Broken> {
    let broken = |found: String| Broken::new(Rule::PatchOperations, found);
    let operations: Vec<Map<String, Value>> =
        serde_json::from_str(patch).map_err(|error| broken(format!("{error}: {patch}")))?;
    for operation in operations {
        let members: Vec<&str> = operation.keys().map(String::as_str).collect();
        let right = match operation.get("op").and_then(Value::as_str) {
            Some("add" | "replace") => members == ["op", "path", "value"],
            Some("remove") => members == ["op", "path"],
            _ => false,
        };
        if !right {
            return Err(broken(Value::Object(operation).to_string()));
        }
    }
    Ok(())
}

/// What becomes of the object. A path that is not there, or an index that is too large, is an error here as
/// in the library that Karmada and API servers use.
pub(crate) fn applied(object: &Value, patch: &str) -> Result<Value, Broken> {
    let broken = |error: &dyn std::fmt::Display| Broken::new(Rule::PatchApplies, format!("{error}: {patch}"));
    let operations: json_patch::Patch = serde_json::from_str(patch).map_err(|error| broken(&error))?;
    let mut patched = object.clone();
    json_patch::patch(&mut patched, &operations).map_err(|error| broken(&error))?;
    Ok(patched)
}

/// DIFFERENCE: Karmada does not look whether the object is still the same one; its status controllers fail
/// over it later.
pub(crate) fn same(object: &Value, patched: &Value) -> Result<(), Broken> {
    for place in ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace", "/metadata/uid"] {
        if object.pointer(place) != patched.pointer(place) {
            return Err(Broken::new(Rule::Identity, format!("{place} has changed")));
        }
    }
    Ok(())
}
