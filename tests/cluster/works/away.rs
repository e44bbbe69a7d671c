//! Writes while no server runs: some succeed, others fail.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{PULL, elsewhere, path, put, served};
use crate::support::hook::Hook;
use crate::support::plane::ControlPlane;
use crate::support::world::World;

/// The message of the API server for an unreachable webhook.
const UNREACHED: &str = "failed calling webhook \"works.reviser.io\"";

#[test]
fn while_no_server_is_there_selected_works_are_refused_and_others_are_stored() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, server) = served(plane, "away");
    let (collection, work) = elsewhere(&world);
    let karmada = world.karmada();
    drop(server.end(Signal::KILL));

    let refused = karmada.create(&collection, &work);
    assert!(refused.refused(500).contains(UNREACHED), "{}", refused.text);
    for file in [
        "work-create-configmap-cluster-x.json",
        "work-create-secret-cluster-x.json",
        "work-create-deployment-cluster-x.json",
        "work-create-namespace-cluster-x.json",
    ] {
        let other = world.captured(file);
        let collection = World::works(&world.cluster("x"));
        let stored = karmada.create(&collection, &other).ok();
        assert_eq!(stored["spec"], other["spec"], "{file}");
        let touched = karmada.touch(&path(&collection, &other)).ok();
        assert_eq!(touched["metadata"]["resourceVersion"], stored["metadata"]["resourceVersion"]);
    }

    // Nor is what has nothing to go by.
    let without = |what: &str, parts: &[&str]| {
        let mut bare = work.clone();
        bare["metadata"]["name"] = what.into();
        for part in parts {
            let (above, name) = part.rsplit_once('/').unwrap();
            bare.pointer_mut(above).unwrap().as_object_mut().unwrap().remove(name);
        }
        karmada.create(&collection, &bare)
    };
    for (what, parts) in [
        ("no-manifests", &["/spec/workload/manifests"][..]),
        ("no-workload", &["/spec/workload"]),
        ("nothing", &["/metadata/annotations", "/spec"]),
    ] {
        assert!(without(what, parts).is_ok(), "{what}");
    }
    // A selected kind is revised without a binding too, as far as that goes.
    let unbound = without("no-annotations", &["/metadata/annotations"]);
    assert!(unbound.refused(500).contains(UNREACHED), "{}", unbound.text);

    // With a server they are written again.
    let server = world.server_with_state(&[]);
    world.hook(Hook::Works, &server, &[]);
    assert_eq!(karmada.create(&collection, &work).ok().pointer(PULL), Some(&Value::Null));
}

#[test]
fn a_revised_work_goes_away_and_reports_its_status_without_a_server() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, server) = served(plane, "going");
    let (collection, work) = elsewhere(&world);
    let (karmada, path) = (world.karmada(), path(&collection, &work));
    let created = karmada.create(&collection, &work).ok();
    // With the API server's connections still open.
    let done = server.end(Signal::TERM);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{}", done.stderr);

    let mut reported = created.clone();
    reported["status"] = json!({"conditions": [{"type": "Applied", "status": "True"}]});
    let reported = karmada.put(&format!("{path}/status"), &reported).ok();
    assert_eq!(reported["status"]["conditions"][0]["type"], "Applied");
    assert!(put(karmada, &collection, &work).refused(500).contains(UNREACHED));
    assert!(karmada.touch(&path).refused(500).contains(UNREACHED));

    // The finalizer keeps it; without the finalizer it is deleted.
    let going = karmada.delete(&path).ok();
    assert!(going["metadata"]["deletionTimestamp"].is_string(), "{going}");
    let mut released = going.clone();
    released["metadata"]["finalizers"] = json!([]);
    karmada.put(&path, &released).ok();
    karmada.get(&path).refused(404);
}
