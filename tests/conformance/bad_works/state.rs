//! State that is wrong, or not there, and a ledger that is not to be written.

use super::{CLUSTERS, Door, Failed, NULLED, Patch, ROLLOUT, binding, good, of, review, with};
use crate::Site;
use crate::admission::Verdict;
use crate::karmada::applied;

const NO_BINDING: &str = "Rollout/unknown cluster \"cluster-z\": no binding in the state files (";

/// The good review, of a Rollout of another name.
fn named(name: &str) -> String {
    of(&with(ROLLOUT, "\"checkout\"", &format!("{name:?}")))
}

#[test]
fn a_binding_that_is_not_there_is_no_answer() {
    let mut door = Door::open();
    door.check(&[("none", named("unknown"), Failed(503, NO_BINDING))]);
    std::fs::write(door.state("unknown.json"), binding("any-name", "unknown", CLUSTERS)).unwrap();
    door.check(&[("it is there now", named("unknown"), Patch(NULLED))]);
    std::fs::remove_file(door.state("unknown.json")).unwrap();
    door.check(&[("and gone again", named("unknown"), Failed(503, NO_BINDING))]);
}

#[test]
fn without_state_only_what_needs_none_is_answered() {
    let site = Site::start();
    let admit = |body: String| site.admit(body.as_bytes()).unwrap_or_else(|broken| panic!("{broken}"));
    let message = "Rollout/checkout cluster \"cluster-z\": the ResourceBinding shop/checkout-rollout can't be read: this server reads no bindings; pass the documents with --state";
    assert_eq!(admit(good()), Verdict::Failed(503, message.to_owned()));
    assert_eq!(admit(review("UPDATE", "DELETE")), Verdict::nothing());
    assert_eq!(admit(of("")), Verdict::nothing());
    assert_eq!(admit(of(&with(ROLLOUT, r#""Rollout""#, r#""Deployment""#))), Verdict::nothing());
    // Errors of the Work itself are reported all the same.
    let unnamed = review(r#""namespace":"karmada-es-cluster-z","operation""#, r#""operation""#);
    assert!(matches!(admit(unnamed), Verdict::Denied(422, _)));
}

#[test]
fn of_two_bindings_the_annotations_say_which_is_meant() {
    let mut door = Door::open();
    let here = binding("here", "cart", r#"[{"name":"cluster-z"}]"#);
    let there = binding("there", "cart", r#"[{"name":"cluster-x"}]"#);
    std::fs::write(door.state("here.json"), here).unwrap();
    std::fs::write(door.state("there.json"), there).unwrap();
    let bound = |name: &str| with(&named("cart"), "checkout-rollout", name);
    door.check(&[
        ("neither", bound("elsewhere"), Failed(503, "Rollout/cart cluster \"cluster-z\": ")),
        ("the workload of another cluster", bound("there"), Patch(NULLED)),
    ]);
    let Ok(Verdict::Failed(503, message)) = door.site.admit(bound("elsewhere").as_bytes()) else { panic!() };
    for part in ["shop/here", "shop/there"] {
        assert!(message.contains(part), "{message}");
    }
    // With no cluster but this one, the fort comes here.
    let verdict = door.site.admit(bound("here").as_bytes()).unwrap();
    let Verdict::Allowed { patch: Some(patch), .. } = verdict else { panic!("{verdict:?}") };
    assert!(!patch.contains(NULLED) && patch.contains("fort"), "{patch}");
}

#[test]
fn a_binding_may_have_five_thousand_clusters() {
    let mut door = Door::open();
    let clusters: Vec<String> =
        (0..5000).map(|number| format!(r#"{{"name":"cluster-{number}","replicas":{number}}}"#)).collect();
    let text = binding("fleet", "fleet", &format!("[{}]", clusters.join(",")));
    std::fs::write(door.state("fleet.json"), text).unwrap();
    let at = |cluster: &str| named("fleet").replace("karmada-es-cluster-z", &format!("karmada-es-{cluster}"));
    door.check(&[
        ("the one with the highest weight", at("cluster-4999"), Patch(r#"\"hosts\":[\"fort\"]"#)),
        ("the first", at("cluster-0"), Patch(NULLED)),
        ("a cluster that is not listed", at("cluster-5000"), Patch(NULLED)),
    ]);
    let twice = format!("[{},{}]", clusters.join(","), clusters[7]);
    std::fs::write(door.state("fleet.json"), binding("fleet", "fleet", &twice)).unwrap();
    door.check(&[("refused, so the last good one is used", at("cluster-0"), Patch(NULLED))]);
}

#[test]
fn an_allocation_that_leaves_a_cluster_is_warned_of_with_whose_it_is() {
    let door = Door::open();
    let admit = |body: &str| {
        let verdict = door.site.admit(body.as_bytes()).unwrap_or_else(|broken| panic!("{broken}"));
        let Verdict::Allowed { patch, warnings } = verdict else { panic!("{verdict:?}") };
        (patch.unwrap_or_default(), warnings)
    };
    std::fs::write(door.state("cart.json"), binding("cart-rollout", "cart", CLUSTERS)).unwrap();
    let old = named("cart").replace("karmada-es-cluster-z", "karmada-es-cluster-x");
    let (patch, warnings) = admit(&old);
    assert_eq!(warnings, [""; 0]);
    let old: serde_json::Value = serde_json::from_str(&old).unwrap();
    let mut old = applied(&old["request"]["object"], &patch).unwrap();
    old["spec"]["preserveResourcesOnDeletion"] = true.into();
    std::fs::write(door.state("work.json"), old.to_string()).unwrap();
    let only_z = binding("cart-rollout", "cart", r#"[{"name":"cluster-z"}]"#);
    std::fs::write(door.state("cart.json"), only_z).unwrap();

    let waits = "allocation \"fort\" of Rollout/cart moves from cluster-x to cluster-z when the Work in cluster-x has released it; that cluster keeps the object (preserveResourcesOnDeletion)";
    let cart = with(ROLLOUT, "\"checkout\"", "\"cart\"");
    for body in [named("cart"), of(&format!("{cart},{cart}"))] {
        let (patch, warnings) = admit(&body);
        assert!(patch.contains(NULLED), "{patch}");
        assert_eq!(warnings, [waits]);
    }
    std::fs::remove_file(door.state("work.json")).unwrap();
    let (patch, warnings) = admit(&named("cart"));
    assert!(!patch.contains(NULLED), "{patch}");
    assert_eq!(warnings, ["allocation \"fort\" of Rollout/cart has moved from cluster-x to cluster-z"]);
    assert_eq!(admit(&named("cart")), (patch, Vec::new()));
}

#[test]
fn state_that_is_half_written_never_revises_anew() {
    let mut door = Door::open();
    let whole = binding("checkout-rollout", "checkout", r#"[{"name":"cluster-z","replicas":9}]"#);
    for length in (0..whole.len()).step_by(5) {
        std::fs::write(door.state("binding.json"), &whole[..length]).unwrap();
        door.still_serves(&format!("{length} of {} bytes", whole.len()));
    }
    // As YAML, as kubectl prints it, where a beginning is often a document.
    let whole = "apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata:
  name: checkout-rollout
  namespace: shop
spec:
  clusters:
  - name: cluster-z
    replicas: 9
  resource:
    apiVersion: deploy.example.com/v1alpha1
    kind: Rollout
    name: checkout
    namespace: shop
";
    // Without its last line break it is whole, too.
    for length in 0..whole.len() - 1 {
        std::fs::write(door.state("binding.json"), &whole[..length]).unwrap();
        door.still_serves(&format!("{length} of {} bytes of YAML", whole.len()));
    }
}

#[test]
fn a_dry_run_gets_the_same_answer_and_writes_nothing() {
    let mut door = Door::with(&["--ledger", "file:DIRECTORY/ledger"]);
    let ledger = door.directory.path().join("ledger");
    let files = || {
        let mut files = vec![(ledger.clone(), std::fs::read(&ledger).unwrap())];
        for entry in std::fs::read_dir(door.directory.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_file() {
                files.push((entry.clone(), std::fs::read(entry).unwrap()));
            }
        }
        files.sort();
        files
    };
    std::fs::write(door.state("cart.json"), binding("cart-rollout", "cart", CLUSTERS)).unwrap();
    let real = named("cart");
    let dry = with(&real, r#""dryRun":false"#, r#""dryRun":true"#);
    let before = files();
    let answer = door.site.admit(dry.as_bytes()).unwrap();
    assert!(
        matches!(&answer, Verdict::Allowed { patch: Some(patch), .. } if patch.contains(NULLED)),
        "{answer:?}"
    );
    assert_eq!(files(), before);
    assert_eq!(door.site.admit(real.as_bytes()).unwrap(), answer);
    let after = files();
    assert_ne!(after, before);
    assert_eq!(door.site.admit(dry.as_bytes()).unwrap(), answer);
    assert_eq!(files(), after);
    drop((before, after));
    door.still_serves("a dry run");
}
