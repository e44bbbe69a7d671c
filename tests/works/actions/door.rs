//! Passes a Work through the door, and then through Karmada's webhook.

use std::cell::Cell;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use reviser::domain::{Cluster, ClusterName};
use reviser::doors::{WorkReview, review_work};
use reviser::engine::PolicySet;
use reviser::json::{Object, Pointer, Text, Value};
use reviser::patch::rfc6902::{self, MissingPath};
use reviser::service::Service;
use reviser::state::memory::MemoryLedger;
use reviser::state::{ClusterLister, LookupError};

use crate::api::State;

/// The door with a policy set.
pub(crate) struct Door {
    service: Service,
    skipped: Cell<bool>,
}

impl Door {
    pub(crate) fn new(policies: &PolicySet) -> Self {
        let state = State::default();
        state.lock().binding = Some(vec![("x".to_owned(), 2), ("z".to_owned(), 3)]);
        let service = Service::new(policies.clone(), Arc::new(MemoryLedger::default()))
            .with_state(Arc::new(state.clone()), Arc::new(state))
            .with_clusters(Arc::new(Known));
        Self { service, skipped: Cell::new(false) }
    }

    /// Whether a rule has been skipped.
    pub(crate) fn skipped(&self) -> bool {
        self.skipped.get()
    }

    /// Returns the patch, or the message of the refusal.
    pub(crate) fn patch(&self, object: &str, old: Option<&str>) -> Result<String, String> {
        let text = Text::parse(object.as_bytes()).unwrap();
        let old = old.map(|old| Text::parse(old.as_bytes()).unwrap());
        let review = WorkReview {
            namespace: "karmada-es-x",
            object: text.root(),
            stored: old.as_ref().map(Text::root),
            dry_run: false,
        };
        let outcome = review_work(&self.service, review, None).now_or_never().unwrap();
        self.skipped.set(self.skipped.get() || outcome.skipped > 0);
        outcome.result.map(|patch| patch.to_text()).map_err(|failure| failure.message())
    }

    /// Returns the object as it would be stored.
    pub(crate) fn admit(&self, object: &str, old: Option<&str>) -> Result<String, String> {
        let patch = self.patch(object, old)?;
        let (object, patch) = (value(object), value(&patch));
        let patched = rfc6902::apply(&object, &rfc6902::parse(&patch).unwrap(), MissingPath::Fail).unwrap();
        Ok(sorted(&mutating_config(patched)).to_string())
    }
}

/// The registered clusters.
#[derive(Debug)]
struct Known;

impl ClusterLister for Known {
    fn known<'a>(
        &'a self,
        name: &'a ClusterName,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Cluster>, LookupError>> {
        let cluster = Cluster {
            name: name.clone(),
            labels: [("tier".to_owned(), "gold".to_owned())].into(),
            provider: None,
            region: Some("eu".to_owned()),
            zones: vec!["eu-1".to_owned()],
        };
        ready(Ok(Some(cluster))).boxed()
    }
}

/// A Work as Karmada creates it, with sorted maps.
pub(crate) fn work(manifest: &str) -> String {
    let work = format!(
        r#"{{"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{{"name":"w","namespace":"karmada-es-x","annotations":{{"resourcebinding.karmada.io/name":"b","resourcebinding.karmada.io/namespace":"shop"}}}},"spec":{{"workload":{{"manifests":[{manifest}]}}}}}}"#
    );
    sorted(&value(&work)).to_string()
}

/// The stored Work without any policy.
pub(crate) fn written(work: &str) -> String {
    sorted(&mutating_config(value(work))).to_string()
}

/// The stored Work with a user's label added.
pub(crate) fn labelled(work: &str) -> String {
    let mut work = value(work).into_owned();
    map(&mut work, &["metadata", "labels"]).insert("touched", "1".into());
    sorted(&work).to_string()
}

/// Karmada overwrites the manifest and keeps the annotations of the stored Work.
pub(crate) fn rewritten_by_karmada(new: &str, stored: &str) -> String {
    let annotations =
        value(stored).at(&Pointer::of(["metadata", "annotations"])).unwrap().clone().into_owned();
    let labels = value(stored).at(&Pointer::of(["metadata", "labels"])).unwrap().clone().into_owned();
    let mut new = value(new).into_owned();
    let metadata = map(&mut new, &["metadata"]);
    metadata.insert("annotations", annotations);
    metadata.insert("labels", labels);
    sorted(&new).to_string()
}

fn value(text: &str) -> Value<'_> {
    Value::parse(text.as_bytes()).unwrap()
}

/// The map at a path, created if it is missing.
fn map<'v, 'a>(value: &'v mut Value<'a>, path: &[&str]) -> &'v mut Object<'a> {
    let mut object = value.object_mut().unwrap();
    for name in path {
        if object.get(name).is_none_or(Value::is_null) {
            object.insert((*name).to_owned(), Value::empty_object());
        }
        object = object.get_mut(name).unwrap().object_mut().unwrap();
    }
    object
}

/// The changes of Karmada's `mutating-config` webhook: permanent ids, and lists of the labels and
/// annotations.
fn mutating_config(mut work: Value<'_>) -> Value<'_> {
    map(&mut work, &["metadata", "labels"]).insert("work.karmada.io/permanent-id", "id".into());
    let workload = map(&mut work, &["spec", "workload"]);
    for manifest in workload.get_mut("manifests").unwrap().array_mut().unwrap() {
        map(manifest, &["metadata", "labels"]).insert("work.karmada.io/permanent-id", "id".into());
        let keys = |object: &Object<'_>| {
            let mut keys: Vec<&str> = object.iter().map(|(key, _)| key).collect();
            keys.sort_unstable();
            keys.join(",")
        };
        let labels = keys(map(manifest, &["metadata", "labels"]));
        let annotations = map(manifest, &["metadata", "annotations"]);
        annotations.insert("resourcetemplate.karmada.io/managed-labels", labels.into());
        annotations.insert("resourcetemplate.karmada.io/managed-annotations", "".into());
        let listed = keys(annotations);
        annotations.insert("resourcetemplate.karmada.io/managed-annotations", listed.into());
    }
    work
}

/// The value with all maps sorted by name, as an API server stores them.
fn sorted(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Array(items) => Value::array(items.iter().map(sorted).collect()),
        Value::Object(object) => {
            let mut members: Vec<_> =
                object.iter().map(|(name, value)| (name.to_owned(), sorted(value))).collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(members.into_iter().collect())
        }
        other => other.clone().into_owned(),
    }
}
