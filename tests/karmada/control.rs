//! Karmada's control plane: an API server with Karmada's own programs at it, and two member clusters.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reviser::certs::{Authority, SubjectNames};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::apply::{apply, documents, file, folder};
use crate::given::Given;
use crate::member::Member;
use crate::objects::{X, Z, namespace};
use crate::patience::until;
use crate::support::client::Client;
use crate::support::guarded::Guarded;
use crate::support::plane::{ControlPlane, binaries};
use crate::support::tell;

/// The controllers that the story needs. The others want agents, metrics or services.
const CONTROLLERS: &str =
    "binding,bindingStatus,cluster,clusterStatus,execution,workStatus,namespace,unifiedAuth,gracefulEviction";

/// As whom the aggregated API server is known to the one in front of it.
const AGGREGATED: &str = "karmada-aggregated-apiserver.karmada-system.svc";

/// What the tests have to know of the servers of Karmada: where they are, and how they are known.
#[derive(Debug)]
struct Servers {
    aggregated: u16,
    webhook: u16,
    /// Has `ca.crt`, `tls.crt` and `tls.key`.
    directory: TempDir,
}

/// All of it. Everything ends with this.
#[derive(Debug)]
pub(crate) struct Karmada {
    // Those who ask go before those who answer.
    manager: Guarded,
    scheduler: Guarded,
    collector: Guarded,
    webhook: Guarded,
    aggregated: Guarded,
    servers: Servers,
    given: Given,
    pub(crate) members: [Member; 2],
    plane: ControlPlane,
}

impl Karmada {
    /// `None` where the control plane is not, which is said.
    pub(crate) fn start(given: Given) -> Option<Self> {
        let [plane, x, z] = std::thread::scope(|scope| {
            let three = [(); 3].map(|()| scope.spawn(|| Some(ControlPlane::bare_with(binaries()?))));
            three.map(|plane| plane.join().unwrap())
        });
        let (plane, members) = (plane?, [Member::new(X, x?), Member::new(Z, z?)]);
        let servers = Servers::new();
        for name in ["karmada-system", "karmada-cluster"] {
            apply(&plane.admin(), &namespace(name));
        }
        let aggregated = servers.start_aggregated(&given, &plane);
        let webhook = servers.start_webhook(&given, &plane);
        define(&given, &plane, &members);
        let collector = start_collector(&plane);
        let admin = plane.admin();
        until("the clusters are served", || admin.get("/apis/cluster.karmada.io/v1alpha1/clusters").is_ok());
        servers.wait_for_webhook();
        let configurations = std::fs::read_to_string(given.webhook_configurations()).unwrap();
        for configuration in documents(&servers.point_to_us(&configurations)) {
            apply(&admin, &configuration);
        }
        let manager = start_manager(&given, &plane);
        let scheduler = start_scheduler(&given, &plane);
        let karmada =
            Self { manager, scheduler, collector, webhook, aggregated, servers, given, members, plane };
        for member in &karmada.members {
            member.join(&admin);
        }
        karmada.wait_for_members();
        Some(karmada)
    }

    /// Everybody's API server but the members'.
    pub(crate) fn plane(&self) -> &ControlPlane {
        &self.plane
    }

    pub(crate) fn admin(&self) -> Client {
        self.plane.admin()
    }

    pub(crate) fn member(&self, cluster: &str) -> &Member {
        self.members.iter().find(|member| member.name == cluster).unwrap()
    }

    /// Waits until each member is known to be ready.
    pub(crate) fn wait_for_members(&self) {
        let admin = self.admin();
        for member in &self.members {
            let path = format!("/apis/cluster.karmada.io/v1alpha1/clusters/{}", member.name);
            until(&format!("{} is ready", member.name), || {
                let cluster = admin.get(&path).ok();
                let conditions = cluster["status"]["conditions"].as_array().cloned().unwrap_or_default();
                conditions
                    .iter()
                    .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
            });
        }
    }

    /// Ends karmada-controller-manager, and starts it again: it reconciles everything then.
    pub(crate) fn restart_manager(&mut self) {
        self.manager.stop();
        self.manager = start_manager(&self.given, &self.plane);
    }

    pub(crate) fn stop_webhook(&mut self) {
        self.webhook.stop();
    }

    pub(crate) fn start_webhook(&mut self) {
        self.webhook = self.servers.start_webhook(&self.given, &self.plane);
        self.servers.wait_for_webhook();
    }

    /// The output of each program, for debugging.
    pub(crate) fn logs(&self) -> [(&'static str, Vec<String>); 5] {
        let programs = [&self.manager, &self.scheduler, &self.collector, &self.webhook, &self.aggregated];
        programs
            .map(|program| (program.name, program.log.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}

impl Drop for Karmada {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for program in [&self.manager, &self.scheduler, &self.collector, &self.webhook, &self.aggregated]
            {
                tell(&program.last_words());
            }
        }
    }
}

impl Servers {
    fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("reviser-karmada").tempdir().unwrap();
        let now = SystemTime::now();
        let authority = Authority::new(now).unwrap();
        let names = SubjectNames { dns: vec![AGGREGATED.to_owned()], ips: vec![Ipv4Addr::LOCALHOST.into()] };
        let pair = authority.issue_server(&names, now).unwrap();
        let write = |file: &str, text: &str| std::fs::write(directory.path().join(file), text).unwrap();
        write("ca.crt", authority.certificate_pem());
        write("tls.crt", &pair.certificate);
        write("tls.key", &pair.key);
        Self { aggregated: free_port(), webhook: free_port(), directory }
    }

    fn bundle(&self) -> String {
        STANDARD.encode(std::fs::read(self.directory.path().join("ca.crt")).unwrap())
    }

    fn file(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    /// Starts the server of `Cluster`, and has the API server in front of it send there what is its own.
    fn start_aggregated(&self, given: &Given, plane: &ControlPlane) -> Guarded {
        let mut server = program(given, plane, "karmada-aggregated-apiserver");
        let kubeconfig = plane.kubeconfig("admin").display().to_string();
        server.args([
            format!("--authentication-kubeconfig={kubeconfig}"),
            format!("--authorization-kubeconfig={kubeconfig}"),
            format!("--etcd-servers=http://127.0.0.1:{}", plane.etcd_ports[0].number()),
            format!("--tls-cert-file={}", self.file("tls.crt")),
            format!("--tls-private-key-file={}", self.file("tls.key")),
            format!("--secure-port={}", self.aggregated),
        ]);
        server.args([
            "--bind-address=127.0.0.1",
            "--etcd-prefix=/aggregated",
            "--enable-priority-and-fairness=false",
        ]);
        let server = Guarded::start("karmada-aggregated-apiserver", &server, self.directory.path());
        let admin = plane.admin();
        let [name, namespace] = ["karmada-aggregated-apiserver", "karmada-system"];
        apply(
            &admin,
            &json!({
                "apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace},
                "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": self.aggregated}]},
            }),
        );
        apply(
            &admin,
            &json!({
                "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
                "metadata": {"name": "v1alpha1.cluster.karmada.io"},
                "spec": {
                    "group": "cluster.karmada.io", "version": "v1alpha1",
                    "groupPriorityMinimum": 2000, "versionPriority": 10, "caBundle": self.bundle(),
                    "service": {"name": name, "namespace": namespace, "port": self.aggregated},
                },
            }),
        );
        server
    }

    fn start_webhook(&self, given: &Given, plane: &ControlPlane) -> Guarded {
        let mut webhook = program(given, plane, "karmada-webhook");
        webhook.arg(format!("--secure-port={}", self.webhook));
        webhook.arg(format!("--cert-dir={}", self.directory.path().display()));
        webhook.args([
            "--bind-address=127.0.0.1",
            "--metrics-bind-address=0",
            "--health-probe-bind-address=127.0.0.1:0",
        ]);
        Guarded::start("karmada-webhook", &webhook, self.directory.path())
    }

    fn wait_for_webhook(&self) {
        until("karmada-webhook listens", || TcpStream::connect((Ipv4Addr::LOCALHOST, self.webhook)).is_ok());
    }

    /// Karmada's webhook configurations, for the webhook on this machine.
    fn point_to_us(&self, configurations: &str) -> String {
        let here = format!("https://127.0.0.1:{}", self.webhook);
        configurations
            .replace("https://karmada-webhook.karmada-system.svc:443", &here)
            .replace("{{caBundle}}", &self.bundle())
    }
}

/// Karmada's kinds, and the Rollout everywhere.
fn define(given: &Given, plane: &ControlPlane, members: &[Member; 2]) {
    let rollout = file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cluster/rollouts.yaml"));
    let admin = plane.admin();
    let mut definitions = folder(&given.definitions());
    definitions.extend(rollout.clone());
    let mut wanted: Vec<(Client, Value)> =
        definitions.into_iter().map(|kind| (admin.clone(), kind)).collect();
    for member in members {
        wanted.extend(rollout.iter().map(|kind| (member.admin(), kind.clone())));
    }
    for (server, definition) in &wanted {
        apply(server, definition);
    }
    for (server, definition) in &wanted {
        let spec = &definition["spec"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let stored = spec["versions"].as_array().unwrap().iter().find(|version| version["storage"] == true);
        let [group, version, plural] =
            [text(&spec["group"]), text(&stored.unwrap()["name"]), text(&spec["names"]["plural"])];
        let path = format!("/apis/{group}/{version}/{plural}?limit=1");
        until(&format!("{plural} are served"), || server.get(&path).is_ok());
    }
}

/// One of Karmada's programs, for the API server of `plane`.
fn program(given: &Given, plane: &ControlPlane, name: &str) -> Command {
    let mut program = Command::new(given.binaries.join(name));
    program.arg(format!("--kubeconfig={}", plane.kubeconfig("admin").display()));
    program
}

fn start_manager(given: &Given, plane: &ControlPlane) -> Guarded {
    let mut manager = program(given, plane, "karmada-controller-manager");
    manager.arg(format!("--controllers={CONTROLLERS}"));
    manager.args(["--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0"]);
    // A member that was away is taken back at once, and what failed is not put off for minutes.
    manager.args([
        "--cluster-status-update-frequency=2s",
        "--cluster-success-threshold=1s",
        "--rate-limiter-max-delay=2s",
    ]);
    Guarded::start("karmada-controller-manager", &manager, plane.directory())
}

fn start_scheduler(given: &Given, plane: &ControlPlane) -> Guarded {
    let mut scheduler = program(given, plane, "karmada-scheduler");
    scheduler.args(["--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0"]);
    scheduler.arg("--rate-limiter-max-delay=2s");
    Guarded::start("karmada-scheduler", &scheduler, plane.directory())
}

/// What removes the bindings of a template that is gone.
fn start_collector(plane: &ControlPlane) -> Guarded {
    let mut collector = Command::new(plane.binaries.join("kube-controller-manager"));
    collector.arg(format!("--kubeconfig={}", plane.kubeconfig("admin").display()));
    collector.arg("--controllers=garbage-collector-controller,namespace-controller");
    collector.args(["--leader-elect=false", "--secure-port=0"]);
    Guarded::start("kube-controller-manager", &collector, plane.directory())
}

/// A port that was free a moment ago, for a program that can't be given a bound socket.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}
