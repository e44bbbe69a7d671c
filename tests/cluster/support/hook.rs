//! Webhook configurations as `reviser manifests` prints them, on a control plane that several tests share.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use serde_json::{Value, json};

use super::until;
use super::world::{WORLD, World};
use crate::process::{Server, reviser};

/// A caller of reviser.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hook<'a> {
    /// `--for karmada-works`.
    Works,
    /// `--for admiralty-source`.
    Pods,
    /// `--for admiralty-target`, of the target of this name.
    Chaperons(&'a str),
}

const COLLECTION: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

impl Hook<'_> {
    /// `--for`, and the path of the URL.
    fn arguments(self) -> (&'static str, String) {
        match self {
            Self::Works => ("karmada-works", "/mutate/works".to_owned()),
            Self::Pods => ("admiralty-source", "/mutate/pods".to_owned()),
            Self::Chaperons(target) => ("admiralty-target", format!("/mutate/podchaperons/{target}")),
        }
    }

    /// The collection, and an object whose creation is changed or refused when this is active.
    fn probe(self, world: &World<'_>) -> (String, Value) {
        match self {
            // A marker without a record is denied under any policies.
            Self::Works => {
                let cluster = world.cluster("probe");
                let manifest = json!({"apiVersion": "example.com/v1", "kind": "Probe",
                    "metadata": {"name": "probe", "namespace": world.namespace(),
                        "annotations": {"reviser.io/revised": "0"}}});
                let mut work = world.work(&cluster, "probe", &[manifest]);
                work["metadata"]["annotations"]["reviser.io/revision"] = "none".into();
                (World::works(&cluster), work)
            }
            Self::Pods => (
                world.pods(),
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": {
                        "multicluster.admiralty.io/elect": "",
                        "multicluster.admiralty.io/targetpodtransformation": "probe"}},
                    "spec": {"containers": [{"name": "probe", "image": "probe"}]}}),
            ),
            Self::Chaperons(_) => (
                world.chaperons(),
                json!({"apiVersion": "multicluster.admiralty.io/v1alpha1", "kind": "PodChaperon",
                    "metadata": {"annotations": {"reviser.io/targetpodtransformation": "there-is-none-of-this-name"}},
                    "spec": {}}),
            ),
        }
    }
}

impl World<'_> {
    /// The output of `reviser manifests` for a server at `server`, with `more` arguments. Only the name and
    /// the namespaces are changed to this world's.
    fn configuration(&self, hook: Hook<'_>, server: SocketAddr, more: &[&str]) -> Value {
        let (what, path) = hook.arguments();
        let mut command = reviser(["manifests", "--for", what]);
        command.args(["--url", &format!("https://{server}{path}"), "--ca-file"]);
        command.arg(self.directory().join("ca.crt")).args(more);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).unwrap();
        let document = ::reviser::yaml::documents(&printed).unwrap().remove(0);
        let mut configuration: Value = serde_json::from_str(&document.value.to_string()).unwrap();
        let name = configuration["metadata"]["name"].as_str().unwrap().to_owned();
        configuration["metadata"]["name"] = format!("{name}-{}", self.name()).into();
        configuration["webhooks"][0]["namespaceSelector"] = json!({"matchLabels": {(WORLD): self.name()}});
        configuration
    }

    /// Applies the configuration for a running server, replacing an existing one, and waits until the API
    /// server calls it. Returns the applied document. `more` are arguments of `reviser manifests`.
    pub(crate) fn hook(&self, hook: Hook<'_>, server: &Server, more: &[&str]) -> Value {
        let configuration = self.configuration(hook, server.secure, more);
        let admin = self.plane().admin();
        let path = format!("{COLLECTION}/{}", configuration["metadata"]["name"].as_str().unwrap());
        let there = admin.get(&path);
        if there.is_ok() {
            let mut next = configuration.clone();
            next["metadata"]["resourceVersion"] = there.body["metadata"]["resourceVersion"].clone();
            admin.put(&path, &next).ok();
        } else {
            admin.create(COLLECTION, &configuration).ok();
        }
        until("the API server calls the webhook", || {
            let name = self.probe(hook).1;
            server.process.said().iter().any(|line| line.contains(&name))
        });
        configuration
    }

    /// Removes a configuration, and waits until it is inactive.
    pub(crate) fn unhook(&self, hook: Hook<'_>, configuration: &Value) {
        let name = configuration["metadata"]["name"].as_str().unwrap();
        self.plane().admin().delete(&format!("{COLLECTION}/{name}")).ok();
        until("the API server calls the webhook no more", || self.probe(hook).0);
    }

    /// Makes a dry run of the probe: whether it would be created unchanged, and its name.
    fn probe(&self, hook: Hook<'_>) -> (bool, String) {
        static PROBES: AtomicUsize = AtomicUsize::new(0);
        let name = format!("probe-{}-of-{}", PROBES.fetch_add(1, Relaxed), self.name());
        let (collection, mut probe) = hook.probe(self);
        probe["metadata"]["name"] = name.clone().into();
        let reply = self.plane().admin().create(&format!("{collection}?dryRun=All"), &probe);
        let unchanged = reply.body["metadata"]["annotations"] == probe["metadata"]["annotations"];
        (reply.is_ok() && unchanged, name)
    }
}
