//! What both protocols share: the envelope `{apiVersion, kind, request: {uid, ...}}`, and a reply that
//! repeats the uid.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::domain::{Code, Failure};
use crate::json::{Kind, MAX_DEPTH, Members, ParseError, Raw, Text, write_string};
use crate::patch::Patch;
use crate::server::DoorReply;

/// The operation of a request that names none of its protocol.
pub(super) const UNKNOWN_OPERATION: &str = DoorReply::UNKNOWN_OPERATION;

/// The part of a request that its reply, its log line and its metrics need.
#[derive(Clone, Debug)]
pub struct Head<'a> {
    /// The uid that the reply repeats.
    pub uid: Cow<'a, str>,
    /// The operation, or `unknown`: a label out of a closed set.
    pub operation: &'static str,
    /// The object's identity in the envelope. Empty where a member is missing.
    pub kind: Cow<'a, str>,
    pub namespace: Cow<'a, str>,
    pub name: Cow<'a, str>,
    /// The target cluster, in a protocol that names it.
    pub cluster: Cow<'a, str>,
    /// `None` in a protocol without dry runs.
    pub dry_run: Option<bool>,
}

/// A decoded request: its head, and its content or what is wrong with that.
#[derive(Clone, Debug)]
pub struct Decoded<'a, T> {
    pub head: Head<'a>,
    pub content: Result<T, Failure>,
}

/// The body is not JSON, is not an envelope, or has no uid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

impl Unreadable {
    pub(in crate::doors) fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }

    fn not_a(kind: &str, error: &ParseError) -> Self {
        Self(format!("the body is no {kind}: {error}"))
    }
}

/// Parses a body.
pub(super) fn parse<'a>(body: &'a [u8], kind: &str) -> Result<Text<'a>, Unreadable> {
    Text::parse(body).map_err(|error| Unreadable::not_a(kind, &error))
}

/// The members of the envelope.
pub(super) fn open<'a>(body: &'a Text<'_>, kind: &str) -> Result<Members<'a>, Unreadable> {
    body.root().members().map_err(|error| Unreadable::not_a(kind, &error))
}

/// The members of the request in an envelope, and its uid.
pub(super) fn request<'a>(
    envelope: &Members<'a>,
    kind: &str,
) -> Result<(Members<'a>, Cow<'a, str>), Unreadable> {
    if envelope.count("request") > 1 {
        return Err(Unreadable::new("the body has the member \"request\" twice"));
    }
    let Some(request) = envelope.get("request").filter(|request| request.kind() == Kind::Object) else {
        return Err(Unreadable(format!("the body is no {kind}: it has no `request` that is a map")));
    };
    let request = request.members().map_err(|error| Unreadable::not_a(kind, &error))?;
    match (request.count("uid"), request.get("uid").map(|uid| uid.as_str())) {
        (1, Some(Ok(Some(uid)))) if !uid.is_empty() => Ok((request, uid)),
        _ => Err(Unreadable::new("`request.uid` must be there once, a string that is not empty")),
    }
}

/// Compares `apiVersion` or `kind` with its expected value.
pub(super) fn expect(envelope: &Members<'_>, name: &str, expected: &str) -> Result<(), String> {
    let found = envelope.get(name);
    if found.and_then(|raw| raw.as_str().ok()?).as_deref() == Some(expected) {
        return Ok(());
    }
    let found = found.map_or_else(|| "missing".to_owned(), |raw| clip(raw.text()));
    Err(format!("{name}: must be {expected:?}, is {found}"))
}

/// Refuses repeated names in the envelope. Those in `objects` are checked where the objects are read.
pub(super) fn check_names(body: &Raw<'_>, request: &Members<'_>, objects: &[&str]) -> Result<(), Failure> {
    let Err(error) = body.check_names() else { return Ok(()) };
    let in_object = |name: &str| request.get(name).is_some_and(|object| object.check_names().is_err());
    if objects.iter().any(|name| in_object(name)) {
        return Ok(());
    }
    Err(Failure::bad_request(format!("{error}; send it once")))
}

/// Adds the object's identity to a failure about the object.
pub(super) fn about_object(failure: Failure, head: &Head<'_>) -> Failure {
    let Head { kind, name, cluster, .. } = head;
    if failure.code() != Code::Unprocessable || kind.is_empty() || name.is_empty() {
        return failure;
    }
    if cluster.is_empty() {
        return failure.context(format_args!("{kind}/{name}"));
    }
    failure.context(format_args!("{kind}/{name} cluster {cluster:?}"))
}

/// A member that is there and not null.
pub(super) fn present<'a>(members: &Members<'a>, name: &str) -> Option<Raw<'a>> {
    members.get(name).filter(|raw| !raw.is_null())
}

/// A member for the log: empty if it is no string.
pub(super) fn string_or_empty<'a>(members: &Members<'a>, name: &str) -> Cow<'a, str> {
    members.get(name).and_then(|raw| raw.as_str().ok()?).unwrap_or_default()
}

/// `request.kind.kind` for the log: empty if it is no string.
pub(super) fn kind_or_empty<'a>(request: &Members<'a>) -> Cow<'a, str> {
    let kind = request.get("kind").and_then(|kind| kind.get("kind").ok()?);
    kind.and_then(|raw| raw.as_str().ok()?).unwrap_or_default()
}

/// The name of an object, or the `generateName` of an object without a name.
pub(super) fn object_name<'a>(object: &Raw<'a>) -> Option<Cow<'a, str>> {
    let metadata = object.get("metadata").ok()??;
    let field = |name| metadata.get(name).ok()??.as_str().ok()?.filter(|text| !text.is_empty());
    field("name").or_else(|| field("generateName"))
}

/// A required string member of the request.
pub(super) fn string<'a>(request: &Members<'a>, name: &str) -> Result<Cow<'a, str>, Failure> {
    optional_string(request, name)?
        .ok_or_else(|| Failure::bad_request(format!("request.{name}: is missing; send it")))
}

/// An optional string member of the request; null counts as missing.
pub(super) fn optional_string<'a>(
    request: &Members<'a>,
    name: &str,
) -> Result<Option<Cow<'a, str>>, Failure> {
    let refused = |problem: String| Failure::bad_request(format!("request.{name}: {problem}"));
    let Some(raw) = present(request, name) else { return Ok(None) };
    match raw.as_str() {
        Ok(Some(text)) => Ok(Some(text)),
        Ok(None) => Err(refused(format!("must be a string, is {}", raw.kind()))),
        Err(error) => Err(refused(error.to_string())),
    }
}

/// An object in the request: a map without repeated names, at most [`MAX_DEPTH`] levels deep.
pub(super) fn map<'a>(raw: Raw<'a>, name: &str) -> Result<Raw<'a>, Failure> {
    if raw.kind() != Kind::Object {
        return Err(Failure::unprocessable(format!(
            "request.{name}: must be a map, is {}; send one object",
            raw.kind()
        )));
    }
    raw.check_names()
        .map_err(|error| Failure::unprocessable(format!("request.{name}: {error}; fix the object")))?;
    if raw.depth() > MAX_DEPTH {
        let error = ParseError::TooDeep { depth: raw.depth() };
        return Err(Failure::unprocessable(format!("request.{name}: {error}; send a flatter object")));
    }
    Ok(raw)
}

/// The first characters of a caller's text, for a message.
pub(super) fn clip(text: &str) -> String {
    const LENGTH: usize = 60;
    let mut clipped: String = text.chars().take(LENGTH).collect();
    if clipped.len() < text.len() {
        clipped.push_str("...");
    }
    clipped
}

/// The beginning of a reply, including the uid. The caller appends members, each with a comma before it, and
/// `}}`.
pub(super) fn begin_reply(api_version: &str, kind: &str, uid: &str) -> String {
    let mut out = String::with_capacity(512);
    out.push_str(r#"{"apiVersion":""#);
    out.push_str(api_version);
    out.push_str(r#"","kind":""#);
    out.push_str(kind);
    out.push_str(r#"","response":{"uid":"#);
    write_string(uid, &mut out);
    out
}

/// Appends `patchType` and `patch`.
pub(super) fn write_patch(patch: &Patch<'_>, out: &mut String) {
    out.push_str(r#","patchType":"JSONPatch","patch":""#);
    STANDARD.encode_string(patch.to_text(), out);
    out.push('"');
}
