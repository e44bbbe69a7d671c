//! The files under `manifests`, and what kustomize makes of them.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The one document of a YAML text.
pub(crate) fn document(yaml: &str) -> Value {
    let documents = reviser::yaml::documents(yaml).unwrap();
    let [document] = &documents[..] else { panic!("one document is wanted, not {}", documents.len()) };
    serde_json::from_str(&document.value.to_string()).unwrap()
}

/// The one document of a file of the repository.
pub(crate) fn file(path: impl AsRef<Path>) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    document(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// What kustomize makes of a directory of ours: one resource, and patches of RFC 6902 for it.
pub(crate) fn render(directory: impl AsRef<Path>) -> Value {
    let directory = directory.as_ref();
    let kustomization = file(directory.join("kustomization.yaml"));
    let [resource] = &kustomization["resources"].as_array().unwrap()[..] else {
        panic!("{}: one resource is wanted", directory.display())
    };
    let resource = directory.join(resource.as_str().unwrap());
    let mut rendered = if resource.extension().is_some() { file(resource) } else { render(&resource) };
    for patch in kustomization["patches"].as_array().into_iter().flatten() {
        for (field, value) in [("kind", &rendered["kind"]), ("name", &rendered["metadata"]["name"])] {
            assert_eq!(&patch["target"][field], value, "{}: whom the patch is for", directory.display());
        }
        let operations = document(patch["patch"].as_str().unwrap());
        let operations: json_patch::Patch = serde_json::from_value(operations).unwrap();
        json_patch::patch(&mut rendered, &operations).unwrap();
    }
    rendered
}

/// Holds [`render`] to kubectl, where there is one.
#[expect(clippy::print_stderr, reason = "who reads the log of the tests has to see what was left out")]
pub(crate) fn assert_kubectl_renders_the_same(directory: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    match Command::new("kubectl").arg("kustomize").arg(&path).output() {
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{directory}: {stderr}");
            let rendered = document(str::from_utf8(&output.stdout).unwrap());
            assert_eq!(rendered, render(directory), "{directory}");
        }
        Err(error) => eprintln!("left out: kubectl kustomize {directory}: kubectl: {error}"),
    }
}
