//! A server that reads the API server that calls it, with only the shipped RBAC rights.
//!
//! The elected replica touches the Works of all namespaces, so these tests have their own control planes.
//!
//! * `policies`: custom resources, activated, refused and deleted.
//! * `unbound`: Works without a binding.
//! * `rights`: the shipped rights suffice, and a missing right is named.
//! * `kills`: ten thousand concurrent writes while servers are killed.
//! * `replicas`: several servers and one allocation.
//! * `restarts`: an API server restarts.

mod kills;
mod policies;
mod replicas;
mod restarts;
mod rights;
mod unbound;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{PATIENCE, Server};
use crate::support::plane::ControlPlane;
use crate::support::world::World;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The paths in a Work of the record's host and of the field of the fort step.
const RECORD: &str = "/metadata/annotations/reviser.io~1revision";
const PULL: &str = "/spec/workload/manifests/0/spec/strategy/canary/steps/0/properties/pull";

/// The documents of `manifests/karmada/apiserver`, and the collections of their kinds.
const INSTALLED: [&str; 4] = ["namespace.yaml", "service-account.yaml", "rbac.yaml", "rbac-templates.yaml"];
const COLLECTIONS: [(&str, &str); 7] = [
    ("Namespace", "/api/v1/namespaces"),
    ("ServiceAccount", "/api/v1/namespaces/reviser-system/serviceaccounts"),
    ("Secret", "/api/v1/namespaces/reviser-system/secrets"),
    ("ClusterRole", "/apis/rbac.authorization.k8s.io/v1/clusterroles"),
    ("ClusterRoleBinding", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"),
    ("Role", "/apis/rbac.authorization.k8s.io/v1/namespaces/reviser-system/roles"),
    ("RoleBinding", "/apis/rbac.authorization.k8s.io/v1/namespaces/reviser-system/rolebindings"),
];

/// Installs `manifests/karmada/apiserver` if it is missing, and writes a kubeconfig file of its service
/// account.
pub(crate) fn install(plane: &ControlPlane, world: &World<'_>) -> PathBuf {
    let admin = plane.admin();
    for file in INSTALLED {
        let text = std::fs::read_to_string(Path::new(ROOT).join("manifests/karmada/apiserver").join(file));
        for document in reviser::yaml::documents(&text.unwrap()).unwrap() {
            let document: Value = serde_json::from_str(&document.value.to_string()).unwrap();
            let (_, collection) =
                COLLECTIONS.iter().find(|(kind, _)| document["kind"] == *kind).expect("a kind of these");
            let made = admin.create(collection, &document);
            assert!(made.is_ok() || made.code == 409, "{}", made.text);
        }
    }
    let token = "/api/v1/namespaces/reviser-system/serviceaccounts/reviser/token";
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = admin.create(token, &request).ok()["status"]["token"].clone();
    let config = std::fs::read_to_string(plane.kubeconfig("nobody")).unwrap();
    let mut config: Value = serde_json::from_str(&config).unwrap();
    config["users"][0]["user"] = json!({"token": token});
    let path = world.directory().join("reviser.kubeconfig");
    std::fs::write(&path, config.to_string()).unwrap();
    path
}

/// A server with the built-in policy that reads the API server as the user of this file.
fn connected(world: &World<'_>, kubeconfig: &Path) -> Server {
    let policy = Path::new(ROOT).join("manifests/examples/rollout-fort.yaml");
    world.server(&["--kubeconfig", kubeconfig.to_str().unwrap(), "-p", policy.to_str().unwrap()])
}

/// Waits until a server reports ready.
pub(crate) fn until_ready(server: &Server) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = readiness(server).unwrap_or_else(|error| error.to_string());
        if answer.starts_with("HTTP/1.1 200") {
            return;
        }
        let said = server.process.said().join("\n");
        assert!(Instant::now() < deadline, "the server does not become ready: {answer}\n{said}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn readiness(server: &Server) -> std::io::Result<String> {
    read(server, "/readyz")
}

/// The reply of a server's admin port.
fn read(server: &Server, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(server.admin)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

/// The host of the fort in the annotation of this binding.
fn fort(world: &World<'_>, binding: &str) -> Value {
    let namespace = world.namespace();
    let path = format!("/apis/work.karmada.io/v1alpha2/namespaces/{namespace}/resourcebindings/{binding}");
    world.karmada().get(&path).ok()["metadata"]["annotations"]["reviser.io/fort-cluster"].clone()
}

/// Whether the record of a stored Work names its cluster as the host. Its steps must agree.
fn hosts(work: &Value) -> bool {
    let record = work.pointer(RECORD).and_then(Value::as_str).unwrap_or_default();
    let hosts = record.contains(r#""hosts":["fort"]"#);
    assert_eq!(work.pointer(PULL) == Some(&Value::Null), !hosts, "{work}");
    hosts
}
