//! What is deleted and made again, and so has lost its annotations.

use serde_json::json;

use crate::objects::{X, Z, binding_path};
use crate::stage::Stage;
use crate::support::until;

pub(crate) fn binding_deleted(stage: &mut Stage) {
    stage.step("The binding alone is deleted");
    let uid = |stage: &Stage| stage.binding().map(|binding| binding["metadata"]["uid"].clone());
    let before = uid(stage);
    stage.admin.delete(&binding_path()).ok();
    until("the binding is gone", || uid(stage) != before);
    if stage.binding().is_none() {
        stage.say("            Karmada does not make it again by itself; the next change of the template does");
        stage.change(&json!({"metadata": {"annotations": {"shop/again": "1"}}}));
    }
    stage.comes_to_one_host(&[(X, 3), (Z, 1)]);
}

pub(crate) fn made_again_at_once(stage: &mut Stage) {
    // The other cluster gets most of the weight, so that a new allocation would go there.
    let host = stage.host();
    let weights = if host == X { [(X, 1), (Z, 3)] } else { [(X, 3), (Z, 1)] };
    let other = if host == X { Z } else { X };
    stage.step(&format!("The Rollout is deleted and made again at once, with most of the weight in {other}"));
    stage.divide(&weights);
    stage.delete_template();
    stage.release(4, "shop/checkout:5");
    let now = stage.comes_to_one_host(&weights);
    stage.say(&format!("            the fort was in {host}, and is in {now}"));
    stage.step("A release after that");
    stage.release(4, "shop/checkout:6");
    stage.comes_to_one_host(&weights);
}
