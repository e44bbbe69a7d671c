//! Kubernetes' `MutatingWebhookConfiguration`, for Karmada's Works.
//!
//! Source: kubernetes/kubernetes@v1.36.2 `staging/src/k8s.io/api/admissionregistration/v1/types.go`.

use std::collections::BTreeMap;

use super::build::{client_config, list, map};
use super::condition;
use super::{CaBundle, HookUrl, Namespaces};
use crate::domain::GroupVersionKind;
use crate::json::Value;
use crate::yaml;

/// What the configuration is called. An API server calls webhooks in the order of their configurations' names, and
/// Karmada's own, `mutating-config`, has to come after this one: it works out its lists of labels and annotations from
/// the manifest that we leave.
const CONFIGURATION: &str = "karmada-reviser";

/// What its one webhook is called.
const WEBHOOK: &str = "works.reviser.io";

/// How long the API server waits for an answer.
const TIMEOUT_SECONDS: i64 = 10;

/// What Karmada's API server has to be told to call us.
#[derive(Clone, Debug)]
pub struct WorksHook {
    /// Where.
    pub url: HookUrl,
    /// Whom to trust there; `None` for the authorities of the system.
    pub ca_bundle: Option<CaBundle>,
    /// About Works of which kinds; none for those alone that have been revised already.
    pub selected: BTreeMap<GroupVersionKind, Namespaces>,
    /// And about those of any kind that choose transformations.
    pub transformations: bool,
}

impl WorksHook {
    /// The configuration, to be applied to Karmada's API server.
    pub fn yaml(&self) -> String {
        let mut text = String::new();
        yaml::write(&self.configuration(), &mut text);
        text
    }

    /// The same as a value. It depends on the fields alone.
    pub fn configuration(&self) -> Value<'static> {
        let rule = map([
            ("operations", list(["CREATE", "UPDATE"])),
            ("apiGroups", list(["work.karmada.io"])),
            ("apiVersions", list(["v1alpha1"])),
            ("resources", list(["works"])),
            ("scope", "Namespaced".into()),
        ]);
        let webhook = map([
            ("name", WEBHOOK.into()),
            ("clientConfig", client_config(&self.url, self.ca_bundle.as_ref())),
            ("rules", Value::array(vec![rule])),
            ("matchPolicy", "Equivalent".into()),
            ("matchConditions", condition::conditions(&self.selected, self.transformations)),
            // A Work that is refused comes again. One that is stored unrevised does not.
            ("failurePolicy", "Fail".into()),
            ("sideEffects", "NoneOnDryRun".into()),
            ("reinvocationPolicy", "Never".into()),
            ("admissionReviewVersions", list(["v1"])),
            ("timeoutSeconds", TIMEOUT_SECONDS.into()),
        ]);
        map([
            ("apiVersion", "admissionregistration.k8s.io/v1".into()),
            ("kind", "MutatingWebhookConfiguration".into()),
            ("metadata", map([("name", CONFIGURATION.into())])),
            ("webhooks", Value::array(vec![webhook])),
        ])
    }
}
