//! An API server that holds Works and bindings.
//!
//! Every write of a Work goes through the real door, with a real `AdmissionReview`; what it answers is applied by `json-patch`.
//! Then comes what Karmada's `mutating-config` does, and a write that changes nothing is dropped, as a real one does it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use reviser::domain::{Binding, BindingName, ClusterName, Delivery, Schedule, TargetCluster, Workload};
use reviser::doors::{RevisionMetrics, Works};
use reviser::json::Text;
use reviser::server::{Call, Door as _};
use reviser::service::Service;
use reviser::state::{BindingLister, BindingLookup, LookupError, WorkLister};
use reviser::work::Work;
use serde_json::{Value, json};

/// What is stored.
#[derive(Default)]
pub(crate) struct Stored {
    /// `spec.clusters` of the binding, if there is one.
    pub(crate) binding: Option<Vec<(String, i64)>>,
    /// The Works, by cluster.
    pub(crate) works: BTreeMap<String, Value>,
}

/// The part that the service reads.
#[derive(Clone, Default)]
pub(crate) struct State(Arc<Mutex<Stored>>);

impl State {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Stored> {
        self.0.lock().unwrap()
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State")
    }
}

impl BindingLister for State {
    fn find<'a>(
        &'a self,
        _: &'a Workload,
        _: Option<&'a BindingName>,
    ) -> BoxFuture<'a, Result<BindingLookup, LookupError>> {
        let found = self.lock().binding.as_ref().map_or(BindingLookup::Gone, |clusters| {
            let target = |(name, replicas): &(String, i64)| TargetCluster {
                name: ClusterName::new(name.clone()).unwrap(),
                replicas: *replicas,
            };
            let schedule = Schedule::new(clusters.iter().map(target).collect()).unwrap();
            BindingLookup::Found(Binding {
                namespace: "shop".into(),
                name: "b".into(),
                schedule,
                preserves: false,
                stored: None,
            })
        });
        ready(Ok(found)).boxed()
    }
}

impl WorkLister for State {
    fn delivering<'a>(
        &'a self,
        workload: &'a Workload,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<Delivery>, LookupError>> {
        let delivery = |(cluster, work): (&String, &Value)| {
            let text = work.to_string();
            let text = Text::parse(text.as_bytes()).unwrap();
            Work::read(text.root()).unwrap().delivery(&ClusterName::new(cluster.clone()).unwrap(), workload)
        };
        ready(Ok(self.lock().works.iter().filter_map(delivery).collect())).boxed()
    }
}

/// What came of a write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Stored,
    /// It would have changed nothing.
    Dropped,
    Refused(String),
}

/// The API server.
pub(crate) struct Api {
    pub(crate) state: State,
    pub(crate) door: Works,
}

impl Api {
    pub(crate) fn new(state: State, service: Service) -> Self {
        Self { state, door: door(service) }
    }

    /// Another process answers from now on.
    pub(crate) fn restart_reviser(&mut self, service: Service) {
        self.door = door(service);
    }

    /// Stores a Work, new or changed, if the door lets it.
    pub(crate) fn put(&self, cluster: &str, object: Value) -> Written {
        let old = self.state.lock().works.get(cluster).cloned();
        match self.admit(cluster, object, old.as_ref(), false) {
            Err(refusal) => Written::Refused(refusal),
            Ok(work) if Some(&work) == old.as_ref() => Written::Dropped,
            Ok(work) => {
                self.state.lock().works.insert(cluster.to_owned(), work);
                Written::Stored
            }
        }
    }

    /// What would be stored.
    pub(crate) fn admit(
        &self,
        cluster: &str,
        mut object: Value,
        old: Option<&Value>,
        dry_run: bool,
    ) -> Result<Value, String> {
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "u", "kind": {"group": "work.karmada.io", "version": "v1alpha1", "kind": "Work"},
            "resource": {"group": "work.karmada.io", "version": "v1alpha1", "resource": "works"},
            "name": "w", "namespace": format!("karmada-es-{cluster}"), "dryRun": dry_run,
            "operation": if old.is_some() { "UPDATE" } else { "CREATE" }, "object": object, "oldObject": old,
        }});
        let call = Call { body: review.to_string().into(), deadline: None, target: None };
        let reply = self.door.handle(call).now_or_never().expect("everything is in memory");
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        if reply.status != 200 {
            return Err(body["message"].as_str().unwrap().to_owned());
        }
        let response = &body["response"];
        if response["allowed"] != true {
            return Err(response["status"]["message"].as_str().unwrap().to_owned());
        }
        if let Some(patch) = response["patch"].as_str() {
            use base64::Engine as _;
            let patch = base64::engine::general_purpose::STANDARD.decode(patch).unwrap();
            let patch: json_patch::Patch = serde_json::from_slice(&patch).unwrap();
            json_patch::patch(&mut object, &patch).unwrap();
        }
        mutating_config(&mut object);
        Ok(object)
    }
}

fn door(service: Service) -> Works {
    Works::new(Arc::new(service), RevisionMetrics::default())
}

/// What Karmada's own webhook does to a Work after us: permanent ids, and lists of the labels and annotations.
pub(crate) fn mutating_config(work: &mut Value) {
    work["metadata"]["labels"]["work.karmada.io/permanent-id"] = "id".into();
    for manifest in work["spec"]["workload"]["manifests"].as_array_mut().unwrap() {
        let metadata = &mut manifest["metadata"];
        metadata["annotations"]["resourcetemplate.karmada.io/managed-annotations"] = "".into();
        let keys: Vec<&str> =
            metadata["annotations"].as_object().unwrap().keys().map(String::as_str).collect();
        metadata["annotations"]["resourcetemplate.karmada.io/managed-annotations"] = keys.join(",").into();
    }
}
