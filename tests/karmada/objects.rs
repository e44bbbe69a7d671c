//! What a user of Karmada writes: the Rollout and where it is to run.

use serde_json::{Value, json};

pub(crate) const NAMESPACE: &str = "shop";
pub(crate) const NAME: &str = "checkout";
pub(crate) const BINDING: &str = "checkout-rollout";

/// The clusters, in the order in which a binding lists them.
pub(crate) const X: &str = "cluster-x";
pub(crate) const Z: &str = "cluster-z";

pub(crate) fn other_than(cluster: &str) -> &'static str {
    if cluster == X { Z } else { X }
}

/// The template of a release: `image` is what is released.
pub(crate) fn rollout(replicas: i64, image: &str) -> Value {
    let fort = |pull: &str| json!({"type": "Fort", "properties": {"delay": "-1", "pull": pull}});
    let batch = |share: &str| json!({"type": "Batch", "properties": {"delay": "-1", "replicas": share, "timeout": "5"}});
    json!({
        "apiVersion": "deploy.example.com/v1alpha1", "kind": "Rollout",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": {"app": NAME}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": NAME}},
            "strategy": {"canary": {"steps": [fort("false"), fort("true"), batch("50%"), batch("100%")]}},
            "template": {
                "metadata": {"labels": {"app": NAME}},
                "spec": {"containers": [{
                    "name": NAME, "image": image,
                    "env": [{"name": "LOG_FORMAT", "value": "json"}],
                    "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}},
                }]},
            },
        },
    })
}

/// The policy of Karmada that divides the Rollout by these weights; a cluster that is not named has no part.
pub(crate) fn propagation(weights: &[(&str, i64)]) -> Value {
    let names: Vec<_> = weights.iter().map(|(name, _)| name).collect();
    let weights: Vec<_> = weights
        .iter()
        .map(|(name, weight)| json!({"targetCluster": {"clusterNames": [name]}, "weight": weight}))
        .collect();
    json!({
        "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {
            "resourceSelectors": [{"apiVersion": "deploy.example.com/v1alpha1", "kind": "Rollout", "name": NAME}],
            "placement": {
                "clusterAffinity": {"clusterNames": names},
                "replicaScheduling": {
                    "replicaSchedulingType": "Divided",
                    "replicaDivisionPreference": "Weighted",
                    "weightPreference": {"staticWeightList": weights},
                },
            },
        },
    })
}

pub(crate) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// The path of the live binding.
pub(crate) fn binding_path() -> String {
    format!("/apis/work.karmada.io/v1alpha2/namespaces/{NAMESPACE}/resourcebindings/{BINDING}")
}
