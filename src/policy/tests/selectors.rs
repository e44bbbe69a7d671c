//! Resource selectors that select nothing.

use super::assert_found;
use super::case::document;

/// The errors of a policy with this selector.
#[track_caller]
fn found(selector: &str, expected: &[&str]) {
    let policy = document(&format!(
        "apiVersion: reviser.io/v1alpha1\nkind: ClusterRevisionPolicy\nmetadata: {{name: p}}\nspec:\n  resourceSelectors: [{{{selector}}}]\n  rules: [{{name: r, env: {{name: A, value: b}}}}]\n"
    ));
    if expected.is_empty() {
        crate::policy::compile(&[policy]).unwrap_or_else(|findings| panic!("{selector}: {findings:#?}"));
    } else {
        assert_found(&[policy], expected);
    }
}

#[test]
fn names_and_namespaces_take_no_wildcards() {
    let deployment = "apiVersion: apps/v1, kind: Deployment";
    for name in ["web-*", "*", "web-?", "*-web"] {
        found(
            &format!("{deployment}, name: '{name}'"),
            &[&format!(
                "0 spec.resourceSelectors[0].name: {name:?} selects nothing: a name takes no wildcards, as in Karmada's selectors; use `labelSelector`, or leave `name` out"
            )],
        );
        found(
            &format!("{deployment}, namespace: '{name}'"),
            &[&format!(
                "0 spec.resourceSelectors[0].namespace: {name:?} selects nothing: a namespace takes no wildcards"
            )],
        );
    }
    found(
        "apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: 'system:*'",
        &["0 spec.resourceSelectors[0].name: \"system:*\" selects nothing"],
    );
    found("apiVersion: apps/v1, kind: 'Deploy?ent'", &["0 spec.resourceSelectors[0].apiVersion: wildcards"]);
}

#[test]
fn names_that_no_object_has_select_nothing() {
    for (kind, name, expected) in [
        (
            "apiVersion: apps/v1, kind: Deployment",
            "Web",
            "names of this kind are up to 253 lower case letters",
        ),
        ("apiVersion: v1, kind: ConfigMap", "web_1", "names of this kind are"),
        ("apiVersion: v1, kind: ConfigMap", "-web", "names of this kind are"),
        ("apiVersion: apps/v1, kind: Deployment", "shop/web", "no object has such a name"),
        ("apiVersion: example.com/v1, kind: Train", "a b", "no object has such a name"),
        ("apiVersion: example.com/v1, kind: Train", "50%", "no object has such a name"),
    ] {
        let expected = format!("0 spec.resourceSelectors[0].name: {name:?} selects nothing: {expected}");
        found(&format!("{kind}, name: '{name}'"), &[&expected]);
    }
    for namespace in ["Shop", "a.b", "shop/web", "a_b", &"a".repeat(64)] {
        let expected = format!("0 spec.resourceSelectors[0].namespace: {namespace:?} selects nothing: ");
        found(&format!("apiVersion: apps/v1, kind: Deployment, namespace: '{namespace}'"), &[&expected]);
    }
    for selector in [
        "apiVersion: apps/v1, kind: Deployment, name: web-1.example, namespace: '007'",
        "apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: 'system:node-Proxier'",
        "apiVersion: example.com/v1, kind: Train, name: web",
    ] {
        found(selector, &[]);
    }
}
