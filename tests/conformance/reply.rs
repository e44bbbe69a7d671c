//! The bytes of an HTTP/1.1 reply, taken apart as strictly as the standard allows.

use std::fmt;

/// What a reply has to keep to. One of them is named wherever one is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Status line, headers, and a body of just the declared length.
    Http,
    /// Every answer to a readable envelope is a 200.
    HttpStatus,
    /// Answers are said to be JSON.
    ContentType,
    /// The header that makes Karmada's client try again by itself is never sent.
    RetryAfter,
    /// The body is one JSON document, an object.
    OneDocument,
    /// `apiVersion` and `kind`.
    TypeMeta,
    /// `response.uid` is that of the request.
    Uid,
    /// A failure says why, and carries nothing else.
    Failure,
    /// `replicas` is an integer.
    Replicas,
    /// `replicaRequirements` decodes into Karmada's type.
    Requirements,
    /// `patch` and `patchType` are there together.
    PatchPair,
    /// `patch` is standard base64 with padding.
    PatchEncoding,
    /// `patch` is an RFC 6902 document of the operations that reviser uses.
    PatchOperations,
    /// `patch` applies to the object of the request.
    PatchApplies,
    /// The patched object is still the same one.
    Identity,
    /// Of a Work only what is revised changes, and nothing that belongs to Karmada.
    Untouched,
    /// A warning is one short line.
    Warnings,
    /// What is no answer is an HTTP 5xx with a `metav1.Status` that says why.
    Fault,
}

/// A rule that a reply breaks, and what was found instead.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) rule: Rule,
    found: String,
}

impl Broken {
    pub(crate) fn new(rule: Rule, found: impl Into<String>) -> Self {
        Self { rule, found: found.into() }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "breaks the rule {:?}: {}", self.rule, self.found)
    }
}

/// A reply.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// Takes all the bytes of a connection apart, which have to be one reply and nothing else.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Broken> {
        let broken = |found: String| Broken::new(Rule::Http, found);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.ok_or_else(|| broken(format!("no end of the head in {} bytes", bytes.len())))?;
        let head = str::from_utf8(&bytes[..end]).map_err(|_| broken("a head that is not text".to_owned()))?;
        let body = bytes[end + 4..].to_vec();
        let mut lines = head.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.ok_or_else(|| broken(format!("the status line {first:?}")))?;
        let mut headers = Vec::new();
        for line in lines {
            let (name, value) = line.split_once(':').ok_or_else(|| broken(format!("the header {line:?}")))?;
            if name.is_empty() || name.contains(' ') || line.contains(['\r', '\n']) {
                return Err(broken(format!("the header {line:?}")));
            }
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let reply = Self { status, headers, body };
        let lengths = reply.values("content-length");
        if lengths != [reply.body.len().to_string()] || reply.header("transfer-encoding").is_some() {
            return Err(broken(format!("a body of {} bytes, declared as {lengths:?}", reply.body.len())));
        }
        Ok(reply)
    }

    /// The first value of a header, whose name is given in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.values(name).into_iter().next()
    }

    fn values(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
    }

    /// The rules that hold for every reply, whatever it says: it is JSON, and does not ask to be tried again.
    pub(crate) fn json(&self) -> Result<serde_json::Value, Broken> {
        if let Some(value) = self.header("retry-after") {
            return Err(Broken::new(Rule::RetryAfter, value));
        }
        if self.header("content-type") != Some("application/json") {
            return Err(Broken::new(Rule::ContentType, format!("{:?}", self.header("content-type"))));
        }
        let document: serde_json::Value = serde_json::from_slice(&self.body)
            .map_err(|error| Broken::new(Rule::OneDocument, error.to_string()))?;
        if !document.is_object() {
            return Err(Broken::new(Rule::OneDocument, document.to_string()));
        }
        Ok(document)
    }

    /// The message of a reply that is no answer to a uid: a `metav1.Status` that repeats the HTTP status.
    pub(crate) fn refusal(&self) -> Result<String, Broken> {
        let document = self.json()?;
        let right = document["kind"] == "Status"
            && document["apiVersion"] == "v1"
            && document["status"] == "Failure"
            && document["code"] == self.status
            && document["reason"].as_str().is_some_and(|reason| !reason.is_empty());
        let message = document["message"].as_str().filter(|message| right && !message.is_empty());
        let broken = || Broken::new(Rule::Fault, format!("{} {document}", self.status));
        message.map(str::to_owned).ok_or_else(broken)
    }
}
