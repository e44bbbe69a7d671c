//! A server process, its state files, and its replies.

use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use rustls::ClientConfig;
use serde_json::Value;
use tempfile::TempDir;

use super::recording::Bindings;
use crate::spawned::server::Spawned;
use crate::spawned::wire::{Certificates, ask, post};

/// The URL to which Karmada's API server posts reviews of Works.
pub(crate) const WORKS: &str = "/mutate/works?timeout=10s";

/// A running server with state and a ledger in files.
pub(crate) struct Served {
    directory: TempDir,
    certificates: Certificates,
    client: Arc<ClientConfig>,
    policy: bool,
    process: Option<Spawned>,
}

/// The server's decision about a review.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decision {
    pub(crate) allowed: bool,
    pub(crate) message: String,
    pub(crate) warnings: Vec<String>,
    /// The decoded patch; `[]` without one.
    pub(crate) patch: Value,
}

impl Served {
    /// Starts a server with this or the built-in policy, and empty state.
    pub(crate) fn start(policy: Option<&str>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let certificates = Certificates::issue();
        std::fs::create_dir(directory.path().join("state")).unwrap();
        if let Some(policy) = policy {
            std::fs::write(directory.path().join("policy.yaml"), policy).unwrap();
        }
        let client = certificates.client(&[]);
        let mut served = Self { directory, certificates, client, policy: policy.is_some(), process: None };
        served.bindings(&Bindings::new());
        served.works(&[]);
        served.spawn();
        served
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn spawn(&mut self) {
        let mut arguments = vec!["--cert-dir".into(), self.certificates.directory().to_owned()];
        arguments.extend(["--state".into(), self.at("state")]);
        arguments.extend(["--ledger".into(), format!("file:{}", self.at("ledger").display()).into()]);
        if self.policy {
            arguments.extend(["-p".into(), self.at("policy.yaml")]);
        }
        self.process = Some(Spawned::start(arguments));
    }

    /// Kills and restarts the server, with or without its ledger.
    pub(crate) fn restart(&mut self, keeps_ledger: bool) {
        assert!(self.process.take().unwrap().runs());
        if !keeps_ledger && self.at("ledger").exists() {
            std::fs::remove_file(self.at("ledger")).unwrap();
        }
        self.spawn();
    }

    /// The port and the authority file, for `curl`.
    pub(crate) fn port_and_authority(&self) -> (u16, PathBuf) {
        (self.process.as_ref().unwrap().secure.port(), self.certificates.directory().join("ca.crt"))
    }

    /// Replaces the bindings.
    pub(crate) fn bindings(&self, bindings: &Bindings) {
        self.write("bindings.json", &bindings.values().map(String::as_str).collect::<Vec<_>>());
    }

    /// Replaces the Works.
    pub(crate) fn works(&self, works: &[&Value]) {
        let texts: Vec<String> = works.iter().map(ToString::to_string).collect();
        self.write("works.json", &texts.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// Replaces a state file atomically.
    fn write(&self, name: &str, items: &[&str]) {
        let list = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, items.join(","));
        std::fs::write(self.at("next"), list).unwrap();
        std::fs::rename(self.at("next"), self.at("state").join(name)).unwrap();
    }

    /// Posts a body. Returns status and JSON of the reply.
    pub(crate) fn exchange(&self, target: &str, body: &str) -> (u16, Value) {
        let server = self.process.as_ref().unwrap().secure;
        let reply = ask(server, &self.client, &post(target, body.as_bytes()));
        let reply = String::from_utf8(reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        let status = head.strip_prefix("HTTP/1.1 ").unwrap()[..3].parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    /// Posts a review and reads the decision.
    pub(crate) fn review(&self, body: &str) -> Decision {
        let (status, reply) = self.exchange(WORKS, body);
        assert_eq!(status, 200, "{reply}");
        let asked: Value = serde_json::from_str(body).unwrap();
        assert_eq!(reply["response"]["uid"], asked["request"]["uid"]);
        Decision::read(&reply)
    }
}

impl Decision {
    pub(crate) fn read(reply: &Value) -> Self {
        assert_eq!(
            (&reply["apiVersion"], &reply["kind"]),
            (&"admission.k8s.io/v1".into(), &"AdmissionReview".into())
        );
        let response = &reply["response"];
        let patch = response["patch"].as_str().map_or_else(
            || Value::Array(Vec::new()),
            |patch| {
                assert_eq!(response["patchType"], "JSONPatch");
                let patch = base64::engine::general_purpose::STANDARD.decode(patch).unwrap();
                serde_json::from_slice(&patch).unwrap()
            },
        );
        let warnings = response["warnings"].as_array().cloned().unwrap_or_default();
        Self {
            allowed: response["allowed"].as_bool().unwrap(),
            message: response["status"]["message"].as_str().unwrap_or_default().to_owned(),
            warnings: warnings.iter().map(|warning| warning.as_str().unwrap().to_owned()).collect(),
            patch,
        }
    }

    /// Whether the Work is allowed unchanged and without warnings.
    pub(crate) fn is_untouched(&self) -> bool {
        *self
            == Self {
                allowed: true,
                message: String::new(),
                warnings: Vec::new(),
                patch: Value::Array(Vec::new()),
            }
    }

    /// The paths of the patch: `~/...` in the first manifest, `record` for the record and `marker` for its
    /// marker.
    pub(crate) fn paths(&self) -> Vec<String> {
        let path = |operation: &Value| {
            operation["path"]
                .as_str()
                .unwrap()
                .replace("/spec/workload/manifests/0/", "~/")
                .replace("~/metadata/annotations/reviser.io~1revised", "marker")
                .replace("/metadata/annotations/reviser.io~1revision", "record")
        };
        self.patch.as_array().unwrap().iter().map(path).collect()
    }

    /// Applies the patch to `object`.
    pub(crate) fn apply(&self, object: &str) -> Value {
        assert!(self.allowed, "{}", self.message);
        let mut object: Value = serde_json::from_str(object).unwrap();
        let patch: json_patch::Patch = serde_json::from_value(self.patch.clone()).unwrap();
        json_patch::patch(&mut object, &patch).unwrap();
        object
    }
}
