//! Kubernetes' `MutatingWebhookConfiguration`s for the two ends of Admiralty: sources, where pods are made, and targets, where they go.
//!
//! Source: kubernetes/kubernetes@v1.36.2 `staging/src/k8s.io/api/admissionregistration/v1/types.go`.

use std::collections::BTreeMap;

use super::build::{client_config, list, map};
use super::condition::{chaperon_conditions, pod_conditions};
use super::{CaBundle, HookUrl, Namespaces};
use crate::domain::{ADMIRALTY_GROUP, GroupVersionKind, POD_CHAPERON};
use crate::json::Value;
use crate::yaml;

/// The name of the configuration in a source. An API server calls webhooks in the order of these names, and Admiralty's has to come
/// after this one, because it freezes the pod. That is called like its Helm release if the name holds `admiralty`, as the documented
/// one does, else `<release>-admiralty`. All of these come later, except for a release that is `0` or begins with `0-` and sorts before
/// this name; then the door for pods refuses what it sees too late.
const SOURCE: &str = "0-reviser-pods";

/// What the configuration in a target is called.
const TARGET: &str = "reviser-podchaperons";

/// How long a source waits. A person may wait with it.
const SOURCE_SECONDS: i64 = 5;

/// How long a target waits. Admiralty waits 30 seconds for the whole of what comes of a candidate.
const TARGET_SECONDS: i64 = 5;

/// What the API server of a source has to be told to call us.
#[derive(Clone, Debug)]
pub struct PodsHook {
    /// Where.
    pub url: HookUrl,
    /// Whom to trust there; `None` for the authorities of the system.
    pub ca_bundle: Option<CaBundle>,
}

/// What the API server of a target has to be told to call us.
#[derive(Clone, Debug)]
pub struct PodChaperonsHook {
    /// Where; its path names the target.
    pub url: HookUrl,
    /// Whom to trust there; `None` for the authorities of the system.
    pub ca_bundle: Option<CaBundle>,
    /// What policies select. Besides that, all is sent that names transformations.
    pub selected: BTreeMap<GroupVersionKind, Namespaces>,
}

impl PodsHook {
    /// The configuration, to be applied to the API server of a source.
    pub fn yaml(&self) -> String {
        text(&self.configuration())
    }

    /// The same as a value. It depends on the fields alone.
    pub fn configuration(&self) -> Value<'static> {
        configuration(Hook {
            configuration: SOURCE,
            webhook: "pods.reviser.io",
            client: client_config(&self.url, self.ca_bundle.as_ref()),
            resource: ["", "v1", "pods"],
            conditions: pod_conditions(),
            side_effects: "None",
            seconds: SOURCE_SECONDS,
        })
    }
}

impl PodChaperonsHook {
    /// The configuration, to be applied to the API server of a target.
    pub fn yaml(&self) -> String {
        text(&self.configuration())
    }

    /// The same as a value. It depends on the fields alone.
    pub fn configuration(&self) -> Value<'static> {
        let chaperon = |gvk: &&GroupVersionKind| gvk.group == ADMIRALTY_GROUP && gvk.kind == POD_CHAPERON;
        let selected = self.selected.iter().find(|(gvk, _)| chaperon(gvk)).map(|(_, namespaces)| namespaces);
        configuration(Hook {
            configuration: TARGET,
            webhook: "podchaperons.reviser.io",
            client: client_config(&self.url, self.ca_bundle.as_ref()),
            resource: [ADMIRALTY_GROUP, "v1alpha1", "podchaperons"],
            conditions: chaperon_conditions(selected),
            side_effects: "NoneOnDryRun",
            seconds: TARGET_SECONDS,
        })
    }
}

/// What tells one of the two from the other.
struct Hook {
    configuration: &'static str,
    webhook: &'static str,
    client: Value<'static>,
    /// Group, version and plural.
    resource: [&'static str; 3],
    conditions: Value<'static>,
    side_effects: &'static str,
    seconds: i64,
}

fn configuration(hook: Hook) -> Value<'static> {
    let [group, version, plural] = hook.resource;
    let rule = map([
        ("operations", list(["CREATE"])),
        ("apiGroups", list([group])),
        ("apiVersions", list([version])),
        ("resources", list([plural])),
        ("scope", "Namespaced".into()),
    ]);
    let webhook = map([
        ("name", hook.webhook.into()),
        ("clientConfig", hook.client),
        ("rules", Value::array(vec![rule])),
        ("matchPolicy", "Equivalent".into()),
        ("matchConditions", hook.conditions),
        // What asks for a transformation and is refused is made again. What is created without one stays without.
        ("failurePolicy", "Fail".into()),
        ("sideEffects", hook.side_effects.into()),
        ("reinvocationPolicy", "Never".into()),
        ("admissionReviewVersions", list(["v1"])),
        ("timeoutSeconds", hook.seconds.into()),
    ]);
    map([
        ("apiVersion", "admissionregistration.k8s.io/v1".into()),
        ("kind", "MutatingWebhookConfiguration".into()),
        ("metadata", map([("name", hook.configuration.into())])),
        ("webhooks", Value::array(vec![webhook])),
    ])
}

fn text(configuration: &Value<'static>) -> String {
    let mut text = String::new();
    yaml::write(configuration, &mut text);
    text
}
