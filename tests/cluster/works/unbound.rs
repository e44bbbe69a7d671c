//! Works of Namespaces, which Karmada makes without a binding.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{MARKER, RECORD, path, put};
use crate::support::hook::Hook;
use crate::support::plane::ControlPlane;
use crate::support::world::World;

const POLICY: &str = "
apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: network}
spec:
  resourceSelectors:
  - {apiVersion: v1, kind: Namespace}
  - {apiVersion: discovery.k8s.io/v1, kind: EndpointSlice}
  rules:
  - name: network
    patch: {type: Merge, value: {metadata: {labels: {topology.istio.io/network: 'network-${cluster.name}'}}}}
";

const LABEL: &str = "/spec/workload/manifests/0/metadata/labels/topology.istio.io~1network";

fn versions(work: &Value) -> (&Value, &Value) {
    (&work["metadata"]["resourceVersion"], &work["metadata"]["generation"])
}

/// The captured Work of the Namespace: its collection, and the object.
fn namespace(world: &World<'_>) -> (String, Value) {
    (World::works(&world.cluster("z")), world.captured("work-create-namespace-cluster-z.json"))
}

#[test]
fn the_work_of_a_namespace_is_revised_stored_once_and_given_back() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "unbound-once");
    let policies = world.policies("network.yaml", POLICY);
    let policies = ["-p", policies.to_str().unwrap()];
    // It reads neither bindings nor Works.
    let server = world.server(&policies);
    world.hook(Hook::Works, &server, &policies);
    let (collection, work) = namespace(&world);
    let karmada = world.karmada();
    let created = karmada.create(&collection, &work).ok();
    assert_eq!(created.pointer(LABEL), Some(&json!(format!("network-{}", world.cluster("z")))), "{created}");
    assert!(created.pointer(MARKER).is_some() && created.pointer(RECORD).is_some(), "{created}");

    // Karmada's reconciles keep annotations of others; a touch sends our own revision.
    let mut next = work.clone();
    next["metadata"]["annotations"] = created["metadata"]["annotations"].clone();
    for _ in 0..2 {
        assert_eq!(versions(&put(karmada, &collection, &next).ok()), versions(&created));
    }
    assert_eq!(versions(&karmada.touch(&path(&collection, &work)).ok()), versions(&created));

    // With another policy Karmada's manifest is restored, without our annotations.
    drop(server);
    let other = world.policies("network.yaml", &POLICY.replace("kind: Namespace", "kind: ConfigMap"));
    let other = ["-p", other.to_str().unwrap()];
    let server = world.server(&other);
    let configuration = world.hook(Hook::Works, &server, &other);
    let undone = karmada.touch(&path(&collection, &work)).ok();
    assert_eq!(undone["spec"], work["spec"]);
    assert_eq!(undone["metadata"].get("annotations"), work["metadata"].get("annotations"));
    world.unhook(Hook::Works, &configuration);
    assert_eq!(versions(&put(karmada, &collection, &work).ok()), versions(&undone));
}

#[test]
fn an_outage_stops_only_the_selected_namespaces() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "unbound-away");
    let policies = world.policies("network.yaml", POLICY);
    let policies = ["-p", policies.to_str().unwrap()];
    let server = world.server(&policies);
    world.hook(Hook::Works, &server, &policies);
    drop(server.end(Signal::KILL));
    let (collection, work) = namespace(&world);
    let karmada = world.karmada();
    let refused = karmada.create(&collection, &work);
    assert!(refused.refused(500).contains("failed calling webhook \"works.reviser.io\""), "{}", refused.text);
    for (name, manifest, suspended) in [
        (
            "config",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}}),
            false,
        ),
        (
            "quota",
            json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "n"}}),
            false,
        ),
        // Collected from a member.
        (
            "slice",
            json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "s", "namespace": "n"},
                "addressType": "IPv4", "endpoints": []}),
            true,
        ),
    ] {
        let mut other = world.work(&world.cluster("z"), name, &[manifest]);
        other["metadata"].as_object_mut().unwrap().remove("annotations");
        other["spec"]["suspendDispatching"] = suspended.into();
        let stored = karmada.create(&collection, &other).ok();
        assert_eq!(stored["spec"]["workload"], other["spec"]["workload"], "{name}");
    }
}

/// A rule that needs a schedule is denied with the reason; it is not a failure of the webhook.
#[test]
fn a_rule_that_needs_a_schedule_is_denied_with_its_reason() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "unscheduled");
    let policies = world.policies("network.yaml", &POLICY.replace("cluster.name", "binding.replicas"));
    let policies = ["-p", policies.to_str().unwrap()];
    let server = world.server(&policies);
    world.hook(Hook::Works, &server, &policies);
    let (collection, work) = namespace(&world);
    let denied = world.karmada().create(&collection, &work);
    let message = denied.refused(422);
    assert!(
        message.contains("ClusterRevisionPolicy/network rule \"network\"")
            && message.contains(
                "binding.replicas is not defined: the Work has no binding, so that there is no schedule; "
            ),
        "{message}"
    );
}
