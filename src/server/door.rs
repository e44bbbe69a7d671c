//! What the server serves: doors, each at its path.

use std::{fmt, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use bytes::Bytes;
use futures_util::{FutureExt as _, future::BoxFuture};
use http::StatusCode;

use super::status;

/// A request that has passed the server's own checks: a `POST` of JSON within the limits.
#[derive(Clone)]
pub struct Call {
    /// The whole body.
    pub body: Bytes,
    /// The arrival of the request plus its `?timeout=`.
    pub deadline: Option<Instant>,
    /// The segment of the path for `{...}`.
    pub target: Option<Box<str>>,
}

impl fmt::Debug for Call {
    /// Leaves out the body, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("bytes", &self.body.len())
            .field("deadline", &self.deadline)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// The reply of a door.
#[derive(Clone, Debug)]
pub struct DoorReply {
    /// The HTTP status.
    pub status: StatusCode,
    /// The body, JSON.
    pub body: Bytes,
    /// The operation, a label in metrics out of a closed set.
    pub operation: &'static str,
    /// The outcome, a label in metrics out of a closed set.
    pub outcome: &'static str,
}

impl DoorReply {
    /// The operation of a request that cannot be decoded.
    pub const UNKNOWN_OPERATION: &str = "unknown";

    /// An HTTP error with a `metav1.Status` body; `reason` is also the outcome.
    pub fn refusal(code: StatusCode, reason: &'static str, message: &str) -> Self {
        Self {
            status: code,
            body: status::body(code.as_u16(), reason, message).into(),
            operation: Self::UNKNOWN_OPERATION,
            outcome: reason,
        }
    }
}

/// Answers the requests on one path.
pub trait Door: Send + Sync + 'static {
    /// Answers `call`. After a panic the caller gets a 500 and the server continues. If the caller
    /// disconnects, the future is dropped.
    fn handle(&self, call: Call) -> BoxFuture<'_, DoorReply>;
}

/// The doors of a server, each at its path.
#[derive(Debug, Default)]
pub struct Doors {
    mounts: Vec<Mount>,
}

impl Doors {
    /// The same doors, and `door` for `POST path`. `name` is its label in metrics and logs.
    ///
    /// `path` is literal, except that a whole last segment in braces, as in `/mutate/{target}`, stands for
    /// any one segment, which the door gets as [`Call::target`].
    #[must_use]
    pub fn with(mut self, path: &str, name: &'static str, door: impl Door) -> Self {
        let (prefix, takes_target) = match path.rsplit_once('/') {
            Some((parent, last)) if last.starts_with('{') && last.ends_with('}') => {
                (format!("{parent}/"), true)
            }
            _ => (path.to_owned(), false),
        };
        self.mounts.push(Mount { prefix, takes_target, name, door: Arc::new(door) });
        self
    }

    /// The door at `path`, and the segment that stands for the one in braces.
    pub(super) fn find<'p>(&self, path: &'p str) -> Option<(&Mount, Option<&'p str>)> {
        self.mounts.iter().find_map(|mount| {
            let rest = path.strip_prefix(mount.prefix.as_str())?;
            if mount.takes_target {
                // Names of objects need no percent-encoding, so an encoded one is no name.
                let is_name = !rest.is_empty() && !rest.contains(['/', '%']);
                is_name.then_some((mount, Some(rest)))
            } else {
                rest.is_empty().then_some((mount, None))
            }
        })
    }
}

/// A door at its path.
pub(super) struct Mount {
    prefix: String,
    takes_target: bool,
    pub(super) name: &'static str,
    door: Arc<dyn Door>,
}

impl Mount {
    /// Calls the door. `None` after a panic.
    pub(super) async fn handle(&self, call: Call) -> Option<DoorReply> {
        // A door shares only atomics and locks, which stay sound after a panic. The outer block catches a
        // panic before the first await too.
        AssertUnwindSafe(async { self.door.handle(call).await }).catch_unwind().await.ok()
    }
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount")
            .field("prefix", &self.prefix)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Door for Nothing {
        fn handle(&self, _call: Call) -> BoxFuture<'_, DoorReply> {
            let reply =
                DoorReply { status: StatusCode::OK, body: Bytes::new(), operation: "none", outcome: "ok" };
            std::future::ready(reply).boxed()
        }
    }

    #[test]
    fn a_path_is_found_whole_or_not_at_all() {
        let doors = Doors::default().with("/interpret", "interpreter", Nothing).with(
            "/mutate/podchaperons/{target}",
            "podchaperons",
            Nothing,
        );
        let find = |path| doors.find(path).map(|(mount, target)| (mount.name, target));
        assert_eq!(find("/interpret"), Some(("interpreter", None)));
        assert_eq!(find("/mutate/podchaperons/eu"), Some(("podchaperons", Some("eu"))));
        for path in ["/", "/interpret/", "/interpret2", "/interpre", "/mutate/podchaperons/"] {
            assert_eq!(find(path), None, "{path}");
        }
        for path in ["/mutate/podchaperons", "/mutate/podchaperons/a/b", "/mutate/podchaperons/a%2Fb"] {
            assert_eq!(find(path), None, "{path}");
        }
    }
}
