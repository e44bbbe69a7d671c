//! reviser, as installed: its kinds, its account with the rights of `manifests`, its webhook configurations,
//! and the program itself.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reviser::certs::{Authority, SubjectNames};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::apply::{apply, documents, file, folder, path};
use crate::control::{Karmada, free_port};
use crate::patience::{until, until_some};
use crate::process::{Server, reviser};
use crate::support::client::Client;
use crate::support::tell;

const NAMESPACE: &str = "reviser-system";

/// reviser beside Karmada.
pub(crate) struct Service {
    server: Option<Server>,
    port: u16,
    /// Has `ca.crt`, `tls.crt`, `tls.key` and the kubeconfig.
    directory: TempDir,
    admin: Client,
    said: Vec<String>,
}

impl Service {
    /// Installs it as `manifests` says, without a policy, and starts it.
    pub(crate) fn install(karmada: &Karmada) -> Self {
        let admin = karmada.admin();
        for object in folder(&manifests("karmada/apiserver")).into_iter().chain(folder(&manifests("crds"))) {
            if object["kind"] != "Kustomization" {
                apply(&admin, &object);
            }
        }
        let directory = tempfile::Builder::new().prefix("reviser-karmada").tempdir().unwrap();
        write_certificates(directory.path());
        write_kubeconfig(karmada, directory.path());
        let mut service = Self { server: None, port: free_port(), directory, admin, said: Vec::new() };
        service.start();
        service.hook();
        service
    }

    /// Starts the program, and waits until it is ready.
    pub(crate) fn start(&mut self) {
        let mut command =
            reviser(["serve", "--bind-address", "127.0.0.1", "--admin-bind-address", "127.0.0.1:0"]);
        command.args(["--secure-port", &self.port.to_string(), "--drain-seconds", "0"]);
        command.args(["--log-format", "json", "--log-level", "info,reviser=debug"]);
        command.arg("--cert-dir").arg(self.directory.path());
        command.arg("--kubeconfig").arg(self.directory.path().join("kubeconfig"));
        // A replica that was killed is not waited for longer than need be.
        command.args(["--leader-elect-lease-duration", "4s", "--leader-elect-renew-deadline", "3s"]);
        command.args(["--leader-elect-retry-period", "1s"]);
        let server = Server::start_from(command);
        let address = server.admin;
        self.server = Some(server);
        until("reviser is ready", || get(address, "/readyz").starts_with("HTTP/1.1 200"));
    }

    /// Ends it without its help.
    pub(crate) fn kill(&mut self) {
        let server = self.server.take().unwrap();
        self.said.extend(server.process.said());
        server.process.signal(Signal::KILL);
        assert_eq!(server.process.ended().code, None);
    }

    /// Applies the webhook configurations for it.
    pub(crate) fn hook(&self) {
        for (what, at) in [("karmada-interpreter", "/interpret"), ("karmada-works", "/mutate/works")] {
            for configuration in self.configuration(what, at) {
                apply(&self.admin, &configuration);
            }
        }
        for mut configuration in file(&manifests("policies/validating-webhook-configuration.yaml")) {
            let url = format!("https://127.0.0.1:{}/validate/policies", self.port);
            configuration["webhooks"][0]["clientConfig"] = json!({"url": url, "caBundle": self.bundle()});
            apply(&self.admin, &configuration);
        }
    }

    /// Takes away the configurations by which it is asked.
    pub(crate) fn unhook(&self) {
        let mut all = self.configuration("karmada-works", "/mutate/works");
        all.extend(file(&manifests("policies/validating-webhook-configuration.yaml")));
        for configuration in all {
            self.admin.delete(&path(&configuration)).ok();
        }
    }

    fn configuration(&self, what: &str, at: &str) -> Vec<Value> {
        let mut command = reviser(["manifests", "--for", what, "--url"]);
        command.arg(format!("https://127.0.0.1:{}{at}", self.port));
        command.arg("--ca-file").arg(self.directory.path().join("ca.crt"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        documents(&String::from_utf8(output.stdout).unwrap())
    }

    fn bundle(&self) -> String {
        STANDARD.encode(std::fs::read(self.directory.path().join("ca.crt")).unwrap())
    }

    /// The text of the metrics.
    pub(crate) fn metrics(&self) -> String {
        get(self.server.as_ref().unwrap().admin, "/metrics")
    }

    /// The sum of a counter over the label sets that hold all of `labels`.
    pub(crate) fn counted(&self, counter: &str, labels: &[&str]) -> u64 {
        let metrics = self.metrics();
        let lines = metrics.lines().filter(|line| line.starts_with(counter));
        let lines = lines.filter(|line| labels.iter().all(|label| line.contains(label)));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }

    /// What it has said, those that were killed included.
    pub(crate) fn said(&self) -> Vec<String> {
        let now = self.server.as_ref().map(|server| server.process.said()).unwrap_or_default();
        self.said.iter().cloned().chain(now).collect()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let said = self.said();
            tell(&format!(
                "the last that reviser wrote:\n{}",
                said[said.len().saturating_sub(40)..].join("\n")
            ));
        }
    }
}

/// The built-in example.
pub(crate) fn policy() -> Value {
    file(&manifests("examples/rollout-fort.yaml")).remove(0)
}

fn manifests(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests").join(path)
}

fn write_certificates(directory: &Path) {
    let now = SystemTime::now();
    let authority = Authority::new(now).unwrap();
    let names = SubjectNames { dns: Vec::new(), ips: vec![Ipv4Addr::LOCALHOST.into()] };
    let pair = authority.issue_server(&names, now).unwrap();
    let write = |file: &str, text: &str| std::fs::write(directory.join(file), text).unwrap();
    write("ca.crt", authority.certificate_pem());
    write("tls.crt", &pair.certificate);
    write("tls.key", &pair.key);
}

/// A kubeconfig for its service account, which has what `manifests` grants and no more.
fn write_kubeconfig(karmada: &Karmada, directory: &Path) {
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/reviser/token");
    let admin = karmada.admin();
    let token = until_some("the account of reviser has a token", || {
        let reply = admin.create(&token, &request);
        reply.is_ok().then(|| reply.ok()["status"]["token"].clone())
    });
    let text = std::fs::read_to_string(karmada.plane().kubeconfig("admin")).unwrap();
    let mut kubeconfig: Value = serde_json::from_str(&text).unwrap();
    kubeconfig["users"][0]["user"] = json!({"token": token});
    std::fs::write(directory.join("kubeconfig"), kubeconfig.to_string()).unwrap();
}

/// What the plain HTTP of an address answers, head and body; nothing without an answer.
fn get(address: SocketAddr, path: &str) -> String {
    let ask = || {
        let mut stream = TcpStream::connect(address)?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: reviser\r\nConnection: close\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok::<_, std::io::Error>(text)
    };
    ask().unwrap_or_default()
}
