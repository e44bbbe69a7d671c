//! What is written twice is stored once, and what is not revised any more is as Karmada wrote it.

use serde_json::{Value, json};

use super::{MARKER, PULL, RECORD, elsewhere, path, put, served};
use crate::support::client::{APPLY, JSON_PATCH, MERGE};
use crate::support::hook::Hook;
use crate::support::plane::ControlPlane;
use crate::support::until;
use crate::support::world::World;

/// What changes when something is written.
fn versions(work: &Value) -> (&Value, &Value) {
    (&work["metadata"]["resourceVersion"], &work["metadata"]["generation"])
}

#[test]
fn the_same_work_sent_again_unrevised_writes_nothing() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, _server) = served(plane, "again");
    let (collection, work) = elsewhere(&world);
    let created = world.karmada().create(&collection, &work).ok();
    for _ in 0..3 {
        let again = put(world.karmada(), &collection, &work).ok();
        assert_eq!(versions(&again), versions(&created));
    }
    // And what is another one is written, and revised.
    let mut next = work.clone();
    next["spec"]["workload"]["manifests"][0]["spec"]["paused"] = true.into();
    let written = put(world.karmada(), &collection, &next).ok();
    assert_eq!(written["metadata"]["generation"], 2);
    assert_eq!(written.pointer(PULL), Some(&Value::Null));
}

#[test]
fn a_touch_writes_nothing_whatever_its_form_is() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, server) = served(plane, "touch");
    let (collection, work) = elsewhere(&world);
    let created = world.karmada().create(&collection, &work).ok();
    let path = path(&collection, &work);
    let reviews = || server.process.said().iter().filter(|line| line.contains("answered")).count();
    let before = reviews();
    for (form, patch) in [(MERGE, json!({})), (JSON_PATCH, json!([]))] {
        let touched = world.karmada().patch(&path, form, &patch).ok();
        assert_eq!(versions(&touched), versions(&created), "{form}");
    }
    until("both were reviewed", || reviews() >= before + 2);
}

/// Somebody else's write of a label is one; after that Karmada's PUT settles who manages what, and then nothing is written
/// any more.
#[test]
fn what_others_write_beside_a_revision_stays_and_settles() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, _server) = served(plane, "beside");
    let (collection, work) = elsewhere(&world);
    let created = world.karmada().create(&collection, &work).ok();
    let path = path(&collection, &work);
    let label = json!({"apiVersion": work["apiVersion"], "kind": "Work",
        "metadata": {"name": work["metadata"]["name"], "labels": {"team": "payments"}}});
    let applied = plane.admin().patch(&format!("{path}?fieldManager=person"), APPLY, &label).ok();
    assert_eq!(applied["metadata"]["labels"]["team"], "payments");
    for pointer in [PULL, MARKER, RECORD] {
        assert_eq!(applied.pointer(pointer), created.pointer(pointer), "{pointer}");
    }

    // Karmada keeps the labels and annotations of others.
    let mut next = work.clone();
    next["metadata"]["labels"] = applied["metadata"]["labels"].clone();
    next["metadata"]["annotations"] = applied["metadata"]["annotations"].clone();
    let settled = put(world.karmada(), &collection, &next).ok();
    assert_eq!(settled["metadata"]["generation"], created["metadata"]["generation"]);
    for _ in 0..2 {
        let again = put(world.karmada(), &collection, &next).ok();
        assert_eq!(versions(&again), versions(&settled));
    }
    assert_eq!(settled["spec"], created["spec"]);
}

const NUMBERS: &str = "
apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: numbers}
spec:
  resourceSelectors: [{apiVersion: deploy.example.com/v1alpha1, kind: Rollout}]
  rules:
  - name: numbers
    patch:
      type: Merge
      value: {spec: {big: 9007199254740993, half: 0.5, fraction: 12.345678901234567}}
";

#[test]
fn numbers_at_the_edge_of_what_fits_are_stored_as_they_were_written() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "numbers");
    world.bind(&world.captured("rb-w31.json"));
    let policies = world.policies("numbers.yaml", NUMBERS);
    let policies = ["-p", policies.to_str().unwrap()];
    let server = world.server_with_state(&policies);
    world.hook(Hook::Works, &world.configuration(Hook::Works, server.secure, &policies));
    let (collection, work) = elsewhere(&world);
    let created = world.karmada().create(&collection, &work).ok();
    let spec = &created["spec"]["workload"]["manifests"][0]["spec"];
    let numbers = json!([spec["big"], spec["half"], spec["fraction"]]);
    assert_eq!(numbers.to_string(), "[9007199254740993,0.5,12.345678901234567]");
    let touched = world.karmada().touch(&path(&collection, &work)).ok();
    assert_eq!(versions(&touched), versions(&created));
    let again = put(world.karmada(), &collection, &work).ok();
    assert_eq!(versions(&again), versions(&created));
}

const ANOTHER_KIND: &str = "
apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: another}
spec:
  resourceSelectors: [{apiVersion: example.com/v1, kind: Another}]
  rules: [{name: set, patch: {type: Merge, value: {spec: {x: 1}}}}]
";

/// Removal as docs/karmada.md has it: other policies, the configuration that fits them, a touch, and then the configuration.
#[test]
fn without_a_policy_a_touch_gives_back_what_karmada_wrote() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, server) = served(plane, "undone");
    let (collection, work) = elsewhere(&world);
    let karmada = world.karmada();
    assert!(karmada.create(&collection, &work).ok().pointer(RECORD).is_some());
    drop(server);

    let policies = world.policies("another.yaml", ANOTHER_KIND);
    let policies = ["-p", policies.to_str().unwrap()];
    let server = world.server_with_state(&policies);
    let configuration = world.configuration(Hook::Works, server.secure, &policies);
    assert!(!configuration.to_string().contains("Rollout"), "{configuration}");
    world.hook(Hook::Works, &configuration);
    let undone = karmada.touch(&path(&collection, &work)).ok();
    assert_eq!(undone["spec"], work["spec"]);
    assert_eq!(undone["metadata"]["annotations"], work["metadata"]["annotations"]);
    assert_eq!(undone["metadata"]["generation"], 2);

    world.unhook(Hook::Works, &configuration);
    drop(server);
    assert_eq!(versions(&put(karmada, &collection, &work).ok()), versions(&undone));
}
