//! A control plane: etcd and an API server on local ports.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::Client;
use super::guarded::Guarded;
use super::port::Port;
use super::users::Credentials;
use super::{left_out, until};

/// The longest time for a server to become ready, on a busy machine.
const START: Duration = Duration::from_secs(90);

/// The definitions that each control plane has from the start.
const DEFINITIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cluster");

/// The rights of `karmada`.
const KARMADAS: [&str; 3] = ["work.karmada.io", "cluster.karmada.io", "deploy.example.com"];

/// A running etcd and API server with the definitions of `tests/data/cluster`, stopped on drop.
#[derive(Debug)]
pub(crate) struct ControlPlane {
    // Dropped in this order.
    api: Mutex<Guarded>,
    etcd: Guarded,
    /// For clients, and for others of its kind.
    pub(crate) etcd_ports: [Port; 2],
    port: Port,
    /// The folder of etcd, kube-apiserver and kube-controller-manager.
    pub(crate) binaries: PathBuf,
    directory: TempDir,
}

impl ControlPlane {
    /// The shared control plane, started once for the test binary. Tests must use unique names there, see
    /// `World`. `None`, with a message, without the binaries.
    pub(crate) fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<ControlPlane> = OnceLock::new();
        static STARTING: Mutex<()> = Mutex::new(());
        let binaries = binaries()?;
        let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        Some(SHARED.get_or_init(|| Self::start_with(binaries)))
    }

    /// A control plane of the test's own, which it may stop and restart.
    pub(crate) fn start() -> Option<Self> {
        Some(Self::start_with(binaries()?))
    }

    fn start_with(binaries: PathBuf) -> Self {
        let plane = Self::bare_with(binaries);
        plane.define();
        let everything = json!([{"apiGroups": KARMADAS, "resources": ["*"], "verbs": ["*"]}]);
        plane.grant("karmada", "karmada", &everything);
        plane
    }

    /// One without the definitions of `tests/data/cluster`, for tests that bring others, and where only
    /// `admin` has rights.
    pub(crate) fn bare_with(binaries: PathBuf) -> Self {
        let directory = tempfile::Builder::new().prefix("reviser-control-plane").tempdir().unwrap();
        let credentials = Credentials::make(directory.path());
        let port = Port::reserve();
        credentials.write_kubeconfigs(port.number());
        let etcd_ports = [Port::reserve(), Port::reserve()];
        let etcd = start_etcd(&binaries, directory.path(), &etcd_ports);
        let api = Mutex::new(start_api(&binaries, directory.path(), &etcd_ports[0], &port));
        let plane = Self { api, etcd, etcd_ports, port, binaries, directory };
        plane.wait_until_ready();
        plane
    }

    /// A directory that is removed with this control plane.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The kubeconfig file of one of `users::USERS`; of `NAME.certificate`, the one with a certificate in
    /// place of a token.
    pub(crate) fn kubeconfig(&self, user: &str) -> PathBuf {
        self.directory().join(format!("{user}.kubeconfig"))
    }

    /// One of `users::USERS`.
    pub(crate) fn user(&self, name: &str) -> Client {
        Client::of(&self.kubeconfig(name), None)
    }

    pub(crate) fn admin(&self) -> Client {
        self.user("admin")
    }

    /// Any user by impersonation, for instance `system:serviceaccount:reviser-system:reviser`.
    pub(crate) fn acting_as(&self, user: &str) -> Client {
        Client::of(&self.kubeconfig("admin"), Some(user))
    }

    /// Grants these RBAC rules in all namespaces, in a role `name`, and waits until they are active.
    pub(crate) fn grant(&self, name: &str, user: &str, rules: &Value) {
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        let admin = self.admin();
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name}, "rules": rules});
        admin.create(&format!("{rbac}/clusterroles"), &role).ok();
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]});
        admin.create(&format!("{rbac}/clusterrolebindings"), &binding).ok();
        // One role and one binding: if the last rule is active, all are.
        let last = rules.as_array().unwrap().last().unwrap();
        let any = |list: &str| last[list][0].as_str().unwrap_or("*").to_owned();
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes":
                {"group": any("apiGroups"), "resource": any("resources"), "verb": any("verbs")}}});
        until(&format!("{user} may what {name} grants"), || {
            let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
            admin.create(path, &review).ok()["status"]["allowed"] == true
        });
    }

    /// Restarts the API server gracefully on the same port.
    pub(crate) fn restart(&self) {
        self.stop();
        self.start_again();
    }

    /// Stops the API server gracefully; etcd keeps running.
    pub(crate) fn stop(&self) {
        self.api().stop();
    }

    /// Kills the API server; etcd keeps running.
    pub(crate) fn kill(&self) {
        self.api().kill();
    }

    /// Starts an API server that has been stopped or killed, on the same port, and waits until it is ready.
    pub(crate) fn start_again(&self) {
        *self.api() = start_api(&self.binaries, self.directory(), &self.etcd_ports[0], &self.port);
        self.wait_until_ready();
    }

    /// Prints the last log lines of the API server if the test has failed.
    pub(crate) fn tell_of_a_failure(&self) {
        if std::thread::panicking() {
            super::tell(&self.api().last_words());
        }
    }

    fn api(&self) -> MutexGuard<'_, Guarded> {
        self.api.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until_ready(&self) {
        let admin = self.admin();
        let deadline = Instant::now() + START;
        loop {
            let reply = admin.try_call(Method::GET, "/readyz", "application/json", Vec::new());
            if reply.as_ref().is_ok_and(super::client::Reply::is_ok) {
                return;
            }
            self.api().assert_runs();
            assert!(
                Instant::now() < deadline,
                "the API server does not become ready: {reply:?}\n{}\n{}",
                self.api().last_words(),
                self.etcd.last_words()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Creates the definitions of `tests/data/cluster`, and waits until all are served.
    fn define(&self) {
        let admin = self.admin();
        let files = std::fs::read_dir(DEFINITIONS).unwrap().map(|file| file.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
        let documents: Vec<String> = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        apply_definitions(&admin, &documents);
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        self.tell_of_a_failure();
        // etcd is killed afterwards; its data is not needed.
        self.api().kill();
    }
}

fn start_etcd(binaries: &Path, directory: &Path, ports: &[Port; 2]) -> Guarded {
    let [client, peer] = ports.each_ref().map(|port| format!("http://127.0.0.1:{}", port.number()));
    let mut etcd = Command::new(binaries.join("etcd"));
    etcd.args(["--name=tests", "--unsafe-no-fsync", "--log-level=warn", "--socket-reuse-port"]);
    etcd.arg(format!("--data-dir={}", directory.join("etcd").display()));
    etcd.args([format!("--listen-client-urls={client}"), format!("--advertise-client-urls={client}")]);
    etcd.args([format!("--listen-peer-urls={peer}"), format!("--initial-advertise-peer-urls={peer}")]);
    etcd.arg(format!("--initial-cluster=tests={peer}"));
    Guarded::start("etcd", &etcd, directory)
}

fn start_api(binaries: &Path, directory: &Path, etcd: &Port, port: &Port) -> Guarded {
    let mut api = Command::new(binaries.join("kube-apiserver"));
    api.arg(format!("--etcd-servers=http://127.0.0.1:{}", etcd.number()));
    api.arg(format!("--secure-port={}", port.number()));
    // A socket of the tests reserves the port.
    api.arg("--permit-port-sharing");
    api.args([
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
    ]);
    let files = [
        ("--client-ca-file", "ca.crt"),
        ("--tls-cert-file", "server.crt"),
        ("--tls-private-key-file", "server.key"),
        ("--service-account-key-file", "sa.pub"),
        ("--service-account-signing-key-file", "sa.key"),
        ("--token-auth-file", "tokens.csv"),
        ("--cert-dir", "certificates"),
        // Headers for aggregated API servers.
        ("--proxy-client-cert-file", "front-proxy.crt"),
        ("--proxy-client-key-file", "front-proxy.key"),
        ("--requestheader-client-ca-file", "ca.crt"),
    ];
    api.args(files.map(|(flag, file)| format!("{flag}={}", directory.join(file).display())));
    api.args([
        "--authorization-mode=RBAC",
        "--requestheader-allowed-names=front-proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.96.0.0/16",
        // These need controllers or nodes that do not run here.
        "--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection,TaintNodesByCondition,Priority,RuntimeClass",
        "--enable-priority-and-fairness=false",
        "--profiling=false",
    ]);
    Guarded::start("kube-apiserver", &api, directory)
}

/// The folder of the binaries, if it exists.
pub(crate) fn binaries() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    let directory = set("REVISER_CONTROL_PLANE")
        .or_else(|| cache().map(|cache| cache.join("reviser").join("control-plane")));
    let Some(directory) = directory else {
        left_out("neither REVISER_CONTROL_PLANE nor HOME is set");
        return None;
    };
    for name in ["etcd", "kube-apiserver"] {
        if !directory.join(name).is_file() {
            let directory = directory.display();
            left_out(&format!("there is no {name} in {directory}; tests/cluster/build makes it"));
            return None;
        }
    }
    Some(directory)
}

/// Creates these custom resource definitions, and waits until all are served.
pub(crate) fn apply_definitions(admin: &Client, documents: &[String]) {
    let collection = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let made: Vec<Value> =
        documents.iter().map(|document| admin.create_yaml(collection, document).ok()).collect();
    for definition in made {
        let spec = &definition["spec"];
        let [group, version, plural] =
            [&spec["group"], &spec["versions"][0]["name"], &spec["names"]["plural"]]
                .map(|name| name.as_str().unwrap());
        let path = format!("/apis/{group}/{version}/{plural}?limit=1");
        until(&format!("{plural} are served"), || admin.get(&path).is_ok());
    }
}
