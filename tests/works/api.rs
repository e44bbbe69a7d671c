//! A simulated API server with Works and bindings.
//! Every write of a Work goes through the real door as an `AdmissionReview`; `json-patch` applies the reply.
//! Then `mutating-config` of Karmada is simulated, and a write without changes is dropped, as by a real API
//! server.

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

/// The stored objects.
#[derive(Default)]
pub(crate) struct Stored {
    /// `spec.clusters` of the binding, if there is one.
    pub(crate) binding: Option<Vec<(String, i64)>>,
    /// The Works, by cluster.
    pub(crate) works: BTreeMap<String, Value>,
}

/// The stored objects, shared with the service.
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

/// The result of a write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Stored,
    /// It changes nothing.
    Dropped,
    Refused(String),
}

pub(crate) struct Api {
    pub(crate) state: State,
    pub(crate) door: Works,
}

impl Api {
    pub(crate) fn new(state: State, service: Service) -> Self {
        Self { state, door: door(service) }
    }

    /// Replaces the server process.
    pub(crate) fn restart_reviser(&mut self, service: Service) {
        self.door = door(service);
    }

    /// Stores a new or changed Work if the door allows it.
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

    /// Returns the object as it would be stored.
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

/// The changes of Karmada's `mutating-config` webhook: permanent ids, and lists of the labels and
/// annotations.
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
