//! The kinds and namespaces that policies select.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::GroupVersionKind;
use crate::engine::PolicySet;

/// The namespaces that objects of a kind may be selected in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// Every namespace, and objects without one.
    All,
    These(BTreeSet<String>),
}

/// The kinds that policies select, including policies that are out of use, with the namespaces.
///
/// Labels are left out because other webhooks may change them, and names because the configuration would have
/// to be applied again for each workload.
pub fn selected(policies: &PolicySet) -> BTreeMap<GroupVersionKind, Namespaces> {
    let mut selected = BTreeMap::new();
    for (owner, selector) in policies.selectors() {
        let namespace = match (owner.namespace(), selector.namespace.as_deref()) {
            (Some(home), Some(other)) if other != home => continue,
            (home, namespace) => home.or(namespace),
        };
        let namespaces =
            selected.entry(selector.gvk.clone()).or_insert_with(|| Namespaces::These(BTreeSet::new()));
        match (namespace, namespaces) {
            (None, namespaces) => *namespaces = Namespaces::All,
            (Some(namespace), Namespaces::These(these)) => {
                these.insert(namespace.to_owned());
            }
            (Some(_), Namespaces::All) => {}
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{policy, yaml};

    fn read(policies: &[(&str, &str)]) -> Vec<(String, Namespaces)> {
        let document = |(n, (namespace, selectors)): (usize, &(&str, &str))| {
            let (kind, home) = match *namespace {
                "" => ("ClusterRevisionPolicy", String::new()),
                namespace => ("RevisionPolicy", format!(", namespace: {namespace}")),
            };
            format!(
                "---
apiVersion: reviser.io/v1alpha1
kind: {kind}
metadata: {{name: p{n}{home}}}
spec:
  resourceSelectors: [{selectors}]
  allocations: [{{name: a{n}}}]
  rules: [{{name: r, fort: {{allocation: a{n}, steps: /spec/steps, match: {{type: Fort}}, field: /pull}}}}]
"
            )
        };
        let text: String = policies.iter().enumerate().map(document).collect();
        let documents = yaml::documents(&text).unwrap();
        let values: Vec<_> = documents.into_iter().map(|document| document.value).collect();
        selected(&policy::compile(&values).unwrap()).into_iter().map(|(gvk, n)| (gvk.kind, n)).collect()
    }

    fn these<const N: usize>(namespaces: [&str; N]) -> Namespaces {
        Namespaces::These(namespaces.map(str::to_owned).into())
    }

    #[test]
    fn namespaces_limit_a_kind_only_if_all_its_selectors_have_one() {
        let all = read(&[
            ("", "{apiVersion: v1, kind: A, namespace: away}, {apiVersion: v1, kind: B, namespace: away}"),
            ("home", "{apiVersion: v1, kind: A}, {apiVersion: v1, kind: B, namespace: home}"),
            ("", "{apiVersion: v1, kind: B, name: b, labelSelector: {matchLabels: {a: b}}}"),
            ("", "{apiVersion: v1, kind: B, namespace: far}, {apiVersion: v1, kind: C}"),
        ]);
        let expected = [("A", these(["away", "home"])), ("B", Namespaces::All), ("C", Namespaces::All)];
        assert_eq!(all, expected.map(|(kind, namespaces)| (kind.to_owned(), namespaces)));
    }

    #[test]
    fn an_interpretation_selects_nothing() {
        let text = "apiVersion: reviser.io/v1alpha1
kind: ResourceInterpretation
metadata: {name: job}
spec: {target: {apiVersion: batch/v1, kind: Job}}
";
        let documents = yaml::documents(text).unwrap();
        let values: Vec<_> = documents.into_iter().map(|document| document.value).collect();
        assert_eq!(selected(&policy::compile(&values).unwrap()), BTreeMap::new());
    }
}
