//! The configuration for policies that are custom resources: the one that is shipped is what `reviser
//! manifests` prints.

use reviser::domain::{POLICY_GROUP, PolicyKind};
use reviser::doors::Policies;
use serde_json::json;

use crate::support::command::reviser;
use crate::support::kustomize::{assert_kubectl_renders_the_same, document, file, render};

const SHIPPED: &str = "manifests/policies";
const SHIPPED_FILE: &str = "manifests/policies/validating-webhook-configuration.yaml";

#[test]
fn the_shipped_configuration_is_what_the_command_prints() {
    let printed = reviser(&["manifests", "--for", "policies", "--url", "https://reviser.reviser-system.svc"]);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert_eq!(document(&printed.stdout), file(SHIPPED_FILE));
    assert_eq!(render(SHIPPED), file(SHIPPED_FILE));
    assert_kubectl_renders_the_same(SHIPPED);
    // It depends on no policy, so none is missed.
    let note = "no --ca-file: no caBundle, so that the API server trusts the authorities of its system\n";
    assert_eq!(printed.stderr, note);
}

#[test]
fn it_asks_about_what_is_written_and_never_stands_in_the_way_of_mending_it() {
    let mut shipped = file(SHIPPED_FILE);
    let url: http::Uri = shipped["webhooks"][0]["clientConfig"]["url"].as_str().unwrap().parse().unwrap();
    assert_eq!(url.path(), Policies::PATH);
    let webhook = shipped["webhooks"][0].as_object_mut().unwrap();
    assert!(webhook.remove("clientConfig").is_some());
    let expected = json!({
        "name": "policies.reviser.io",
        "rules": [{
            "operations": ["CREATE", "UPDATE"],
            "apiGroups": [POLICY_GROUP],
            "apiVersions": ["v1alpha1"],
            "resources": PolicyKind::ALL.map(PolicyKind::plural),
            "scope": "*",
        }],
        "matchPolicy": "Equivalent",
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 5,
    });
    assert_eq!(shipped["webhooks"], json!([expected]));
}
