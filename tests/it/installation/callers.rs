//! Who calls the server: by which name, and whom they trust there.

use std::collections::BTreeSet;

use reviser::doors::{PodChaperons, Pods};
use serde_json::{Value, json};

use super::docs::Checkout;
use super::{SERVERS, renderings};
use crate::support::kustomize::rendered;
use crate::support::objects::{items, of_kind, texts, the};

/// The webhooks of a rendering.
fn webhooks(objects: &[Value]) -> Vec<&Value> {
    let kinds = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
    kinds.iter().flat_map(|kind| of_kind(objects, kind)).flat_map(|one| items(&one["webhooks"])).collect()
}

#[test]
fn in_a_cluster_of_its_own_a_server_is_called_by_its_service() {
    for (folder, objects) in renderings(SERVERS) {
        let service = the(&objects, "Service");
        let paths: BTreeSet<String> = webhooks(&objects)
            .into_iter()
            .map(|webhook| {
                let client = webhook["clientConfig"].as_object().unwrap();
                assert_eq!(client.keys().collect::<Vec<_>>(), ["service"], "{folder}");
                let reference = &client["service"];
                assert_eq!(reference["name"], service["metadata"]["name"], "{folder}");
                assert_eq!(reference["namespace"], service["metadata"]["namespace"], "{folder}");
                let port = items(&service["spec"]["ports"]).find(|port| port["port"] == reference["port"]);
                assert_eq!(port.unwrap()["name"], "https", "{folder}");
                reference["path"].as_str().unwrap().to_owned()
            })
            .collect();
        let expected: Vec<String> = if folder.contains("source") {
            vec![Pods::PATH.to_owned(), "/validate/policies".to_owned()]
        } else if folder.contains("target") {
            vec![PodChaperons::PATH.replace("{target}", "eu")]
        } else {
            Vec::new()
        };
        assert_eq!(paths, expected.into_iter().collect(), "{folder}");
    }
}

#[test]
fn karmada_calls_a_server_by_a_name_that_its_certificate_is_for() {
    let Some(objects) = rendered("manifests/karmada/host-cert-manager") else { return };
    let certificates = of_kind(&objects, "Certificate");
    let certificate = certificates.into_iter().find(|one| one["metadata"]["name"] == "reviser").unwrap();
    let names = texts(&certificate["spec"]["dnsNames"]);
    for folder in ["manifests/karmada/works", "manifests/karmada/interpreter", "manifests/policies"] {
        let Some(objects) = rendered(folder) else { return };
        for webhook in items(&objects[0]["webhooks"]) {
            let url: http::Uri = webhook["clientConfig"]["url"].as_str().unwrap().parse().unwrap();
            assert!(names.contains(&url.host().unwrap()), "{folder}: {url}");
            // That of the Service, where no other is said.
            assert_eq!(url.port(), None, "{folder}: {url}");
        }
    }
}

/// The configurations of a rendering.
fn configurations(objects: &[Value]) -> impl Iterator<Item = &Value> {
    objects.iter().filter(|object| object.get("webhooks").is_some())
}

const INJECT: &str = "cert-manager.io/inject-ca-from";

#[test]
fn certificates_by_cert_manager_are_those_that_are_mounted_and_trusted() {
    for (folder, objects) in renderings(SERVERS) {
        let certificates = of_kind(&objects, "Certificate");
        if !folder.contains("cert-manager") {
            assert!(
                certificates.is_empty() && !json!(objects).to_string().contains("cert-manager"),
                "{folder}"
            );
            continue;
        }
        let named = |kind: &str, name: &Value| {
            let found = of_kind(&objects, kind).into_iter().find(|one| one["metadata"]["name"] == *name);
            found.unwrap_or_else(|| panic!("{folder}: no {kind} {name}")).clone()
        };
        let volumes = &the(&objects, "Deployment")["spec"]["template"]["spec"]["volumes"];
        let mounted = items(volumes).find(|volume| volume["name"] == "tls").unwrap();
        let leaf = named("Certificate", &json!("reviser"));
        assert_eq!(leaf["spec"]["secretName"], mounted["secret"]["secretName"], "{folder}");
        // The chain up to an authority that signs itself.
        let issuer = named("Issuer", &leaf["spec"]["issuerRef"]["name"]);
        let authority = named("Certificate", &issuer["spec"]["ca"]["secretName"]);
        assert_eq!(
            (&authority["spec"]["isCA"], &authority["spec"]["secretName"]),
            (&json!(true), &issuer["spec"]["ca"]["secretName"])
        );
        let bootstrap = named("Issuer", &authority["spec"]["issuerRef"]["name"]);
        assert_eq!(bootstrap["spec"], json!({"selfSigned": {}}), "{folder}");
        for configuration in configurations(&objects) {
            assert_eq!(
                configuration["metadata"]["annotations"][INJECT], "reviser-system/reviser",
                "{folder}"
            );
        }
    }
}

/// With the two kustomizations of docs/install.md.
#[test]
fn the_authority_gets_from_what_certs_writes_into_the_configurations() {
    let checkout = Checkout::new();
    let issued = checkout.with_certificates();
    let Some(objects) = rendered(checkout.path("mine")) else { return };

    let secret = the(&objects, "Secret");
    assert_eq!(
        (&secret["metadata"]["name"], &secret["type"]),
        (&json!("reviser-tls"), &json!("kubernetes.io/tls"))
    );
    assert_eq!(secret["metadata"]["namespace"], "reviser-system");
    let keys: Vec<_> = secret["data"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["ca.crt", "tls.crt", "tls.key"]);
    let bundles: Vec<String> = configurations(&objects)
        .flat_map(|one| items(&one["webhooks"]))
        .map(|webhook| webhook["clientConfig"]["caBundle"].as_str().unwrap().replace('\n', ""))
        .collect();
    let expected = issued.trim().strip_prefix("caBundle: ").unwrap();
    assert_eq!(bundles, [expected, expected]);
}
