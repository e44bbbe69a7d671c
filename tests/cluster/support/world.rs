//! The part of a shared control plane that belongs to one test.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use reviser::certs::{Authority, SubjectNames};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Client, Reply};
use super::plane::ControlPlane;
use crate::process::Server;

/// The label of the namespaces of a world, which its webhook configurations select.
pub(crate) const WORLD: &str = "tests.reviser.io/world";

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/captures");

/// Namespaces, clusters and webhook configurations of one test on a shared control plane.
///
/// Its name is the namespace of its workloads; its cluster `z` is called `NAME-z`, and its Works are in
/// `karmada-es-NAME-z`. It has a server certificate, and a directory for the files that servers read.
pub(crate) struct World<'p> {
    plane: &'p ControlPlane,
    name: &'static str,
    karmada: Client,
    directory: TempDir,
}

impl<'p> World<'p> {
    /// Creates the namespace `name`, which must be unique among the tests.
    pub(crate) fn new(plane: &'p ControlPlane, name: &'static str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let authority = Authority::new(now).unwrap();
        let pair = authority.issue_server(&SubjectNames::local(), now).unwrap();
        let write = |file: &str, text: &str| std::fs::write(directory.path().join(file), text).unwrap();
        write("ca.crt", authority.certificate_pem());
        write("tls.crt", &pair.certificate);
        write("tls.key", &pair.key);
        std::fs::create_dir(directory.path().join("state")).unwrap();
        std::fs::create_dir(directory.path().join("policies")).unwrap();
        let world = Self { plane, name, karmada: plane.user("karmada"), directory };
        world.make_namespace(name).ok();
        world
    }

    fn make_namespace(&self, name: &str) -> Reply {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": {(WORLD): self.name}}});
        self.plane.admin().create("/api/v1/namespaces", &namespace)
    }

    pub(crate) fn plane(&self) -> &'p ControlPlane {
        self.plane
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The namespace of its workloads.
    pub(crate) fn namespace(&self) -> &'static str {
        self.name
    }

    /// The user of Karmada.
    pub(crate) fn karmada(&self) -> &Client {
        &self.karmada
    }

    /// A temporary directory with `ca.crt`, and `tls.crt` and `tls.key` for servers.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The name of a member cluster, whose execution namespace is created.
    pub(crate) fn cluster(&self, letter: &str) -> String {
        let cluster = format!("{}-{letter}", self.name);
        let made = self.make_namespace(&format!("karmada-es-{cluster}"));
        assert!(made.is_ok() || made.code == 409, "{}", made.text);
        cluster
    }

    /// The path of the Works of a cluster; `/NAME` after it is that of one.
    pub(crate) fn works(cluster: &str) -> String {
        format!("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-{cluster}/works")
    }

    /// The path of the pods of this world.
    pub(crate) fn pods(&self) -> String {
        format!("/api/v1/namespaces/{}/pods", self.name)
    }

    /// The path of the `PodChaperon`s of this world.
    pub(crate) fn chaperons(&self) -> String {
        format!("/apis/multicluster.admiralty.io/v1alpha1/namespaces/{}/podchaperons", self.name)
    }

    /// A Work of these manifests for the binding `NAME-rollout`, as Karmada creates it.
    pub(crate) fn work(&self, cluster: &str, name: &str, manifests: &[Value]) -> Value {
        json!({
            "apiVersion": "work.karmada.io/v1alpha1", "kind": "Work",
            "metadata": {
                "name": name, "namespace": format!("karmada-es-{cluster}"),
                "finalizers": ["karmada.io/execution-controller"],
                "annotations": {
                    "resourcebinding.karmada.io/name": format!("{name}-rollout"),
                    "resourcebinding.karmada.io/namespace": self.namespace(),
                },
            },
            "spec": {"workload": {"manifests": manifests}},
        })
    }

    /// The `object` of a captured review with the cluster `x` and the namespace of this world, without the
    /// fields that the API server sets.
    pub(crate) fn captured(&self, file: &str) -> Value {
        let text = std::fs::read_to_string(Path::new(CAPTURES).join(file)).unwrap();
        let text = text.replace("cluster-x", &self.cluster("x")).replace("cluster-z", &self.cluster("z"));
        let text = text.replace("\"shop\"", &format!("\"{}\"", self.namespace()));
        let mut captured: Value = serde_json::from_str(&text).unwrap();
        let mut object =
            if captured.get("request").is_some() { captured["request"]["object"].take() } else { captured };
        let metadata = object["metadata"].as_object_mut().unwrap();
        for written in ["managedFields", "uid", "resourceVersion", "generation", "creationTimestamp"] {
            metadata.remove(written);
        }
        object.as_object_mut().unwrap().remove("status");
        object
    }

    /// Stores a binding as Karmada does, and writes it to the state of this world's servers.
    pub(crate) fn bind(&self, binding: &Value) {
        let collection =
            format!("/apis/work.karmada.io/v1alpha2/namespaces/{}/resourcebindings", self.namespace());
        let path = format!("{collection}/{}", binding["metadata"]["name"].as_str().unwrap());
        let there = self.karmada.get(&path);
        if there.is_ok() {
            let mut next = binding.clone();
            next["metadata"]["resourceVersion"] = there.body["metadata"]["resourceVersion"].clone();
            self.karmada.put(&path, &next).ok();
        } else {
            self.karmada.create(&collection, binding).ok();
        }
        self.write_state();
    }

    /// Writes the bindings and Works of this world to the `--state` of its servers.
    pub(crate) fn write_state(&self) {
        let mut items = Vec::new();
        for path in ["v1alpha2/resourcebindings", "v1alpha1/works"] {
            let mut list = self.karmada.get(&format!("/apis/work.karmada.io/{path}")).ok();
            let (version, kind) = (
                list["apiVersion"].take(),
                list["kind"].as_str().unwrap().trim_end_matches("List").to_owned(),
            );
            for mut item in list["items"].as_array_mut().unwrap().drain(..) {
                let namespace = item["metadata"]["namespace"].as_str().unwrap();
                if namespace == self.name || namespace.starts_with(&format!("karmada-es-{}-", self.name)) {
                    item["apiVersion"] = version.clone();
                    item["kind"] = kind.clone().into();
                    items.push(item);
                }
            }
        }
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        let whole = self.directory().join("stored.json");
        std::fs::write(&whole, list.to_string()).unwrap();
        std::fs::rename(whole, self.directory().join("state").join("stored.json")).unwrap();
    }

    /// Writes a policy file. Returns the policy directory, for `-p`.
    pub(crate) fn policies(&self, file: &str, text: &str) -> PathBuf {
        let directory = self.directory().join("policies");
        std::fs::write(directory.join(file), text).unwrap();
        directory
    }

    /// Starts a server with the certificate of this world and these arguments. It reads no API server and no
    /// state.
    pub(crate) fn server(&self, more: &[&str]) -> Server {
        let directory = self.directory().to_str().unwrap();
        let arguments = ["--cert-dir", directory, "--log-format", "json", "--drain-seconds", "0"];
        Server::start(arguments.iter().chain(more))
    }

    /// Starts a server that reads the files of `write_state`.
    pub(crate) fn server_with_state(&self, more: &[&str]) -> Server {
        let state = self.directory().join("state");
        self.server(&[&["--state", state.to_str().unwrap()], more].concat())
    }
}

impl Drop for World<'_> {
    fn drop(&mut self) {
        self.plane.tell_of_a_failure();
    }
}
