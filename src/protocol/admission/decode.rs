//! Bytes to a review.

use std::borrow::Cow;

use super::{API_VERSION, KIND};
use crate::domain::Failure;
use crate::json::{Kind, Members, Raw, Text};
use crate::protocol::envelope::{
    self, Unreadable, about_object, check_names, clip, map, optional_string, present, said, said_kind, string,
};

/// The label of an operation that does not exist.
const UNKNOWN: &str = "unknown";

/// The members of a request that are objects of users.
const OBJECTS: &[&str] = &["object", "oldObject"];

/// The members of a request that a review is made of, and the log line.
const READ: &[&str] =
    &["kind", "resource", "subResource", "name", "namespace", "operation", "object", "oldObject", "dryRun"];

/// What is known of a request once its uid is.
#[derive(Clone, Debug)]
pub struct Head<'a> {
    /// The uid, to be echoed.
    pub uid: Cow<'a, str>,
    /// The operation's name, `unknown` if there is no such operation: a label out of a closed set.
    pub operation: &'static str,
    /// What the envelope says about the object, for the log; empty where it says nothing.
    pub subject: Subject<'a>,
    /// Whether the envelope says that this is a dry run, for the log.
    pub dry_run: bool,
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
}

/// A request.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// Whom to answer.
    pub head: Head<'a>,
    /// What is asked, or what is wrong with it: always a failure to deny with.
    pub review: Result<Review<'a>, Failure>,
}

/// May this be written?
#[derive(Clone, Debug)]
pub struct Review<'a> {
    /// What is done.
    pub operation: Operation,
    /// What it is done to, as the webhook configuration's rules name it.
    pub resource: Resource<'a>,
    /// The object's namespace; empty for a cluster-scoped object.
    pub namespace: Cow<'a, str>,
    /// The object's name; its `generateName` while the API server has not made a name out of that.
    pub name: Cow<'a, str>,
    /// The object to be written: a map, no name in it twice, at most [`MAX_DEPTH`](crate::json::MAX_DEPTH) levels
    /// deep. `None` on DELETE.
    pub object: Option<Raw<'a>>,
    /// The object as it is stored, with the same promises. `None` on CREATE, and if it does not keep them.
    pub old_object: Option<Raw<'a>>,
    /// Whether nothing may come of the request but its answer.
    pub dry_run: bool,
}

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// It is new.
    Create,
    /// It takes the place of the stored one.
    Update,
    /// It goes.
    Delete,
    /// A connection to it is opened, such as a proxy or a shell.
    Connect,
}

impl Operation {
    const ALL: [Self; 4] = [Self::Create, Self::Update, Self::Delete, Self::Connect];

    /// The name on the wire.
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

/// A resource of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource<'a> {
    /// API group; empty for the core group.
    pub group: Cow<'a, str>,
    /// Version, for instance `v1alpha1`.
    pub version: Cow<'a, str>,
    /// The plural, for instance `works`.
    pub resource: Cow<'a, str>,
    /// For instance `status`; empty for the resource itself.
    pub sub_resource: Cow<'a, str>,
}

/// Checks a request body.
pub fn parse(body: &[u8]) -> Result<Text<'_>, Unreadable> {
    envelope::parse(body, KIND)
}

/// Reads a request.
pub fn decode<'a>(text: &'a Text<'_>) -> Result<Decoded<'a>, Unreadable> {
    let envelope = envelope::open(text, KIND)?;
    check_envelope(&envelope)?;
    let (request, uid) = envelope::request(&envelope, KIND)?;
    let subject = Subject {
        kind: said_kind(&request),
        namespace: said(&request, "namespace"),
        name: named(&request, said(&request, "name")),
    };
    let operation = Operation::of(&said(&request, "operation")).map_or(UNKNOWN, Operation::name);
    let head = Head { uid, operation, subject, dry_run: dry_run(&request).unwrap_or_default() };
    let review = check_names(&text.root(), &request, OBJECTS)
        .and_then(|()| check_read(&text.root(), &request))
        .and_then(|()| review(&request))
        .map_err(|failure| about_object(failure, &head.subject.kind, &head.subject.name, ""));
    Ok(Decoded { head, review })
}

/// A review of another version can't be answered: the reply would have to be of that version too.
fn check_envelope(envelope: &Members<'_>) -> Result<(), Unreadable> {
    for (name, expected, advice) in [
        ("kind", KIND, "send an AdmissionReview"),
        (
            "apiVersion",
            API_VERSION,
            "put `admissionReviewVersions: [v1]` into the webhook configuration, no other version is spoken",
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

/// Refuses what is there twice and is read here, also where an object that is not read has such a name before it.
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
        name: named(request, optional_string(request, "name")?.unwrap_or_default()),
        dry_run: dry_run(request)?,
        object: present(request, "object").map(|object| map(object, "object")).transpose()?,
        old_object: present(request, "oldObject").and_then(|old| map(old, "oldObject").ok()),
    })
}

/// What `said` says, or what the object does if that is nothing.
fn named<'a>(request: &Members<'a>, said: Cow<'a, str>) -> Cow<'a, str> {
    if !said.is_empty() {
        return said;
    }
    request.get("object").and_then(|object| envelope::object_name(&object)).unwrap_or_default()
}

/// `request.resource`: `{group, version, resource}`, the group empty for the core group; and `request.subResource`.
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
