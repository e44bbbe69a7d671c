//! The configurations for Karmada's interpreter: those that are shipped, and those that `reviser manifests`
//! prints.

use std::collections::BTreeSet;

use base64::Engine as _;
use reviser::doors::Interpreter;
use reviser::doors::interpreter::{ANSWERED, API_VERSION, STOCK_KARMADA};
use serde_json::{Value, json};

use crate::support::command::{Ran, reviser, reviser_with};
use crate::support::karmada;
use crate::support::kustomize::{assert_kubectl_renders_the_same, document, file, render};

const STOCK: &str = "manifests/karmada/interpreter";
const REVISE_OBJECT: &str = "manifests/karmada/interpreter-revise-object";
const SHIPPED_FILE: &str = "manifests/karmada/interpreter/resource-interpreter-webhook-configuration.yaml";

fn stock() -> Value {
    render(STOCK)
}

fn revise_object() -> Value {
    render(REVISE_OBJECT)
}

/// `reviser manifests` for Karmada's interpreter.
fn command(arguments: &[&str]) -> Ran {
    reviser(&[&["manifests", "--for", "karmada-interpreter"], arguments].concat())
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

#[test]
fn the_shipped_configuration_is_what_the_command_prints() {
    let shipped = file(SHIPPED_FILE);
    assert_eq!(stock(), shipped);
    let url = shipped["webhooks"][0]["clientConfig"]["url"].as_str().unwrap();
    let printed = command(&["--url", url]);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert_eq!(document(&printed.stdout), shipped);
}

#[test]
fn the_shipped_configurations_ask_for_what_the_server_answers() {
    for configuration in [stock(), revise_object()] {
        assert_eq!(configuration["apiVersion"], API_VERSION);
        let [webhook] = &configuration["webhooks"].as_array().unwrap()[..] else { panic!("{configuration}") };
        let url: http::Uri = webhook["clientConfig"]["url"].as_str().unwrap().parse().unwrap();
        assert_eq!(url.path(), Interpreter::PATH);
        let versions = texts(&webhook["interpreterContextVersions"]);
        assert_eq!(
            versions.iter().map(|version| format!("config.karmada.io/{version}")).collect::<Vec<_>>(),
            [API_VERSION]
        );
        assert_eq!(webhook["timeoutSeconds"], 10);
    }
    for rule in stock()["webhooks"][0]["rules"].as_array().unwrap() {
        let operations = texts(&rule["operations"]);
        assert_eq!(operations, STOCK_KARMADA);
        assert!(operations.iter().all(|operation| ANSWERED.contains(operation)), "{operations:?}");
    }
}

#[test]
fn the_overlay_differs_in_its_operations_and_in_nothing_else() {
    let mut expected = stock();
    expected["webhooks"][0]["rules"][0]["operations"] = json!(["*"]);
    assert_eq!(revise_object(), expected);
    assert!(ANSWERED.contains(&"ReviseObject"));
}

#[test]
fn karmada_accepts_what_is_shipped_and_what_is_printed() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    assert_eq!(reviser(&["certs", "--out", out, "--dns", "reviser.example.com"]).code, Some(0));
    let ca_file = format!("{out}/ca.crt");
    let printed = command(&["--url", "https://[fd00::1]:8443", "--ca-file", &ca_file]);
    for configuration in [stock(), revise_object(), document(&printed.stdout)] {
        assert_eq!(karmada::faults(&configuration), [""; 0], "{configuration}");
    }
}

/// A change to the webhook that is shipped: an operation of RFC 6902, a place in the webhook, and a value.
type Change = (&'static str, &'static str, &'static str);

/// Changes, and the fields of the webhook that Karmada then finds fault with, as it said when it was asked.
const REFUSED: &[(Change, &[&str])] = &[
    (("replace", "/name", r#""reviser""#), &["name"]),
    (("replace", "/name", r#""Interpret.reviser.io""#), &["name"]),
    (("replace", "/name", r#""a..b""#), &["name"]),
    (("replace", "/name", r#""""#), &["name"]),
    (("add", "/rules/0/operations/-", r#""ReviseObject""#), &["rules[0].operations[2]"]),
    (("add", "/rules/0/operations/-", r#""Prune""#), &["rules[0].operations[2]"]),
    (("add", "/rules/0/operations/-", r#""*""#), &["rules[0].operations"]),
    (("replace", "/rules/0/operations", "[]"), &["rules[0].operations"]),
    (("remove", "/rules/0/apiGroups", "null"), &["rules[0].apiGroups"]),
    (("remove", "/rules/0/kinds", "null"), &["rules[0].kinds"]),
    (
        ("replace", "/rules/0/apiVersions", r#"["", "*"]"#),
        &["rules[0].apiVersions", "rules[0].apiVersions[0]"],
    ),
    (("add", "/rules/0/kinds/-", r#""""#), &["rules[0].kinds[1]"]),
    (("replace", "/timeoutSeconds", "0"), &["timeoutSeconds"]),
    (("replace", "/timeoutSeconds", "31"), &["timeoutSeconds"]),
    (("replace", "/clientConfig/url", r#""http://reviser.example.com/interpret""#), &["clientConfig.url"]),
    (("replace", "/clientConfig/url", r#""reviser.example.com:8443""#), &["clientConfig.url"]),
    (("replace", "/clientConfig/url", r#""https://a:b@reviser.example.com""#), &["clientConfig.url"]),
    (("replace", "/clientConfig/url", r#""https://a/interpret?b=c""#), &["clientConfig.url"]),
    (("replace", "/clientConfig/url", r#""https://a/interpret#b""#), &["clientConfig.url"]),
    (("replace", "/clientConfig/url", r#""https:///interpret""#), &["clientConfig.url"]),
    (("remove", "/clientConfig/url", "null"), &["clientConfig"]),
    (("add", "/clientConfig/service", r#"{"name": "a", "namespace": "b"}"#), &["clientConfig"]),
    (("replace", "/interpreterContextVersions", "[]"), &["interpreterContextVersions"]),
    (("replace", "/interpreterContextVersions", r#"["v1"]"#), &["interpreterContextVersions"]),
    (("add", "/interpreterContextVersions/-", r#""v1alpha1""#), &["interpreterContextVersions[1]"]),
    (("add", "/interpreterContextVersions/-", r#""1""#), &["interpreterContextVersions[1]"]),
];

/// Changes that Karmada has nothing against.
const ACCEPTED: &[Change] = &[
    ("replace", "/name", r#""interpret.reviser.io.""#),
    ("replace", "/rules/0/operations", r#"["*"]"#),
    ("replace", "/rules/0/apiGroups", r#"["", "apps"]"#),
    ("remove", "/rules", "null"),
    ("remove", "/timeoutSeconds", "null"),
    ("add", "/interpreterContextVersions/-", r#""v1""#),
    ("replace", "/clientConfig/url", r#""https://10.0.0.1/""#),
    ("add", "/clientConfig/caBundle", r#""LS0t""#),
];

/// Changes that get no further than the decoder: ours, because there is no such field, and both, because of
/// the types.
const NOT_DECODED: &[Change] = &[
    ("add", "/timeout", "10"),
    ("replace", "/timeoutSeconds", r#""10""#),
    ("add", "/clientConfig/caBundle", r#""no base64""#),
];

fn changed((operation, path, value): Change) -> Value {
    let mut configuration = stock();
    let value: Value = serde_json::from_str(value).unwrap();
    let operations = json!([{"op": operation, "path": format!("/webhooks/0{path}"), "value": value}]);
    let operations: json_patch::Patch = serde_json::from_value(operations).unwrap();
    json_patch::patch(&mut configuration, &operations).unwrap();
    configuration
}

#[test]
fn the_checks_find_what_karmada_finds() {
    for (change, fields) in REFUSED {
        let fields: Vec<_> = fields.iter().map(|field| format!("webhooks[0].{field}")).collect();
        assert_eq!(karmada::faults(&changed(*change)), fields, "{change:?}");
    }
    for change in ACCEPTED {
        assert_eq!(karmada::faults(&changed(*change)), [""; 0], "{change:?}");
    }
    for change in NOT_DECODED {
        assert_eq!(karmada::faults(&changed(*change)).len(), 1, "{change:?}");
    }
    let mut twice = stock();
    let webhook = twice["webhooks"][0].clone();
    twice["webhooks"].as_array_mut().unwrap().push(webhook);
    assert_eq!(karmada::faults(&twice), ["webhooks[1].name"]);
}

#[test]
fn kubectl_renders_the_same() {
    for directory in [STOCK, REVISE_OBJECT] {
        assert_kubectl_renders_the_same(directory);
    }
}

#[test]
fn the_rules_are_those_of_the_policies() {
    let directory = tempfile::tempdir().unwrap();
    let policy = directory.path().join("policy.yaml");
    let text = "apiVersion: reviser.io/v1alpha1
kind: ResourceInterpretation
metadata: {name: job}
spec: {target: {apiVersion: batch/v1, kind: Job}, replicaResource: {replicas: /spec/parallelism}}
---
apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: fort}
spec:
  resourceSelectors: [{apiVersion: deploy.example.com/v1, kind: Rollout}, {apiVersion: apps/v1, kind: Deployment}]
  allocations: [{name: fort}]
  rules: [{name: r, fort: {allocation: fort, steps: /spec/steps, match: {type: Fort}, field: /pull}}]
";
    std::fs::write(&policy, text).unwrap();
    let printed = command(&["--url", "https://reviser.example.com", "-p", policy.to_str().unwrap()]);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let configuration = document(&printed.stdout);
    let rules = configuration["webhooks"][0]["rules"].as_array().unwrap();
    let matched: BTreeSet<String> = rules
        .iter()
        .map(|rule| {
            let text = |field: &str| texts(&rule[field]).join(" ");
            format!("{} {} {}", text("apiGroups"), text("apiVersions"), text("kinds"))
        })
        .collect();
    let expected = ["apps v1 Deployment", "batch v1 Job", "deploy.example.com v1 Rollout"];
    assert_eq!(matched, expected.map(str::to_owned).into());
    assert_eq!(karmada::faults(&configuration), [""; 0]);
    let assumed = "no ResourceInterpretation for Deployment (apps/v1), Rollout (deploy.example.com/v1): \
                   replicas are expected at /spec/replicas\n";
    assert!(printed.stderr.ends_with(assumed), "{}", printed.stderr);
}

#[test]
fn the_bundle_is_the_one_that_certs_prints() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let issued = reviser(&["certs", "--out", out, "--dns", "reviser.example.com"]);
    assert_eq!(issued.code, Some(0), "{}", issued.stderr);
    let bundle = |ca_file: &str| {
        let printed = command(&["--url", "https://reviser.example.com", "--ca-file", ca_file]);
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
        assert!(!printed.stderr.contains("--ca-file"), "{}", printed.stderr);
        document(&printed.stdout)["webhooks"][0]["clientConfig"]["caBundle"].as_str().unwrap().to_owned()
    };
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    let printed = bundle(&format!("{out}/ca.crt"));
    assert_eq!(format!("caBundle: {printed}\n"), issued.stdout);
    let decoded = base64::engine::general_purpose::STANDARD.decode(&printed).unwrap();
    assert_eq!(String::from_utf8(decoded).unwrap(), read("ca.crt"));

    // A key beside the certificate stays where it is.
    let both = directory.path().join("both.pem");
    std::fs::write(&both, format!("{}{}", read("ca.key"), read("ca.crt"))).unwrap();
    assert_eq!(bundle(both.to_str().unwrap()), printed);
}

#[test]
fn without_a_bundle_it_is_said_who_is_trusted() {
    let printed = command(&["--url", "https://reviser.example.com"]);
    assert_eq!(printed.code, Some(0));
    assert_eq!(document(&printed.stdout)["webhooks"][0]["clientConfig"].get("caBundle"), None);
    let note = "no --ca-file: no caBundle, so that Karmada trusts the authorities of its system\n";
    assert!(printed.stderr.contains(note), "{}", printed.stderr);
}

#[test]
fn what_is_wrong_decides_the_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("broken.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        .unwrap();
    std::fs::write(at("broken.yaml"), "kind: Policy\n").unwrap();
    let url = "https://reviser.example.com";
    let cases: [(&[&str], i32, &str); 9] = [
        (&[], 2, "--url <URL>"),
        (
            &["--url", "http://reviser.example.com"],
            2,
            "--url: failed to use the URL: it must begin with https://",
        ),
        (&["--url", "https://reviser.example.com/interpret?a=b"], 2, "remove the query, which callers drop"),
        (&["--url", "https://reviser.example.com/mutate/works"], 2, "must be \"/interpret\" or left out"),
        (&["--url", url, "--for", "karmada-works"], 2, "cannot be used multiple times"),
        (&["--url", url, "--ca-file", &at("missing.pem")], 1, "--ca-file: failed to read"),
        (&["--url", url, "--ca-file", &at("broken.pem")], 1, "--ca-file: failed to parse the certificate in"),
        (&["--url", url, "--ca-file", &at("broken.yaml")], 1, "--ca-file: failed to find a certificate in"),
        (&["--url", url, "-p", &at("broken.yaml")], 1, "the policies are refused:"),
    ];
    for (arguments, code, message) in cases {
        let ran = command(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
    let other = reviser(&["manifests", "--for", "karmada", "--url", url]);
    assert_eq!(other.code, Some(2));
    let values = "[possible values: karmada-interpreter, karmada-works, admiralty-source, admiralty-target, policies, crds]";
    assert!(other.stderr.contains(values), "{}", other.stderr);
}

#[test]
fn flags_come_from_the_environment_too() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    assert_eq!(reviser(&["certs", "--out", out, "--dns", "reviser.example.com"]).code, Some(0));
    let ca_file = format!("{out}/ca.crt");
    let environment = [
        ("REVISER_FOR", "karmada-interpreter"),
        ("REVISER_URL", "https://reviser.example.com"),
        ("REVISER_CA_FILE", ca_file.as_str()),
    ];
    let by_environment = reviser_with(&environment, &["manifests"]);
    let by_flags = command(&["--url", "https://reviser.example.com", "--ca-file", &ca_file]);
    assert_eq!(by_environment.code, Some(0), "{}", by_environment.stderr);
    assert_eq!(by_environment.stdout, by_flags.stdout);
}
