//! Something is down while the fort has to move, or to be claimed.

use serde_json::json;

use crate::objects::{NAMESPACE, X, Z, binding_path};
use crate::stage::Stage;
use crate::support::client::MERGE;
use crate::support::until;

pub(crate) fn killed_in_a_handover(stage: &mut Stage) {
    let host = stage.host();
    let other = if host == X { Z } else { X };
    stage.step(&format!("The API server of {host}, the host, is away while {host} is dropped: the handover waits"));
    stage.karmada.member(host).stop();
    stage.divide(&[(other, 1)]);
    until("the Work of the host is on its way out, and the other one has all replicas", || {
        let held = stage.held();
        held.get(host).is_some_and(|held| held.deleting) && held[other].replicas == Some(4)
    });
    stage.tell_news();
    assert!(!stage.held()[other].hosts(), "it took the fort before it was free");
    stage.step("reviser is killed, and started again; then the member is back");
    stage.reviser().kill();
    stage.reviser().start();
    assert!(!stage.held()[other].hosts(), "it took the fort before it was free");
    stage.karmada.member(host).start_again();
    stage.comes_to(&[(other, 4, true)]);
    stage.karmada.wait_for_members();
    stage.step("The member is scheduled again");
    stage.divide(&[(X, 3), (Z, 1)]);
    let mut expected = [(X, 3, other == X), (Z, 1, other == Z)];
    expected.sort_unstable();
    stage.comes_to(&expected);
}

pub(crate) fn without_karmadas_webhook(stage: &mut Stage) {
    stage.step("karmada-webhook is down while the fort has to be claimed anew");
    let expected: Vec<_> = stage.expected_now();
    let host = stage.host();
    let forget = json!({"metadata": {"annotations": {"reviser.io/fort-cluster": null}}});
    stage.admin.patch(&binding_path(), MERGE, &forget).ok();
    stage.karmada.stop_webhook();
    let works = format!("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-{host}/works");
    let work = stage.works()[host]["metadata"]["name"].as_str().unwrap().to_owned();
    let touched = stage.admin.touch(&format!("{works}/{work}"));
    assert!(touched.code >= 500, "{touched:?}");
    assert!(touched.text.contains("works.reviser.io"), "it is not reviser that refuses: {touched:?}");
    stage.say(&format!("            a touch is answered {}: {}", touched.code, touched.message()));
    assert_eq!(stage.ledger(), None);
    // The webhook of templates is down too: what is written meanwhile goes by it.
    stage.step("It is back: the next release claims the fort where it was");
    stage.karmada.start_webhook();
    stage.release(4, "shop/checkout:7");
    stage.comes_to(&expected);
    stage.say(&format!("            (namespace {NAMESPACE}, host {host})"));
}
