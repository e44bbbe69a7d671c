//! The fort moves: a gap is allowed, an overlap is not.

use serde_json::json;

use crate::objects::{X, Z};
use crate::stage::Stage;

pub(crate) fn host_dropped(stage: &mut Stage) {
    stage.step("The cluster that hosts the fort is dropped");
    stage.divide(&[(Z, 1)]);
    stage.comes_to(&[(Z, 4, true)]);
}

pub(crate) fn host_back(stage: &mut Stage) {
    stage.step("It comes back, with most of the weight: the fort stays where it is now");
    stage.divide(&[(X, 3), (Z, 1)]);
    stage.comes_to(&[(X, 3, false), (Z, 1, true)]);
    stage.step("A release after that");
    stage.release(4, "shop/checkout:4");
    stage.comes_to(&[(X, 3, false), (Z, 1, true)]);
}

pub(crate) fn pinned(stage: &mut Stage) {
    let before = stage.held();
    let (host, other) = if before[X].hosts() { (X, Z) } else { (Z, X) };
    let replicas = |cluster: &str| before[cluster].replicas.unwrap();
    stage.step(&format!("A pin moves the fort from {host} to {other}"));
    stage.change(&json!({"metadata": {"annotations": {"reviser.io/fort-cluster": other}}}));
    let mut expected = [(host, replicas(host), false), (other, replicas(other), true)];
    expected.sort_unstable();
    stage.comes_to(&expected);
    stage.step("The pin is taken away: the fort stays");
    stage.change(&json!({"metadata": {"annotations": {"reviser.io/fort-cluster": null}}}));
    stage.release(4, "shop/checkout:9");
    stage.comes_to(&expected);
}
