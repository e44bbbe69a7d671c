//! Warns about selected kinds that Karmada delivers to no member, or without a binding.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/util/apigroup.go`, `pkg/controllers/{namespace,unifiedauth}`.

use std::collections::BTreeSet;

use super::rule_place;
use crate::domain::GroupVersionKind;
use crate::engine::{PolicySet, ResourceSelector, Rule};
use crate::expression::Variable;
use crate::policy::decode::Notes;
use crate::policy::revision::PolicyDocument;

/// Groups whose objects Karmada never propagates. It does not dispatch the Works of its own
/// `MultiClusterService`.
const FOR_NO_MEMBER: [&str; 9] = [
    "apps.karmada.io",
    "autoscaling.karmada.io",
    "cluster.karmada.io",
    "config.karmada.io",
    "events.k8s.io",
    "networking.karmada.io",
    "policy.karmada.io",
    "remedy.karmada.io",
    "work.karmada.io",
];

/// The name of the `ClusterRole` and `ClusterRoleBinding` that Karmada creates in each member.
const IMPERSONATOR: &str = "karmada-impersonator";

/// Whether no webhook is called for objects of this kind.
pub(super) fn is_for_no_member(gvk: &GroupVersionKind) -> bool {
    FOR_NO_MEMBER.contains(&gvk.group.as_str())
        || (gvk.group.as_str(), gvk.kind.as_str()) == ("", "Event")
        || gvk.api_version() == "coordination.k8s.io/v1"
}

/// Warns about rules that need a schedule, in a policy for objects that Karmada delivers without a binding.
///
/// These are not errors: an object that a `ClusterPropagationPolicy` propagates has a binding, Namespaces
/// included.
pub(super) fn policy(document: &PolicyDocument, set: &PolicySet, notes: &mut Notes) {
    let policy = &document.policy;
    let Some(selector) = policy.selectors.iter().find(|selector| is_unbound(selector)) else { return };
    for (rule, reads) in policy.rules.iter().zip(&document.rule_reads) {
        // A condition that reads the object can check whether there is a binding.
        if rule.when.as_ref().is_some_and(|when| when.uses().contains(&Variable::Object)) {
            continue;
        }
        let needed = needed(rule, reads, set.interpretations.contains_key(&selector.gvk));
        if needed.is_empty() {
            continue;
        }
        notes.note(
            &rule_place(policy, rule),
            format!(
                "{} can't be known for a {} that no ClusterPropagationPolicy propagates: Karmada delivers it without a binding, and its Works \
                 are refused; take the rule away from this kind, or give it a `when` that asks for the annotation \
                 clusterresourcebinding.karmada.io/name of `object`",
                needed.join(", "),
                selector.gvk.kind
            ),
        );
    }
}

/// Whether Karmada delivers the selected objects itself, without a binding.
fn is_unbound(selector: &ResourceSelector) -> bool {
    match (selector.gvk.api_version().as_str(), selector.gvk.kind.as_str()) {
        ("v1", "Namespace") => true,
        ("rbac.authorization.k8s.io/v1", "ClusterRole" | "ClusterRoleBinding") => {
            selector.name.as_deref() == Some(IMPERSONATOR)
        }
        _ => false,
    }
}

/// The variables of a schedule that a rule needs, as policies spell them.
fn needed(rule: &Rule, reads: &BTreeSet<Variable>, is_interpreted: bool) -> Vec<String> {
    let action = rule.action.needs_schedule().then(|| format!("`{}`", rule.action.name()));
    let is_needed = |variable: &&Variable| match variable {
        Variable::BindingReplicas | Variable::BindingClusters | Variable::Allocation(_) => true,
        // With an interpretation, the replicas can come from the object.
        Variable::Replicas => !is_interpreted,
        _ => false,
    };
    let read = reads.iter().filter(is_needed).map(|variable| format!("`{variable}`"));
    match action {
        Some(action) => vec![action],
        None => read.collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::json::Value;
    use crate::policy::examine;

    /// The warnings for a policy with this selector and these named rules.
    fn found(selector: &str, rules: &[&str]) -> Vec<String> {
        let rules: Vec<String> =
            rules.iter().enumerate().map(|(at, rule)| format!(r#"{{"name":"r{at}",{rule}}}"#)).collect();
        let text = format!(
            r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicy","metadata":{{"name":"p"}},"spec":{{
            "resourceSelectors":[{{{selector}}}],"allocations":[{{"name":"lead"}}],
            "variables":[{{"name":"size","expression":"binding.replicas"}},{{"name":"twice","expression":"variables.size + variables.size"}}],
            "rules":[{},
            {{"name":"uses","when":"'x' in object.metadata.labels && variables.twice > 1 && allocations.lead == 'a'","patch":{{"type":"Merge","value":{{"metadata":{{"labels":{{"uses":"1"}}}}}}}}}}]}}}}"#,
            rules.join(",")
        );
        let examined = examine(&[Value::parse(text.as_bytes()).unwrap().into_owned()]);
        assert!(examined.result.is_ok(), "{:?}", examined.result);
        examined.warnings.iter().map(ToString::to_string).collect()
    }

    const NAMESPACE: &str = r#""apiVersion":"v1","kind":"Namespace""#;

    #[test]
    fn a_rule_for_namespaces_that_needs_a_schedule_is_found() {
        let label = |expression: &str| {
            format!(
                r#""patch":{{"type":"Merge","value":{{"metadata":{{"labels":{{"l":"x-${{{expression}}}"}}}}}}}}"#
            )
        };
        for (rule, needed) in [
            (r#""divide":{"path":"/spec/n"}"#.to_owned(), "`divide`"),
            (r#""fort":{"allocation":"lead","steps":"/spec/steps","field":"/go"}"#.to_owned(), "`fort`"),
            (label("binding.replicas"), "`binding.replicas`"),
            (label("size(binding.clusters)"), "`binding.clusters`"),
            (label("allocations.lead"), "`allocations.lead`"),
            (label("replicas"), "`replicas`"),
            (label("variables.twice"), "`binding.replicas`"),
            (format!(r#""when":"binding.replicas > 1",{}"#, label("cluster.name")), "`binding.replicas`"),
            (format!(r#""when":"cluster.name == 'a'",{}"#, label("replicas")), "`replicas`"),
        ] {
            let expected = format!(
                "spec.rules[0]: {needed} can't be known for a Namespace that no ClusterPropagationPolicy propagates: "
            );
            let found = found(NAMESPACE, &[&rule]);
            assert!(found.len() == 1 && found[0].starts_with(&expected), "{rule}: {found:?}");
        }
        for rule in [
            label("cluster.name"),
            label("object.metadata.name"),
            label("original.metadata.name"),
            format!(
                r#""when":"'clusterresourcebinding.karmada.io/name' in object.metadata.annotations",{}"#,
                label("binding.replicas")
            ),
        ] {
            assert_eq!(found(NAMESPACE, &[&rule]), [] as [String; 0], "{rule}");
        }
    }

    #[test]
    fn kinds_that_may_have_a_binding_are_left_to_the_door() {
        let divide = r#""divide":{"path":"/spec/n"}"#;
        let role = r#""apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole""#;
        for (selector, findings) in [
            (r#""apiVersion":"v1","kind":"ResourceQuota""#.to_owned(), 0),
            (r#""apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice""#.to_owned(), 0),
            (role.to_owned(), 0),
            (format!(r#"{role},"name":"karmada-impersonator""#), 1),
            (r#""apiVersion":"example.com/v1","kind":"Namespace""#.to_owned(), 0),
        ] {
            assert_eq!(found(&selector, &[divide]).len(), findings, "{selector}");
        }
    }

    #[test]
    fn kinds_that_go_to_no_member_match_nothing() {
        let rule = r#""patch":{"type":"Merge","value":{"metadata":{"labels":{"a":"b"}}}}"#;
        for (api_version, kind) in [
            ("networking.karmada.io/v1alpha1", "MultiClusterService"),
            ("policy.karmada.io/v1alpha1", "PropagationPolicy"),
            ("v1", "Event"),
            ("coordination.k8s.io/v1", "Lease"),
        ] {
            let selector = format!(r#""apiVersion":"{api_version}","kind":"{kind}""#);
            assert_eq!(
                found(&selector, &[rule]),
                [
                    "spec.resourceSelectors[0].kind: matches nothing: Karmada sends no object of this kind to a member",
                    "spec: nothing of this policy can ever apply",
                ]
            );
        }
        assert_eq!(found(r#""apiVersion":"v1","kind":"ConfigMap""#, &[rule]), [] as [String; 0]);
    }
}
