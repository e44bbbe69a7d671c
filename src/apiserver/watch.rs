//! Watches.

use std::borrow::Cow;
use std::fmt::Debug;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{ApiResource, DynamicResourceScope};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Config};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use super::error::told;
use super::{ApiServer, Kind, Stored};

/// How much of the objects is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// The whole of them.
    Whole,
    /// Their metadata alone.
    Metadata,
}

/// What a watch sees.
#[derive(Debug)]
pub enum Event {
    /// What comes until [`Synced`](Self::Synced) is all there is. What was there before and is not among it is gone.
    Restarted,
    /// This is an object now. After [`Synced`](Self::Synced) it is new or has changed, or perhaps not.
    Applied(Stored),
    /// All that there was at some moment since [`Restarted`](Self::Restarted) has come.
    Synced,
    /// This object is gone; this is what it was last.
    Deleted(Stored),
    /// Nothing can be seen at the moment: why. It is tried again, later each time.
    Failed {
        /// Why, in one line.
        problem: String,
        /// The server does not serve that kind.
        not_served: bool,
        /// The server does not let us.
        forbidden: bool,
    },
}

/// How long a server lets a watch stand, and so how long a connection may be dead before that is noticed.
const WATCH_SECONDS: u32 = 120;

impl ApiServer {
    /// Watches all objects of a kind, for ever.
    pub fn watch(&self, kind: &Kind, what: Watched) -> BoxStream<'static, Event> {
        let resource = kind.for_kube();
        match what {
            Watched::Whole => events::<Stored>(Api::all_with(self.client.clone(), &resource)),
            Watched::Metadata => events::<MetadataOnly>(Api::all_with(self.client.clone(), &resource)),
        }
    }
}

/// The same object, watched by its metadata alone.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(transparent)]
struct MetadataOnly(Stored);

impl From<MetadataOnly> for Stored {
    fn from(MetadataOnly(stored): MetadataOnly) -> Self {
        stored
    }
}

impl Resource for MetadataOnly {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn metadata_api() -> bool {
        true
    }

    fn kind(kind: &ApiResource) -> Cow<'_, str> {
        Stored::kind(kind)
    }

    fn group(kind: &ApiResource) -> Cow<'_, str> {
        Stored::group(kind)
    }

    fn version(kind: &ApiResource) -> Cow<'_, str> {
        Stored::version(kind)
    }

    fn plural(kind: &ApiResource) -> Cow<'_, str> {
        Stored::plural(kind)
    }

    fn meta(&self) -> &ObjectMeta {
        self.0.meta()
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.0.meta_mut()
    }
}

fn events<K>(api: Api<K>) -> BoxStream<'static, Event>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + Into<Stored> + 'static,
{
    let config = Config::default().timeout(WATCH_SECONDS);
    let event = |seen: Result<watcher::Event<K>, watcher::Error>| match seen {
        Ok(watcher::Event::Init) => Event::Restarted,
        Ok(watcher::Event::InitApply(object) | watcher::Event::Apply(object)) => {
            Event::Applied(object.into())
        }
        Ok(watcher::Event::InitDone) => Event::Synced,
        Ok(watcher::Event::Delete(object)) => Event::Deleted(object.into()),
        Err(error) => {
            let code = code(&error);
            Event::Failed {
                problem: problem(&error),
                not_served: code == Some(404),
                forbidden: matches!(code, Some(401 | 403)),
            }
        }
    };
    watcher::watcher(api, config).default_backoff().map(event).boxed()
}

/// What the server answered with instead.
fn code(error: &watcher::Error) -> Option<u16> {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status)) => Some(status.code),
        _ => None,
    }
}

/// What is wrong, in the server's words where it has some.
fn problem(error: &watcher::Error) -> String {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => told(error),
        watcher::Error::WatchError(status) => {
            format!("{} ({} {})", status.message, status.code, status.reason)
        }
        watcher::Error::NoResourceVersion => error.to_string(),
    }
}
