//! Works that Karmada creates without a binding: the door revises them without reading a binding.
//!
//! The Works of Namespaces are captured. Those of other kinds follow the source of Karmada's controllers.
//!
//! * `revised`: their revision, repeated writes, and changed and removed policies.
//! * `refused`: rules that need a schedule, and Works that have lost their binding.
//! * `elected`: what the elected replica touches.

mod elected;
mod refused;
mod revised;

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reviser::domain::{AllocationKey, Binding, ClusterName, Workload};
use reviser::engine::PolicySet;
use reviser::json::Value as Json;
use reviser::policy;
use reviser::service::Service;
use reviser::state::{Ledger, LedgerError, LookupError, Swap, TemplateLister};
use serde_json::{Value, json};

use crate::api::{Api, State, Written};
use crate::replay::capture;

/// The label that karmada#2236 asked for.
const NETWORK: &str = r#"{"name":"network","patch":{"type":"Merge","value":{"metadata":{"labels":{"topology.istio.io/network":"network-${cluster.name}"}}}}}"#;

/// A policy with these rules for one kind; no policy without rules.
fn policies(api_version: &str, kind: &str, rules: &[&str]) -> PolicySet {
    let text = format!(
        r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicy","metadata":{{"name":"p"}},"spec":{{
        "resourceSelectors":[{{"apiVersion":"{api_version}","kind":"{kind}"}}],
        "allocations":[{{"name":"lead"}}],"rules":[{}]}}}}"#,
        rules.join(",")
    );
    let documents =
        if rules.is_empty() { Vec::new() } else { vec![Json::parse(text.as_bytes()).unwrap().into_owned()] };
    policy::compile(&documents).unwrap()
}

/// A ledger in the annotations of bindings, where no binding exists.
#[derive(Debug)]
struct OnBindings;

fn no_binding() -> LedgerError {
    LedgerError { action: "find it".to_owned(), source: "there is no binding".into() }
}

impl Ledger for OnBindings {
    fn is_on_bindings(&self) -> bool {
        true
    }

    fn read<'a>(
        &'a self,
        _: &'a AllocationKey,
        _: Option<&'a Binding>,
    ) -> BoxFuture<'a, Result<Option<ClusterName>, LedgerError>> {
        std::future::ready(Err(no_binding())).boxed()
    }

    fn compare_and_swap<'a>(
        &'a self,
        _: &'a AllocationKey,
        _: Option<&'a Binding>,
        _: Option<&'a ClusterName>,
        _: &'a ClusterName,
    ) -> BoxFuture<'a, Result<Swap, LedgerError>> {
        std::future::ready(Err(no_binding())).boxed()
    }
}

/// A service without bindings, Works and ledger.
fn service(policies: PolicySet) -> Service {
    Service::new(policies, Arc::new(OnBindings))
}

/// An API server whose door has no bindings and Works.
fn api(policies: PolicySet) -> Api {
    Api::new(State::default(), service(policies))
}

/// A template lister that returns one object for every workload.
#[derive(Debug)]
struct Template(String);

impl TemplateLister for Template {
    fn template<'a>(&'a self, _: &'a Workload) -> BoxFuture<'a, Result<Option<String>, LookupError>> {
        std::future::ready(Ok(Some(self.0.clone()))).boxed()
    }
}

/// The `object` of the captured review of a Namespace for `cluster-x` or `cluster-z`, without what only an
/// API server writes.
fn namespace(cluster: &str) -> Value {
    let body = capture(&format!("work-create-namespace-{cluster}"));
    let mut review: Value = serde_json::from_str(&body).unwrap();
    let mut work = review["request"]["object"].take();
    work["metadata"].as_object_mut().unwrap().remove("managedFields");
    work.as_object_mut().unwrap().remove("status");
    work
}

/// A Work of this manifest as Karmada's `CreateOrUpdateWork` creates it.
fn work(manifest: &Value) -> Value {
    json!({"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work",
        "metadata": {"name": "w", "finalizers": ["karmada.io/execution-controller"]},
        "spec": {"workload": {"manifests": [manifest]}}})
}

/// A quota as `federatedResourceQuotaSync` creates it from a `FederatedResourceQuota`.
fn quota() -> Value {
    let mut work = work(&json!({"apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "shop", "labels": {"karmada.io/managed": "true"},
            "annotations": {"work.karmada.io/name": "w"}},
        "spec": {"hard": {"cpu": "4"}}, "status": {}}));
    work["metadata"]["labels"] = json!({"federatedresourcequota.karmada.io/name": "team",
        "federatedresourcequota.karmada.io/namespace": "shop"});
    work
}

/// The Work of an `EndpointSlice` of `cluster-a` for a `MultiClusterService`: collected there, or dispatched
/// to others.
fn endpoint_slice(is_collected: bool) -> Value {
    let mut work = work(&json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": "web-1", "namespace": "shop", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}]}));
    let manifest = &mut work["spec"]["workload"]["manifests"][0]["metadata"];
    if is_collected {
        // A member mirrors the labels of the Service.
        manifest["labels"]["resourcebinding.karmada.io/permanent-id"] = "i".into();
        work["spec"]["suspendDispatching"] = true.into();
    } else {
        manifest["name"] = "cluster-a-web-1".into();
        manifest["annotations"] = json!({"endpointslice.karmada.io/provision-cluster": "cluster-a"});
        work["metadata"]["annotations"] = json!({"endpointslice.karmada.io/provision-cluster": "cluster-a"});
    }
    work
}

/// Updates a Work as Karmada does: it replaces the spec, and keeps annotations and labels of others.
fn karmada_writes(api: &Api, cluster: &str, work: &Value) -> Written {
    let stored = api.state.lock().works.get(cluster).cloned();
    let mut next = work.clone();
    if let Some(stored) = stored {
        for kind in ["annotations", "labels"] {
            for (key, value) in stored["metadata"][kind].as_object().into_iter().flatten() {
                if next["metadata"][kind].get(key).is_none() {
                    next["metadata"][kind][key] = value.clone();
                }
            }
        }
    }
    api.put(cluster, next)
}

fn stored(api: &Api, cluster: &str) -> Value {
    api.state.lock().works[cluster].clone()
}

/// The stored Work if reviser is not installed.
fn as_written(work: &Value) -> Value {
    let mut work = work.clone();
    crate::api::mutating_config(&mut work);
    work
}

fn manifest(work: &Value) -> &Value {
    &work["spec"]["workload"]["manifests"][0]
}
