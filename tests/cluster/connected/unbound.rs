//! Works of Namespaces, which have no binding: the elected replica keeps them up to date with the policies.

use serde_json::{Value, json};

use super::policies::{POLICIES, becomes, define};
use super::{RECORD, install, until_ready};
use crate::support::hook::Hook;
use crate::support::plane::ControlPlane;
use crate::support::until_some;
use crate::support::world::World;

const LABEL: &str = "/spec/workload/manifests/0/metadata/labels/topology.istio.io~1network";

fn policy(prefix: &str) -> Value {
    json!({"apiVersion": "reviser.io/v1alpha1", "kind": "ClusterRevisionPolicy", "metadata": {"name": "network"},
        "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "Namespace"}], "rules": [{"name": "network",
            "patch": {"type": "Merge", "value": {"metadata": {"labels":
                {"topology.istio.io/network": format!("{prefix}-${{cluster.name}}")}}}}}]}})
}

#[test]
fn the_works_of_a_namespace_follow_the_policies_as_they_come_change_and_go() {
    let Some(plane) = ControlPlane::start() else { return };
    let world = World::new(&plane, "namespaces");
    let admin = plane.admin();
    define(&admin);
    let kubeconfig = install(&plane, &world);
    let server = world.server(&["--kubeconfig", kubeconfig.to_str().unwrap()]);
    until_ready(&server);
    let file = world.policies("network.yaml", &policy("network").to_string());
    world.hook(Hook::Works, &server, &["-p", file.to_str().unwrap()]);

    // Stored without a policy.
    let works = ["x", "z"].map(|letter| {
        let work = world.captured(&format!("work-create-namespace-cluster-{letter}.json"));
        let collection = World::works(&world.cluster(letter));
        let created = world.karmada().create(&collection, &work).ok();
        assert_eq!(created["spec"], work["spec"]);
        let path = format!("{collection}/{}", work["metadata"]["name"].as_str().unwrap());
        (path, world.cluster(letter), work)
    });
    let labelled = |prefix: &str| {
        for (path, cluster, _) in &works {
            let label = json!(format!("{prefix}-{cluster}"));
            becomes(&world, path, "the Work has the label", |work| work.pointer(LABEL) == Some(&label));
        }
        until_some("the policy counts its Works", || {
            let status = admin.get(&format!("{POLICIES}/network")).ok()["status"].clone();
            (status["works"] == json!({"total": 2, "current": 2})).then_some(())
        });
    };
    admin.create(POLICIES, &policy("network")).ok();
    labelled("network");

    // The policy is changed.
    let path = format!("{POLICIES}/network");
    let mut next = policy("net");
    next["metadata"]["resourceVersion"] = admin.get(&path).ok()["metadata"]["resourceVersion"].clone();
    admin.put(&path, &next).ok();
    labelled("net");

    // Without the policy the Works are what Karmada wrote.
    admin.delete(&path).ok();
    for (path, _, work) in &works {
        let undone = becomes(&world, path, "the Work is undone", |work| work.pointer(RECORD).is_none());
        assert_eq!(undone["spec"], work["spec"]);
        assert_eq!(undone["metadata"].get("annotations"), work["metadata"].get("annotations"));
    }
}
