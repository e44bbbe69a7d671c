//! Rules that need a schedule, and Works that have lost their binding.

use serde_json::{Value, json};

use super::{NETWORK, api, as_written, namespace, policies, quota, stored, work};
use crate::api::{Api, State, Written};

/// A rule with this action.
fn rule(action: &str) -> String {
    format!(r#"{{"name":"r",{action}}}"#)
}

fn label(expression: &str) -> String {
    rule(&format!(
        r#""patch":{{"type":"Merge","value":{{"metadata":{{"labels":{{"l":"x-${{{expression}}}"}}}}}}}}"#
    ))
}

fn refusal(api: &Api, written: Value) -> String {
    match api.put("a", written) {
        Written::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rule_that_needs_the_schedule_is_refused_with_the_reason() {
    let no_schedule =
        "the Work has no binding, so that there is no schedule; remove the rule for this object, or ";
    for (rule, problem) in [
        (
            rule(r#""divide":{"path":"/spec/hard/pods"}"#),
            "/spec/workload/manifests/0/spec/hard/pods: can't be divided: ",
        ),
        (
            rule(r#""fort":{"allocation":"lead","steps":"/spec/steps","field":"/go"}"#),
            "allocation \"lead\": ",
        ),
        (label("binding.replicas"), "binding.replicas is not defined: "),
        (label("size(binding.clusters)"), "binding.clusters is not defined: "),
        (label("allocations.lead"), "allocation \"lead\": "),
        (
            rule(r#""when":"binding.replicas > 1","env":{"name":"A","value":"b"}"#),
            "binding.replicas is not defined: ",
        ),
        // `onError: Skip` does not cover the schedule.
        (
            rule(r#""onError":"Skip","divide":{"path":"/spec/hard/pods"}"#),
            "/spec/workload/manifests/0/spec/hard/pods: can't be divided: ",
        ),
    ] {
        let api = api(policies("v1", "ResourceQuota", &[&rule]));
        let mut written = quota();
        written["spec"]["workload"]["manifests"][0]["spec"] = json!({"hard": {"pods": 10}, "steps": [{}]});
        let refusal = refusal(&api, written);
        let expected = format!("{problem}{no_schedule}");
        assert!(
            refusal.starts_with("ClusterRevisionPolicy/p rule \"r\" cluster \"a\": ")
                && refusal.contains(&expected),
            "{refusal}"
        );
    }
}

#[test]
fn reading_replicas_of_an_object_without_them_is_refused() {
    let api = api(policies("v1", "Namespace", &[&label("replicas")]));
    let refusal = refusal(&api, namespace("cluster-x"));
    let expected = "replicas is not defined: the Work has no binding, and the object does not say how many replicas it has; ";
    assert!(refusal.contains(expected), "{refusal}");
}

/// A `ResourceQuota` is made from a `FederatedResourceQuota` or by a `PropagationPolicy`. With a binding
/// every rule works.
#[test]
fn the_same_kind_with_a_binding_has_a_schedule() {
    let with_a_binding = r#""when":"has(object.metadata.annotations) && 'resourcebinding.karmada.io/name' in object.metadata.annotations""#;
    let rule = rule(&format!(r#"{with_a_binding},"divide":{{"path":"/spec/hard/pods"}}"#));
    let state = State::default();
    state.lock().binding = Some(vec![("a".to_owned(), 3), ("b".to_owned(), 1)]);
    let lister = std::sync::Arc::new(state.clone());
    let service = super::service(policies("v1", "ResourceQuota", &[&rule]));
    let api = Api::new(state, service.with_state(lister.clone(), lister));
    let mut bound = quota();
    bound["spec"]["workload"]["manifests"][0]["spec"]["hard"]["pods"] = 8.into();
    let unbound = bound.clone();
    let link =
        json!({"resourcebinding.karmada.io/name": "b", "resourcebinding.karmada.io/namespace": "shop"});
    bound["metadata"]["annotations"] = link.clone();
    bound["spec"]["workload"]["manifests"][0]["metadata"]["annotations"] = link;
    assert_eq!(api.put("a", bound), Written::Stored);
    assert_eq!(stored(&api, "a")["spec"]["workload"]["manifests"][0]["spec"]["hard"]["pods"], 6);
    assert_eq!(api.put("b", unbound.clone()), Written::Stored);
    assert_eq!(stored(&api, "b"), as_written(&unbound));
}

#[test]
fn a_work_that_has_lost_its_binding_is_refused() {
    let quota_with = |change: fn(&mut Value)| {
        let mut work = quota();
        change(&mut work);
        work
    };
    let by_label =
        quota_with(|work| work["metadata"]["labels"]["resourcebinding.karmada.io/permanent-id"] = "i".into());
    let by_manifest = quota_with(|work| {
        let manifest = &mut work["spec"]["workload"]["manifests"][0];
        manifest["metadata"]["annotations"]["resourcebinding.karmada.io/name"] = "team-resourcequota".into();
    });
    let cluster_scoped =
        quota_with(|work| work["metadata"]["labels"]["clusterresourcebinding.karmada.io/key"] = "k".into());
    for (written, place) in [
        (&by_label, "/metadata/labels/resourcebinding.karmada.io~1permanent-id"),
        (&by_manifest, "/spec/workload/manifests/0/metadata/annotations/resourcebinding.karmada.io~1name"),
        (&cluster_scoped, "/metadata/labels/clusterresourcebinding.karmada.io~1key"),
    ] {
        let refusal = refusal(&api(policies("v1", "ResourceQuota", &[NETWORK])), written.clone());
        let expected = format!(
            "ResourceQuota/team cluster \"a\": no annotation of the Work names its binding, although its {place} says that it was made \
             from one; let Karmada write the Work again, which restores the annotation, or remove that field"
        );
        assert_eq!(refusal, expected);
        // A Work that no policy selects is not checked.
        let api = api(policies("v1", "ConfigMap", &[NETWORK]));
        assert_eq!(api.put("a", written.clone()), Written::Stored);
        assert_eq!(stored(&api, "a"), as_written(written));
    }
}

/// The cluster is taken only from the namespace of the Work.
#[test]
fn a_work_outside_execution_namespaces_is_refused() {
    let api = api(policies("v1", "Namespace", &[NETWORK]));
    let refusal = refusal_at(&api, "", namespace("cluster-x"));
    assert!(
        refusal.starts_with("/metadata/namespace: \"karmada-es-\" is no execution namespace"),
        "{refusal}"
    );
    // A manifest with the marker but without a record.
    let mut marked = work(&json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "shop", "annotations": {"reviser.io/revised": "0"}}}));
    marked["metadata"]["annotations"] = json!({});
    assert!(refusal_at(&api, "a", marked).contains("it is marked as revised (reviser.io/revised), but "));
}

fn refusal_at(api: &Api, cluster: &str, written: Value) -> String {
    match api.put(cluster, written) {
        Written::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}
