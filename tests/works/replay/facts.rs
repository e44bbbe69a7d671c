//! A test for each fact about Karmada in the notes of the recording (1 to 13) that concerns reviser, named
//! after the fact.
//!
//! Left out, because reviser takes no part:
//!
//! * of 3, that the member's object lives on for 100 to 200 ms: there are no members here;
//! * of 5, that a hash of the template's uid decides which cluster has the odd replica: reviser reads the
//!   result;
//! * of 6, that a member's API server and `Retain` keep a null: only the Work is tested here;
//! * of 12, how many calls a change or a restart costs: Karmada makes them. The match conditions of the
//!   webhook configuration exclude Works that no policy selects (`tests/it/works_manifest.rs`);
//! * 13, that `AggregateStatus` is called while Works are missing: this version does not answer that
//!   operation.

use serde_json::{Value, json};

use super::plane::Plane;
use super::recording::{Bindings, Body, bindings, capture, sequence};
use super::scenes::{X, Z, at_three_to_one, deliver};
use super::splice;
use crate::api::Written;

const REMOVED: &str = "rb-at-work-update-cluster-x-not-in-binding";

/// Whether the only warning is that the fort `moves` from cluster-x to cluster-z.
fn warns(warnings: &[String], moves: &str) -> bool {
    let whole = format!("allocation \"fort\" of Rollout/checkout {moves} from cluster-x to cluster-z");
    matches!(warnings, [warning] if warning.starts_with(&whole))
}

/// Whether the warning is that the fort waits for the Work in cluster-x.
fn waits(warnings: &[String]) -> bool {
    warns(warnings, "moves")
}

fn manifest(work: &Value) -> &Value {
    &work["spec"]["workload"]["manifests"][0]
}

/// 1.
#[test]
fn the_share_in_the_manifest_and_the_binding_often_disagree() {
    let mut plane = at_three_to_one();
    plane.bind(&bindings(&["rb-at-work-update-cluster-z-reweight-stale"]));
    let [stale, last] =
        ["work-update-cluster-z-reweight-stale", "work-update-cluster-z-reweight"].map(|name| {
            deliver(&mut plane, "cluster-x", &[name]);
            plane.work(Z).clone()
        });
    assert_eq!(
        (&manifest(&stale)["spec"]["replicas"], &manifest(&last)["spec"]["replicas"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(manifest(&stale)["spec"]["strategy"], manifest(&last)["spec"]["strategy"]);
    assert_eq!(stale["metadata"]["annotations"], last["metadata"]["annotations"]);
}

/// 2.
#[test]
fn a_review_can_name_a_cluster_that_the_binding_has_lost() {
    let mut plane = at_three_to_one();
    plane.bind(&bindings(&[REMOVED]));
    // It releases the fort, and no cluster hosts while its Work exists.
    deliver(&mut plane, "", &["work-update-cluster-x-not-in-binding"]);
    assert!(waits(&plane.touch(Z).unwrap().0.warnings));
    deliver(&mut plane, "", &["work-delete-cluster-x"]);
    assert!(waits(&plane.touch(Z).unwrap().0.warnings));
    deliver(&mut plane, "", &["work-finalizer-cluster-x"]);
    assert_eq!((plane.touch(Z).unwrap().1, plane.hosts().as_str()), (Written::Stored, "cluster-z"));
}

/// 3.
#[test]
fn the_cluster_that_remains_is_updated_before_the_removed_one_is_deleted() {
    let mut plane = at_three_to_one();
    plane.bind(&bindings(&["rb-at-work-update-cluster-z-takes-over"]));
    let update = Body::captured("work-update-cluster-z-takes-over");
    assert!(waits(&plane.deliver(&update).unwrap().0.warnings));
    assert_eq!(plane.hosts(), "cluster-x");
    deliver(&mut plane, "(cluster-x)", &["work-delete-cluster-x"]);
    assert!(waits(&plane.deliver(&update).unwrap().0.warnings));
    deliver(&mut plane, "", &["work-finalizer-cluster-x"]);
    let warnings = plane.deliver(&update).unwrap().0.warnings;
    assert!(warns(&warnings, "has moved"), "{warnings:?}");
    assert_eq!(plane.hosts(), "cluster-z");
}

/// 4.
#[test]
fn zero_is_absent_in_bindings() {
    let absent = bindings(&["rb-r0"]);
    let mut binding: Value = serde_json::from_str(&absent["checkout-rollout"]).unwrap();
    for cluster in binding["spec"]["clusters"].as_array_mut().unwrap() {
        assert!(cluster.as_object_mut().unwrap().insert("replicas".into(), 0.into()).is_none());
    }
    let present = Bindings::from([("checkout-rollout".to_owned(), binding.to_string())]);
    // An absent number of replicas counts as zero.
    binding["spec"]["clusters"][0].as_object_mut().unwrap().remove("replicas");
    binding["spec"]["clusters"][1]["replicas"] = 1.into();
    let less = Bindings::from([("checkout-rollout".to_owned(), binding.to_string())]);
    for (bindings, host) in [(&absent, "cluster-x"), (&present, "cluster-x"), (&less, "cluster-z")] {
        let mut plane = Plane::new(None);
        plane.bind(bindings);
        for name in ["work-create-cluster-x-r0", "work-create-cluster-z-r0"] {
            plane.deliver(&Body::captured(name)).unwrap();
        }
        assert_eq!(plane.hosts(), host);
    }
}

/// 5.
#[test]
fn clusters_are_in_the_order_of_their_names_also_a_returning_one() {
    let mut plane = Plane::new(None);
    plane.bind(&bindings(&["rb-at-work-update-cluster-z-takes-over"]));
    deliver(&mut plane, "cluster-z", &["work-update-cluster-z-takes-over"]);
    // Neither the first place nor the most replicas moves the fort.
    for binding in ["rb-seq-6-add-back-cluster-x", "rb-w31"] {
        plane.bind(&bindings(&[binding]));
        deliver(&mut plane, "cluster-z", &["work-create-cluster-x-added-back"]);
        assert!(!plane.touch_all().unwrap());
    }
    // The order of the binding counts.
    let mut binding: Value = serde_json::from_str(&capture("rb-r0")).unwrap();
    binding["spec"]["clusters"].as_array_mut().unwrap().reverse();
    let mut plane = Plane::new(None);
    plane.bind(&Bindings::from([("checkout-rollout".to_owned(), binding.to_string())]));
    deliver(&mut plane, "", &["work-create-cluster-x-r0"]);
    deliver(&mut plane, "cluster-z", &["work-create-cluster-z-r0"]);
}

/// 6.
#[test]
fn a_null_survives_everything() {
    let mut plane = at_three_to_one();
    let pulls = |work: &Value| {
        let steps = manifest(work)["spec"]["strategy"]["canary"]["steps"].as_array().unwrap();
        let forts = steps.iter().filter(|step| step["type"] == "Fort");
        forts.map(|step| step["properties"].get("pull").cloned()).collect::<Vec<_>>()
    };
    let nulls = [Some(Value::Null), Some(Value::Null)];
    assert_eq!(pulls(plane.work(Z)), nulls);
    for name in ["work-update-cluster-z-w31", "work-label-cluster-z", "work-update-cluster-z-w31"] {
        plane.deliver(&Body::captured(name)).unwrap();
        assert_eq!(plane.touch(Z).unwrap().1, Written::Dropped, "{name}");
        assert_eq!(pulls(plane.work(Z)), nulls, "{name}");
    }
    assert_eq!(pulls(plane.work(X)), [Some("false".into()), Some("true".into())]);
}

/// 7.
#[test]
fn the_controller_sends_unrevised_works_and_others_send_our_revision() {
    let marker = |text: &str| text.contains("reviser.io/revised");
    let mut plane = at_three_to_one();
    let update = Body::captured("work-update-cluster-z-w31");
    assert!(!marker(update.part(&["object"]).unwrap()));
    plane.deliver(&update).unwrap();
    let stored = plane.work(Z).clone();
    assert!(marker(&stored.to_string()));
    // Karmada's manifest and our own revision of it give the same Work.
    assert_eq!(plane.deliver(&update).unwrap().1, Written::Dropped);
    assert_eq!(plane.touch(Z).unwrap().1, Written::Dropped);
    for name in ["work-dryrun-label-cluster-z", "work-label-cluster-z"] {
        assert!(plane.deliver(&Body::captured(name)).unwrap().0.is_untouched(), "{name}");
    }
    assert_eq!(plane.work(Z)["spec"], stored["spec"]);
    plane.deliver(&Body::captured("work-delete-cluster-z")).unwrap();
    let removal = Body::captured("work-finalizer-cluster-z");
    assert!(plane.deliver(&removal).unwrap().0.is_untouched());
}

/// 8.
#[test]
fn a_deleted_work_is_reviewed_two_or_three_times() {
    // No binding and no Work: the door looks up neither.
    let mut plane = Plane::new(None);
    let calls = sequence();
    let body = |number: usize| calls[number - 1].review().unwrap();
    let cluster_x = [104, 107, 110].map(body);
    assert_eq!(splice::at(&cluster_x[2].text, &["request", "operation"]), Some("\"DELETE\""));
    assert!(cluster_x[2].part(&["oldObject", "metadata", "deletionTimestamp"]).is_some());
    // Repeated when the Work is gone.
    for body in cluster_x.iter().chain(&cluster_x) {
        let (decision, written) = plane.deliver(body).unwrap();
        assert!(decision.is_untouched(), "{}: {decision:?}", body.name);
        assert_eq!(written, Written::Dropped);
    }
}

/// 9.
#[test]
fn a_new_work_has_no_uid_and_generation_is_that_before_the_write() {
    let create = Body::captured("work-create-cluster-z-w31");
    for absent in ["uid", "creationTimestamp", "generation"] {
        assert_eq!(create.part(&["object", "metadata", absent]), None);
    }
    assert_eq!(create.part(&["object", "status"]), Some("{}"));
    let mut plane = Plane::new(None);
    plane.bind(&bindings(&["rb-w31"]));
    plane.deliver(&create).unwrap();
    // The generation does not change the answer.
    let update = Body::captured("work-update-cluster-z-w31");
    let member = ["request", "object", "metadata", "generation"];
    assert_eq!(splice::at(&update.text, &member), update.part(&["oldObject", "metadata", "generation"]));
    let later = Body::read("later", splice::replace(&update.text, &member, "41"));
    assert_eq!(plane.ask(&update).0, plane.ask(&later).0);
}

/// 10.
#[test]
fn a_change_of_annotations_keeps_the_generation_of_the_template() {
    let mut plane = Plane::new(None);
    plane.bind(&bindings(&["rb-r0"]));
    deliver(&mut plane, "cluster-x", &["work-create-cluster-x-r0", "work-create-cluster-z-r0"]);
    let before = [X, Z].map(|key| manifest(plane.work(key)).clone());
    deliver(&mut plane, "cluster-x", &["work-update-cluster-x-r0", "work-update-cluster-z-r0"]);
    for (before, key) in before.iter().zip([X, Z]) {
        let after = manifest(plane.work(key));
        let of = |manifest: &Value, name: &str| manifest["metadata"]["annotations"][name].clone();
        let generation = "resourcetemplate.karmada.io/generation";
        assert_eq!(of(before, generation), of(after, generation));
        // reviser follows the annotation nevertheless.
        assert_ne!(of(before, "cdos/release"), of(after, "cdos/release"), "{key}");
        assert_eq!(before["spec"], after["spec"], "{key}");
    }
}

/// 11.
#[test]
fn attached_bindings_lose_clusters_and_owners_but_stay() {
    let policy = super::sequence::AFTER_RELEASE
        .replace(
            "{apiVersion: deploy.example.com/v1alpha1, kind: Rollout}",
            "{apiVersion: v1, kind: ConfigMap}",
        )
        .replace("/spec/strategy/canary/steps", "/steps");
    let create = Body::captured("work-create-configmap-cluster-x");
    let member = ["request", "object", "spec", "workload", "manifests", "0"];
    let steps = r#"[{"type":"Fort","properties":{"pull":"true"}}]"#;
    let create = Body::read("with steps", splice::insert(&create.text, &member, "steps", steps));
    let mut plane = Plane::new(Some(&policy));
    // Its clusters are the owner's.
    plane.bind(&bindings(&["rb-attached-configmap"]));
    assert_eq!(plane.ask(&create).0.paths(), ["record"]);
    // Then the binding exists without clusters: scheduled nowhere.
    let last = sequence().pop().unwrap().bindings;
    let binding: Value = serde_json::from_str(&last["checkout-config-configmap"]).unwrap();
    assert!(binding["spec"].get("clusters").is_none() && binding["spec"].get("requiredBy").is_none());
    plane.bind(&last);
    assert_eq!(plane.ask(&create).0.paths(), ["record", "~/steps/0/properties/pull", "marker"]);
    // Then with its owner's clusters again.
    plane.bind(&bindings(&["rb-attached-configmap"]));
    assert_eq!(plane.ask(&create).0.paths(), ["record"]);
}

/// 12.
#[test]
fn one_create_costs_twenty_calls_or_more_and_each_is_answered() {
    let mut plane = Plane::new(None);
    let calls = sequence();
    let create: Vec<_> = calls.iter().filter(|call| call.step == "1-create").collect();
    let attached = create.iter().filter_map(|call| call.review()).filter(|body| body.kind() != "Rollout");
    assert_eq!((create.len(), attached.count()), (20, 4));
    for call in create {
        plane.bind(&call.bindings);
        if let Some(body) = call.review() {
            plane.deliver(&body).unwrap();
            continue;
        }
        let (status, reply) = plane.served.exchange("/interpret?timeout=10s", &call.text);
        let response = &reply["response"];
        let message = response["status"]["message"].as_str().unwrap_or_default();
        assert_eq!(status, 200, "{}: {reply}", call.number);
        // Unsupported operations are refused; no configuration of ours names them.
        let is_answered =
            response["successful"] == true || message.contains("is not answered by this version");
        assert!(is_answered, "{}: {reply}", call.number);
    }
}
