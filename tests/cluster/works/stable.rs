//! Repeated writes are stored once, and an undone revision restores Karmada's manifest.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{MARKER, PULL, RECORD, elsewhere, path, put, served};
use crate::process::Server;
use crate::support::client::{APPLY, JSON_PATCH, MERGE};
use crate::support::hook::Hook;
use crate::support::plane::ControlPlane;
use crate::support::world::World;

/// The fields that change with each write.
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
    // A different Work is written and revised.
    let mut next = work.clone();
    next["spec"]["workload"]["manifests"][0]["spec"]["paused"] = true.into();
    let written = put(world.karmada(), &collection, &next).ok();
    assert_eq!(written["metadata"]["generation"], 2);
    assert_eq!(written.pointer(PULL), Some(&Value::Null));
}

/// The sum of the metrics with this prefix.
fn counted(server: &Server, begin: &str) -> u64 {
    let mut stream = TcpStream::connect(server.admin).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("reviser_connections"), "{text}");
    let values =
        text.lines().filter(|line| line.starts_with(begin)).map(|line| line.rsplit(' ').next().unwrap());
    values.map(|value| value.parse::<u64>().unwrap()).sum()
}

#[test]
fn a_touch_writes_nothing_whatever_its_form_is() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, server) = served(plane, "touch");
    let (collection, work) = elsewhere(&world);
    let created = world.karmada().create(&collection, &work).ok();
    let path = path(&collection, &work);
    let reviews = || counted(&server, "reviser_requests_total{door=\"works\",operation=\"UPDATE\"");
    assert_eq!(reviews(), 0);
    for (form, patch) in [(MERGE, json!({})), (JSON_PATCH, json!([]))] {
        let touched = world.karmada().patch(&path, form, &patch).ok();
        assert_eq!(versions(&touched), versions(&created), "{form}");
    }
    assert_eq!(reviews(), 2);
}

/// Another client's write of a label is one; after that Karmada's PUT settles who manages what, and then nothing is written
/// any more.
#[test]
fn changes_of_other_writers_are_kept() {
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

/// From a time without the webhook: a revised value has been changed, so that of Karmada is lost.
#[test]
fn a_revision_that_cannot_be_undone_is_left_unchanged_with_a_warning() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, server) = served(plane, "edited");
    let (collection, work) = elsewhere(&world);
    let created = world.karmada().create(&collection, &work).ok();
    let path = path(&collection, &work);
    let mut edited = created.clone();
    *edited.pointer_mut(PULL).unwrap() = "mine".into();
    let denied = put(world.karmada(), &collection, &edited);
    assert!(
        denied.refused(422).contains("another client changed what the revision wrote"),
        "{}",
        denied.text
    );

    let configuration = world.hook(Hook::Works, &server, &[]);
    world.unhook(Hook::Works, &configuration);
    let stored = put(world.karmada(), &collection, &edited).ok();
    world.hook(Hook::Works, &server, &[]);
    let touched = world.karmada().touch(&path);
    let [warning] = &touched.warnings[..] else { panic!("one warning is wanted: {:?}", touched.warnings) };
    assert!(
        warning.contains("reviser leaves the Work unchanged, because its revision can't be taken back"),
        "{warning}"
    );
    assert_eq!(versions(&touched.ok()), versions(&stored));
    // A write of Karmada resolves it.
    assert_eq!(put(world.karmada(), &collection, &work).ok().pointer(PULL), Some(&Value::Null));
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
fn numbers_at_the_limits_are_stored_unchanged() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "numbers");
    world.bind(&world.captured("rb-w31.json"));
    let policies = world.policies("numbers.yaml", NUMBERS);
    let policies = ["-p", policies.to_str().unwrap()];
    let server = world.server_with_state(&policies);
    world.hook(Hook::Works, &server, &policies);
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

/// Removal as described in docs/karmada.md: change the policies and the configuration, touch the Works, then remove the configuration.
#[test]
fn without_a_policy_a_touch_restores_karmadas_manifest() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, server) = served(plane, "undone");
    let (collection, work) = elsewhere(&world);
    let karmada = world.karmada();
    assert!(karmada.create(&collection, &work).ok().pointer(RECORD).is_some());
    drop(server);

    let policies = world.policies("another.yaml", ANOTHER_KIND);
    let policies = ["-p", policies.to_str().unwrap()];
    let server = world.server_with_state(&policies);
    let configuration = world.hook(Hook::Works, &server, &policies);
    assert!(!configuration.to_string().contains("Rollout"), "{configuration}");
    let undone = karmada.touch(&path(&collection, &work)).ok();
    assert_eq!(undone["spec"], work["spec"]);
    assert_eq!(undone["metadata"]["annotations"], work["metadata"]["annotations"]);
    assert_eq!(undone["metadata"]["generation"], 2);

    world.unhook(Hook::Works, &configuration);
    drop(server);
    assert_eq!(versions(&put(karmada, &collection, &work).ok()), versions(&undone));
}
