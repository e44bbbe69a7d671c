//! Policies that are custom resources: activated, faulty, changed and deleted, while Works are stored.

use std::path::Path;

use serde_json::{Value, json};

use super::{PULL, RECORD, ROOT, install, read, until_ready};
use crate::support::client::{Client, MERGE};
use crate::support::hook::Hook;
use crate::support::plane::{ControlPlane, apply_definitions};
use crate::support::until_some;
use crate::support::world::World;

pub(super) const POLICIES: &str = "/apis/reviser.io/v1alpha1/clusterrevisionpolicies";
const EXAMPLE: &str = "manifests/examples/rollout-fort.yaml";

pub(super) fn define(admin: &Client) {
    let files = std::fs::read_dir(Path::new(ROOT).join("manifests/crds")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let paths = paths.filter(|path| !path.ends_with("kustomization.yaml"));
    let documents: Vec<String> = paths.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    apply_definitions(admin, &documents);
}

/// Waits until `holds` is true for a Work, which only the server writes.
pub(super) fn becomes(world: &World<'_>, path: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    until_some(what, || Some(world.karmada().get(path).ok()).filter(&holds))
}

/// The condition `Accepted` of a policy.
fn accepted(admin: &Client, name: &str, status: &str) -> String {
    until_some(&format!("{name} is accepted: {status}"), || {
        let policy = admin.get(&format!("{POLICIES}/{name}")).ok();
        let condition = &policy["status"]["conditions"][0];
        let current = policy["status"]["observedGeneration"] == policy["metadata"]["generation"];
        (current && condition["status"] == status)
            .then(|| condition["message"].as_str().unwrap_or_default().to_owned())
    })
}

#[test]
fn a_stored_work_follows_the_policies_as_they_come_change_and_go() {
    let Some(plane) = ControlPlane::start() else { return };
    let world = World::new(&plane, "policies");
    let admin = plane.admin();
    define(&admin);
    let binding = world.captured("rb-w31.json");
    world.bind(&binding);
    let kubeconfig = install(&plane, &world);
    let server = world.server(&["--kubeconfig", kubeconfig.to_str().unwrap()]);
    until_ready(&server);
    let example = Path::new(ROOT).join(EXAMPLE);
    world.hook(Hook::Works, &server, &["-p", example.to_str().unwrap()]);

    // No policy selects it.
    let collection = World::works(&world.cluster("z"));
    let work = world.captured("work-create-cluster-z-w31.json");
    let created = world.karmada().create(&collection, &work).ok();
    assert_eq!(created["spec"], work["spec"]);
    let path = format!("{collection}/{}", work["metadata"]["name"].as_str().unwrap());

    // A policy is created.
    admin.create_yaml(POLICIES, &std::fs::read_to_string(&example).unwrap()).ok();
    let revised =
        becomes(&world, &path, "the Work is revised", |work| work.pointer(PULL) == Some(&Value::Null));
    assert!(revised.pointer(RECORD).is_some());
    accepted(&admin, "rollout-fort", "True");

    // Made faulty: its status says so, and objects that it selects are refused.
    let policy = format!("{POLICIES}/rollout-fort");
    let steps = |pointer: &str| {
        json!({"spec": {"rules": [{"name": "canary-steps", "fort": {"allocation": "fort",
            "steps": pointer, "match": {"type": "Fort"}, "field": "/properties/pull"}}]}})
    };
    let unknown =
        json!({"spec": {"rules": [{"name": "odd", "when": "no.such(", "env": {"name": "A", "value": "b"}}]}});
    admin.patch(&policy, MERGE, &unknown).ok();
    let message = accepted(&admin, "rollout-fort", "False");
    assert!(message.contains("when"), "{message}");
    let metrics = read(&server, "/metrics").unwrap();
    for line in ["reviser_policies_out_of_use 1", "reviser_policies_unwatched 0", "reviser_leader 1"] {
        assert!(metrics.lines().any(|metric| metric == line), "no {line}: {metrics}");
    }
    let refused = world.karmada().touch(&path);
    assert!(refused.refused(500).contains("rollout-fort"), "{}", refused.text);

    // Corrected, it is active again, and existing Works do not change.
    admin.patch(&policy, MERGE, &steps("/spec/strategy/canary/steps")).ok();
    accepted(&admin, "rollout-fort", "True");
    let touched = until_some("the Work can be written", || {
        let reply = world.karmada().touch(&path);
        reply.is_ok().then_some(reply.body)
    });
    assert_eq!(touched["spec"], revised["spec"]);

    // Without the policy the Work is what Karmada wrote.
    admin.delete(&policy).ok();
    let undone = becomes(&world, &path, "the Work is undone", |work| work.pointer(RECORD).is_none());
    assert_eq!(undone["spec"], work["spec"]);
    assert_eq!(undone["metadata"]["annotations"], work["metadata"]["annotations"]);
}

/// A policy that comes before the webhook configuration touches Works without a call of the webhook.
#[test]
fn works_that_are_stored_without_the_door_being_asked_are_not_called_current() {
    let Some(plane) = ControlPlane::start() else { return };
    let world = World::new(&plane, "unasked");
    let admin = plane.admin();
    define(&admin);
    world.bind(&world.captured("rb-w31.json"));
    let kubeconfig = install(&plane, &world);
    let server = world.server(&["--kubeconfig", kubeconfig.to_str().unwrap()]);
    until_ready(&server);
    let collection = World::works(&world.cluster("z"));
    let work = world.captured("work-create-cluster-z-w31.json");
    world.karmada().create(&collection, &work).ok();
    let path = format!("{collection}/{}", work["metadata"]["name"].as_str().unwrap());

    let example = Path::new(ROOT).join(EXAMPLE);
    admin.create_yaml(POLICIES, &std::fs::read_to_string(&example).unwrap()).ok();
    server.process.says(|line| line.contains("without reviser being asked"));
    let status = until_some("the Work is counted", || {
        let works = admin.get(&format!("{POLICIES}/rollout-fort")).ok()["status"]["works"].clone();
        works.is_object().then_some(works)
    });
    assert_eq!(status, json!({"total": 1, "current": 0}));

    // From here on the webhook is called, and nothing else is needed.
    world.hook(Hook::Works, &server, &["-p", example.to_str().unwrap()]);
    becomes(&world, &path, "the Work is revised", |work| work.pointer(PULL) == Some(&Value::Null));
    until_some("the Work is current", || {
        let works = &admin.get(&format!("{POLICIES}/rollout-fort")).ok()["status"]["works"];
        (*works == json!({"total": 1, "current": 1})).then_some(())
    });
    server.process.says(|line| line.contains("is asked about all Works"));
}
