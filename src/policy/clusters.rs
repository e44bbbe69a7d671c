//! The clusters that policies name, and names that match no known cluster.

use std::collections::BTreeSet;

use super::decode::did_you_mean;
use super::definition::PolicyFinding;
use crate::domain::ClusterName;
use crate::engine::{ClusterPattern, Definition, NO_ENTRY, Policy, PolicySet, Rule};
use crate::expression::{Expression, NO_SUCH_MEMBER, Variable};
use crate::json::Pointer;

/// The maximum number of names in a message.
const MOST_NAMES: usize = 10;

/// The clusters that the documents name: in `targetCluster` and `targetReference`, as keys of tables, and as
/// constants that expressions compare with `cluster.name`. Patterns are not included.
pub fn named_clusters(set: &PolicySet) -> BTreeSet<ClusterName> {
    let mut named: BTreeSet<ClusterName> = BTreeSet::new();
    for policy in &set.policies {
        for rule in &policy.rules {
            named.extend(
                rule.target.names.iter().chain(&rule.target.exclude).filter_map(ClusterPattern::name),
            );
        }
        named.extend(compared(policy).into_iter().filter_map(ClusterName::new));
    }
    for transformation in set.transformations.iter() {
        named.extend(transformation.references().map(|(_, _, name)| name.clone()));
    }
    named
}

/// The keys of the tables of a policy, and the constants that its expressions compare with `cluster.name`.
fn compared(policy: &Policy) -> Vec<String> {
    let declared = |name: &str| match policy.variable(name) {
        Some(Definition::Expression(expression)) => Some(expression.clone()),
        Some(Definition::Table(_)) | None => None,
    };
    let tables = policy.variables.iter().filter_map(|(_, definition)| match definition {
        Definition::Table(table) => Some(table.values.keys().cloned()),
        Definition::Expression(_) => None,
    });
    let with = |expression: Expression| expression.compared_with(&Variable::ClusterName, &declared);
    let rules = policy.rules.iter().flat_map(Rule::expressions);
    tables.flatten().chain(variables(policy).chain(rules).flat_map(with)).collect()
}

/// The expressions of the variables of a policy.
fn variables(policy: &Policy) -> impl Iterator<Item = Expression> {
    policy.variables.iter().filter_map(|(_, definition)| match definition {
        Definition::Expression(expression) => Some(expression.clone()),
        Definition::Table(_) => None,
    })
}

/// Whether an expression of the rule reads the name of the cluster.
pub fn reads_cluster_name(policy: &Policy, rule: &Rule) -> bool {
    policy.reads(rule).contains(&Variable::ClusterName)
}

/// Whether a message reports that the rule did not find the name of the cluster in a table or map.
pub fn misses_cluster_name(policy: &Policy, rule: &Rule, message: &str) -> bool {
    let reads_table = |variable: &Variable| matches!(variable, Variable::Declared(name) if matches!(policy.variable(name), Some(Definition::Table(_))));
    let reads_name = |expression: &Expression| {
        policy.resolved(expression.uses().iter().cloned()).contains(&Variable::ClusterName)
    };
    message.contains(NO_ENTRY) && policy.reads(rule).iter().any(reads_table)
        || message.ends_with(NO_SUCH_MEMBER)
            && variables(policy)
                .chain(rule.expressions())
                .any(|expression| expression.is_subject_of(message) && reads_name(&expression))
}

/// The names and patterns of `targetCluster` that match none of the `known` clusters. Empty if no clusters
/// are known.
pub fn unknown_clusters(set: &PolicySet, known: &BTreeSet<ClusterName>) -> Vec<PolicyFinding> {
    let mut findings = Vec::new();
    if known.is_empty() {
        return findings;
    }
    for (position, policy) in set.policies.iter().enumerate() {
        for (rule_position, rule) in policy.rules.iter().enumerate() {
            let place = Pointer::of(["spec", "rules"]).join(rule_position.to_string()).join("targetCluster");
            for (list, patterns) in [("clusterNames", &rule.target.names), ("exclude", &rule.target.exclude)]
            {
                for (at, pattern) in patterns.iter().enumerate() {
                    if known.iter().any(|name| pattern.matches(name)) {
                        continue;
                    }
                    let field = place.join(list).join(at.to_string());
                    findings.push(PolicyFinding {
                        policy: position,
                        field,
                        problem: unmatched(pattern, known),
                    });
                }
            }
        }
    }
    findings
}

fn unmatched(pattern: &ClusterPattern, known: &BTreeSet<ClusterName>) -> String {
    let names = known.iter().map(ClusterName::as_str);
    let hint = pattern.name().map(|name| did_you_mean(name.as_str(), names.clone())).unwrap_or_default();
    let listed: Vec<&str> = names.take(MOST_NAMES).collect();
    let more = known.len().saturating_sub(MOST_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let hint = if hint.is_empty() { "; change the name, or add the cluster".to_owned() } else { hint };
    format!("{:?} matches none of the known clusters: {}{more}{hint}", pattern.0, listed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::field_path;
    use crate::policy::compile;
    use crate::yaml;

    fn set(rules: &str) -> PolicySet {
        let text = format!(
            "apiVersion: reviser.io/v1alpha1\nkind: ClusterRevisionPolicy\nmetadata: {{name: p}}\nspec:\n  \
             resourceSelectors: [{{apiVersion: v1, kind: ConfigMap}}]\n  variables:\n  \
             - {{name: byCluster, values: {{table-2: x}}, default: y}}\n  - {{name: table, expression: '{{\"table-1\": \"x\"}}'}}\n  - {{name: used, expression: 'variables.table[cluster.name]'}}\n  \
             rules:\n{rules}"
        );
        let documents: Vec<_> = yaml::documents(&text).unwrap().into_iter().map(|it| it.value).collect();
        compile(&documents).unwrap_or_else(|findings| panic!("{findings:#?}"))
    }

    fn names(names: &[&str]) -> BTreeSet<ClusterName> {
        names.iter().filter_map(|&name| ClusterName::new(name)).collect()
    }

    #[test]
    fn clusters_are_named_in_targets_and_expressions() {
        let set = set(concat!(
            "  - name: a\n    targetCluster: {clusterNames: [one, 'eu-*'], exclude: [two]}\n",
            "    patch: {type: Merge, value: {data: {x: '${variables.used}', y: '${{\"three\": \"1\"}[cluster.name]}'}}}\n",
            "  - name: b\n    when: cluster.name in [\"four\"]\n    patch: {type: Merge, value: {data: {z: '1'}}}\n",
        ));
        assert_eq!(named_clusters(&set), names(&["one", "two", "three", "four", "table-1", "table-2"]));
    }

    #[test]
    fn a_name_that_no_known_cluster_has_is_found() {
        let set = set(
            "  - name: a\n    targetCluster: {clusterNames: [memebr1, 'eu-*', 'm*'], exclude: [member2, 'x?']}\n    patch: {type: Merge, value: {data: {z: '1'}}}\n",
        );
        let found = |known: &[&str]| -> Vec<String> {
            let findings = unknown_clusters(&set, &names(known));
            findings.iter().map(|it| format!("{}: {}", field_path(&it.field), it.problem)).collect()
        };
        assert_eq!(
            found(&["member1", "member2"]),
            [
                "spec.rules[0].targetCluster.clusterNames[0]: \"memebr1\" matches none of the known clusters: member1, member2; did you mean \"member1\"?",
                "spec.rules[0].targetCluster.clusterNames[1]: \"eu-*\" matches none of the known clusters: member1, member2; change the name, or add the cluster",
                "spec.rules[0].targetCluster.exclude[1]: \"x?\" matches none of the known clusters: member1, member2; change the name, or add the cluster",
            ]
        );
        assert_eq!(found(&["memebr1", "eu-1", "member2", "x1"]), [""; 0]);
        assert_eq!(found(&[]), [""; 0]);
        let many: Vec<String> = (0..12).map(|number| format!("z{number:02}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(found(&many)[0].contains("z08, z09 and 2 more; change"), "{:?}", found(&many));
    }
}
