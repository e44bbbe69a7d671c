//! The Helm chart: it renders what the folders of `manifests/` do.
//!
//! Helm is built by `tests/helm/build`, into a folder outside of the repository. Where it is not, the tests
//! say so and are left out.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::{rendered, root};
use crate::support::command::reviser;
use crate::support::kustomize::{documents, file};
use crate::support::objects::{id, of_kind, texts, the};

const CHART: &str = "charts/reviser";

/// Each folder, and the values that make the chart render the same.
const SAME: &[(&str, &[&str])] = &[
    ("manifests/karmada/host", &[]),
    ("manifests/karmada/host-cert-manager", &["tls.source=cert-manager"]),
    ("manifests/karmada/apiserver", &["mode=karmada-apiserver"]),
    ("manifests/admiralty/source", &["mode=admiralty-source"]),
    ("manifests/admiralty/source-cert-manager", &["mode=admiralty-source", "tls.source=cert-manager"]),
    ("manifests/admiralty/target", &["mode=admiralty-target"]),
    ("manifests/admiralty/target-cert-manager", &["mode=admiralty-target", "tls.source=cert-manager"]),
    ("manifests/admiralty/target-connected", &["mode=admiralty-target", "target.from=source"]),
    (
        "manifests/admiralty/target-connected-cert-manager",
        &["mode=admiralty-target", "target.from=source", "tls.source=cert-manager"],
    ),
];

/// Where the program is, if it has been built.
#[expect(clippy::print_stderr, reason = "who reads the log of the tests has to see what was left out")]
fn helm() -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || from("XDG_CACHE_HOME").or_else(|| Some(from("HOME")?.join(".cache")));
    let folder = from("REVISER_HELM").or_else(|| Some(cache()?.join("reviser/helm")));
    let helm = folder.map(|folder| folder.join("helm")).filter(|helm| helm.is_file());
    if helm.is_none() {
        eprintln!(
            "left out: the chart: no helm in $REVISER_HELM or the cache; tests/helm/build, which needs Go, puts it there"
        );
    }
    helm
}

/// Runs helm; `None` where there is none.
fn run(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Option<Output> {
    let mut command = Command::new(helm()?);
    // Without the user's configuration of helm.
    let home = tempfile::tempdir().unwrap();
    for name in ["HELM_CONFIG_HOME", "HELM_CACHE_HOME", "HELM_DATA_HOME"] {
        command.env(name, home.path());
    }
    Some(command.args(arguments).output().unwrap())
}

/// `helm template` with values: what it prints, or what it says against them.
pub(super) fn template(values: &[&str], more: &[&OsStr]) -> Option<Result<Vec<Value>, String>> {
    let chart = root().join(CHART);
    let mut arguments: Vec<&OsStr> = vec!["template".as_ref(), "reviser".as_ref(), chart.as_os_str()];
    arguments.extend(["-n", "reviser-system"].map(OsStr::new));
    for value in values {
        arguments.extend(["--set", value].map(OsStr::new));
    }
    arguments.extend(more);
    let output = run(arguments)?;
    Some(if output.status.success() {
        Ok(documents(str::from_utf8(&output.stdout).unwrap()))
    } else {
        Err(String::from_utf8(output.stderr).unwrap())
    })
}

/// The objects by name, without what only the one or the other has: Helm makes no namespace, the kinds of
/// policies are not part of the chart, and it labels what it makes.
fn comparable(objects: Vec<Value>) -> BTreeMap<String, Value> {
    let ours = |object: &Value| object["kind"] != "Namespace" && object["kind"] != "CustomResourceDefinition";
    let mut found = BTreeMap::new();
    for mut object in objects.into_iter().filter(ours) {
        if let Some(labels) = object["metadata"].get_mut("labels").and_then(Value::as_object_mut) {
            labels.remove("app.kubernetes.io/managed-by");
            labels.remove("helm.sh/chart");
        }
        assert_eq!(found.insert(id(&object), object), None);
    }
    found
}

fn assert_same(what: &str, chart: Vec<Value>, folder: Vec<Value>) {
    let (chart, folder) = (comparable(chart), comparable(folder));
    assert_eq!(chart.keys().collect::<Vec<_>>(), folder.keys().collect::<Vec<_>>(), "{what}");
    for (name, object) in &folder {
        assert_eq!(&chart[name], object, "{what}: {name}");
    }
}

#[test]
fn it_renders_what_the_folders_do() {
    for (folder, values) in SAME {
        let (Some(chart), Some(expected)) = (template(values, &[]), rendered(folder)) else { return };
        assert_same(folder, chart.unwrap_or_else(|error| panic!("{folder}: {error}")), expected);
    }
}

#[test]
fn helm_finds_nothing_to_complain_of() {
    for (folder, values) in SAME {
        let chart = root().join(CHART);
        let mut arguments = vec!["lint", "--strict", "-n", "reviser-system", chart.to_str().unwrap()];
        arguments.extend(values.iter().flat_map(|value| ["--set", value]));
        let Some(output) = run(arguments) else { return };
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{folder}: {said}");
        assert!(!said.contains("WARNING") && !said.contains("ERROR"), "{folder}: {said}");
    }
}

#[test]
fn policies_in_values_become_files_of_the_server() {
    let directory = tempfile::tempdir_in(root().join("target")).unwrap();
    let policy = "kind: TargetPodTransformation\nmetadata: {name: a}\n";
    let kustomization = json!({
        "resources": ["../../manifests/karmada/host"],
        "components": ["../../manifests/components/policy-files"],
        "configMapGenerator": [{
            "name": "reviser-policies",
            "namespace": "reviser-system",
            "literals": [format!("a.yaml={policy}")],
        }],
        "generatorOptions": {"disableNameSuffixHash": true, "labels": {"app.kubernetes.io/name": "reviser"}},
    });
    std::fs::write(directory.path().join("kustomization.yaml"), kustomization.to_string()).unwrap();
    let values = directory.path().join("values.json");
    std::fs::write(&values, json!({"policies": {"a.yaml": policy}}).to_string()).unwrap();
    let more = ["-f".as_ref(), values.as_os_str()];
    let (Some(chart), Some(expected)) = (template(&[], &more), rendered(directory.path())) else {
        return;
    };
    assert_same("policies", chart.unwrap(), expected);
}

#[test]
fn a_pair_in_values_becomes_the_secret_and_its_authority_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let issued = reviser(&["certs", "--out", out, "--dns", "reviser.reviser-system.svc"]);
    let files = [("certificate", "tls.crt"), ("key", "tls.key"), ("ca", "ca.crt")];
    let files = files.map(|(value, name)| format!("tls.{value}={out}/{name}"));
    let more: Vec<&OsStr> = files.iter().flat_map(|file| ["--set-file".as_ref(), file.as_ref()]).collect();
    let Some(objects) = template(&["mode=admiralty-source", "tls.source=secret"], &more) else { return };
    let objects = objects.unwrap();
    let keys: Vec<_> = the(&objects, "Secret")["data"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["ca.crt", "tls.crt", "tls.key"]);
    for kind in ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] {
        let bundle = the(&objects, kind)["webhooks"][0]["clientConfig"]["caBundle"].as_str().unwrap();
        assert_eq!(format!("caBundle: {bundle}\n"), issued.stdout);
    }
}

#[test]
fn what_can_be_said_of_a_target_gets_where_it_belongs() {
    let Some(objects) = template(
        &[
            "mode=admiralty-target",
            "target.name=us",
            "replicas=2",
            "drainSeconds=30",
            "extraArgs[0]=--log-level=debug",
        ],
        &[],
    ) else {
        return;
    };
    let objects = objects.unwrap();
    let path =
        &the(&objects, "MutatingWebhookConfiguration")["webhooks"][0]["clientConfig"]["service"]["path"];
    assert_eq!(path, "/mutate/podchaperons/us");
    let spec = &the(&objects, "Deployment")["spec"];
    assert_eq!(spec["replicas"], 2);
    assert_eq!(spec["template"]["spec"]["terminationGracePeriodSeconds"], 45);
    let arguments = spec["template"]["spec"]["containers"][0]["args"].as_array().unwrap();
    assert!(
        arguments.contains(&json!("--drain-seconds=30")) && arguments.contains(&json!("--log-level=debug"))
    );
    assert!(
        of_kind(&objects, "ConfigMap").is_empty(),
        "it is there already, unless values say what is in it"
    );
}

#[test]
fn it_can_be_in_any_namespace() {
    for (folder, values) in SAME {
        let Some(objects) = template(values, &["-n".as_ref(), "other".as_ref()]) else { return };
        let text = json!(objects.unwrap()).to_string();
        assert!(!text.contains("reviser-system"), "{folder}: {text}");
    }
    let Some(objects) = template(&[], &["-n".as_ref(), "other".as_ref()]) else { return };
    let objects = objects.unwrap();
    let arguments = &the(&objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]["args"];
    assert!(texts(arguments).contains(&"--leader-elect-resource-namespace=other"), "{arguments}");
}

#[test]
fn values_that_mean_nothing_are_refused() {
    for (value, named) in [
        ("mode=karmada-host", "mode"),
        ("replica=2", "replica"),
        ("replicas=0", "replicas"),
        ("tls.source=secret", "tls"),
        ("target.name=Eu", "target"),
        ("policies.README=text", "README"),
        ("templates[0].resources[0]=*", "templates"),
    ] {
        let Some(refused) = template(&[value], &[]) else { return };
        let error = refused.unwrap_err();
        assert!(error.contains(named), "{value}: {error}");
    }
}

#[test]
fn its_version_is_that_of_the_program() {
    let chart = file(format!("{CHART}/Chart.yaml"));
    assert_eq!(chart["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(chart["appVersion"], env!("CARGO_PKG_VERSION"));
}
