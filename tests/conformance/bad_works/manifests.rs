//! Works with manifests that Karmada did not write.

use super::{Denied, Door, Failed, Good, NULLED, Nothing, Patch, ROLLOUT, binding, good, of, review, with};

#[test]
fn manifests_that_are_no_workloads_are_left_as_they_are() {
    let manifests = format!(r#""manifests":[{ROLLOUT}]"#);
    let after = |other: &str| of(&format!("{ROLLOUT},{other}"));
    Door::open().check(&[
        ("none", of(""), Nothing),
        ("manifests that are null", review(&manifests, r#""manifests":null"#), Nothing),
        ("manifests that are a map", review(&manifests, r#""manifests":{}"#), Nothing),
        ("no manifests", review(&manifests, r#""manifest":[]"#), Nothing),
        ("no spec", review(r#""spec":{"workload""#, r#""status":{"workload""#), Nothing),
        ("a number", of("1"), Nothing),
        ("nothing but a null", of("null"), Nothing),
        ("a list", of("[]"), Nothing),
        ("text", of(r#""Rollout""#), Nothing),
        ("an empty one", of("{}"), Nothing),
        ("a kind that is a number", of(&with(ROLLOUT, r#""Rollout""#, "1")), Nothing),
        ("no name", of(&with(ROLLOUT, r#""name":"checkout""#, r#""generateName":"checkout-""#)), Nothing),
        ("another kind", of(&with(ROLLOUT, r#""Rollout""#, r#""Deployment""#)), Nothing),
        ("another group", of(&with(ROLLOUT, "deploy.example.com", "other.example.com")), Nothing),
        // They are revised one by one, and what is none is passed over.
        ("a number after it", after("1"), Good),
        ("an empty one after it", after("{}"), Good),
        (
            "a number before it",
            of(&format!("1,{ROLLOUT}")),
            Patch("/spec/workload/manifests/1/spec/strategy/canary/steps/0/properties/pull"),
        ),
    ]);
}

#[test]
fn what_is_wrong_in_a_manifest_is_denied_with_its_place() {
    let steps = r#"[{"type":"Fort","properties":{"pull":"true"}},{"type":"Batch"}]"#;
    let deep = |levels: usize| {
        let (open, close) = (r#"{"a":"#.repeat(levels), "}".repeat(levels));
        review(r#""replicas":1"#, &format!(r#""replicas":1,"deep":{open}1{close}"#))
    };
    Door::open().check(&[
        ("steps that are a map", review(steps, "{}"), Denied(422, "ClusterRevisionPolicy/rollout-fort rule \"canary-steps\" cluster \"cluster-z\": /spec/workload/manifests/0/spec/strategy/canary/steps: must be a list of steps, is a map; ")),
        ("steps of text", review(steps, r#"["Fort"]"#), Nothing),
        ("a name twice", review(r#""replicas":1"#, r#""replicas":1,"replicas":2"#), Denied(422, "Work/checkout: request.object: the member \"replicas\" is there twice, the second time at byte ")),
        ("512 levels", deep(506), Good),
        ("513 levels", deep(507), Denied(422, "Work/checkout: request.object: nested 513 levels deep, more than the 512 that are read")),
        ("100000 levels", deep(99_994), Denied(422, "Work/checkout: request.object: nested 100000 levels deep")),
    ]);
}

#[test]
fn of_several_manifests_all_are_revised_or_none() {
    let mut door = Door::open();
    let broken = with(
        &ROLLOUT.replace("\"checkout\"", "\"cart\""),
        r#""strategy":{"canary""#,
        r#""strategy":[],"was":{"canary""#,
    );
    let unknown = ROLLOUT.replace("\"checkout\"", "\"unknown\"");
    std::fs::write(door.state("cart.json"), binding("cart-rollout", "cart", r#"[{"name":"cluster-z"}]"#))
        .unwrap();
    door.check(&[
        (
            "the second can't be revised",
            of(&format!("{ROLLOUT},{broken}")),
            Denied(422, "ClusterRevisionPolicy/rollout-fort rule \"canary-steps\" cluster \"cluster-z\": /spec/workload/manifests/1/spec/strategy: must be a map, is a list; "),
        ),
        (
            "the first can't be revised",
            of(&format!("{broken},{ROLLOUT}")),
            Denied(422, "ClusterRevisionPolicy/rollout-fort rule \"canary-steps\" cluster \"cluster-z\": /spec/workload/manifests/0/spec/strategy: must be a map, is a list; "),
        ),
        (
            "the second has no binding",
            of(&format!("{ROLLOUT},{unknown}")),
            Failed(503, "Rollout/unknown cluster \"cluster-z\": no binding in the state files ("),
        ),
    ]);
}

#[test]
fn manifests_without_a_namespace_belong_to_cluster_bindings() {
    let mut door = Door::open();
    let rollout = with(ROLLOUT, r#","namespace":"shop""#, "");
    let both = r#""resourcebinding.karmada.io/namespace":"shop","resourcebinding.karmada.io/name":"checkout-rollout""#;
    let cluster = r#""clusterresourcebinding.karmada.io/name":"checkout-rollout""#;
    let unbound = with(&of(&rollout), both, cluster);
    let namespaced = of(&rollout);
    door.check(&[
        ("none is there", unbound.clone(), Failed(503, "Rollout/checkout cluster \"cluster-z\": no binding in the state files (")),
        ("it says that it is of one in a namespace", namespaced.clone(), Denied(422, "Rollout/checkout cluster \"cluster-z\": /spec/workload/manifests/0/metadata/namespace: is \"\", but the annotations of the Work name the ")),
    ]);
    let text = binding("checkout-rollout", "checkout", r#"[{"name":"cluster-x"},{"name":"cluster-z"}]"#)
        .replace(r#","namespace":"shop""#, "")
        .replace(r#""namespace":"shop","#, "")
        .replace("ResourceBinding", "ClusterResourceBinding");
    std::fs::write(door.state("cluster.json"), text).unwrap();
    door.check(&[
        ("it is there", unbound, Patch(NULLED)),
        ("it says that it is of one in a namespace, and one is there", namespaced, Denied(422, "Rollout/checkout cluster \"cluster-z\": /spec/workload/manifests/0/metadata/namespace: is \"\"")),
    ]);
}

#[test]
fn kinds_that_are_selected_by_label_need_a_binding_only_with_the_label() {
    let policies = tempfile::tempdir().unwrap();
    let policy = include_str!("../../../manifests/examples/rollout-fort.yaml");
    let policy = with(
        policy,
        "    kind: Rollout\n",
        "    kind: Rollout\n    labelSelector: {matchLabels: {revise: 'yes'}}\n",
    );
    std::fs::write(policies.path().join("policy.yaml"), policy).unwrap();
    let state = policies.path().join("state.json");
    std::fs::write(&state, binding("checkout-rollout", "checkout", super::CLUSTERS)).unwrap();
    let site = crate::Site::with([
        "-p".into(),
        policies.path().join("policy.yaml").into_os_string(),
        "--state".into(),
        state.into_os_string(),
    ]);
    let labelled = |value: &str| {
        review(
            r#""metadata":{"name":"checkout","namespace":"shop""#,
            &format!(r#""metadata":{{"name":"checkout","namespace":"shop","labels":{{"revise":"{value}"}}"#),
        )
    };
    let admit = |body: &str| site.admit(body.as_bytes()).unwrap_or_else(|broken| panic!("{broken}"));
    let nothing = crate::admission::Verdict::nothing();
    assert_eq!(admit(&good()), nothing);
    assert_eq!(admit(&labelled("no")), nothing);
    assert_eq!(admit(&labelled("no").replace("\"checkout\"", "\"unknown\"")), nothing);
    let crate::admission::Verdict::Allowed { patch: Some(patch), .. } = admit(&labelled("yes")) else {
        panic!()
    };
    assert!(patch.contains(NULLED), "{patch}");
    let unknown = admit(&labelled("yes").replace("\"checkout\"", "\"unknown\""));
    assert!(matches!(unknown, crate::admission::Verdict::Failed(503, _)), "{unknown:?}");
}
