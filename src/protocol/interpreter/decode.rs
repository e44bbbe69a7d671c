//! Bytes to a question.

use std::borrow::Cow;
use std::fmt::Display;

use super::{ANSWERED, API_VERSION, KIND, label};
use crate::domain::{
    ClusterName, Code, Failure, GroupVersionKind, Operation, Question, Schedule, Target, TargetCluster,
    Workload,
};
use crate::json::{Kind, MAX_DEPTH, Members, ParseError, Raw, Text};

/// Replicas are 32 bits wide in Karmada's API.
const MAX_REPLICAS: i64 = i32::MAX as i64;

/// There is no uid to answer to: not JSON, no envelope, no uid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

/// What is known of a request once its uid is.
#[derive(Clone, Debug)]
pub struct Head<'a> {
    /// The uid, to be echoed.
    pub uid: Cow<'a, str>,
    /// The operation, if it is one that exists.
    pub operation: Option<&'static str>,
    /// What the envelope says about the object, for the log; empty where it says nothing.
    pub subject: Subject<'a>,
}

/// What the envelope says about the object.
#[derive(Clone, Debug, Default)]
pub struct Subject<'a> {
    /// Kind.
    pub kind: Cow<'a, str>,
    /// Namespace.
    pub namespace: Cow<'a, str>,
    /// Name.
    pub name: Cow<'a, str>,
    /// Target cluster.
    pub cluster: Cow<'a, str>,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// Whom to answer.
    pub head: Head<'a>,
    /// What is asked, or what is wrong with it.
    pub question: Result<Question<'a>, Failure>,
}

/// Checks a request body.
pub fn parse(body: &[u8]) -> Result<Text<'_>, Unreadable> {
    Text::parse(body).map_err(|error| unreadable(&error))
}

/// Reads a request.
pub fn decode<'a>(body: &'a Text<'_>) -> Result<Decoded<'a>, Unreadable> {
    let envelope = body.root().members().map_err(|error| unreadable(&error))?;
    if envelope.count("request") > 1 {
        return Err(Unreadable("the body has the member \"request\" twice".to_owned()));
    }
    let Some(request) = envelope.get("request").filter(|request| request.kind() == Kind::Object) else {
        return Err(Unreadable(format!("the body is no {KIND}: it has no `request` that is a map")));
    };
    let request = request.members().map_err(|error| unreadable(&error))?;
    let uid = match (request.count("uid"), request.get("uid").map(|uid| uid.as_str())) {
        (1, Some(Ok(Some(uid)))) if !uid.is_empty() => uid,
        _ => {
            return Err(Unreadable(
                "`request.uid` must be there once, a string that is not empty".to_owned(),
            ));
        }
    };
    let string = |name: &str| request.get(name).and_then(|raw| raw.as_str().ok()?).unwrap_or_default();
    let kind =
        request.get("kind").and_then(|kind| kind.get("kind").ok()?).and_then(|raw| raw.as_str().ok()?);
    let subject = Subject {
        kind: kind.unwrap_or_default(),
        namespace: string("namespace"),
        name: string("name"),
        cluster: string("clusterName"),
    };
    let head = Head { uid, operation: label(&string("operation")), subject };
    let question = check_names(&body.root(), &request)
        .and_then(|()| check_envelope(&envelope))
        .and_then(|()| question(&request))
        .map_err(|failure| about_object(failure, &head.subject));
    Ok(Decoded { head, question })
}

/// Refuses a name of the envelope that is there twice. Those of the objects in it are looked at where they are read.
fn check_names(body: &Raw<'_>, request: &Members<'_>) -> Result<(), Failure> {
    let Err(error) = body.check_names() else { return Ok(()) };
    let in_object = |name: &str| request.get(name).is_some_and(|object| object.check_names().is_err());
    if ["object", "originalObject", "observedObject"].iter().any(|name| in_object(name)) {
        return Ok(());
    }
    Err(Failure::bad_request(format!("{error}; send it once")))
}

/// What is wrong with an object is told with its name, as far as the envelope says it.
fn about_object(failure: Failure, subject: &Subject<'_>) -> Failure {
    let Subject { kind, name, cluster, .. } = subject;
    if failure.code() != Code::Unprocessable || kind.is_empty() || name.is_empty() {
        return failure;
    }
    if cluster.is_empty() {
        return failure.context(format_args!("{kind}/{name}"));
    }
    failure.context(format_args!("{kind}/{name} cluster {cluster:?}"))
}

fn unreadable(error: &ParseError) -> Unreadable {
    Unreadable(format!("the body is no {KIND}: {error}"))
}

fn check_envelope(envelope: &Members<'_>) -> Result<(), Failure> {
    for (name, expected) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        let found = envelope.get(name);
        if found.and_then(|raw| raw.as_str().ok()?).as_deref() != Some(expected) {
            let found = found.map_or_else(|| "missing".to_owned(), |raw| clip(raw.text()));
            return Err(Failure::bad_request(format!(
                "{name}: must be {expected:?}, is {found}; send a {KIND}"
            )));
        }
    }
    Ok(())
}

fn question<'a>(request: &Members<'a>) -> Result<Question<'a>, Failure> {
    let name = string(request, "operation")?;
    let gvk = kind(request)?;
    if label(&name).is_none() || !ANSWERED.contains(&name.as_ref()) {
        let what = if label(&name).is_some() { "is not answered by this version" } else { "does not exist" };
        return Err(Failure::bad_request(format!(
            "request.operation: {:?} {what}; name only {} in the ResourceInterpreterWebhookConfiguration",
            clip(&name),
            ANSWERED.join(", ")
        )));
    }
    let object = match present(request, "object") {
        Some(object) => map(object, "object")?,
        None => return Err(Failure::bad_request("request.object: is missing; send the object")),
    };
    let operation = match name.as_ref() {
        "InterpretReplica" => Operation::InterpretReplica,
        "ReviseReplica" => match replicas(request, "request.replicas")? {
            Some(replicas) => Operation::ReviseReplica { replicas },
            None => {
                return Err(Failure::bad_request(
                    "request.replicas: is missing; send the number of replicas, also if it is 0",
                ));
            }
        },
        _ => Operation::ReviseObject(target(request)?),
    };
    Ok(Question { workload: workload(request, &object, gvk)?, object, operation })
}

fn target<'a>(request: &Members<'a>) -> Result<Target<'a>, Failure> {
    let cluster = string(request, "clusterName")?;
    let Some(cluster) = ClusterName::new(cluster) else {
        return Err(Failure::bad_request(
            "request.clusterName: is empty; send the name of the target cluster",
        ));
    };
    let schedule = present(request, "targetClusters").map(|list| schedule(&list)).transpose()?;
    let original =
        present(request, "originalObject").map(|original| map(original, "originalObject")).transpose()?;
    let own = schedule.as_ref().and_then(|schedule| schedule.replicas_of(&cluster));
    let replicas = replicas(request, "request.replicas")?.or(own);
    Ok(Target { cluster, replicas, schedule, original })
}

fn schedule(list: &Raw<'_>) -> Result<Schedule, Failure> {
    let refused = |problem: String| Failure::bad_request(format!("request.targetClusters{problem}"));
    if list.kind() != Kind::Array {
        return Err(refused(format!(": must be a list of {{name, replicas}}, is {}", list.kind())));
    }
    let mut clusters = Vec::new();
    for (position, item) in
        list.items().map_err(|error| refused(format!(": {error}")))?.into_iter().enumerate()
    {
        let members = item.members().map_err(|error| refused(format!("[{position}]: {error}")))?;
        let name = members.get("name").and_then(|raw| raw.as_str().ok()?).and_then(ClusterName::new);
        let Some(name) = name else {
            return Err(refused(format!("[{position}].name: must be a string that is not empty")));
        };
        // Go leaves zeros out.
        let replicas =
            replicas(&members, &format!("request.targetClusters[{position}].replicas"))?.unwrap_or(0);
        clusters.push(TargetCluster { name, replicas });
    }
    Schedule::new(clusters).map_err(|error| refused(format!(": {error}")))
}

/// The object says who it is; the envelope fills in what it leaves out.
fn workload(request: &Members<'_>, object: &Raw<'_>, gvk: GroupVersionKind) -> Result<Workload, Failure> {
    let refused = |place: &str, problem: &dyn Display| {
        Failure::unprocessable(format!("/{place}: {problem}; mend the object"))
    };
    let members = object.members().map_err(|error| refused("", &error))?;
    let metadata = members.get("metadata").map(|metadata| metadata.members()).transpose();
    let metadata = metadata.map_err(|error| refused("metadata", &error))?.unwrap_or_default();
    let field = |members: &Members<'_>, name: &str, place: &str| match present(members, name) {
        None => Ok(None),
        Some(raw) => match raw.as_str().map_err(|error| refused(place, &error))? {
            Some(text) => Ok(Some(text.into_owned())),
            None => Err(refused(place, &format_args!("must be a string, is {}", raw.kind()))),
        },
    };
    let own = (field(&members, "apiVersion", "apiVersion")?, field(&members, "kind", "kind")?);
    let gvk = match own {
        (Some(api_version), Some(kind)) => GroupVersionKind::of(&api_version, &kind),
        _ => gvk,
    };
    let from_envelope =
        |name| request.get(name).and_then(|raw| raw.as_str().ok()?).map(Cow::into_owned).unwrap_or_default();
    let name = field(&metadata, "name", "metadata/name")?.unwrap_or_else(|| from_envelope("name"));
    let namespace =
        field(&metadata, "namespace", "metadata/namespace")?.unwrap_or_else(|| from_envelope("namespace"));
    if name.is_empty() {
        return Err(Failure::unprocessable("/metadata/name: is missing; send the object with its name"));
    }
    Ok(Workload { gvk, namespace, name })
}

/// `request.kind`: `{group, version, kind}`, the group empty for the core group.
fn kind(request: &Members<'_>) -> Result<GroupVersionKind, Failure> {
    let refused = || {
        Failure::bad_request(
            "request.kind: must be a map of the strings group, version and kind; send the kind of the object",
        )
    };
    let members = present(request, "kind").filter(|raw| raw.kind() == Kind::Object).ok_or_else(refused)?;
    let members = members.members().map_err(|_| refused())?;
    let text = |name| match members.get(name) {
        None => Ok(String::new()),
        Some(raw) if raw.is_null() => Ok(String::new()),
        Some(raw) => raw.as_str().ok().flatten().map(Cow::into_owned).ok_or_else(refused),
    };
    let gvk = GroupVersionKind { group: text("group")?, version: text("version")?, kind: text("kind")? };
    if gvk.version.is_empty() || gvk.kind.is_empty() {
        return Err(refused());
    }
    Ok(gvk)
}

/// A member that is there and not null.
fn present<'a>(members: &Members<'a>, name: &str) -> Option<Raw<'a>> {
    members.get(name).filter(|raw| !raw.is_null())
}

fn string<'a>(request: &Members<'a>, name: &str) -> Result<Cow<'a, str>, Failure> {
    let refused = |problem: String| Failure::bad_request(format!("request.{name}: {problem}"));
    let Some(raw) = present(request, name) else {
        return Err(refused("is missing; send it".to_owned()));
    };
    match raw.as_str() {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(refused(format!("must be a string, is {}", raw.kind()))),
        Err(error) => Err(refused(error.to_string())),
    }
}

fn map<'a>(raw: Raw<'a>, name: &str) -> Result<Raw<'a>, Failure> {
    if raw.kind() != Kind::Object {
        return Err(Failure::unprocessable(format!(
            "request.{name}: must be a map, is {}; send one object",
            raw.kind()
        )));
    }
    raw.check_names()
        .map_err(|error| Failure::unprocessable(format!("request.{name}: {error}; mend the object")))?;
    if raw.depth() > MAX_DEPTH {
        let error = ParseError::TooDeep { depth: raw.depth() };
        return Err(Failure::unprocessable(format!("request.{name}: {error}; send a flatter object")));
    }
    Ok(raw)
}

/// The member `replicas`; missing or null is `None`.
fn replicas(members: &Members<'_>, place: &str) -> Result<Option<i64>, Failure> {
    let Some(raw) = present(members, "replicas") else {
        return Ok(None);
    };
    let replicas =
        raw.as_number().and_then(|number| number.as_i64()).filter(|value| (0..=MAX_REPLICAS).contains(value));
    match replicas {
        Some(replicas) => Ok(Some(replicas)),
        None => Err(Failure::bad_request(format!(
            "{place}: must be an integer from 0 to {MAX_REPLICAS}, is {}",
            if raw.kind() == Kind::Number { clip(raw.text()) } else { raw.kind().to_string() }
        ))),
    }
}

/// The beginning of a text that a caller sent, for a message.
fn clip(text: &str) -> String {
    const LENGTH: usize = 60;
    let mut clipped: String = text.chars().take(LENGTH).collect();
    if clipped.len() < text.len() {
        clipped.push_str("...");
    }
    clipped
}
