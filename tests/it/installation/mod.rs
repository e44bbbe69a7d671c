//! What `manifests/` installs: every folder as kubectl renders it, held to the program, to its image, and to
//! itself.

mod callers;
mod chart;
mod docs;
mod rights;
mod server;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::kustomize::{file, rendered};
use crate::support::objects::{id, the};

/// The folders that install a server.
const SERVERS: &[&str] = &[
    "manifests/karmada/host",
    "manifests/karmada/host-cert-manager",
    "manifests/admiralty/source",
    "manifests/admiralty/source-cert-manager",
    "manifests/admiralty/target",
    "manifests/admiralty/target-cert-manager",
    "manifests/admiralty/target-connected",
    "manifests/admiralty/target-connected-cert-manager",
];

/// The folders that say what it may do.
const RIGHTS: &[&str] = &["manifests/karmada/apiserver", "manifests/admiralty/source"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders under `manifests` that can be given to `kubectl apply -k`.
fn folders() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left: Vec<PathBuf> = vec![root().join("manifests")];
    while let Some(directory) = left.pop() {
        let kustomization = directory.join("kustomization.yaml");
        if kustomization.is_file() && file(&kustomization)["kind"] == "Kustomization" {
            found.insert(directory.strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
        }
        let entries = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
        left.extend(entries.filter(|path| path.is_dir()));
    }
    found
}

/// The renderings of these folders; none where there is no kubectl.
fn renderings(folders: &[&'static str]) -> Vec<(&'static str, Vec<Value>)> {
    folders.iter().filter_map(|folder| Some((*folder, rendered(folder)?))).collect()
}

#[test]
fn every_folder_renders_and_no_object_comes_twice() {
    for folder in folders() {
        let Some(objects) = rendered(&folder) else { return };
        let ids: BTreeSet<String> = objects.iter().map(id).collect();
        assert_eq!(ids.len(), objects.len(), "{folder}: {ids:?}");
    }
}

#[test]
fn the_readme_names_every_folder() {
    let readme = std::fs::read_to_string(root().join("manifests/README.md")).unwrap();
    for folder in folders() {
        let name = folder.strip_prefix("manifests/").unwrap();
        assert!(readme.contains(&format!("`{name}`")), "manifests/README.md lacks {name}");
    }
}

#[test]
fn everything_is_in_the_namespace_or_in_none() {
    let all: Vec<&str> = SERVERS.iter().chain(RIGHTS).copied().collect();
    let everywhere = [
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "MutatingWebhookConfiguration",
        "Namespace",
        "ValidatingWebhookConfiguration",
    ];
    for (folder, objects) in renderings(&all) {
        assert_eq!(the(&objects, "Namespace")["metadata"]["name"], "reviser-system", "{folder}");
        for object in &objects {
            let namespaced = !everywhere.contains(&object["kind"].as_str().unwrap());
            let expected = if namespaced { json!("reviser-system") } else { Value::Null };
            assert_eq!(object["metadata"]["namespace"], expected, "{folder}: {}", id(object));
        }
    }
}
