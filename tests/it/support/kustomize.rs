//! The files under `manifests`, and what kustomize makes of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// The documents of a YAML text.
pub(crate) fn documents(yaml: &str) -> Vec<Value> {
    let documents = reviser::yaml::documents(yaml).unwrap();
    documents.iter().map(|document| serde_json::from_str(&document.value.to_string()).unwrap()).collect()
}

/// The one document of a YAML text.
pub(crate) fn document(yaml: &str) -> Value {
    let documents = documents(yaml);
    let [document] = &documents[..] else { panic!("one document is wanted, not {}", documents.len()) };
    document.clone()
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
pub(crate) fn assert_kubectl_renders_the_same(directory: &str) {
    if let Some(rendered) = rendered(directory) {
        assert_eq!(rendered, [render(directory)], "{directory}");
    }
}

/// What `kubectl kustomize` makes of a directory, of ours or with an absolute path; `None` where there is no
/// kubectl.
pub(crate) fn rendered(directory: impl AsRef<Path>) -> Option<Vec<Value>> {
    /// Of each directory, once: most tests look at most of them.
    static SEEN: Mutex<BTreeMap<PathBuf, Option<Vec<Value>>>> = Mutex::new(BTreeMap::new());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    // A test that has failed while it held it leaves it whole.
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    seen.entry(path).or_insert_with_key(|path| kustomize(path)).clone()
}

#[expect(clippy::print_stderr, reason = "who reads the log of the tests has to see what was left out")]
fn kustomize(path: &Path) -> Option<Vec<Value>> {
    let shown = path.display();
    match Command::new("kubectl").arg("kustomize").arg(path).output() {
        Ok(output) => {
            assert!(output.status.success(), "{shown}: {}", String::from_utf8_lossy(&output.stderr));
            Some(documents(str::from_utf8(&output.stdout).unwrap()))
        }
        Err(error) => {
            eprintln!("left out: kubectl kustomize {shown}: kubectl: {error}");
            None
        }
    }
}
