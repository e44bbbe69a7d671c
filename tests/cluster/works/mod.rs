//! Works written to a real API server, with the configuration printed by `reviser manifests`.
//!
//! * `stable`: repeated writes are stored once.
//! * `away`: writes while no server runs.
//! * `shapes`: no match condition fails, for Works of any shape.
//! * `unbound`: Works without a binding.
//! * `refused`: the message of a refused Work.

mod away;
mod refused;
mod shapes;
mod stable;
mod unbound;

use serde_json::{Value, json};

use crate::process::Server;
use crate::support::client::{Client, Reply};
use crate::support::hook::Hook;
use crate::support::plane::ControlPlane;
use crate::support::world::World;

/// The record of a Work, the marker of its manifest, and what is nulled.
const RECORD: &str = "/metadata/annotations/reviser.io~1revision";
const MARKER: &str = "/spec/workload/manifests/0/metadata/annotations/reviser.io~1revised";
const PULL: &str = "/spec/workload/manifests/0/spec/strategy/canary/steps/0/properties/pull";

/// A world with the captured binding, and a server with the built-in policy in front of its Works.
fn served<'p>(plane: &'p ControlPlane, name: &'static str) -> (World<'p>, Server) {
    let world = World::new(plane, name);
    world.bind(&world.captured("rb-w31.json"));
    let server = world.server_with_state(&[]);
    world.hook(Hook::Works, &server, &[]);
    (world, server)
}

/// The captured Work of the cluster without the fort: its collection, and the object.
fn elsewhere(world: &World<'_>) -> (String, Value) {
    (World::works(&world.cluster("z")), world.captured("work-create-cluster-z-w31.json"))
}

fn path(collection: &str, work: &Value) -> String {
    format!("{collection}/{}", work["metadata"]["name"].as_str().unwrap())
}

/// Replaces the stored Work, as Karmada does.
fn put(karmada: &Client, collection: &str, work: &Value) -> Reply {
    let path = path(collection, work);
    let mut work = work.clone();
    work["metadata"]["resourceVersion"] = karmada.get(&path).ok()["metadata"]["resourceVersion"].clone();
    karmada.put(&path, &work)
}

#[test]
fn a_work_is_revised_and_its_null_is_stored() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, _server) = served(plane, "revised");
    let (collection, work) = elsewhere(&world);
    assert_eq!(work.pointer(PULL), Some(&json!("false")));

    let created = world.karmada().create(&collection, &work).ok();
    let stored = world.karmada().get(&path(&collection, &work)).ok();
    for work in [created, stored] {
        assert_eq!(work.pointer(PULL), Some(&Value::Null), "{work}");
        assert!(work.pointer(MARKER).is_some() && work.pointer(RECORD).is_some(), "{work}");
    }
    let host = world.captured("work-create-cluster-x-w31.json");
    let created = world.karmada().create(&World::works(&world.cluster("x")), &host).ok();
    assert_eq!(created.pointer(PULL), host.pointer(PULL));
    assert!(created.pointer(MARKER).is_none());
    assert!(created.pointer(RECORD).unwrap().as_str().unwrap().contains(r#""hosts":["fort"]"#));
}

/// The review contains the Work twice; etcd's size limit applies before ours.
#[test]
fn a_work_as_large_as_an_api_server_stores_is_revised_and_written_again() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, _server) = served(plane, "large");
    let (collection, mut work) = elsewhere(&world);
    work["spec"]["workload"]["manifests"][0]["spec"]["data"] = "x".repeat(1_400_000).into();
    assert_eq!(world.karmada().create(&collection, &work).ok().pointer(PULL), Some(&Value::Null));
    work["spec"]["workload"]["manifests"][0]["spec"]["paused"] = true.into();
    let again = put(world.karmada(), &collection, &work).ok();
    assert_eq!((again.pointer(PULL), &again["metadata"]["generation"]), (Some(&Value::Null), &json!(2)));
}

#[test]
fn a_dry_run_is_answered_like_any_other_and_leaves_nothing_behind() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "dry-run");
    world.bind(&world.captured("rb-w31.json"));
    let ledger = world.directory().join("ledger");
    let server = world.server_with_state(&["--ledger", &format!("file:{}", ledger.display())]);
    world.hook(Hook::Works, &server, &[]);
    let (collection, work) = elsewhere(&world);
    let is_claimed = || {
        let database = std::fs::read(&ledger).unwrap();
        database.windows(4).any(|bytes| bytes == b"fort")
    };

    let tried = world.karmada().create(&format!("{collection}?dryRun=All"), &work).ok();
    assert_eq!(tried.pointer(PULL), Some(&Value::Null), "{tried}");
    assert!(!is_claimed());
    world.karmada().get(&path(&collection, &work)).refused(404);

    world.karmada().create(&collection, &work).ok();
    assert!(is_claimed());
}
