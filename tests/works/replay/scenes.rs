//! Short sequences of captures from other runs.

use super::plane::Plane;
use super::recording::{Body, What, bindings};
use super::splice;
use crate::api::{Written, mutating_config};

pub(crate) const X: &str = "cluster-x/checkout-7c5c86b58d";
pub(crate) const Z: &str = "cluster-z/checkout-7c5c86b58d";

/// A plane with the Rollout at shares 3 and 1, where cluster-x hosts the fort.
pub(crate) fn at_three_to_one() -> Plane {
    let mut plane = Plane::new(None);
    plane.bind(&bindings(&["rb-w31"]));
    deliver(&mut plane, "cluster-x", &["work-create-cluster-x-w31", "work-create-cluster-z-w31"]);
    plane
}

/// Delivers captures, writes twice, and checks after each that `hosts` hosts the fort.
pub(crate) fn deliver(plane: &mut Plane, hosts: &str, names: &[&str]) {
    for name in names {
        let body = Body::captured(name);
        plane.deliver(&body).unwrap();
        assert_eq!(plane.hosts(), hosts, "{name}");
        if body.what == What::Write {
            assert_eq!(plane.deliver(&body).unwrap().1, Written::Dropped, "{name}");
            let recorded = splice::at(&body.text, &[&["request", "object"][..], REPLICAS].concat()).unwrap();
            let stored = &plane.work(&body.key)["spec"]["workload"]["manifests"][0]["spec"]["replicas"];
            assert_eq!(stored.to_string(), recorded, "{name}: replicas are set by Karmada");
        }
    }
}

const REPLICAS: &[&str] = &["spec", "workload", "manifests", "0", "spec", "replicas"];

#[test]
fn at_zero_replicas_one_cluster_hosts_the_fort() {
    let mut plane = Plane::new(None);
    plane.bind(&bindings(&["rb-r0"]));
    let names = [
        "work-create-cluster-x-r0",
        "work-create-cluster-z-r0",
        "work-update-cluster-x-r0",
        "work-update-cluster-z-r0",
    ];
    deliver(&mut plane, "cluster-x", &names);
    assert!(!plane.touch_all().unwrap());
}

#[test]
fn other_shares_and_no_shares_do_not_move_the_fort() {
    let mut plane = at_three_to_one();
    plane.bind(&bindings(&["rb-at-work-update-cluster-z-reweight-stale"]));
    let reweight = [
        "work-update-cluster-z-reweight-stale",
        "work-update-cluster-x-reweight",
        "work-update-cluster-z-reweight",
    ];
    deliver(&mut plane, "cluster-x", &reweight);
    plane.bind(&bindings(&["rb-at-work-update-cluster-x-scale-to-0-stale"]));
    let scale_to_0 = [
        "work-update-cluster-x-scale-to-0-stale",
        "work-update-cluster-x-scale-to-0",
        "work-update-cluster-z-scale-to-0",
    ];
    deliver(&mut plane, "cluster-x", &scale_to_0);
    // Deleted while the binding still lists both clusters.
    plane.bind(&bindings(&["rb-at-work-finalizer-cluster-x"]));
    deliver(&mut plane, "(cluster-x)", &["work-delete-cluster-x", "work-delete-cluster-z"]);
    deliver(&mut plane, "", &["work-finalizer-cluster-x", "work-finalizer-cluster-z"]);
    assert!(plane.stored.works.is_empty());
}

#[test]
fn a_dry_run_has_the_same_answer_and_claims_nothing() {
    let mut plane = Plane::new(None);
    plane.bind(&bindings(&["rb-at-work-update-cluster-z-takes-over"]));
    let real = Body::captured("work-update-cluster-z-takes-over");
    let dry = splice::replace(&real.text, &["request", "dryRun"], "true");
    let dry = plane.ask(&Body::read("dry", dry)).0;
    assert_eq!(dry.paths(), ["record"], "z would host the fort");
    // A claim would keep the fort there.
    plane.bind(&bindings(&["rb-w31"]));
    deliver(&mut plane, "cluster-x", &["work-create-cluster-x-w31", "work-create-cluster-z-w31"]);
    for name in ["work-dryrun-label-cluster-z", "work-dryrun-delete"] {
        let (decision, written) = plane.deliver(&Body::captured(name)).unwrap();
        assert!(decision.is_untouched(), "{name}: {decision:?}");
        assert_eq!(written, Written::Dropped);
    }
}

#[test]
fn a_label_keeps_the_revision() {
    let mut plane = at_three_to_one();
    for (name, key) in [("work-label-cluster-x", X), ("work-label-cluster-z", Z)] {
        let mut before = plane.work(key).clone();
        let (decision, written) = plane.deliver(&Body::captured(name)).unwrap();
        assert!(decision.is_untouched(), "{name}: {decision:?}");
        assert_eq!(written, Written::Stored);
        before["metadata"]["labels"]["team"] = "payments".into();
        assert_eq!(*plane.work(key), before);
    }
}

#[test]
fn works_that_no_policy_selects_are_stored_unchanged() {
    let mut plane = Plane::new(None);
    plane.bind(&bindings(&["rb-attached-configmap", "rb-attached-secret", "rb-deployment"]));
    for name in [
        "work-create-configmap-cluster-x",
        "work-create-secret-cluster-x",
        "work-create-namespace-cluster-x",
        "work-create-namespace-cluster-z",
        "work-create-deployment-cluster-x",
        "work-create-deployment-cluster-z",
    ] {
        let body = Body::captured(name);
        assert!(plane.deliver(&body).unwrap().0.is_untouched(), "{name}");
        let mut recorded = serde_json::from_str(body.part(&["object"]).unwrap()).unwrap();
        mutating_config(&mut recorded);
        assert_eq!(*plane.work(&body.key), recorded, "{name}");
    }
    deliver(&mut plane, "", &["work-delete-configmap-cluster-x", "work-finalizer-configmap-cluster-x"]);
    assert_eq!(plane.stored.works.len(), 5);
}
