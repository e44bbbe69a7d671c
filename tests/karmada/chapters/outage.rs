//! Something is down while the fort has to move, or to be claimed.

use serde_json::json;

use crate::objects::{X, Z, binding_path, other_than};
use crate::patience::until;
use crate::stage::Stage;
use crate::support::client::MERGE;

pub(crate) fn killed_in_a_handover(stage: &mut Stage) {
    let host = stage.host();
    let other = other_than(host);
    stage.step(&format!("{host}, the host, is dropped while its API server is away: the handover waits"));
    stage.karmada.member(host).lose();
    stage.divide(&[(other, 1)]);
    until("the Work of the host is on its way out, and the other one has all replicas", || {
        let held = stage.held();
        held.get(host).is_some_and(|held| held.deleting) && held[other].replicas == Some(4)
    });
    stage.tell_news();
    assert!(!stage.held()[other].hosts(), "it took the fort before it was free");
    stage.step("reviser is killed, and started again: it waits");
    stage.reviser().kill();
    stage.reviser().start();
    assert!(!stage.held()[other].hosts(), "it took the fort before it was free");
    stage.step(
        "It is killed again, and while it is down the member is back: no replica sees that the fort is free",
    );
    stage.reviser().kill();
    stage.karmada.member(host).find_again();
    until("the Work of the old host is gone", || !stage.held().contains_key(host));
    stage.tell_news();
    assert!(!stage.held()[other].hosts(), "{}", stage.table());
    stage.step("It is started: it finds the handover that waits");
    stage.reviser().start();
    stage.comes_to(&[(other, 4, true)]);
    stage.karmada.wait_for_members();
    stage.step("It is scheduled again");
    stage.divide(&[(X, 3), (Z, 1)]);
    stage.comes_to(&[(X, 3, other == X), (Z, 1, other == Z)]);
}

pub(crate) fn without_karmadas_webhook(stage: &mut Stage) {
    stage.step("karmada-webhook is down while the fort has to be claimed again");
    let expected = stage.expected_now();
    let host = stage.host();
    let forget = json!({"metadata": {"annotations": {"reviser.io/fort-cluster": null}}});
    stage.admin.patch(&binding_path(), MERGE, &forget).ok();
    stage.karmada.stop_webhook();
    let work = &stage.works()[host]["metadata"];
    let [namespace, name] = ["namespace", "name"].map(|field| work[field].as_str().unwrap().to_owned());
    let touched =
        stage.admin.touch(&format!("/apis/work.karmada.io/v1alpha1/namespaces/{namespace}/works/{name}"));
    assert!(touched.code >= 500, "it can't be tried again: {touched:?}");
    assert!(touched.text.contains("works.reviser.io"), "it is not reviser that refuses: {touched:?}");
    stage.say(&format!("            a touch is answered {}: {}", touched.code, touched.message()));
    stage.step("A release meanwhile reaches no member");
    stage.release(4, "shop/checkout:7");
    assert_eq!(stage.ledger(), None);
    assert!(stage.held().values().all(|held| held.image != "shop/checkout:7"), "{}", stage.table());
    stage.step("It is back: all heals by being tried again, and the fort is where it was");
    stage.karmada.start_webhook();
    stage.comes_to(&expected);
}
