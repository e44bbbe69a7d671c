//! `reviser serve --state`: bindings out of files, while the files change.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use base64::Engine as _;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::files::{Directory, PATCH, ROLLOUT, assert_done};
use crate::https::{self, Client, Protocol, config};
use crate::process::Server;

/// A binding of the Rollout to these clusters, as Karmada writes them.
fn binding(clusters: &str) -> String {
    format!(
        "apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata:
  name: checkout-rollout
  namespace: shop
spec:
  clusters: {clusters}
  resource:
    apiVersion: deploy.example.com/v1alpha1
    kind: Rollout
    name: checkout
    namespace: shop
"
    )
}

/// A server, and a client of it.
pub(crate) struct Served {
    pub(crate) server: Server,
    runtime: Runtime,
    client: Client,
}

impl Served {
    /// A server that reads this state.
    fn start(directory: &Directory, state: &str) -> Self {
        Self::start_with(directory, &["--state", state])
    }

    /// One with these arguments.
    pub(crate) fn start_with(directory: &Directory, arguments: &[&str]) -> Self {
        let authority = std::fs::read(directory.certificates("certs").join("ca.crt")).unwrap();
        let certificates = directory.at("certs");
        let arguments = ["--cert-dir", &certificates, "--drain-seconds", "0"]
            .into_iter()
            .chain(arguments.iter().copied());
        let server = Server::start(arguments);
        let runtime = Runtime::new().unwrap();
        let config = config(&authority, Protocol::Http2, None);
        let client = runtime.block_on(Client::connect(server.secure, "localhost", config)).unwrap();
        Self { server, runtime, client }
    }

    /// What the Rollout of this name gets in `cluster`, by a request that does not say where else it goes: a
    /// patch, or the message.
    pub(crate) fn revised(&self, name: &str, cluster: &str) -> String {
        let rollout = ROLLOUT.replace("name: checkout", &format!("name: {name}"));
        let object: Value =
            serde_json::from_str(&reviser::yaml::documents(&rollout).unwrap()[0].value.to_string()).unwrap();
        let body = json!({"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext", "request": {
            "uid": "u",
            "kind": {"group": "deploy.example.com", "version": "v1alpha1", "kind": "Rollout"},
            "namespace": "shop",
            "name": name,
            "operation": "ReviseObject",
            "object": object,
            "clusterName": cluster,
        }});
        let request = https::post("/interpret", https::full(body.to_string()));
        let reply = self.runtime.block_on(self.client.send(request)).unwrap();
        let reply: Value = serde_json::from_slice(&reply.body).unwrap();
        if let Some(patch) = reply["response"]["patch"].as_str() {
            let patch = base64::engine::general_purpose::STANDARD.decode(patch).unwrap();
            String::from_utf8(patch).unwrap()
        } else {
            let status = &reply["response"]["status"];
            format!("{}: {}", status["code"], status["message"].as_str().unwrap())
        }
    }

    /// Which of the clusters x and z hosts the fort.
    fn host(&self) -> &'static str {
        match (self.revised("checkout", "x").as_str(), self.revised("checkout", "z").as_str()) {
            ("[]", PATCH) => "x",
            (PATCH, "[]") => "z",
            (PATCH, PATCH) => "none",
            other => panic!("{other:?}"),
        }
    }

    fn is_stale(&self) -> bool {
        let metrics = get(self.server.admin, "/metrics");
        assert!(metrics.contains("# TYPE reviser_state_stale gauge\n"), "{metrics}");
        let line = metrics.lines().find(|line| line.starts_with("reviser_state_stale "));
        match line {
            Some("reviser_state_stale 0") => false,
            Some("reviser_state_stale 1") => true,
            other => panic!("{other:?}"),
        }
    }
}

/// What the admin port answers.
pub(crate) fn get(admin: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(admin).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn requests_are_answered_with_the_bindings_that_are_there() {
    let directory = Directory::new();
    let state = directory.file("state.yaml", &binding("[{name: x, replicas: 1}, {name: z, replicas: 3}]"));
    let served = Served::start(&directory, &state);
    let loaded = served.server.process.says(|line| line.contains("state loaded"));
    assert!(loaded.ends_with("bindings=1 works=0 clusters=0 targets=0"), "{loaded}");
    assert_eq!(served.host(), "z");
    // Sticky, until the binding does not list it any more. In place, and by renaming.
    directory.file("state.yaml", &binding("[{name: x, replicas: 9}, {name: z}]"));
    assert_eq!(served.host(), "z");
    directory.file("new", &binding("[{name: x}]"));
    std::fs::rename(directory.path().join("new"), directory.path().join("state.yaml")).unwrap();
    assert_eq!(served.host(), "x");
    // Known, and nowhere.
    directory.file("state.yaml", &binding("[]"));
    assert_eq!(served.host(), "none");
    // Not known.
    let message = served.revised("other", "x");
    assert!(message.contains("the schedule of the workload is not known"), "{message}");
}

#[test]
fn broken_files_leave_the_last_good_ones_in_force_and_are_told_once() {
    let directory = Directory::new();
    let state = directory.file("state.yaml", &binding("[{name: z}]"));
    let served = Served::start(&directory, &state);
    assert_eq!((served.host(), served.is_stale()), ("z", false));
    for broken in
        ["", "apiVersion: work.karmada.io/v1alpha2\nkind: Resou", &binding("[{name: x, replicas: -1}]")]
    {
        directory.file("state.yaml", broken);
        for _ in 0..3 {
            assert_eq!((served.host(), served.is_stale()), ("z", true), "{broken:?}");
        }
        assert!(get(served.server.admin, "/readyz").starts_with("HTTP/1.1 200 "), "{broken:?}");
    }
    directory.file("state.yaml", &binding("[{name: x}]"));
    assert_eq!((served.host(), served.is_stale()), ("x", false));

    let done = served.server.end(Signal::TERM);
    let log = directory.plain(&done.stderr);
    assert_eq!(done.code, Some(0), "{log}");
    let refused: Vec<&str> =
        log.lines().filter(|line| line.contains("the state files are refused")).collect();
    assert_eq!(refused.len(), 3, "{log}");
    assert!(refused.iter().all(|line| line.contains("WARN")), "{log}");
    let last = "state.yaml: document 1, line 7: spec.clusters[0].replicas: must be an integer that is not negative, is -1";
    assert!(refused[2].contains(last), "{log}");
    assert_eq!(log.lines().filter(|line| line.contains("state read again")).count(), 1, "{log}");
}

#[test]
fn faulty_state_is_refused_at_the_start_with_every_fault() {
    let directory = Directory::new();
    directory.file("a.yaml", &binding("{}"));
    directory.file("b.json", "");
    let done = directory.run(&["serve", "--state", "a.yaml", "--state", "b.json,c.yaml"]);
    let error = "error: the state files are refused:
a.yaml: document 1, line 7: spec.clusters: must be a list, is a map
b.json: there is no document in it; to say that there is nothing, write a List without items
c.yaml: No such file or directory (os error 2)
";
    assert_done(&done, 1, "", error);
}

#[test]
fn what_nothing_is_read_of_is_named_once() {
    let directory = Directory::new();
    std::fs::create_dir(directory.path().join("state")).unwrap();
    directory
        .file("state/a.yaml", "{apiVersion: v1, kind: ConfigMap}\n---\n{apiVersion: v1, kind: ConfigMap}\n");
    directory.file("state/b.yaml", &binding("[{name: x}]"));
    let served = Served::start(&directory, &directory.at("state"));
    assert_eq!(served.host(), "x");
    let log = served.server.end(Signal::TERM).stderr;
    let named: Vec<&str> = log.lines().filter(|line| line.contains("ConfigMap")).collect();
    assert_eq!(named.len(), 1, "{log}");
    assert!(named[0].contains("WARN") && named[0].contains("ConfigMap (2)"), "{log}");
}
