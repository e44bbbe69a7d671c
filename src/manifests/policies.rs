//! Kubernetes' `ValidatingWebhookConfiguration`, for our own custom resources.
//!
//! Source: kubernetes/kubernetes@v1.36.2 `staging/src/k8s.io/api/admissionregistration/v1/types.go`.

use super::build::{client_config, list, map};
use super::{CaBundle, HookUrl};
use crate::domain::{POLICY_GROUP, POLICY_VERSION, PolicyKind};
use crate::json::Value;
use crate::yaml;

/// What the configuration is called.
const CONFIGURATION: &str = "reviser-policies";

/// What its one webhook is called.
const WEBHOOK: &str = "policies.reviser.io";

/// How long the API server waits for an answer. A person waits with it.
const TIMEOUT_SECONDS: i64 = 5;

/// What the API server that holds our custom resources has to be told to call us.
#[derive(Clone, Debug)]
pub struct PoliciesHook {
    /// Where.
    pub url: HookUrl,
    /// Whom to trust there; `None` for the authorities of the system.
    pub ca_bundle: Option<CaBundle>,
}

impl PoliciesHook {
    /// The configuration, to be applied to the API server that holds them.
    pub fn yaml(&self) -> String {
        let mut text = String::new();
        yaml::write(&self.configuration(), &mut text);
        text
    }

    /// The same as a value. It depends on the fields alone.
    pub fn configuration(&self) -> Value<'static> {
        let rule = map([
            ("operations", list(["CREATE", "UPDATE"])),
            ("apiGroups", list([POLICY_GROUP])),
            ("apiVersions", list([POLICY_VERSION])),
            ("resources", list(PolicyKind::ALL.map(PolicyKind::plural))),
            ("scope", "*".into()),
        ]);
        let webhook = map([
            ("name", WEBHOOK.into()),
            ("clientConfig", client_config(&self.url, self.ca_bundle.as_ref())),
            ("rules", Value::array(vec![rule])),
            ("matchPolicy", "Equivalent".into()),
            // Whoever mends a policy in an outage that it has to do with must be able to. A faulty one that gets by is out of use, and
            // its status says so.
            ("failurePolicy", "Ignore".into()),
            ("sideEffects", "None".into()),
            ("admissionReviewVersions", list(["v1"])),
            ("timeoutSeconds", TIMEOUT_SECONDS.into()),
        ]);
        map([
            ("apiVersion", "admissionregistration.k8s.io/v1".into()),
            ("kind", "ValidatingWebhookConfiguration".into()),
            ("metadata", map([("name", CONFIGURATION.into())])),
            ("webhooks", Value::array(vec![webhook])),
        ])
    }
}
