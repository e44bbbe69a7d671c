//! What an API server makes of the reply to an `AdmissionReview`, from the bytes of the reply alone.
//!
//! Source: kubernetes/apiserver v0.36.2 `pkg/admission/plugin/webhook/mutating/dispatcher.go`
//! (`callAttrMutatingHook`), `pkg/admission/plugin/webhook/request/admissionreview.go`
//! (`VerifyAdmissionResponse`), `pkg/admission/plugin/webhook/errors/statuserror.go` (`ToStatusErr`) and
//! `pkg/endpoints/filters/warning.go`. Where we hold replies to more than an API server does, or to something
//! else, it says `DIFFERENCE`.

use serde_json::{Map, Value};

use crate::karmada::{applied, decoded, operations, same};
use crate::reply::{Broken, Reply, Rule};

/// The longest message of a denial, in bytes, is shorter than this.
const MAX_MESSAGE: usize = 1024;

/// That of a denial of a policy, with all findings.
const MAX_POLICY_MESSAGE: usize = 4096;

/// The longest warning, in characters, of which an API server never cuts off the end.
const MAX_WARNING: usize = 256;

/// Where the record of a revision is.
const RECORD: &str = "reviser.io/revision";

/// What the API server keeps of its request until the reply comes.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) uid: String,
    /// The object, to which a patch has to apply; `None` if there is none, as in a DELETE.
    pub(crate) object: Option<Value>,
    /// Whether it is about one of our own custom resources.
    pub(crate) is_policy: bool,
}

impl Asked {
    /// What the body of a request asks.
    pub(crate) fn of(body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap();
        let uid = body["request"]["uid"].as_str().unwrap_or_default().to_owned();
        let object = body["request"].get("object").filter(|object| !object.is_null()).cloned();
        Self { uid, object, is_policy: body["request"]["resource"]["group"] == "reviser.io" }
    }
}

/// What the API server goes on with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// The write goes on.
    Allowed {
        /// A patch, its bytes as text, that applies.
        patch: Option<String>,
        warnings: Vec<String>,
    },
    /// The write is refused with this code and message.
    Denied(i64, String),
    /// No answer, with this HTTP status and message: the `failurePolicy` decides.
    Failed(u16, String),
}

impl Verdict {
    /// Allowed unchanged, without a warning.
    pub(crate) fn nothing() -> Self {
        Self::Allowed { patch: None, warnings: Vec::new() }
    }
}

/// Judges the reply to a review.
pub(crate) fn verify(asked: &Asked, reply: &Reply) -> Result<Verdict, Broken> {
    // The client tries a 429 or 5xx with `Retry-After` again by itself, while the user waits; that there is
    // none, and that the body is JSON, is looked at here.
    let document = reply.json()?;
    match reply.status {
        200 => {}
        // DIFFERENCE: any status that is no 2xx is an error whatever its body is.
        500..=599 => return reply.refusal().map(|message| Verdict::Failed(reply.status, message)),
        other => return Err(Broken::new(Rule::HttpStatus, other.to_string())),
    }
    let meta = (document["apiVersion"].as_str(), document["kind"].as_str());
    if meta != (Some("admission.k8s.io/v1"), Some("AdmissionReview")) {
        return Err(Broken::new(Rule::TypeMeta, format!("{meta:?}")));
    }
    let response = document["response"].as_object();
    let response = response.ok_or_else(|| Broken::new(Rule::Uid, "no response"))?;
    if response.get("uid").and_then(Value::as_str) != Some(&asked.uid) {
        let found = format!("{:?} instead of {:?}", response.get("uid"), asked.uid);
        return Err(Broken::new(Rule::Uid, found));
    }
    match response.get("allowed") {
        Some(Value::Bool(true)) => allowed(asked, response),
        Some(Value::Bool(false)) => denied(asked, response),
        // DIFFERENCE: Go reads a missing one as false.
        other => Err(Broken::new(Rule::Failure, format!("allowed: {other:?}"))),
    }
}

/// Whether these members are there and no other.
fn only(response: &Map<String, Value>, rule: Rule, names: &[&str]) -> Result<(), Broken> {
    match response.keys().find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(Broken::new(rule, name)),
        None => Ok(()),
    }
}

/// What the user is shown is `status.message` and `status.code`.
///
/// DIFFERENCE: all of it may be missing or of any length there, and a 5xx as good as a 4xx; ours are HTTP
/// statuses then.
fn denied(asked: &Asked, response: &Map<String, Value>) -> Result<Verdict, Broken> {
    let broken = |found: &str| Broken::new(Rule::Failure, found);
    only(response, Rule::Failure, &["uid", "allowed", "status"])?;
    let status = response.get("status").and_then(Value::as_object).ok_or_else(|| broken("no status"))?;
    let text = |name: &str| status.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    if text("status") != Some("Failure") || text("reason").is_none() {
        return Err(broken("no status of a failure, or no reason"));
    }
    let code = status.get("code").and_then(Value::as_i64);
    let code = code.filter(|code| (400..500).contains(code)).ok_or_else(|| broken("no code of a denial"))?;
    let message = text("message").ok_or_else(|| broken("no message"))?;
    if message.len() >= MAX_MESSAGE && !(asked.is_policy && message.len() <= MAX_POLICY_MESSAGE) {
        return Err(broken("a message that is too long"));
    }
    Ok(Verdict::Denied(code, message.to_owned()))
}

fn allowed(asked: &Asked, response: &Map<String, Value>) -> Result<Verdict, Broken> {
    // DIFFERENCE: other members are passed over.
    only(response, Rule::Failure, &["uid", "allowed", "patchType", "patch", "warnings"])?;
    let warnings = warnings(response)?;
    let pair = (response.get("patch"), response.get("patchType"));
    let patch = match pair {
        (None, None) => return Ok(Verdict::Allowed { patch: None, warnings }),
        (Some(Value::String(patch)), Some(Value::String(kind))) if kind == "JSONPatch" => decoded(patch)?,
        _ => return Err(Broken::new(Rule::PatchPair, format!("{pair:?}"))),
    };
    // DIFFERENCE: an empty list would do; to say nothing is shorter.
    if patch.is_empty() || patch == "[]" {
        return Err(Broken::new(Rule::PatchPair, "an empty patch"));
    }
    operations(&patch)?;
    let Some(object) = &asked.object else {
        return Err(Broken::new(Rule::PatchApplies, "there is no object"));
    };
    let patched = applied(object, &patch)?;
    same(object, &patched)?;
    untouched(object, &patched)?;
    Ok(Verdict::Allowed { patch: Some(patch), warnings })
}

/// A warning with a control character is dropped there, silently; an empty one and one that is there already,
/// too.
///
/// DIFFERENCE: a long one loses its end only where there is much else.
fn warnings(response: &Map<String, Value>) -> Result<Vec<String>, Broken> {
    let broken = |found: String| Broken::new(Rule::Warnings, found);
    let Some(warnings) = response.get("warnings") else { return Ok(Vec::new()) };
    let warnings: Vec<String> =
        serde_json::from_value(warnings.clone()).map_err(|error| broken(error.to_string()))?;
    if warnings.is_empty() {
        return Err(broken("a list of none".to_owned()));
    }
    for (position, warning) in warnings.iter().enumerate() {
        let is_line = !warning.is_empty() && !warning.chars().any(char::is_control);
        if !is_line || warning.chars().count() > MAX_WARNING || warnings[..position].contains(warning) {
            return Err(broken(format!("{warning:?}")));
        }
    }
    Ok(warnings)
}

/// DIFFERENCE: an API server takes any change. Karmada's controllers rely on what is held here.
fn untouched(object: &Value, patched: &Value) -> Result<(), Broken> {
    let broken = |found: String| Err(Broken::new(Rule::Untouched, found));
    let (mut before, mut after) = (object.clone(), patched.clone());
    let (own, others) = (manifests(&mut before), manifests(&mut after));
    if before != after {
        return broken(format!("beside the manifests: {before} is {after}"));
    }
    if own.len() != others.len() {
        return broken(format!("{} manifests are {}", own.len(), others.len()));
    }
    for (position, (own, other)) in own.iter().zip(&others).enumerate() {
        if own.is_object() != other.is_object() {
            return broken(format!("manifest {position}"));
        }
        for place in ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"] {
            if own.pointer(place) != other.pointer(place) {
                return broken(format!("{place} of manifest {position}"));
            }
        }
        for place in ["/metadata/labels", "/metadata/annotations"] {
            if of_karmada(own.pointer(place)) != of_karmada(other.pointer(place)) {
                return broken(format!("Karmada's {place} of manifest {position}"));
            }
        }
    }
    Ok(())
}

/// Takes the manifests and the record out of a Work.
fn manifests(work: &mut Value) -> Vec<Value> {
    if let Some(annotations) = work.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(RECORD);
    }
    let manifests = work.pointer_mut("/spec/workload/manifests").map(Value::take);
    manifests.and_then(|manifests| manifests.as_array().cloned()).unwrap_or_default()
}

/// The labels or annotations whose names are in a domain of Karmada's.
fn of_karmada(map: Option<&Value>) -> Map<String, Value> {
    let is_karmadas =
        |name: &str| name.split_once('/').is_some_and(|(domain, _)| domain.ends_with("karmada.io"));
    let members = map.and_then(Value::as_object).into_iter().flatten();
    members.filter(|(name, _)| is_karmadas(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}
