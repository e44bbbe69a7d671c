//! The installed server: its flags, ports, probes and pod template.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::{SERVERS, renderings, root};
use crate::spawned::Spawned;
use crate::support::client::Client;
use crate::support::command::reviser;
use crate::support::objects::{items, texts, the};
use crate::support::server::TestServer;

/// The flags that a server of the tests has values of its own for.
const TEST_SERVERS: &[&str] = &["--admin-bind-address", "--log-format", "--drain-seconds"];

fn container(deployment: &Value) -> &Value {
    let containers = &deployment["spec"]["template"]["spec"]["containers"];
    let [container] = &containers.as_array().unwrap()[..] else { panic!("{containers}") };
    container
}

/// The flags that a server is started with, and their values.
fn flags(deployment: &Value) -> BTreeMap<&str, &str> {
    let arguments = texts(&container(deployment)["args"]);
    let (command, flags) = arguments.split_first().unwrap();
    assert_eq!(*command, "serve");
    flags.iter().map(|flag| flag.split_once('=').unwrap_or((flag, ""))).collect()
}

#[test]
fn the_flags_are_those_of_the_program() {
    let help = reviser(&["serve", "--help"]);
    let known: BTreeSet<&str> = help
        .stdout
        .split([' ', '\n', ','])
        .filter(|word| word.starts_with("--"))
        .map(|word| word.split(['=', '[']).next().unwrap())
        .collect();
    for (folder, objects) in renderings(SERVERS) {
        let deployment = the(&objects, "Deployment");
        let unknown: Vec<_> = flags(deployment).into_keys().filter(|flag| !known.contains(flag)).collect();
        assert!(unknown.is_empty(), "{folder}: {unknown:?}");
    }
}

#[test]
fn a_server_is_connected_to_one_api_server_or_has_files() {
    for (folder, objects) in renderings(SERVERS) {
        let deployment = the(&objects, "Deployment");
        let flags = flags(deployment);
        let (kubeconfig, in_cluster) =
            (flags.contains_key("--kubeconfig"), flags.contains_key("--in-cluster"));
        let files = flags.contains_key("--policy");
        assert_eq!(u8::from(kubeconfig) + u8::from(in_cluster) + u8::from(files), 1, "{folder}: {flags:?}");
        assert_eq!(flags.contains_key("--state"), files, "{folder}: {flags:?}");
        let token = &deployment["spec"]["template"]["spec"]["automountServiceAccountToken"];
        assert_eq!(token, in_cluster, "{folder}: a token for whom it is of use");
    }
}

#[test]
fn the_files_that_flags_name_are_mounted() {
    for (folder, objects) in renderings(SERVERS) {
        let deployment = the(&objects, "Deployment");
        let container = container(deployment);
        let mounts: BTreeMap<&str, &Value> =
            items(&container["volumeMounts"]).map(|mount| (mount["name"].as_str().unwrap(), mount)).collect();
        let volumes: BTreeSet<&str> = items(&deployment["spec"]["template"]["spec"]["volumes"])
            .map(|volume| volume["name"].as_str().unwrap())
            .collect();
        assert_eq!(mounts.keys().copied().collect::<BTreeSet<_>>(), volumes, "{folder}");
        let paths: Vec<_> = mounts.values().map(|mount| mount["mountPath"].as_str().unwrap()).collect();
        let named: Vec<_> = flags(deployment).into_values().filter(|value| value.starts_with('/')).collect();
        for name in &named {
            assert!(paths.iter().any(|path| Path::new(name).starts_with(path)), "{folder}: {name}");
        }
        assert_eq!(named.len(), paths.len(), "{folder}: {named:?} {paths:?}");
        assert!(mounts.values().all(|mount| mount["readOnly"] == true), "{folder}");
    }
}

#[test]
fn the_ports_are_those_of_the_image_and_of_the_service() {
    let dockerfile = std::fs::read_to_string(root().join("Dockerfile")).unwrap();
    let exposed: BTreeSet<u64> = dockerfile
        .lines()
        .filter_map(|line| line.strip_prefix("EXPOSE "))
        .map(|port| port.parse().unwrap())
        .collect();
    let help = reviser(&["serve", "--help"]).stdout;
    for (folder, objects) in renderings(SERVERS) {
        let deployment = the(&objects, "Deployment");
        let container = container(deployment);
        let ports: BTreeMap<&str, u64> = items(&container["ports"])
            .map(|port| (port["name"].as_str().unwrap(), port["containerPort"].as_u64().unwrap()))
            .collect();
        assert_eq!(ports.values().copied().collect::<BTreeSet<_>>(), exposed, "{folder}");
        let flags = flags(deployment);
        assert!(!flags.contains_key("--secure-port"), "{folder}");
        assert!(help.contains(&format!("[default: {}]", ports["https"])), "{help}");
        assert_eq!(flags["--admin-bind-address"], format!("0.0.0.0:{}", ports["admin"]), "{folder}");

        let service = the(&objects, "Service");
        let service: BTreeMap<&str, &str> = items(&service["spec"]["ports"])
            .map(|port| (port["name"].as_str().unwrap(), port["targetPort"].as_str().unwrap()))
            .collect();
        assert_eq!(service, [("https", "https"), ("metrics", "admin")].into(), "{folder}");
        let policy = the(&objects, "NetworkPolicy");
        let allowed: BTreeSet<&str> = items(&policy["spec"]["ingress"])
            .flat_map(|rule| items(&rule["ports"]))
            .map(|port| port["port"].as_str().unwrap())
            .collect();
        assert_eq!(allowed, ports.keys().copied().collect(), "{folder}");
    }
}

#[tokio::test]
async fn the_probes_ask_for_what_a_server_answers() {
    let server = TestServer::start().await;
    let mut client = Client::connect_admin(&server).await;
    for (folder, objects) in renderings(SERVERS) {
        for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
            let get = &container(the(&objects, "Deployment"))[probe]["httpGet"];
            assert_eq!(get["port"], "admin", "{folder} {probe}");
            let answer = client.get(get["path"].as_str().unwrap()).await;
            assert_eq!(answer.status, 200, "{folder} {probe}: {}", answer.text());
        }
    }
}

/// Starts the program as a pod does, but for where its files are and for the ports.
#[test]
fn a_server_starts_with_what_its_pod_is_given() {
    for (_, objects) in renderings(&["manifests/admiralty/target"]) {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        assert_eq!(reviser(&["certs", "--out", &at("tls"), "--dns", "localhost"]).code, Some(0));
        for name in ["policies", "targets"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        let policy = "kind: TargetPodTransformation\nmetadata: {name: a}\ntransformations: [{targetSelector: {}, patch: {}}]\n";
        std::fs::write(at("policies/a.yaml"), policy).unwrap();
        let flags = flags(the(&objects, "Deployment"));
        let arguments = flags.iter().filter(|(flag, _)| !TEST_SERVERS.contains(flag));
        let arguments =
            arguments.map(|(flag, value)| format!("{flag}={}", value.replace("/etc/reviser", &at(""))));
        assert!(Spawned::start(arguments).runs());
    }
}

#[test]
fn draining_fits_into_the_grace_period() {
    for (folder, objects) in renderings(SERVERS) {
        let deployment = the(&objects, "Deployment");
        let drain: i64 = flags(deployment)["--drain-seconds"].parse().unwrap();
        let grace = deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap();
        // Requests have 10 seconds more.
        assert!(drain > 0 && grace > drain + 10, "{folder}: {drain} {grace}");
    }
}

#[test]
fn the_image_is_of_this_version() {
    for (folder, objects) in renderings(SERVERS) {
        let image = format!("reviser:{}", env!("CARGO_PKG_VERSION"));
        assert_eq!(container(the(&objects, "Deployment"))["image"], image, "{folder}");
    }
}

#[test]
fn selectors_match_the_pods() {
    for (folder, objects) in renderings(SERVERS) {
        let deployment = the(&objects, "Deployment");
        let labels = &deployment["spec"]["template"]["metadata"]["labels"];
        let mut selectors = vec![
            &deployment["spec"]["selector"]["matchLabels"],
            &the(&objects, "Service")["spec"]["selector"],
            &the(&objects, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
            &the(&objects, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
        ];
        let spread = &deployment["spec"]["template"]["spec"]["topologySpreadConstraints"];
        selectors.extend(items(spread).map(|constraint| &constraint["labelSelector"]["matchLabels"]));
        assert_eq!(selectors.len(), 6, "{folder}");
        assert!(selectors.iter().all(|selector| *selector == labels), "{folder}: {selectors:?}");
    }
}

#[test]
fn an_update_takes_no_server_away_and_a_drained_node_only_one() {
    for (folder, objects) in renderings(SERVERS) {
        let spec = &the(&objects, "Deployment")["spec"];
        assert_eq!(spec["replicas"], 3, "{folder}");
        assert_eq!(
            spec["strategy"]["rollingUpdate"],
            json!({"maxSurge": 1, "maxUnavailable": 0}),
            "{folder}"
        );
        assert_eq!(the(&objects, "PodDisruptionBudget")["spec"]["maxUnavailable"], 1, "{folder}");
    }
}

#[test]
fn pods_fit_the_restricted_pod_security_standard() {
    for (folder, objects) in renderings(SERVERS) {
        let namespace = the(&objects, "Namespace");
        assert_eq!(
            namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted",
            "{folder}"
        );
        let pod = &the(&objects, "Deployment")["spec"]["template"]["spec"];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{folder}");
        assert_eq!(pod["securityContext"]["runAsUser"], 65532, "{folder}: the user of the image");
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault", "{folder}");
        let expected = json!({
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
        });
        assert_eq!(container(the(&objects, "Deployment"))["securityContext"], expected, "{folder}");
        let kinds: BTreeSet<&str> = items(&pod["volumes"])
            .flat_map(|volume| volume.as_object().unwrap().keys())
            .map(String::as_str)
            .collect();
        assert!(kinds.is_subset(&["configMap", "name", "secret"].into()), "{folder}: {kinds:?}");
    }
}
