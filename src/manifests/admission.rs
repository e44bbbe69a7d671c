//! Kubernetes' `MutatingWebhookConfiguration`s for Karmada's Works and for the two ends of Admiralty, and the
//! `ValidatingWebhookConfiguration` for policies.
//!
//! Source: kubernetes/kubernetes@v1.36.2 `staging/src/k8s.io/api/admissionregistration/v1/types.go`.

use std::collections::BTreeMap;

use super::condition::{chaperon_conditions, pod_conditions, work_conditions};
use super::value::{client_config, list, map, to_yaml};
use super::{CaBundle, HookUrl, Namespaces};
use crate::domain::{
    ADMIRALTY_GROUP, GroupVersionKind, POD_CHAPERON, POLICY_GROUP, POLICY_VERSION, PolicyKind,
};
use crate::json::Value;

/// The webhook for Karmada's Works, for Karmada's API server.
#[derive(Clone, Debug)]
pub struct WorksHook {
    pub url: HookUrl,
    /// `None`: the caller trusts the authorities of its system.
    pub ca_bundle: Option<CaBundle>,
    /// Works of these kinds are sent, and all Works that are revised already.
    pub selected: BTreeMap<GroupVersionKind, Namespaces>,
    /// Whether Works are also sent whose manifests name transformations.
    pub transformations: bool,
}

impl WorksHook {
    pub fn yaml(&self) -> String {
        AdmissionWebhook {
            kind: MUTATING,
            // An API server calls webhooks in the order of their configurations' names. Karmada's own,
            // `mutating-config`, has to come later: it computes its lists of labels and annotations from the
            // manifest that we return.
            configuration: "karmada-reviser",
            name: "works.reviser.io",
            client_config: client_config(&self.url, self.ca_bundle.as_ref()),
            operations: &["CREATE", "UPDATE"],
            group: "work.karmada.io",
            version: "v1alpha1",
            resources: vec!["works"],
            scope: "Namespaced",
            match_conditions: Some(work_conditions(&self.selected, self.transformations)),
            // Karmada retries a Work that is refused. A Work that is stored unrevised stays so.
            failure_policy: "Fail",
            side_effects: "NoneOnDryRun",
            timeout_seconds: 10,
        }
        .yaml()
    }
}

/// The webhook for pods in a source of Admiralty, for the source's API server.
#[derive(Clone, Debug)]
pub struct PodsHook {
    pub url: HookUrl,
    /// `None`: the caller trusts the authorities of its system.
    pub ca_bundle: Option<CaBundle>,
}

impl PodsHook {
    pub fn yaml(&self) -> String {
        AdmissionWebhook {
            kind: MUTATING,
            // An API server calls webhooks in the order of their configurations' names. Admiralty's has to
            // come later, because it freezes the pod. It is named after its Helm release, and sorts later
            // unless the release is `0` or begins with `0-`; the door for pods then refuses what arrives too
            // late.
            configuration: "0-reviser-pods",
            name: "pods.reviser.io",
            client_config: client_config(&self.url, self.ca_bundle.as_ref()),
            operations: &["CREATE"],
            group: "",
            version: "v1",
            resources: vec!["pods"],
            scope: "Namespaced",
            match_conditions: Some(pod_conditions()),
            // A pod that is created without its transformation never gets it.
            failure_policy: "Fail",
            side_effects: "None",
            // A person may wait for it.
            timeout_seconds: 5,
        }
        .yaml()
    }
}

/// The webhook for `PodChaperon`s in a target of Admiralty, for the target's API server.
#[derive(Clone, Debug)]
pub struct PodChaperonsHook {
    /// Its path names the target.
    pub url: HookUrl,
    /// `None`: the caller trusts the authorities of its system.
    pub ca_bundle: Option<CaBundle>,
    /// What policies select. All that name transformations are sent too.
    pub selected: BTreeMap<GroupVersionKind, Namespaces>,
}

impl PodChaperonsHook {
    pub fn yaml(&self) -> String {
        let chaperon = |gvk: &&GroupVersionKind| gvk.group == ADMIRALTY_GROUP && gvk.kind == POD_CHAPERON;
        let selected = self.selected.iter().find(|(gvk, _)| chaperon(gvk)).map(|(_, namespaces)| namespaces);
        AdmissionWebhook {
            kind: MUTATING,
            configuration: "reviser-podchaperons",
            name: "podchaperons.reviser.io",
            client_config: client_config(&self.url, self.ca_bundle.as_ref()),
            operations: &["CREATE"],
            group: ADMIRALTY_GROUP,
            version: "v1alpha1",
            resources: vec!["podchaperons"],
            scope: "Namespaced",
            match_conditions: Some(chaperon_conditions(selected)),
            // A PodChaperon that is created without its transformation never gets it.
            failure_policy: "Fail",
            side_effects: "NoneOnDryRun",
            // Admiralty waits 30 seconds for all steps of a candidate.
            timeout_seconds: 5,
        }
        .yaml()
    }
}

/// The webhook for policies that are custom resources, for the API server that holds them.
#[derive(Clone, Debug)]
pub struct PoliciesHook {
    pub url: HookUrl,
    /// `None`: the caller trusts the authorities of its system.
    pub ca_bundle: Option<CaBundle>,
}

impl PoliciesHook {
    pub fn yaml(&self) -> String {
        AdmissionWebhook {
            kind: VALIDATING,
            configuration: "reviser-policies",
            name: "policies.reviser.io",
            client_config: client_config(&self.url, self.ca_bundle.as_ref()),
            operations: &["CREATE", "UPDATE"],
            group: POLICY_GROUP,
            version: POLICY_VERSION,
            resources: PolicyKind::ALL.map(PolicyKind::plural).to_vec(),
            scope: "*",
            match_conditions: None,
            // Policies have to be correctable while the server is down. A faulty one that gets through is out
            // of use, and its status says so.
            failure_policy: "Ignore",
            side_effects: "None",
            // A person waits for it.
            timeout_seconds: 5,
        }
        .yaml()
    }
}

const MUTATING: &str = "MutatingWebhookConfiguration";
const VALIDATING: &str = "ValidatingWebhookConfiguration";

/// A configuration of `admissionregistration.k8s.io/v1` with one webhook and one rule.
struct AdmissionWebhook {
    kind: &'static str,
    configuration: &'static str,
    name: &'static str,
    client_config: Value<'static>,
    operations: &'static [&'static str],
    group: &'static str,
    version: &'static str,
    resources: Vec<&'static str>,
    scope: &'static str,
    match_conditions: Option<Value<'static>>,
    failure_policy: &'static str,
    side_effects: &'static str,
    timeout_seconds: i64,
}

impl AdmissionWebhook {
    fn yaml(self) -> String {
        let rule = map([
            ("operations", list(self.operations.iter().copied())),
            ("apiGroups", list([self.group])),
            ("apiVersions", list([self.version])),
            ("resources", list(self.resources)),
            ("scope", self.scope.into()),
        ]);
        let members = [
            ("name", Some(self.name.into())),
            ("clientConfig", Some(self.client_config)),
            ("rules", Some(Value::array(vec![rule]))),
            ("matchPolicy", Some("Equivalent".into())),
            ("matchConditions", self.match_conditions),
            ("failurePolicy", Some(self.failure_policy.into())),
            ("sideEffects", Some(self.side_effects.into())),
            ("reinvocationPolicy", (self.kind == MUTATING).then(|| "Never".into())),
            ("admissionReviewVersions", Some(list(["v1"]))),
            ("timeoutSeconds", Some(self.timeout_seconds.into())),
        ];
        let webhook = members.into_iter().filter_map(|(name, member)| Some((name, member?)));
        to_yaml(&map([
            ("apiVersion", "admissionregistration.k8s.io/v1".into()),
            ("kind", self.kind.into()),
            ("metadata", map([("name", self.configuration.into())])),
            ("webhooks", Value::array(vec![Value::Object(webhook.collect())])),
        ]))
    }
}
