//! The fort moves: a gap is allowed, an overlap is not.

use serde_json::json;

use crate::objects::{X, Z, other_than};
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

pub(crate) fn dropped_and_released(stage: &mut Stage) {
    let host = stage.host();
    let other = other_than(host);
    stage.step(&format!("{host}, the host, is dropped at the moment of a release"));
    stage.divide(&[(other, 1)]);
    stage.release(4, "shop/checkout:8");
    stage.comes_to(&[(other, 4, true)]);
    stage.step("It comes back at the moment of another one");
    stage.divide(&[(X, 3), (Z, 1)]);
    stage.release(4, "shop/checkout:8a");
    stage.comes_to(&[(X, 3, other == X), (Z, 1, other == Z)]);
}

pub(crate) fn pinned(stage: &mut Stage) {
    let host = stage.host();
    let other = other_than(host);
    stage.step(&format!("A pin moves the fort from {host} to {other}"));
    stage.change(&json!({"metadata": {"annotations": {"reviser.io/fort-cluster": other}}}));
    let expected = [(X, 3, other == X), (Z, 1, other == Z)];
    stage.comes_to(&expected);
    stage.step("The pin is taken away: the fort stays");
    stage.change(&json!({"metadata": {"annotations": {"reviser.io/fort-cluster": null}}}));
    stage.release(4, "shop/checkout:9");
    stage.comes_to(&expected);
}
