//! What is deleted and made again, and so has lost its annotations.

use serde_json::json;

use crate::objects::{X, Z, binding_path, other_than};
use crate::patience::until;
use crate::stage::Stage;

pub(crate) fn binding_deleted(stage: &mut Stage) {
    stage.step("The binding alone is deleted");
    let uid = |stage: &Stage| stage.binding().map(|binding| binding["metadata"]["uid"].clone());
    let before = uid(stage);
    stage.admin.delete(&binding_path()).ok();
    until("the binding is gone", || uid(stage) != before);
    if stage.binding().is_none() {
        stage.say(
            "            Karmada does not make it again by itself; the next change of the template does",
        );
        stage.change(&json!({"metadata": {"annotations": {"shop/again": "1"}}}));
    }
    stage.comes_to_one_host(&[(X, 3), (Z, 1)]);
}

pub(crate) fn made_again_at_once(stage: &mut Stage) {
    let host = stage.host();
    let other = other_than(host);
    stage.step(&format!("The Rollout is deleted and made again at once, with most of the weight in {other}"));
    let weights = weighed(other);
    stage.divide(&weights);
    stage.delete_template();
    stage.release(4, "shop/checkout:5");
    let now = stage.comes_to_one_host(&weights);
    stage.say(&format!("            the fort was in {host}, and is in {now}"));
}

/// The Works of the old Rollout are the only ones that still know.
pub(crate) fn made_again_while_the_host_is_away(stage: &mut Stage) {
    let host = stage.host();
    let other = other_than(host);
    stage.step(&format!(
        "{host}, the host, is away; the Rollout is deleted and made again, with most of the weight in {other}"
    ));
    let weights = weighed(other);
    stage.karmada.member(host).lose();
    stage.divide(&weights);
    let of_the_old = stage.works()[other]["metadata"]["uid"].clone();
    stage.delete_template();
    stage.release(4, "shop/checkout:6");
    until("the other cluster has a Work of the new one", || {
        let works = stage.works();
        let (work, held) = (works.get(other), stage.held());
        work.is_some_and(|work| work["metadata"]["uid"] != of_the_old)
            && held.get(other).is_some_and(|held| held.image == "shop/checkout:6" && held.replicas == Some(3))
    });
    stage.tell_news();
    let held = stage.held();
    assert!(held[host].deleting && held[host].hosts(), "{}", stage.table());
    assert!(!held[other].hosts(), "it took the fort before it was free");
    stage.step("The member is back: the fort is where it was");
    stage.karmada.member(host).find_again();
    let mut expected: Vec<_> =
        weights.iter().map(|(name, replicas)| (*name, *replicas, *name == host)).collect();
    expected.sort_unstable();
    stage.comes_to(&expected);
    stage.karmada.wait_for_members();
    stage.step("A release after that");
    stage.release(4, "shop/checkout:6a");
    stage.comes_to(&expected);
}

/// Most of the weight for one cluster.
fn weighed(most: &str) -> [(&'static str, i64); 2] {
    if most == X { [(X, 3), (Z, 1)] } else { [(X, 1), (Z, 3)] }
}
