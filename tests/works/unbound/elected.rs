//! The elected replica and Works without a binding: added, changed and removed policies touch them.

use std::collections::BTreeMap;
use std::time::Duration;

use reviser::controller::planner::{
    Allocations, Moment, Next, ObservedWork, Planner, RateLimits, Scope, TouchOutcome, WorkName,
};
use reviser::engine::{Owner, PolicySet};
use reviser::json::Text;
use reviser::service::{SyncState, SyncStatus};
use serde_json::{Value, json};

use super::{NETWORK, api, as_written, endpoint_slice, namespace, policies, quota, service, stored, work};
use crate::api::{Api, Written};

/// The Works of a Namespace and of a quota, stored without policies.
const CLUSTERS: [&str; 3] = ["cluster-x", "cluster-z", "other"];

struct World {
    api: Api,
    set: PolicySet,
    planner: Planner,
    now: u64,
    touched: Vec<String>,
}

fn name(cluster: &str) -> WorkName {
    WorkName { namespace: format!("karmada-es-{cluster}"), name: "w".into() }
}

fn sync(set: &PolicySet, work: &Value) -> Option<SyncState> {
    let text = work.to_string();
    SyncState::of(set, "karmada-es-cluster-x", Text::parse(text.as_bytes()).unwrap().root())
}

impl World {
    fn new() -> Self {
        let set = PolicySet::default();
        let mut world = Self {
            api: api(set.clone()),
            set,
            planner: Planner::new(RateLimits::default()),
            now: 0,
            touched: Vec::new(),
        };
        for cluster in &CLUSTERS[..2] {
            assert_eq!(world.api.put(cluster, namespace(cluster)), Written::Stored);
        }
        assert_eq!(world.api.put(CLUSTERS[2], quota()), Written::Stored);
        for scope in [Scope::Namespace, Scope::Cluster] {
            world.planner.bindings_synced(Moment::default(), scope);
        }
        world
    }

    fn moment(&self) -> Moment {
        Moment(Duration::from_millis(self.now))
    }

    fn seen(&self, cluster: &str) -> ObservedWork {
        let work = stored(&self.api, cluster);
        let text = work.to_string();
        let sync =
            SyncState::of(&self.set, &name(cluster).namespace, Text::parse(text.as_bytes()).unwrap().root());
        ObservedWork { uid: cluster.to_owned(), version: None, generation: 1, deleting: false, sync }
    }

    /// Activates policies and returns the Works touched until none is due.
    fn follow(&mut self, set: PolicySet) -> Vec<String> {
        self.api.restart_reviser(service(set.clone()));
        self.set = set;
        self.touched.clear();
        self.planner.begin_epoch(self.moment(), Allocations::default());
        for cluster in CLUSTERS {
            let (now, seen) = (self.moment(), self.seen(cluster));
            self.planner.applied(now, &name(cluster), seen);
        }
        self.planner.synced(self.moment());
        let until = self.now + 120_000;
        loop {
            match self.planner.next(self.moment()) {
                Next::Touch(name) => {
                    let cluster = name.namespace.strip_prefix("karmada-es-").unwrap().to_owned();
                    let outcome = match self.api.put(&cluster, stored(&self.api, &cluster)) {
                        Written::Refused(_) => TouchOutcome::Rejected,
                        _ => TouchOutcome::Revised(Box::new(self.seen(&cluster))),
                    };
                    self.touched.push(cluster);
                    self.planner.touched(self.moment(), &name, outcome);
                }
                Next::Wait(Some(at)) if at.0 < Duration::from_millis(until) => {
                    self.now = u64::try_from(at.0.as_millis()).unwrap() + 1;
                }
                Next::Wait(_) => break,
                Next::Clear { .. } => panic!("there is no ledger"),
            }
        }
        self.now = until;
        let mut touched = self.touched.clone();
        touched.dedup();
        touched
    }

    /// The number of Works that the policy selects, and of those up to date.
    fn counted(&self) -> (usize, usize) {
        let counts = self.planner.work_counts().unwrap();
        let owner = Owner::Cluster { name: "p".into() };
        let counts: BTreeMap<_, _> = counts.into_iter().collect();
        counts.get(&owner).map_or((0, 0), |counts| (counts.total, counts.current))
    }
}

#[test]
fn added_changed_and_removed_policies_touch_works_without_a_binding() {
    let mut world = World::new();
    assert_eq!(world.follow(policies("v1", "Namespace", &[NETWORK])), ["cluster-x", "cluster-z"]);
    assert_eq!((world.counted(), world.planner.stale()), ((2, 2), 0));
    // After a restart no Work is touched.
    assert_eq!(world.follow(policies("v1", "Namespace", &[NETWORK])), [] as [&str; 0]);
    let other = NETWORK.replace("network-", "net-");
    assert_eq!(world.follow(policies("v1", "Namespace", &[&other])), ["cluster-x", "cluster-z"]);
    let labels = &stored(&world.api, "cluster-z")["spec"]["workload"]["manifests"][0]["metadata"]["labels"];
    assert_eq!(labels["topology.istio.io/network"], "net-cluster-z");
    // The first kind is undone and the second revised.
    assert_eq!(
        world.follow(policies("v1", "ResourceQuota", &[NETWORK])),
        ["cluster-x", "cluster-z", "other"]
    );
    assert_eq!((world.counted(), world.planner.stale()), ((1, 1), 0));
    assert_eq!(world.follow(PolicySet::default()), ["other"]);
    assert_eq!((world.counted(), world.planner.stale()), ((0, 0), 0));
    for cluster in &CLUSTERS[..2] {
        assert_eq!(stored(&world.api, cluster), as_written(&namespace(cluster)));
    }
    assert_eq!(stored(&world.api, "other"), as_written(&quota()));
}

#[test]
fn a_rule_that_needs_a_schedule_leaves_the_work_counted_and_not_current() {
    let mut world = World::new();
    let rule = r#"{"name":"r","patch":{"type":"Merge","value":{"metadata":{"labels":{"l":"x-${binding.replicas}"}}}}}"#;
    let touched = world.follow(policies("v1", "Namespace", &[rule]));
    assert!(touched.contains(&"cluster-x".to_owned()), "{touched:?}");
    assert_eq!((world.counted(), world.planner.stale()), ((2, 0), 2));
    assert_eq!(stored(&world.api, "cluster-x"), as_written(&namespace("cluster-x")));
}

#[test]
fn the_elected_replica_ignores_works_that_the_door_does_not_revise() {
    let slices = policies("discovery.k8s.io/v1", "EndpointSlice", &[NETWORK]);
    assert_eq!(sync(&slices, &endpoint_slice(true)), None);
    let dispatched = sync(&slices, &endpoint_slice(false)).unwrap();
    assert_eq!((dispatched.binding, dispatched.status), (None, SyncStatus::Unrecorded));
    // A Work that was revised before it was suspended is undone.
    let api = api(slices.clone());
    assert_eq!(api.put("b", endpoint_slice(false)), Written::Stored);
    let mut suspended = stored(&api, "b");
    suspended["spec"]["suspendDispatching"] = true.into();
    let sync_of = sync(&slices, &suspended).unwrap();
    assert_eq!((sync_of.status, sync_of.policies.len()), (SyncStatus::Outdated, 0));
    // A Work that has lost its binding is not touched.
    let mut lost = work(&json!({"apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "shop"}, "spec": {}}));
    lost["metadata"]["labels"] = json!({"resourcebinding.karmada.io/permanent-id": "i"});
    let quotas = policies("v1", "ResourceQuota", &[NETWORK]);
    let lost = sync(&quotas, &lost).unwrap();
    assert!(matches!(lost.status, SyncStatus::Unknown(_)) && lost.policies.len() == 1, "{lost:?}");
}
