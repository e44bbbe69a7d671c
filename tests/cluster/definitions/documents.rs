//! The API server accepts every document in the repository that reviser accepts.

use std::path::{Path, PathBuf};

use reviser::{policy, yaml};
use serde_json::Value;

use super::Defined;
use super::places::read;

/// Folders and pages with documents.
const FOLDERS: [&str; 5] = ["docs", "manifests/examples", "samples", "tests/data", "tests/golden/cases"];

/// Texts that may contain documents: YAML files, and YAML blocks in pages.
fn texts() -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    for folder in FOLDERS {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut texts);
    }
    texts
}

fn collect(folder: &Path, texts: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, texts);
            continue;
        }
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml") => texts.push((path.clone(), std::fs::read_to_string(&path).unwrap())),
            Some("md") => {
                let page = std::fs::read_to_string(&path).unwrap();
                let blocks = page.split("\n```yaml\n").skip(1).filter_map(|rest| rest.split("\n```").next());
                texts.extend(blocks.map(|block| (path.clone(), block.to_owned())));
            }
            _ => {}
        }
    }
}

/// The indexes of documents with findings, read together.
fn faulty(documents: &[Value]) -> Vec<usize> {
    let read =
        documents.iter().map(|document| yaml::documents(&document.to_string()).unwrap().remove(0).value);
    let findings = policy::compile(&read.collect::<Vec<_>>()).err().unwrap_or_default();
    findings.into_iter().map(|finding| finding.document).collect()
}

/// Rewrites what a file may omit or spell differently but a custom resource may not.
fn as_custom_resource(document: &Value) -> Value {
    let mut document = document.clone();
    let kind = document["kind"].as_str().unwrap();
    if kind == "TargetPodTransformation" && document["metadata"]["namespace"].is_null() {
        document["metadata"]["namespace"] = "default".into();
    }
    document["apiVersion"] = "reviser.io/v1alpha1".into();
    let name = document["metadata"]["name"].as_str().unwrap().to_lowercase();
    document["metadata"]["name"] = name.into();
    document
}

#[test]
fn the_api_server_accepts_what_reviser_accepts() {
    let Some(defined) = Defined::shared() else { return };
    let (mut taken, mut differ) = (0, Vec::new());
    for (path, text) in texts() {
        if yaml::documents(&text).is_err() {
            continue;
        }
        let is_ours = |document: &Value| {
            let kind = document["kind"].as_str().unwrap_or_default();
            document["apiVersion"] == "reviser.io/v1alpha1" || kind.ends_with("TargetPodTransformation")
        };
        let ours: Vec<Value> = read(&text).into_iter().filter(is_ours).collect();
        let faulty = faulty(&ours);
        for (position, document) in ours.iter().enumerate().filter(|(at, _)| !faulty.contains(at)) {
            let document = as_custom_resource(document);
            defined.make_namespace_of(&document);
            let reply = defined.try_out(&document);
            if reply.is_ok() {
                taken += 1;
            } else {
                differ.push(format!("{}, document {position}: {}", path.display(), reply.message()));
            }
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
    assert!(taken > 60, "{taken}");
}
