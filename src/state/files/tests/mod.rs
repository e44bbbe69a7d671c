//! Tests that lookups see the files on disk, and that invalid files leave the snapshot unchanged.

mod broken;
mod races;
mod swaps;

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::domain::GroupVersionKind;

/// A temporary directory.
struct Directory(tempfile::TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file in place.
    fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    /// Replaces a file by renaming.
    fn replace(&self, name: &str, text: &str) {
        self.write(".new", text);
        fs::rename(self.at(".new"), self.at(name)).unwrap();
    }

    fn open(&self, names: &[&str]) -> Result<StateFiles, Vec<String>> {
        let plain = |text: String| text.replace(&format!("{}/", self.0.path().display()), "");
        StateFiles::open(names.iter().map(|name| self.at(name)).collect())
            .map_err(|faults| faults.into_iter().map(plain).collect())
    }

    /// `text` without the path of the directory.
    fn plain(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn workload(name: &str) -> Workload {
    Workload {
        gvk: GroupVersionKind::of("deploy.example.com/v1alpha1", "Rollout"),
        namespace: "shop".into(),
        name: name.into(),
    }
}

/// A binding of Rollout `shop/NAME` to one cluster with `replicas` replicas.
fn binding(name: &str, replicas: usize) -> String {
    format!(
        "apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {{name: {name}-rollout, namespace: shop}}\nspec:\n  \
         clusters: [{{name: x, replicas: {replicas}}}]\n  \
         resource: {{apiVersion: deploy.example.com/v1alpha1, kind: Rollout, name: {name}, namespace: shop}}\n"
    )
}

/// The replicas of Rollout `shop/NAME` in the first cluster of its binding.
async fn replicas(files: &StateFiles, name: &str) -> Result<i64, String> {
    match files.find(&workload(name), None).await {
        Ok(BindingLookup::Found(binding)) => Ok(binding.schedule.clusters()[0].replicas),
        Ok(BindingLookup::Gone) => Err("gone".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn what_lacks_is_told_with_where_it_was_looked_for_and_what_to_do() {
    let directory = Directory::new();
    directory.write("a.yaml", &binding("checkout", 1));
    directory.write("b.yaml", &binding("cart", 1));
    let files = directory.open(&["a.yaml", "b.yaml"]).unwrap();
    assert_eq!(replicas(&files, "checkout").await, Ok(1));
    let Err(LookupError::Lacking(message)) = files.find(&workload("payment"), None).await else { panic!() };
    assert_eq!(
        directory.plain(&message),
        "no binding in the state files (a.yaml, b.yaml) is of Rollout.deploy.example.com shop/payment; add it, for \
         instance with `kubectl get resourcebinding -A -o yaml > FILE`"
    );
    let paths = ["a.yaml", "b.yaml", "a.yaml", "b.yaml", "a.yaml"];
    let files = directory.open(&paths).unwrap();
    let cluster_scoped = Workload { namespace: String::new(), ..workload("payment") };
    let Err(LookupError::Lacking(message)) = files.find(&cluster_scoped, None).await else { panic!() };
    assert_eq!(
        directory.plain(&message),
        "no binding in the state files (a.yaml, b.yaml, a.yaml, 2 more) is of Rollout.deploy.example.com payment; add it, for \
         instance with `kubectl get clusterresourcebinding -o yaml > FILE`"
    );
}

#[tokio::test]
async fn several_bindings_are_told_with_their_names() {
    let directory = Directory::new();
    let one = binding("checkout", 1);
    directory.write("a.yaml", &one);
    directory.write("b.yaml", &one.replace("checkout-rollout", "other"));
    let files = directory.open(&["a.yaml", "b.yaml"]).unwrap();
    let named = |name: &str| BindingName { namespace: Some("shop".into()), name: name.into() };
    assert!(matches!(
        files.find(&workload("checkout"), Some(&named("other"))).await,
        Ok(BindingLookup::Found(binding)) if binding.name == "other"
    ));
    let third = named("third");
    for (named, said) in [(None, ""), (Some(&third), ", none of them the ResourceBinding shop/third")] {
        let Err(LookupError::Failed(message)) = files.find(&workload("checkout"), named).await else {
            panic!()
        };
        assert_eq!(
            directory.plain(&message),
            format!(
                "2 bindings in the state files (a.yaml, b.yaml) are of Rollout.deploy.example.com shop/checkout: \
                 ResourceBinding shop/checkout-rollout, ResourceBinding shop/other{said}; leave the one that counts"
            )
        );
    }
}

#[tokio::test]
async fn works_are_found_by_what_they_deliver() {
    let directory = Directory::new();
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/captures");
    for name in ["work-stored-cluster-x-w31.json", "work-stored-cluster-z-w31.json"] {
        fs::copy(captures.join(name), directory.at(name)).unwrap();
    }
    let files = directory.open(&[""]).unwrap();
    let clusters = |deliveries: Vec<Delivery>| {
        deliveries.iter().map(|delivery| delivery.cluster.to_string()).collect::<Vec<_>>()
    };
    let workload = workload("checkout");
    assert_eq!(clusters(files.delivering(&workload, None).await.unwrap()), ["cluster-x", "cluster-z"]);
    fs::remove_file(directory.at("work-stored-cluster-x-w31.json")).unwrap();
    assert_eq!(clusters(files.delivering(&workload, None).await.unwrap()), ["cluster-z"]);
}
