//! Karmada's `ResourceInterpreterWebhookConfiguration`.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/apis/config/v1alpha1/resourceinterpreterwebhook_types.go`.

use std::collections::{BTreeMap, BTreeSet};

use super::value::{client_config, list, map, to_yaml};
use super::{CaBundle, HookUrl};
use crate::domain::GroupVersionKind;
use crate::doors::interpreter::{API_VERSION, KIND};
use crate::engine::PolicySet;
use crate::json::Value;

/// Of several webhooks for a kind and operation, Karmada calls only the one whose `<configuration>/<webhook>`
/// sorts first.
const CONFIGURATION: &str = "reviser";

/// Karmada requires a domain name.
const WEBHOOK: &str = "interpret.reviser.io";

/// Karmada's default is 30, not the 10 of its documentation.
const TIMEOUT_SECONDS: i64 = 10;

/// The webhook for Karmada's interpreter, for Karmada's API server.
#[derive(Clone, Debug)]
pub struct InterpreterHook {
    pub url: HookUrl,
    /// `None`: the caller trusts the authorities of its system.
    pub ca_bundle: Option<CaBundle>,
    pub kinds: BTreeSet<GroupVersionKind>,
    pub operations: &'static [&'static str],
}

impl InterpreterHook {
    pub fn yaml(&self) -> String {
        let version = GroupVersionKind::of(API_VERSION, KIND).version;
        let webhook = map([
            ("name", WEBHOOK.into()),
            ("clientConfig", client_config(&self.url, self.ca_bundle.as_ref())),
            ("rules", Value::array(self.rules())),
            ("interpreterContextVersions", list([version])),
            ("timeoutSeconds", TIMEOUT_SECONDS.into()),
        ]);
        to_yaml(&map([
            ("apiVersion", API_VERSION.into()),
            ("kind", "ResourceInterpreterWebhookConfiguration".into()),
            ("metadata", map([("name", CONFIGURATION.into())])),
            ("webhooks", Value::array(vec![webhook])),
        ]))
    }

    /// One rule for each API group and version. A rule matches every combination of its lists: with two
    /// versions it would also match kinds that are selected in only one of them.
    fn rules(&self) -> Vec<Value<'static>> {
        let mut kinds: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for gvk in &self.kinds {
            kinds.entry((&gvk.group, &gvk.version)).or_default().push(&gvk.kind);
        }
        let rule = |((group, version), kinds)| {
            map([
                ("operations", list(self.operations.iter().copied())),
                ("apiGroups", list([group])),
                ("apiVersions", list([version])),
                ("kinds", list::<&str>(kinds)),
            ])
        };
        kinds.into_iter().map(rule).collect()
    }
}

/// The kinds that policies select, and those of the `ResourceInterpretations`.
pub fn kinds(policies: &PolicySet) -> BTreeSet<GroupVersionKind> {
    let selected = policies.selectors().map(|(_, selector)| &selector.gvk);
    selected.chain(policies.interpretations.keys()).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{policy, yaml};

    fn policies(text: &str) -> PolicySet {
        let documents = yaml::documents(text).unwrap();
        policy::compile(&documents.into_iter().map(|document| document.value).collect::<Vec<_>>()).unwrap()
    }

    fn rules(kinds: BTreeSet<GroupVersionKind>) -> String {
        let url = HookUrl::new("https://a", "/interpret").unwrap();
        let hook = InterpreterHook { url, ca_bundle: None, kinds, operations: &["ReviseReplica"] };
        let rules = hook.rules().into_iter().map(|rule| rule.to_string());
        rules.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn kinds_are_the_selected_and_the_interpreted_ones() {
        let set = policies(
            "apiVersion: reviser.io/v1alpha1
kind: RevisionPolicy
metadata: {name: p, namespace: team}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: StatefulSet}, {apiVersion: apps/v1, kind: Deployment, name: web}]
  allocations: [{name: fort}]
  rules: [{name: r, fort: {allocation: fort, steps: /spec/steps, match: {type: Fort}, field: /pull}}]
---
apiVersion: reviser.io/v1alpha1
kind: ResourceInterpretation
metadata: {name: job}
spec: {target: {apiVersion: batch/v1, kind: Job}, replicaResource: {replicas: /spec/parallelism}}
---
apiVersion: reviser.io/v1alpha1
kind: ResourceInterpretation
metadata: {name: deployment}
spec: {target: {apiVersion: apps/v1, kind: Deployment}}
",
        );
        let names: Vec<_> = kinds(&set).into_iter().map(|gvk| gvk.kind).collect();
        assert_eq!(names, ["Deployment", "StatefulSet", "Job"]);
    }

    #[test]
    fn a_rule_matches_only_the_given_kinds() {
        let all = [
            ("example.com/v2", "Plan"),
            ("v1", "Pod"),
            ("example.com/v1", "Rollout"),
            ("apps/v1", "Rollout"),
            ("example.com/v1", "Plan"),
        ];
        let all = all.map(|(api_version, kind)| GroupVersionKind::of(api_version, kind));
        let expected = r#"{"operations":["ReviseReplica"],"apiGroups":[""],"apiVersions":["v1"],"kinds":["Pod"]}
{"operations":["ReviseReplica"],"apiGroups":["apps"],"apiVersions":["v1"],"kinds":["Rollout"]}
{"operations":["ReviseReplica"],"apiGroups":["example.com"],"apiVersions":["v1"],"kinds":["Plan","Rollout"]}
{"operations":["ReviseReplica"],"apiGroups":["example.com"],"apiVersions":["v2"],"kinds":["Plan"]}"#;
        assert_eq!(rules(BTreeSet::from(all)), expected);
    }
}
