//! The findings of `reviser check --crd` about a member's definition, compared with an API server that has
//! it.

use std::path::Path;

use serde_json::{Value, json};

use crate::process::reviser;
use crate::support::plane::{ControlPlane, apply_definitions};
use crate::support::world::World;

const CHECKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/check");

/// The finding of `check` about the rule of this name.
fn said(findings: &str, policy: &str, rule: &str) -> Option<String> {
    let line = policy.lines().position(|line| line.contains(&format!("name: {rule},"))).unwrap() + 1;
    let place = format!("line {line}: ");
    findings.lines().find(|finding| finding.contains(&place)).map(str::to_owned)
}

#[test]
fn findings_about_a_definition_match_the_api_server() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "members");
    let read = |file: &str| std::fs::read_to_string(Path::new(CHECKED).join("crd").join(file)).unwrap();
    // Other tests use a different kind.
    apply_definitions(
        &plane.admin(),
        &[read("definition.yaml").replace("deploy.example.com", "members.example.com")],
    );
    let policy = read("policy.yaml");
    let checked = reviser(["check", "-p", "crd/policy.yaml", "--crd", "crd/definition.yaml"])
        .current_dir(CHECKED)
        .output()
        .unwrap();
    let findings = String::from_utf8(checked.stdout).unwrap();

    let collection = format!("/apis/members.example.com/v1alpha1/namespaces/{}/rollouts", world.namespace());
    let step = |step: &Value| {
        let object = json!({"apiVersion": "members.example.com/v1alpha1", "kind": "Rollout",
            "metadata": {"generateName": "r-"}, "spec": {"name": "n", "steps": [step]}});
        plane.admin().create(&collection, &object)
    };
    // The rule, the step that it writes, the place, what the member stores, and the finding of `check`.
    for (rule, written, place, stored, expected) in [
        ("dropped", json!({"typed": null}), "/typed", None, Some("drops the null")),
        (
            "defaulted",
            json!({"withDefault": null}),
            "/withDefault",
            Some(json!("true")),
            Some("takes the place of the null"),
        ),
        ("comes-back", json!({}), "/withDefault", Some(json!("true")), Some("comes back when it is removed")),
        (
            "no-field",
            json!({"propertys": {"pull": null}}),
            "/propertys",
            None,
            Some("what is written there is dropped"),
        ),
        ("in-map", json!({"map": {"pull": null}}), "/map/pull", None, Some("drops the null")),
        ("nullable", json!({"nullable": null}), "/nullable", Some(Value::Null), None),
        ("untyped", json!({"free": {"pull": null}}), "/free/pull", Some(Value::Null), None),
        ("removed", json!({}), "/typed", None, None),
        ("fits", json!({"withDefault": "skip"}), "/withDefault", Some(json!("skip")), None),
    ] {
        let created = step(&written).ok();
        assert_eq!(created["spec"]["steps"][0].pointer(place), stored.as_ref(), "{rule}: {created}");
        let finding = said(&findings, &policy, rule);
        if let Some(expected) = expected {
            assert!(
                finding.as_ref().is_some_and(|finding| finding.contains(expected)),
                "{rule}: {finding:?}"
            );
        } else {
            assert_eq!(finding, None, "{rule}");
        }
    }
    for (rule, written) in [("unfit", json!({"typed": 1})), ("not-listed", json!({"withDefault": "maybe"}))] {
        step(&written).refused(422);
        let finding = said(&findings, &policy, rule);
        assert!(finding.is_some_and(|finding| finding.contains("the member refuses the object")), "{rule}");
    }
}
