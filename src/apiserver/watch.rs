//! Watches of all objects of a kind.
//!
//! The `watcher` of `kube` lists, watches, and restarts after errors and after 410 Gone. This module reports
//! the objects that are missing from a new list as deleted, so that callers handle neither relists nor lost
//! events.

use std::collections::BTreeSet;
use std::fmt::Debug;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use kube::core::{ApiResource, PartialObjectMeta};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Config};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use super::error::describe;
use super::{ApiServer, Kind, Stored};

/// The metadata of an object.
pub type StoredMetadata = PartialObjectMeta<Stored>;

/// The namespace and name of an object. The namespace is empty for a cluster-scoped kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectKey {
    pub namespace: String,
    pub name: String,
}

impl ObjectKey {
    pub fn of(object: &impl Resource) -> Self {
        let metadata = object.meta();
        Self {
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
        }
    }
}

/// What a watch reports.
#[derive(Debug)]
pub enum Event<K = Stored> {
    /// An object was created or changed, or is part of a list. It may be unchanged.
    Applied(K),
    /// An object was deleted.
    Deleted(ObjectKey),
    /// A list is complete: each object that existed was applied, and those that are gone were deleted.
    Synced,
    /// The server can't be watched. The watch goes on by itself, with exponential backoff.
    Failed {
        /// Why, in one line.
        problem: String,
        /// The server does not serve the kind.
        not_served: bool,
        /// The server refuses the request (401 or 403).
        forbidden: bool,
    },
}

/// How long the server keeps a watch open, which bounds how long a dead connection goes unnoticed.
const WATCH_SECONDS: u32 = 120;

impl ApiServer {
    /// Watches all objects of a kind. The stream never ends.
    pub fn watch(&self, kind: &Kind) -> BoxStream<'static, Event> {
        self.events(kind)
    }

    /// Watches the metadata of all objects of a kind. The stream never ends.
    pub fn watch_metadata(&self, kind: &Kind) -> BoxStream<'static, Event<StoredMetadata>> {
        self.events(kind)
    }

    fn events<K>(&self, kind: &Kind) -> BoxStream<'static, Event<K>>
    where
        K: Resource<DynamicType = ApiResource> + Clone + Debug + DeserializeOwned + Send + 'static,
    {
        let api = Api::<K>::all_with(self.client.clone(), &kind.for_kube());
        let events = watcher::watcher(api, Config::default().timeout(WATCH_SECONDS)).default_backoff();
        let mut known = KnownKeys::default();
        events.flat_map(move |event| stream::iter(known.events(event))).boxed()
    }
}

/// The objects that a watch has reported.
#[derive(Debug, Default)]
struct KnownKeys {
    all: BTreeSet<ObjectKey>,
    /// Objects that the current list has not reported yet.
    unlisted: BTreeSet<ObjectKey>,
}

impl KnownKeys {
    fn events<K: Resource>(&mut self, event: watcher::Result<watcher::Event<K>>) -> Vec<Event<K>> {
        match event {
            Ok(watcher::Event::Init) => {
                self.unlisted.clone_from(&self.all);
                Vec::new()
            }
            Ok(watcher::Event::InitApply(object) | watcher::Event::Apply(object)) => {
                let key = ObjectKey::of(&object);
                self.unlisted.remove(&key);
                self.all.insert(key);
                vec![Event::Applied(object)]
            }
            Ok(watcher::Event::InitDone) => {
                let deleted = std::mem::take(&mut self.unlisted);
                self.all.retain(|key| !deleted.contains(key));
                deleted.into_iter().map(Event::Deleted).chain([Event::Synced]).collect()
            }
            Ok(watcher::Event::Delete(object)) => {
                let key = ObjectKey::of(&object);
                self.all.remove(&key);
                vec![Event::Deleted(key)]
            }
            Err(error) => vec![failed(&error)],
        }
    }
}

fn failed<K>(error: &watcher::Error) -> Event<K> {
    let status =
        |status: &kube::core::Status| format!("{} ({} {})", status.message, status.code, status.reason);
    let (problem, code) = match error {
        watcher::Error::InitialListFailed(kube::Error::Api(refusal))
        | watcher::Error::WatchStartFailed(kube::Error::Api(refusal)) => (status(refusal), refusal.code),
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => (describe(error), 0),
        watcher::Error::WatchError(refusal) => (status(refusal), 0),
        watcher::Error::NoResourceVersion => (error.to_string(), 0),
    };
    Event::Failed { problem, not_served: code == 404, forbidden: matches!(code, 401 | 403) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str) -> Stored {
        serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop"}}}}"#)).unwrap()
    }

    fn report(known: &mut KnownKeys, event: watcher::Event<Stored>) -> String {
        let print = |event: Event| match event {
            Event::Applied(object) => format!("+{}", object.name()),
            Event::Deleted(key) => format!("-{}/{}", key.namespace, key.name),
            Event::Synced => "synced".to_owned(),
            Event::Failed { problem, .. } => problem,
        };
        known.events(Ok(event)).into_iter().map(print).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn objects_that_a_relist_does_not_show_are_deleted() {
        let mut known = KnownKeys::default();
        let mut report = |event| report(&mut known, event);
        assert_eq!(report(watcher::Event::Init), "");
        assert_eq!(report(watcher::Event::InitApply(object("a"))), "+a");
        assert_eq!(report(watcher::Event::InitApply(object("b"))), "+b");
        assert_eq!(report(watcher::Event::InitDone), "synced");
        assert_eq!(report(watcher::Event::Apply(object("c"))), "+c");
        assert_eq!(report(watcher::Event::Delete(object("b"))), "-shop/b");
        // A list that fails is started again.
        assert_eq!(report(watcher::Event::Init), "");
        assert_eq!(report(watcher::Event::InitApply(object("a"))), "+a");
        assert_eq!(report(watcher::Event::Init), "");
        assert_eq!(report(watcher::Event::InitApply(object("c"))), "+c");
        assert_eq!(report(watcher::Event::InitDone), "-shop/a synced");
        assert_eq!(report(watcher::Event::Init), "");
        assert_eq!(report(watcher::Event::InitDone), "-shop/c synced");
    }
}
