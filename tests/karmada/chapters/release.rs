//! What happens every day.

use std::collections::BTreeMap;

use crate::apply::apply;
use crate::objects::{X, Z};
use crate::service::policy;
use crate::stage::Stage;

/// The count of what the interpreter was asked.
const REQUESTS: &str = "reviser_requests_total";

pub(crate) fn created(stage: &mut Stage) {
    stage.step("The Rollout is created, and divided 3 to 1");
    apply(&stage.admin, &policy());
    stage.observe();
    stage.divide(&[(X, 3), (Z, 1)]);
    stage.release(4, "shop/checkout:1");
    stage.comes_to(&[(X, 3, true), (Z, 1, false)]);
    for operation in ["InterpretReplica", "ReviseReplica"] {
        let label = format!("operation=\"{operation}\"");
        let asked = stage.reviser().counted(REQUESTS, &[&label]);
        assert!(asked > 0, "Karmada never asked for {operation}: {}", stage.reviser().metrics());
        stage.say(&format!("            asked for {operation} {asked} times so far"));
    }
}

pub(crate) fn released(stage: &mut Stage) {
    stage.step("A release");
    stage.release(4, "shop/checkout:2");
    stage.comes_to(&[(X, 3, true), (Z, 1, false)]);
}

pub(crate) fn released_at_zero(stage: &mut Stage) {
    stage.step("Scaled to zero replicas");
    stage.release(0, "shop/checkout:2");
    stage.comes_to(&[(X, 0, true), (Z, 0, false)]);
    stage.step("A release at zero replicas");
    stage.release(0, "shop/checkout:3");
    stage.comes_to(&[(X, 0, true), (Z, 0, false)]);
    stage.step("Scaled up again");
    stage.release(4, "shop/checkout:3");
    stage.comes_to(&[(X, 3, true), (Z, 1, false)]);
}

pub(crate) fn weighed_otherwise(stage: &mut Stage) {
    stage.step("The weights become 1 to 3: the fort stays");
    stage.divide(&[(X, 1), (Z, 3)]);
    stage.comes_to(&[(X, 1, true), (Z, 3, false)]);
}

pub(crate) fn controllers_restarted(stage: &mut Stage) {
    stage.step("karmada-controller-manager is restarted, and writes every Work again");
    let before = versions(stage);
    let settled = restarted(stage, "restarted-once");
    let generations = |versions: &Versions| -> Vec<(String, i64)> {
        versions.iter().map(|(cluster, (generation, _))| (cluster.clone(), *generation)).collect()
    };
    assert_eq!(generations(&before), generations(&settled), "{}", stage.table());
    stage.comes_to(&[(X, 1, true), (Z, 3, false)]);
    stage.step("Once more: now not even a version changes");
    assert_eq!(settled, restarted(stage, "restarted-twice"), "{}", stage.table());
    stage.comes_to(&[(X, 1, true), (Z, 3, false)]);
}

/// Of each cluster's Work the generation, and the version of all of it.
type Versions = BTreeMap<String, (i64, String)>;

fn versions(stage: &Stage) -> Versions {
    let held = stage.held().into_iter();
    held.map(|(cluster, held)| (cluster, (held.generation, held.resource_version))).collect()
}

/// What the Works are once Karmada's controllers have been through all there is.
fn restarted(stage: &mut Stage, mark: &str) -> Versions {
    let reviews = stage.reviser().counted(REQUESTS, &["works"]);
    stage.karmada.restart_manager();
    stage.pass_through_karmada(mark);
    let reviewed = stage.reviser().counted(REQUESTS, &["works"]) - reviews;
    assert!(reviewed > 0, "no Work was written again");
    stage.say(&format!("            reviews of Works: {reviewed}"));
    versions(stage)
}
