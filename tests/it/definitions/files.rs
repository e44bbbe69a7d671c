//! `manifests/crds` holds what the types give. `UPDATE_GOLDEN=1` rewrites the files.

use std::collections::BTreeSet;
use std::path::PathBuf;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use reviser::json::Value;
use reviser::yaml;

use crate::crds::definitions;
use crate::support::kustomize::file;

const FOLDER: &str = "manifests/crds";

const HEAD: &str = "# Made from the types in tests/it/crds. To change it, change them, and then\n\
                    # UPDATE_GOLDEN=1 cargo test --test it definitions\n";

/// The name of the file for a definition.
fn name(definition: &CustomResourceDefinition) -> String {
    format!("{}.yaml", definition.spec.names.plural)
}

/// What the file holds.
fn text(definition: &CustomResourceDefinition) -> String {
    let json = serde_json::to_string(definition).unwrap();
    let mut text = HEAD.to_owned();
    yaml::write(&Value::parse(json.as_bytes()).unwrap(), &mut text);
    text
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(FOLDER)
}

#[test]
fn the_files_are_what_the_types_give() {
    let mut differ = Vec::new();
    for definition in definitions() {
        let (path, text) = (folder().join(name(&definition)), text(&definition));
        if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
            std::fs::write(&path, &text).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != text {
            differ.push(path);
        }
    }
    assert!(differ.is_empty(), "not what the types give: {differ:#?}");
}

#[test]
fn kustomize_takes_them_all_and_nothing_else() {
    let kustomization = file(folder().join("kustomization.yaml"));
    let listed: Vec<&str> =
        kustomization["resources"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let names = definitions().map(|definition| name(&definition));
    assert_eq!(listed, names);
    let there: BTreeSet<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "kustomization.yaml")
        .collect();
    assert_eq!(there, names.into_iter().collect());
}
