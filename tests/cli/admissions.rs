//! A server with policies and targets, and reviews of pods, `PodChaperon`s and Works that are sent to it.

use base64::Engine as _;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::files::Directory;
use crate::https::{self, Client, Protocol, config};
use crate::process::Server;

const TARGETS: &str = "apiVersion: multicluster.admiralty.io/v1alpha1
kind: Target
metadata: {name: eu, namespace: lab, labels: {region: eu}}
---
apiVersion: multicluster.admiralty.io/v1alpha1
kind: ClusterTarget
metadata: {name: oregon, labels: {region: us}}
---
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: train-deployment, namespace: lab}
spec:
  clusters: [{name: eu, replicas: 1}]
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: lab, name: train}
";

/// A server, and a connection to it.
pub(crate) struct Served {
    pub(crate) server: Server,
    runtime: Runtime,
    client: Client,
    /// The state is read again at each request, so the files have to outlive the server.
    _directory: Directory,
}

/// What came of a review: the patch, or the code and the message of a refusal; and the warnings.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer(pub(crate) Result<String, (i64, String)>, pub(crate) Vec<String>);

impl Served {
    pub(crate) fn start(policies: &str) -> Self {
        let directory = Directory::new();
        let authority = std::fs::read(directory.certificates("certs").join("ca.crt")).unwrap();
        let (certificates, state) = (directory.at("certs"), directory.file("state.yaml", TARGETS));
        let policies = directory.file("policies.yaml", policies);
        let server = Server::start([
            "--cert-dir",
            &certificates,
            "--drain-seconds",
            "0",
            "--log-format",
            "json",
            "--state",
            &state,
            "-p",
            &policies,
        ]);
        let runtime = Runtime::new().unwrap();
        let config = config(&authority, Protocol::Http2, None);
        let client = runtime.block_on(Client::connect(server.secure, "localhost", config)).unwrap();
        Self { server, runtime, client, _directory: directory }
    }

    pub(crate) fn send(&self, path: &str, body: &Value) -> Value {
        let request = https::post(path, https::full(body.to_string()));
        let reply = self.runtime.block_on(self.client.send(request)).unwrap();
        serde_json::from_slice(&reply.body).unwrap()
    }

    pub(crate) fn admit(&self, path: &str, resource: [&str; 3], operation: &str, object: &Value) -> Answer {
        let [group, version, plural] = resource;
        let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "u",
            "kind": {"group": group, "version": version, "kind": object["kind"]},
            "resource": {"group": group, "version": version, "resource": plural},
            "namespace": "lab",
            "operation": operation,
            "object": object,
        }});
        let reply = self.send(path, &body);
        if reply["kind"] == "Status" {
            let message = reply["message"].as_str().unwrap().to_owned();
            return Answer(Err((reply["code"].as_i64().unwrap(), message)), Vec::new());
        }
        let response = &reply["response"];
        assert_eq!(response["uid"], "u");
        let warnings = response["warnings"].as_array().into_iter().flatten();
        let warnings = warnings.map(|warning| warning.as_str().unwrap().to_owned()).collect();
        if response["allowed"] == true {
            return Answer(Ok(decoded(&response["patch"])), warnings);
        }
        let status = &response["status"];
        let message = status["message"].as_str().unwrap().to_owned();
        Answer(Err((status["code"].as_i64().unwrap(), message)), warnings)
    }

    pub(crate) fn chaperon(&self, target: &str, object: &Value) -> Answer {
        self.admit(&format!("/mutate/podchaperons/{target}"), CHAPERONS, "CREATE", object)
    }
}

pub(crate) const CHAPERONS: [&str; 3] = ["multicluster.admiralty.io", "v1alpha1", "podchaperons"];
pub(crate) const PODS: [&str; 3] = ["", "v1", "pods"];

/// The text of a patch; empty if there is none.
pub(crate) fn decoded(patch: &Value) -> String {
    let bytes = base64::engine::general_purpose::STANDARD.decode(patch.as_str().unwrap_or_default());
    String::from_utf8(bytes.unwrap()).unwrap()
}

/// What Admiralty makes of a pod for a target: it has no name yet.
pub(crate) fn chaperon(names: &str) -> Value {
    json!({
        "apiVersion": "multicluster.admiralty.io/v1alpha1",
        "kind": "PodChaperon",
        "metadata": {
            "generateName": "train-",
            "namespace": "lab",
            "annotations": {"reviser.io/targetpodtransformation": names},
        },
        "spec": {"schedulerName": "admiralty-candidate", "containers": [{"name": "c", "image": "i"}]},
    })
}

pub(crate) fn allowed(patch: &str) -> Answer {
    Answer(Ok(patch.to_owned()), Vec::new())
}

#[track_caller]
pub(crate) fn assert_refused(answer: &Answer, code: i64, message: &str) {
    let Answer(Err((found, said)), _) = answer else { panic!("{answer:?}") };
    assert_eq!(*found, code, "{said}");
    assert!(said.starts_with(message), "{said}");
}
