//! Decoding an `AdmissionReview`.

use std::borrow::Cow;

use super::{API_VERSION, KIND};
use crate::domain::Failure;
use crate::doors::envelope::{
    self, Decoded, Head, UNKNOWN_OPERATION, Unreadable, about_object, check_names, clip, kind_or_empty, map,
    optional_string, present, string, string_or_empty,
};
use crate::json::{Kind, Members, Raw, Text};

/// The members of a request that hold objects of users.
const OBJECTS: &[&str] = &["object", "oldObject"];

/// The members of a request that are read.
const READ: &[&str] =
    &["kind", "resource", "subResource", "name", "namespace", "operation", "object", "oldObject", "dryRun"];

/// A write that an API server asks about.
#[derive(Clone, Debug)]
pub struct Review<'a> {
    pub operation: Operation,
    /// The resource, as the rules of the webhook configuration name it.
    pub resource: Resource<'a>,
    /// The object's namespace; empty for a cluster-scoped object.
    pub namespace: Cow<'a, str>,
    /// The object's name, or its `generateName` if the API server has not generated the name yet.
    pub name: Cow<'a, str>,
    /// The object to be written: a map without repeated names, at most [`MAX_DEPTH`](crate::json::MAX_DEPTH)
    /// levels deep. `None` on DELETE.
    pub object: Option<Raw<'a>>,
    /// The stored object. `None` on CREATE, and if it is not such a map.
    pub old_object: Option<Raw<'a>>,
    /// Whether the request must have no side effects.
    pub dry_run: bool,
}

/// `request.operation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

impl Operation {
    const ALL: [Self; 4] = [Self::Create, Self::Update, Self::Delete, Self::Connect];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

/// `request.resource` and `request.subResource`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource<'a> {
    /// API group; empty for the core group.
    pub group: Cow<'a, str>,
    pub version: Cow<'a, str>,
    /// The plural, for instance `works`.
    pub resource: Cow<'a, str>,
    /// For instance `status`; empty for the resource itself.
    pub sub_resource: Cow<'a, str>,
}

/// Parses the body of a request.
pub fn parse(body: &[u8]) -> Result<Text<'_>, Unreadable> {
    envelope::parse(body, KIND)
}

/// Decodes a request.
pub fn decode<'a>(body: &'a Text<'_>) -> Result<Decoded<'a, Review<'a>>, Unreadable> {
    let envelope = envelope::open(body, KIND)?;
    check_envelope(&envelope)?;
    let (request, uid) = envelope::request(&envelope, KIND)?;
    let head = Head {
        uid,
        operation: Operation::of(&string_or_empty(&request, "operation"))
            .map_or(UNKNOWN_OPERATION, Operation::name),
        kind: kind_or_empty(&request),
        namespace: string_or_empty(&request, "namespace"),
        name: name_or_own(&request, string_or_empty(&request, "name")),
        cluster: Cow::default(),
        dry_run: Some(dry_run(&request).unwrap_or_default()),
    };
    let content = check_names(&body.root(), &request, OBJECTS)
        .and_then(|()| check_read(&body.root(), &request))
        .and_then(|()| review(&request))
        .map_err(|failure| about_object(failure, &head));
    Ok(Decoded { head, content })
}

/// Refuses a review of another version: its reply would need that version too.
fn check_envelope(envelope: &Members<'_>) -> Result<(), Unreadable> {
    for (name, expected, advice) in [
        ("kind", KIND, "send an AdmissionReview"),
        (
            "apiVersion",
            API_VERSION,
            "set `admissionReviewVersions: [v1]` in the webhook configuration; no other version is supported",
        ),
    ] {
        if envelope.count(name) > 1 {
            return Err(Unreadable::new(format!("the body has the member {name:?} twice")));
        }
        envelope::expect(envelope, name, expected)
            .map_err(|problem| Unreadable::new(format!("{problem}; {advice}")))?;
    }
    Ok(())
}

/// Refuses repeated names of members that are read, also if an object that is not read repeats a name before
/// them.
fn check_read(body: &Raw<'_>, request: &Members<'_>) -> Result<(), Failure> {
    if body.check_names().is_ok() {
        return Ok(());
    }
    if let Some(name) = READ.iter().find(|name| request.count(name) > 1) {
        return Err(Failure::bad_request(format!("request.{name}: is there twice; send it once")));
    }
    for name in ["kind", "resource"] {
        if let Some(Err(error)) = request.get(name).map(|raw| raw.check_names()) {
            return Err(Failure::bad_request(format!("request.{name}: {error}; send it once")));
        }
    }
    Ok(())
}

fn review<'a>(request: &Members<'a>) -> Result<Review<'a>, Failure> {
    let name = string(request, "operation")?;
    let Some(operation) = Operation::of(&name) else {
        return Err(Failure::bad_request(format!(
            "request.operation: {:?} does not exist; send one of {}",
            clip(&name),
            Operation::ALL.map(Operation::name).join(", ")
        )));
    };
    Ok(Review {
        operation,
        resource: resource(request)?,
        namespace: optional_string(request, "namespace")?.unwrap_or_default(),
        name: name_or_own(request, optional_string(request, "name")?.unwrap_or_default()),
        dry_run: dry_run(request)?,
        object: present(request, "object").map(|object| map(object, "object")).transpose()?,
        old_object: present(request, "oldObject").and_then(|old| map(old, "oldObject").ok()),
    })
}

/// `name`, or the name in the object if that is empty.
fn name_or_own<'a>(request: &Members<'a>, name: Cow<'a, str>) -> Cow<'a, str> {
    if !name.is_empty() {
        return name;
    }
    request.get("object").and_then(|object| envelope::object_name(&object)).unwrap_or_default()
}

/// `request.resource`, `{group, version, resource}` with an empty group for the core group, and
/// `request.subResource`.
fn resource<'a>(request: &Members<'a>) -> Result<Resource<'a>, Failure> {
    let refused = || {
        Failure::bad_request(
            "request.resource: must be a map of the strings group, version and resource; send the resource of the object",
        )
    };
    let map = present(request, "resource").filter(|raw| raw.kind() == Kind::Object).ok_or_else(refused)?;
    let text = |name| match map.get(name) {
        Ok(None) => Ok(Cow::default()),
        Ok(Some(raw)) if raw.is_null() => Ok(Cow::default()),
        Ok(Some(raw)) => raw.as_str().ok().flatten().ok_or_else(refused),
        Err(_) => Err(refused()),
    };
    let (group, version, resource) = (text("group")?, text("version")?, text("resource")?);
    if version.is_empty() || resource.is_empty() {
        return Err(refused());
    }
    let sub_resource = optional_string(request, "subResource")?.unwrap_or_default();
    Ok(Resource { group, version, resource, sub_resource })
}

/// `request.dryRun`; missing is false.
fn dry_run(request: &Members<'_>) -> Result<bool, Failure> {
    match present(request, "dryRun") {
        None => Ok(false),
        Some(raw) if raw.kind() == Kind::Bool => Ok(raw.text() == "true"),
        Some(raw) => {
            Err(Failure::bad_request(format!("request.dryRun: must be true or false, is {}", raw.kind())))
        }
    }
}
