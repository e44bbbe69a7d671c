//! The shipped rights suffice. Without them the error names the missing right.

use rustix::process::Signal;

use super::{connected, fort, hosts, install, until_ready};
use crate::support::hook::Hook;
use crate::support::plane::ControlPlane;
use crate::support::until;
use crate::support::world::World;

#[test]
fn with_the_shipped_rights_works_are_revised_and_the_binding_remembers() {
    let Some(plane) = ControlPlane::start() else { return };
    let world = World::new(&plane, "rights");
    world.bind(&world.captured("rb-w31.json"));
    let server = connected(&world, &install(&plane, &world));
    until_ready(&server);
    world.hook(Hook::Works, &server, &[]);
    let [x, z] = ["x", "z"].map(|letter| {
        let file = format!("work-create-cluster-{letter}-w31.json");
        world.karmada().create(&World::works(&world.cluster(letter)), &world.captured(&file)).ok()
    });
    assert!(hosts(&x) && !hosts(&z), "{x} {z}");
    assert_eq!(fort(&world, "checkout-rollout"), world.cluster("x"));
    let lease = "/apis/coordination.k8s.io/v1/namespaces/reviser-system/leases/reviser";
    until("the server is elected", || plane.admin().get(lease).is_ok());
    let done = server.end(Signal::TERM);
    assert_eq!(done.code, Some(0));
    // This API server also has the kinds of Admiralty's targets; Karmada's does not.
    let refused =
        |line: &&str| line.contains("orbidden") && !line.contains("targets.multicluster.admiralty.io");
    assert_eq!(done.stderr.lines().find(refused), None);
}

#[test]
fn without_rights_a_work_is_refused_with_the_right_that_is_missing() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "no-rights");
    world.bind(&world.captured("rb-w31.json"));
    let server = connected(&world, &plane.kubeconfig("nobody"));
    world.hook(Hook::Works, &server, &[]);
    let work = world.captured("work-create-cluster-z-w31.json");
    let refused = world.karmada().create(&World::works(&world.cluster("z")), &work);
    let message = refused.refused(500);
    for part in ["works.reviser.io", "\"nobody\" cannot get resource \"resourcebindings\""] {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
}
