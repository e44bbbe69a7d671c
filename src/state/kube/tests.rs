use futures_util::FutureExt as _;

use super::clusters::ClusterCache;
use super::*;
use crate::apiserver::{Event, ObjectKey};
use crate::domain::AllocationKey;
use crate::state::{Ledger, snapshot};

const BINDING: &str = r#"{"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","metadata":{"name":"checkout-rollout","namespace":"shop",
"resourceVersion":"41","annotations":{"reviser.io/fort-cluster":"cluster-x","reviser.io/empty-cluster":"","reviser.io/-cluster":"no","other":"yes"}},
"spec":{"resource":{"apiVersion":"deploy.example.com/v1alpha1","kind":"Rollout","namespace":"shop","name":"checkout"},"clusters":[{"name":"cluster-x","replicas":3},{"name":"cluster-z"}]}}"#;

fn stored(text: &str) -> Stored {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_binding_has_its_version_and_the_allocations_of_its_annotations() {
    let (workload, binding) = snapshot::read_binding(BINDING, "shop").unwrap();
    assert_eq!(workload.to_string(), "Rollout/checkout");
    assert_eq!(
        binding.schedule.replicas_of(&ClusterName::new("cluster-z").unwrap()),
        Some(0),
        "Karmada leaves zeros out"
    );
    let stored = binding.stored.unwrap();
    assert_eq!(stored.resource_version, "41");
    let allocations: Vec<(&str, &str)> =
        stored.allocations.iter().map(|(name, cluster)| (name.as_str(), cluster.as_str())).collect();
    assert_eq!(allocations, [("fort", "cluster-x")]);
}

#[test]
fn what_is_wrong_with_a_binding_is_told_with_its_field() {
    let wrong = BINDING.replace(r#""replicas":3"#, r#""replicas":"3""#);
    assert_eq!(
        snapshot::read_binding(&wrong, "shop").unwrap_err(),
        "/spec/clusters/0/replicas: must be an integer, is a string"
    );
    assert_eq!(snapshot::read_binding("[]", "shop").unwrap_err(), "must be a map, is a list");
}

/// A ledger on a server that is not running. Reads must use only the binding.
async fn ledger() -> KubeLedger {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config");
    let text = "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n\
                clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\nusers: [{name: a, user: {}}]\n";
    std::fs::write(&path, text).unwrap();
    let access = crate::apiserver::Access::Kubeconfig(path);
    KubeLedger::new(ApiServer::new(&access).await.unwrap())
}

#[tokio::test]
async fn an_entry_is_read_off_the_binding() {
    let (workload, binding) = snapshot::read_binding(BINDING, "shop").unwrap();
    let ledger = ledger().await;
    let read = |allocation: &str| {
        let key = AllocationKey::new(allocation, &workload);
        ledger.read(&key, Some(&binding)).now_or_never().expect("nobody is asked").unwrap()
    };
    assert_eq!(read("fort"), ClusterName::new("cluster-x"));
    assert_eq!(read("harbour"), None);
}

#[tokio::test]
async fn without_a_binding_there_is_no_entry_to_guess() {
    let (workload, _) = snapshot::read_binding(BINDING, "shop").unwrap();
    let error = ledger().await.read(&AllocationKey::new("fort", &workload), None).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to find allocation \"fort\" of Rollout.deploy.example.com shop/checkout"
    );
}

#[tokio::test]
async fn who_expects_something_else_than_the_binding_says_has_lost_without_a_call() {
    let (workload, binding) = snapshot::read_binding(BINDING, "shop").unwrap();
    let ledger = ledger().await;
    let key = AllocationKey::new("fort", &workload);
    let to = ClusterName::new("cluster-z").unwrap();
    let swap = ledger.compare_and_swap(&key, Some(&binding), None, &to).now_or_never().unwrap().unwrap();
    assert_eq!(swap, crate::state::Swap::Lost(ClusterName::new("cluster-x")));
}

#[test]
fn clusters_are_known_once_all_kinds_are_listed() {
    let cache = ClusterCache::default();
    let [clusters, cluster_targets, targets] = &cache.0;
    let a = ClusterName::new("a").unwrap();
    let cluster =
        |region: &str| stored(&format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"region":"{region}"}}}}"#));
    let region =
        || cache.find(&a, "shop").map(|found| found.and_then(|cluster| cluster.region).unwrap_or_default());
    clusters.apply(Event::Applied(cluster("eu")));
    assert!(region().is_err(), "there may be more");
    cluster_targets.apply(Event::Synced);
    targets.apply(Event::Synced);
    assert!(!cache.is_synced());
    clusters.apply(Event::Synced);
    assert!(cache.is_synced());
    assert_eq!(region().unwrap(), "eu");
    clusters.apply(Event::Applied(cluster("us")));
    assert_eq!(region().unwrap(), "us");
    clusters.apply(Event::Applied(stored(r#"{"metadata":{"name":"a"},"spec":{"region":7}}"#)));
    assert_eq!(region().unwrap(), "", "an invalid cluster replaces a valid one");
    clusters.apply(Event::Applied(cluster("eu")));
    clusters.apply(Event::Deleted(key("", "a")));
    assert_eq!(region().unwrap(), "");
}

#[test]
fn targets_of_one_name_are_found_by_namespace() {
    let cache = ClusterCache::default();
    let target = |namespace: &str, own: &str| {
        let metadata = format!(r#"{{"name":"eu","namespace":"{namespace}","labels":{{"own":"{own}"}}}}"#);
        Event::Applied(stored(&format!(r#"{{"metadata":{metadata}}}"#)))
    };
    for kind in &cache.0 {
        kind.apply(Event::Synced);
    }
    let name = ClusterName::new("eu").unwrap();
    let own = |namespace: &str| {
        cache.find(&name, namespace).unwrap().and_then(|mut cluster| cluster.labels.remove("own"))
    };
    let targets = &cache.0[2];
    targets.apply(target("a", "1"));
    targets.apply(target("b", "2"));
    targets.apply(target("a", "3"));
    assert_eq!((own("a").as_deref(), own("b").as_deref(), own("c")), (Some("3"), Some("2"), None));
    targets.apply(Event::Deleted(key("a", "eu")));
    assert_eq!((own("a"), own("b").as_deref()), (None, Some("2")));
}

fn key(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey { namespace: namespace.into(), name: name.into() }
}
