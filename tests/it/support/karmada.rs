//! What Karmada's validating webhook makes of a `ResourceInterpreterWebhookConfiguration`.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/webhook/configuration/validating.go` and `helper.go`, with what
//! they call of `k8s.io/apimachinery/pkg/util/validation` and `k8s.io/apiserver/pkg/util/webhook` v0.36.2.
//!
//! The cases that `manifests.rs` puts to it were put to those functions themselves as well, and they found
//! fault with the same fields.

use std::collections::BTreeSet;

use base64::Engine as _;
use serde::Deserialize;

/// Source: `validating.go` `supportedInterpreterOperation`. Neither `Prune` nor `ReviseObject` is in it.
const OPERATIONS: [&str; 9] = [
    ALL,
    "InterpretReplica",
    "InterpretComponent",
    "InterpretDependency",
    "ReviseReplica",
    "Retain",
    "AggregateStatus",
    "InterpretStatus",
    "InterpretHealth",
];

const ALL: &str = "*";

/// Source: `validating.go` `acceptedInterpreterContextVersions`.
const CONTEXT_VERSION: &str = "v1alpha1";

/// Source: `pkg/apis/config/v1alpha1/resourceinterpreterwebhook_types.go`.
/// DIFFERENCE: a field that is none is refused; there, the API server drops it without a word.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Configuration {
    api_version: String,
    kind: String,
    #[serde(rename = "metadata")]
    _metadata: serde_json::Value,
    webhooks: Vec<Webhook>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Webhook {
    name: String,
    client_config: ClientConfig,
    #[serde(default)]
    rules: Vec<Rule>,
    timeout_seconds: Option<i32>,
    interpreter_context_versions: Vec<String>,
}

/// DIFFERENCE: a `service` is not looked into, because none is shipped.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ClientConfig {
    url: Option<String>,
    service: Option<serde_json::Value>,
    ca_bundle: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    #[serde(default)]
    operations: Vec<String>,
    #[serde(default)]
    api_groups: Vec<String>,
    #[serde(default)]
    api_versions: Vec<String>,
    #[serde(default)]
    kinds: Vec<String>,
}

/// The fields that Karmada refuses, in order. Empty if it accepts the configuration. A configuration that cannot be
/// decoded gives the decoding error.
///
/// Source: `validating.go` `ValidatingAdmission.Handle`.
pub(crate) fn faults(configuration: &serde_json::Value) -> Vec<String> {
    let configuration: Configuration = match Configuration::deserialize(configuration) {
        Ok(configuration) => configuration,
        Err(error) => return vec![error.to_string()],
    };
    let mut faults = BTreeSet::new();
    if (configuration.api_version.as_str(), configuration.kind.as_str())
        != ("config.karmada.io/v1alpha1", "ResourceInterpreterWebhookConfiguration")
    {
        faults.insert("kind".to_owned());
    }
    let mut names = BTreeSet::new();
    for (index, webhook) in configuration.webhooks.iter().enumerate() {
        let mut fault = |field: &str| faults.insert(format!("webhooks[{index}].{field}"));
        validate_webhook(webhook, &mut |field| {
            fault(field);
        });
        if !names.insert(&webhook.name) {
            fault("name");
        }
    }
    faults.into_iter().collect()
}

/// Source: `validating.go` `validateWebhook`, `validateInterpreterContextVersions`.
fn validate_webhook(webhook: &Webhook, fault: &mut impl FnMut(&str)) {
    if !is_fully_qualified(&webhook.name) {
        fault("name");
    }
    for (index, rule) in webhook.rules.iter().enumerate() {
        validate_rule(rule, &mut |field| fault(&format!("rules[{index}].{field}")));
    }
    if webhook.timeout_seconds.is_some_and(|seconds| !(1..=30).contains(&seconds)) {
        fault("timeoutSeconds");
    }
    let client = &webhook.client_config;
    match (&client.url, &client.service) {
        (Some(url), None) if !is_webhook_url(url) => fault("clientConfig.url"),
        (Some(_), None) | (None, Some(_)) => {}
        (Some(_), Some(_)) | (None, None) => fault("clientConfig"),
    }
    // Bytes, in Go's words, so that anything but base64 can't be decoded.
    let decode = |bundle: &String| base64::engine::general_purpose::STANDARD.decode(bundle);
    if client.ca_bundle.as_ref().is_some_and(|bundle| decode(bundle).is_err()) {
        fault("clientConfig.caBundle");
    }
    let versions = &webhook.interpreter_context_versions;
    if !versions.iter().any(|version| version == CONTEXT_VERSION) {
        fault("interpreterContextVersions");
    }
    for (index, version) in versions.iter().enumerate() {
        if versions[..index].contains(version) || !is_dns_1035_label(version) {
            fault(&format!("interpreterContextVersions[{index}]"));
        }
    }
}

/// Source: `validating.go` `validateRuleWithOperations`, `helper.go` `validateRule`.
fn validate_rule(rule: &Rule, fault: &mut impl FnMut(&str)) {
    let lists = [
        ("operations", &rule.operations),
        ("apiGroups", &rule.api_groups),
        ("apiVersions", &rule.api_versions),
        ("kinds", &rule.kinds),
    ];
    for (field, items) in lists {
        if items.is_empty() || (items.len() > 1 && items.iter().any(|item| item == ALL)) {
            fault(field);
        }
        for (index, item) in items.iter().enumerate() {
            let fits = match field {
                "operations" => OPERATIONS.contains(&item.as_str()),
                // The core group has no name.
                "apiGroups" => true,
                _ => !item.is_empty(),
            };
            if !fits {
                fault(&format!("{field}[{index}]"));
            }
        }
    }
}

/// Source: `k8s.io/apiserver/pkg/util/webhook/validation.go` `ValidateWebhookURL`, with https as the one
/// scheme. DIFFERENCE: the URL parser is slightly stricter than Go's.
fn is_webhook_url(text: &str) -> bool {
    let Ok(url) = text.parse::<http::Uri>() else { return false };
    // The parser drops a fragment.
    let has_fragment = text.split_once('#').is_some_and(|(_, fragment)| !fragment.is_empty());
    url.scheme_str() == Some("https")
        && url.host().is_some_and(|host| !host.is_empty())
        && url.authority().is_some_and(|authority| !authority.as_str().contains('@'))
        && url.query().is_none_or(str::is_empty)
        && !has_fragment
}

/// Source: `k8s.io/apimachinery/pkg/util/validation/validation.go` `IsFullyQualifiedDomainName`.
fn is_fully_qualified(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.len() <= 253 && name.contains('.') && name.split('.').all(is_dns_1123_label)
}

fn is_dns_1123_label(label: &str) -> bool {
    let is_alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = label.as_bytes();
    bytes.len() <= 63
        && bytes.iter().all(|byte| is_alphanumeric(byte) || *byte == b'-')
        && bytes.first().is_some_and(is_alphanumeric)
        && bytes.last().is_some_and(is_alphanumeric)
}

fn is_dns_1035_label(label: &str) -> bool {
    is_dns_1123_label(label) && label.starts_with(|first: char| first.is_ascii_lowercase())
}
