//! reviser is removed, and nothing shows that it was there.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::apply::path;
use crate::objects::{X, Z};
use crate::patience::until;
use crate::service::{Service, policy};
use crate::stage::Stage;

const IMAGE: &str = "shop/checkout:0";

/// The Works of Karmada without reviser, and reviser, installed after that.
///
/// Karmada can't divide the Rollout by itself. So the interpreter's part is played by reviser without a
/// policy and without the admission of Works.
pub(crate) fn works_without_reviser(stage: &mut Stage) -> BTreeMap<String, Value> {
    stage.step("reviser is installed, without a policy, and its hook for Works taken away: Karmada alone");
    let service = Service::install(&stage.karmada);
    service.unhook();
    stage.reviser = Some(service);
    stage.divide(&[(X, 3), (Z, 1)]);
    stage.release(4, IMAGE);
    stage.comes_to(&[(X, 3, true), (Z, 1, true)]);
    let works =
        stage.works().into_iter().map(|(cluster, work)| (cluster, what_karmada_wrote(&work))).collect();
    stage.delete_template();
    stage.comes_to(&[]);
    stage.reviser().hook();
    works
}

pub(crate) fn removed(stage: &mut Stage, as_karmada_writes_them: &BTreeMap<String, Value>) {
    stage.step("The Rollout is as it was before reviser");
    stage.divide(&[(X, 3), (Z, 1)]);
    stage.release(4, IMAGE);
    let host = stage.comes_to_one_host(&[(X, 3), (Z, 1)]);
    stage.step(&format!("reviser is removed: its policy first (the host was {host})"));
    stage.stop_observing();
    stage.admin.delete(&path(&policy())).ok();
    stage.comes_to_with(&[(X, 3, true), (Z, 1, true)], |held| !held.revised);
    until("the ledger is cleared", || stage.ledger().is_none());
    stage.step("Then its hook");
    stage.reviser().unhook();
    let before = stage.held();
    for (cluster, work) in stage.works() {
        let wrote = &as_karmada_writes_them[&cluster];
        assert_eq!(what_karmada_wrote(&work), *wrote, "the Work of {cluster}");
    }
    stage.karmada.restart_manager();
    stage.pass_through_karmada("without-reviser");
    for (cluster, held) in stage.held() {
        assert_eq!(held.generation, before[&cluster].generation, "Karmada has written {cluster} again");
    }
    stage.say(
        "            each Work is as Karmada wrote it without reviser, and a restart of Karmada changes none",
    );
}

pub(crate) fn deleted(stage: &mut Stage) {
    stage.step("The Rollout is deleted");
    stage.delete_template();
    stage.comes_to(&[]);
    until("the binding is gone", || stage.binding().is_none());
}

/// A Work without what differs from one object to the next.
fn what_karmada_wrote(work: &Value) -> Value {
    let mut work = work.clone();
    let manifest = &mut work["spec"]["workload"]["manifests"][0];
    let annotations = manifest["metadata"]["annotations"].as_object_mut().unwrap();
    for changing in ["resourcetemplate.karmada.io/uid", "resourcetemplate.karmada.io/generation"] {
        annotations.remove(changing);
    }
    let labels = |labels: &mut Value| {
        let labels = labels.as_object_mut().unwrap();
        labels.retain(|name, _| !name.ends_with("permanent-id"));
    };
    labels(&mut manifest["metadata"]["labels"]);
    labels(&mut work["metadata"]["labels"]);
    work.as_object_mut().unwrap().remove("status");
    let metadata = work["metadata"].as_object_mut().unwrap();
    for changing in ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"] {
        metadata.remove(changing);
    }
    work
}
