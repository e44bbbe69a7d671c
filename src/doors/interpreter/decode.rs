//! Decoding a `ResourceInterpreterContext`.

use std::borrow::Cow;
use std::fmt::Display;

use super::operation::OperationName;
use super::{ANSWERED, API_VERSION, KIND};
use crate::domain::{
    ClusterName, Failure, GroupVersionKind, Operation, Question, Schedule, Target, TargetCluster, Workload,
    is_list_kind,
};
use crate::doors::envelope::{
    self, Decoded, Head, UNKNOWN_OPERATION, Unreadable, about_object, check_names, clip, kind_or_empty, map,
    present, string, string_or_empty,
};
use crate::json::{Kind, Members, Raw, Text};

/// Replicas are 32 bits wide in Karmada's API.
const MAX_REPLICAS: i64 = i32::MAX as i64;

/// The members of a request that hold objects of users.
const OBJECTS: &[&str] = &["object", "originalObject", "observedObject"];

/// Parses the body of a request.
pub fn parse(body: &[u8]) -> Result<Text<'_>, Unreadable> {
    envelope::parse(body, KIND)
}

/// Decodes a request.
pub fn decode<'a>(body: &'a Text<'_>) -> Result<Decoded<'a, Question<'a>>, Unreadable> {
    let envelope = envelope::open(body, KIND)?;
    let (request, uid) = envelope::request(&envelope, KIND)?;
    let head = Head {
        uid,
        operation: OperationName::of(&string_or_empty(&request, "operation"))
            .map_or(UNKNOWN_OPERATION, OperationName::as_str),
        kind: kind_or_empty(&request),
        namespace: string_or_empty(&request, "namespace"),
        name: string_or_empty(&request, "name"),
        cluster: string_or_empty(&request, "clusterName"),
        dry_run: None,
    };
    let content = check_names(&body.root(), &request, OBJECTS)
        .and_then(|()| check_envelope(&envelope))
        .and_then(|()| question(&request))
        .map_err(|failure| about_object(failure, &head));
    Ok(Decoded { head, content })
}

fn check_envelope(envelope: &Members<'_>) -> Result<(), Failure> {
    for (name, expected) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        envelope::expect(envelope, name, expected)
            .map_err(|problem| Failure::bad_request(format!("{problem}; send a {KIND}")))?;
    }
    Ok(())
}

fn question<'a>(request: &Members<'a>) -> Result<Question<'a>, Failure> {
    let name = string(request, "operation")?;
    let gvk = kind(request)?;
    let refused = |problem: &str| {
        Failure::bad_request(format!(
            "request.operation: {:?} {problem}; name only {} in the ResourceInterpreterWebhookConfiguration",
            clip(&name),
            ANSWERED.join(", ")
        ))
    };
    let operation = match OperationName::of(&name).ok_or_else(|| refused("does not exist"))? {
        OperationName::InterpretReplica => Operation::InterpretReplica,
        OperationName::ReviseReplica => match replicas(request, "request.replicas")? {
            Some(replicas) => Operation::ReviseReplica { replicas },
            None => {
                return Err(Failure::bad_request(
                    "request.replicas: is missing; send the number of replicas, also if it is 0",
                ));
            }
        },
        OperationName::ReviseObject => Operation::ReviseObject(target(request)?),
        OperationName::InterpretComponent
        | OperationName::Retain
        | OperationName::AggregateStatus
        | OperationName::InterpretStatus
        | OperationName::InterpretHealth
        | OperationName::InterpretDependency
        | OperationName::Prune => return Err(refused("is not answered by this version")),
    };
    let object = match present(request, "object") {
        Some(object) => map(object, "object")?,
        None => return Err(Failure::bad_request("request.object: is missing; send the object")),
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
        // Go's encoding omits a zero.
        let replicas =
            replicas(&members, &format!("request.targetClusters[{position}].replicas"))?.unwrap_or(0);
        clusters.push(TargetCluster { name, replicas });
    }
    Schedule::new(clusters).map_err(|error| refused(format!(": {error}")))
}

/// The identity in the object, completed from the envelope.
fn workload(request: &Members<'_>, object: &Raw<'_>, gvk: GroupVersionKind) -> Result<Workload, Failure> {
    let refused = |place: &str, problem: &dyn Display| {
        Failure::unprocessable(format!("/{place}: {problem}; fix the object"))
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
    let is_list = |items: Raw<'_>| is_list_kind(&gvk.kind) && items.kind() == Kind::Array;
    if members.get("items").is_some_and(is_list) {
        return Err(Failure::unprocessable(format!(
            "request.object: is a {} of objects; send each of its items in a request of its own",
            clip(&gvk.kind)
        )));
    }
    let from_envelope =
        |name| request.get(name).and_then(|raw| raw.as_str().ok()?).map(Cow::into_owned).unwrap_or_default();
    let mut name = field(&metadata, "name", "metadata/name")?.unwrap_or_else(|| from_envelope("name"));
    if name.is_empty() {
        name = field(&metadata, "generateName", "metadata/generateName")?.unwrap_or_default();
    }
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
