//! The revision of Works without a binding.

use serde_json::{Value, json};

use super::{
    NETWORK, Template, api, as_written, endpoint_slice, karmada_writes, manifest, namespace, policies, quota,
    service, stored, work,
};
use crate::api::Written;

const LABEL: &str = "/metadata/labels/topology.istio.io~1network";

fn network(work: &Value) -> Option<&str> {
    manifest(work).pointer(LABEL).and_then(Value::as_str)
}

#[test]
fn a_captured_namespace_is_labelled_with_its_cluster_and_stored_once() {
    let mut api = api(policies("v1", "Namespace", &[NETWORK]));
    for cluster in ["cluster-x", "cluster-z"] {
        let written = namespace(cluster);
        assert_eq!(api.put(cluster, written.clone()), Written::Stored);
        let revised = stored(&api, cluster);
        assert_eq!(network(&revised), Some(format!("network-{cluster}").as_str()));
        assert!(revised["metadata"]["annotations"]["reviser.io/revision"].is_string(), "{revised}");
        assert!(manifest(&revised)["metadata"]["annotations"]["reviser.io/revised"].is_string());
        // All other fields are Karmada's.
        let mut rest = revised.clone();
        rest["metadata"].as_object_mut().unwrap().remove("annotations");
        let rest_of_manifest = &mut rest["spec"]["workload"]["manifests"][0]["metadata"];
        rest_of_manifest["labels"].as_object_mut().unwrap().remove("topology.istio.io/network");
        rest_of_manifest["annotations"].as_object_mut().unwrap().remove("reviser.io/revised");
        assert_eq!(as_written(&rest), as_written(&written));
        // Karmada's next reconcile, a touch and a label of a user keep the revision.
        assert_eq!(karmada_writes(&api, cluster, &written), Written::Dropped);
        assert_eq!(api.put(cluster, revised.clone()), Written::Dropped);
        let mut labelled = revised.clone();
        labelled["metadata"]["labels"]["who"] = "me".into();
        assert_eq!(api.put(cluster, labelled), Written::Stored);
        assert_eq!(stored(&api, cluster)["spec"], revised["spec"]);
    }
    // Another policy revises Karmada's manifest.
    let tier = r#"{"name":"tier","patch":{"type":"Merge","value":{"metadata":{"labels":{"tier":"${cluster.name}"}}}}}"#;
    api.restart_reviser(service(policies("v1", "Namespace", &[tier])));
    assert_eq!(api.put("cluster-x", stored(&api, "cluster-x")), Written::Stored);
    let revised = stored(&api, "cluster-x");
    assert_eq!(
        (network(&revised), &manifest(&revised)["metadata"]["labels"]["tier"]),
        (None, &json!("cluster-x"))
    );
    // Without a policy Karmada's manifest is restored.
    api.restart_reviser(service(policies("v1", "Namespace", &[])));
    for cluster in ["cluster-x", "cluster-z"] {
        assert_eq!(api.put(cluster, stored(&api, cluster)), Written::Stored);
        let mut undone = stored(&api, cluster);
        undone["metadata"]["labels"].as_object_mut().unwrap().remove("who");
        assert_eq!(undone, as_written(&namespace(cluster)));
        assert_eq!(api.put(cluster, stored(&api, cluster)), Written::Dropped);
    }
}

#[test]
fn labels_changed_in_the_template_are_kept_with_ours() {
    let api = api(policies("v1", "Namespace", &[NETWORK]));
    let mut written = namespace("cluster-x");
    assert_eq!(api.put("cluster-x", written.clone()), Written::Stored);
    written["spec"]["workload"]["manifests"][0]["metadata"]["labels"]["team"] = "payments".into();
    assert_eq!(karmada_writes(&api, "cluster-x", &written), Written::Stored);
    let revised = stored(&api, "cluster-x");
    let labels = &manifest(&revised)["metadata"]["labels"];
    assert_eq!((&labels["team"], network(&revised)), (&json!("payments"), Some("network-cluster-x")));
    // An override policy of Karmada is applied before the rules.
    written["spec"]["workload"]["manifests"][0]["metadata"]["labels"]["topology.istio.io/network"] =
        "override".into();
    written["metadata"]["annotations"] = json!({"policy.karmada.io/applied-cluster-overrides": "[]"});
    assert_eq!(karmada_writes(&api, "cluster-x", &written), Written::Stored);
    assert_eq!(network(&stored(&api, "cluster-x")), Some("network-cluster-x"));
    assert_eq!(karmada_writes(&api, "cluster-x", &written), Written::Dropped);
}

#[test]
fn a_namespace_that_no_policy_selects_is_unchanged() {
    let text = r#"{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicy","metadata":{"name":"p"},"spec":{
        "resourceSelectors":[{"apiVersion":"v1","kind":"Namespace","name":"istio-system"}],
        "rules":[{"name":"r","patch":{"type":"Merge","value":{"metadata":{"labels":{"a":"b"}}}}}]}}"#;
    let documents = [reviser::json::Value::parse(text.as_bytes()).unwrap().into_owned()];
    let api = api(reviser::policy::compile(&documents).unwrap());
    let shop = namespace("cluster-x");
    assert_eq!(api.put("cluster-x", shop.clone()), Written::Stored);
    assert_eq!(stored(&api, "cluster-x"), as_written(&shop));
    let istio: Value =
        serde_json::from_str(&shop.to_string().replace("\"shop\"", "\"istio-system\"")).unwrap();
    assert_eq!(api.put("cluster-z", istio), Written::Stored);
    assert_eq!(manifest(&stored(&api, "cluster-z"))["metadata"]["labels"]["a"], "b");
}

/// The other kinds that Karmada delivers without a binding.
#[test]
fn quotas_roles_and_dispatched_endpoint_slices_are_revised() {
    let role = work(&json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "karmada-impersonator", "labels": {"karmada.io/system": "true"}}, "rules": []}));
    let binding = work(&json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "karmada-impersonator"}, "subjects": [],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "karmada-impersonator"}}));
    for (api_version, kind, written) in [
        ("v1", "ResourceQuota", quota()),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", role),
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", binding),
        ("discovery.k8s.io/v1", "EndpointSlice", endpoint_slice(false)),
    ] {
        let mut api = api(policies(api_version, kind, &[NETWORK]));
        assert_eq!(api.put("b", written.clone()), Written::Stored, "{kind}");
        assert_eq!(network(&stored(&api, "b")), Some("network-b"), "{kind}");
        assert_eq!(karmada_writes(&api, "b", &written), Written::Dropped, "{kind}");
        api.restart_reviser(service(policies(api_version, kind, &[])));
        assert_eq!(api.put("b", stored(&api, "b")), Written::Stored, "{kind}");
        // `mutating-config` has recorded the labels and annotations.
        assert_eq!(stored(&api, "b"), as_written(&written), "{kind}");
    }
}

/// A collected object is dispatched to other members later, so a rule would apply twice.
#[test]
fn a_work_collected_from_a_member_is_unchanged() {
    let before_1_14 = |mut work: Value| {
        work["spec"].as_object_mut().unwrap().remove("suspendDispatching");
        work["metadata"]["labels"] = json!({"propagation.karmada.io/instruction": "suppressed"});
        work
    };
    let mut service_work = work(&json!({"apiVersion": "networking.karmada.io/v1alpha1",
        "kind": "MultiClusterService", "metadata": {"name": "web", "namespace": "shop"}, "spec": {}}));
    service_work["spec"]["suspendDispatching"] = true.into();
    for (api_version, kind, written) in [
        ("discovery.k8s.io/v1", "EndpointSlice", endpoint_slice(true)),
        ("discovery.k8s.io/v1", "EndpointSlice", before_1_14(endpoint_slice(true))),
        ("networking.karmada.io/v1alpha1", "MultiClusterService", service_work),
    ] {
        let api = api(policies(api_version, kind, &[NETWORK]));
        assert_eq!(api.put("a", written.clone()), Written::Stored);
        assert_eq!(stored(&api, "a"), as_written(&written));
    }
    // A Work that was dispatched before is undone.
    let api = api(policies("discovery.k8s.io/v1", "EndpointSlice", &[NETWORK]));
    assert_eq!(api.put("b", endpoint_slice(false)), Written::Stored);
    let mut suspended = stored(&api, "b");
    suspended["spec"]["suspendDispatching"] = true.into();
    assert_eq!(api.put("b", suspended), Written::Stored);
    assert_eq!(stored(&api, "b")["spec"]["workload"], as_written(&endpoint_slice(false))["spec"]["workload"]);
}

#[test]
fn replicas_are_those_of_the_manifest() {
    let rule = r#"{"name":"r","when":"replicas > 1","patch":{"type":"Merge","value":{"metadata":{"labels":{"replicas":"n-${replicas}"}}}}}"#;
    let api = api(policies("apps/v1", "Deployment", &[rule]));
    let deployment = work(&json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 3}}));
    assert_eq!(api.put("a", deployment), Written::Stored);
    assert_eq!(manifest(&stored(&api, "a"))["metadata"]["labels"]["replicas"], "n-3");
}

/// Only the owner of the Work is its template, not another object of the same name.
#[test]
fn the_template_is_read_where_it_owns_the_work() {
    let rule = r#"{"name":"r","patch":{"type":"Merge","value":{"metadata":{"labels":{"was":"${original.metadata.labels.team}"}}}}}"#;
    let template = r#"{"metadata":{"labels":{"team":"payments"}}}"#;
    let with_template = |kind: &str| {
        let service = service(policies("v1", kind, &[rule]));
        crate::api::Api::new(
            crate::api::State::default(),
            service.with_templates(std::sync::Arc::new(Template(template.to_owned()))),
        )
    };
    let api = with_template("Namespace");
    assert_eq!(api.put("cluster-x", namespace("cluster-x")), Written::Stored);
    assert_eq!(manifest(&stored(&api, "cluster-x"))["metadata"]["labels"]["was"], "payments");
    let Written::Refused(refusal) = with_template("ResourceQuota").put("a", quota()) else {
        panic!("a quota of the same name on Karmada's API server is not the template")
    };
    assert!(
        refusal.contains("original is not defined: the Work has no binding, and its template is not known; "),
        "{refusal}"
    );
}
