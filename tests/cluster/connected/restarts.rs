//! A restart of the API server.

use serde_json::Value;

use super::{PULL, connected, fort, hosts, install, until_ready};
use crate::support::hook::Hook;
use crate::support::plane::ControlPlane;
use crate::support::until_some;
use crate::support::world::World;

#[test]
fn a_server_goes_on_with_an_api_server_that_was_away_and_one_starts_before_it_is_there() {
    let Some(plane) = ControlPlane::start() else { return };
    let world = World::new(&plane, "restarts");
    world.bind(&world.captured("rb-w31.json"));
    let kubeconfig = install(&plane, &world);
    let server = connected(&world, &kubeconfig);
    until_ready(&server);
    world.hook(Hook::Works, &server, &[]);
    let create = |letter: &str| {
        let work = world.captured(&format!("work-create-cluster-{letter}-w31.json"));
        let collection = World::works(&world.cluster(letter));
        // Definitions and roles come back a moment after the API server; until then nothing may be stored
        // unrevised.
        until_some("the Work is stored", || {
            let reply = world.karmada().create(&collection, &work);
            assert!(reply.is_ok() || matches!(reply.code, 403 | 404 | 429 | 500), "{}", reply.text);
            reply.is_ok().then_some(reply.body)
        })
    };
    assert!(hosts(&create("x")));

    plane.kill();
    let late = connected(&world, &kubeconfig);
    plane.start_again();
    let created = create("z");
    assert_eq!(created.pointer(PULL), Some(&Value::Null));
    assert!(!hosts(&created));
    assert_eq!(fort(&world, "checkout-rollout"), world.cluster("x"));

    // The server that was started during the outage works.
    until_ready(&late);
    world.hook(Hook::Works, &late, &[]);
    drop(server);
    let path =
        format!("{}/{}", World::works(&world.cluster("z")), created["metadata"]["name"].as_str().unwrap());
    let touched = world.karmada().touch(&path).ok();
    assert_eq!(touched["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
}
