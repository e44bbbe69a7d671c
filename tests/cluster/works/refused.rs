//! The message of a refused Work in kubectl.

use serde_json::{Value, json};

use super::{elsewhere, served};
use crate::support::kubectl::kubectl;
use crate::support::plane::ControlPlane;

/// The message of kubectl for a refused Work.
fn refused(plane: &ControlPlane, work: &Value) -> Option<String> {
    let ran = kubectl(plane, "karmada", &["create", "-f", "-"], &work.to_string())?;
    assert!(!ran.ok && ran.stdout.is_empty(), "{ran:?}");
    Some(ran.stderr)
}

#[test]
fn a_denial_names_the_rule_the_cluster_the_place_and_the_fix() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, _server) = served(plane, "denied");
    let (_, mut work) = elsewhere(&world);
    work["spec"]["workload"]["manifests"][0]["spec"]["strategy"]["canary"]["steps"] = json!({"no": "list"});
    let Some(message) = refused(plane, &work) else { return };
    for part in [
        "admission webhook \"works.reviser.io\" denied the request",
        "ClusterRevisionPolicy/rollout-fort rule \"canary-steps\" cluster \"denied-z\"",
        "/spec/workload/manifests/0/spec/strategy/canary/steps: must be a list of steps, is a map",
        "change the object, or `steps` in the rule",
    ] {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
}

#[test]
fn a_missing_binding_is_reported_with_the_object_and_where_it_was_looked_up() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, _server) = served(plane, "unbound");
    let (_, mut work) = elsewhere(&world);
    work["spec"]["workload"]["manifests"][0]["metadata"]["name"] = "cart".into();
    let Some(message) = refused(plane, &work) else { return };
    for part in ["works.reviser.io", "Rollout/cart", "cluster \"unbound-z\"", "no binding in the state files"]
    {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
}

#[test]
fn while_no_server_is_there_the_message_names_the_webhook_and_its_address() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, server) = served(plane, "unreached");
    let address = server.secure;
    drop(server);
    let (_, work) = elsewhere(&world);
    let Some(message) = refused(plane, &work) else { return };
    for part in ["failed calling webhook \"works.reviser.io\"", &format!("https://{address}/mutate/works")] {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
}
