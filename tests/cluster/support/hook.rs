//! Webhook configurations as `reviser manifests` prints them, on a control plane that several tests share.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::until;
use super::world::{WORLD, World};

/// What sends something to reviser.
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

    /// The collection, and an object that is created otherwise than it is, or not at all, where this is in force.
    fn probe(self, world: &World<'_>) -> (String, Value) {
        match self {
            // Its marker has no record, which is denied whatever the policies are.
            Self::Works => {
                let cluster = world.cluster("probe");
                let manifest = json!({"apiVersion": "example.com/v1", "kind": "Probe",
                    "metadata": {"name": "probe", "namespace": world.namespace(),
                        "annotations": {"reviser.io/revised": "0"}}});
                let mut work = world.work(&cluster, "probe", &[manifest]);
                work["metadata"]["annotations"]["reviser.io/revision"] = "none".into();
                (world.works(&cluster), work)
            }
            Self::Pods => (
                world.pods(),
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "annotations": {
                        "multicluster.admiralty.io/elect": "",
                        "multicluster.admiralty.io/targetpodtransformation": "probe"}},
                    "spec": {"containers": [{"name": "probe", "image": "probe"}]}}),
            ),
            Self::Chaperons(_) => (
                world.chaperons(),
                json!({"apiVersion": "multicluster.admiralty.io/v1alpha1", "kind": "PodChaperon",
                    "metadata": {"name": "probe",
                        "annotations": {"reviser.io/targetpodtransformation": "there-is-none-of-this-name"}},
                    "spec": {}}),
            ),
        }
    }
}

impl World<'_> {
    /// What `reviser manifests` prints for a server at `server`, with `more` arguments, for this world only: the name is another
    /// one, and the namespaces are those of this world. Nothing else is changed.
    pub(crate) fn configuration(&self, hook: Hook<'_>, server: SocketAddr, more: &[&str]) -> Value {
        let (what, path) = hook.arguments();
        let mut command = crate::process::reviser(["manifests", "--for", what]);
        command.args(["--url", &format!("https://{server}{path}"), "--ca-file"]);
        command.arg(self.directory().join("ca.crt")).args(more);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).unwrap();
        let document = reviser::yaml::documents(&printed).unwrap().remove(0);
        let mut configuration: Value = serde_json::from_str(&document.value.to_string()).unwrap();
        let name = configuration["metadata"]["name"].as_str().unwrap().to_owned();
        configuration["metadata"]["name"] = format!("{name}-{}", self.name()).into();
        configuration["webhooks"][0]["namespaceSelector"] = json!({"matchLabels": {(WORLD): self.name()}});
        configuration
    }

    /// Applies a configuration, in place of that of the same name if there is one, and waits until the API server goes by it.
    pub(crate) fn hook(&self, hook: Hook<'_>, configuration: &Value) {
        let admin = self.plane().admin();
        let path = format!("{COLLECTION}/{}", configuration["metadata"]["name"].as_str().unwrap());
        let there = admin.get(&path);
        if there.is_ok() {
            let mut next = configuration.clone();
            next["metadata"]["resourceVersion"] = there.body["metadata"]["resourceVersion"].clone();
            admin.put(&path, &next).ok();
        } else {
            admin.create(COLLECTION, configuration).ok();
        }
        until("the API server calls the webhook", || self.is_called(hook));
    }

    /// Takes a configuration away, and waits until the API server does not go by it any more.
    pub(crate) fn unhook(&self, hook: Hook<'_>, configuration: &Value) {
        let name = configuration["metadata"]["name"].as_str().unwrap();
        self.plane().admin().delete(&format!("{COLLECTION}/{name}")).ok();
        until("the API server calls the webhook no more", || !self.is_called(hook));
    }

    /// Whether a dry run of the probe is created as it is.
    fn is_called(&self, hook: Hook<'_>) -> bool {
        let (collection, probe) = hook.probe(self);
        let reply = self.plane().admin().create(&format!("{collection}?dryRun=All"), &probe);
        !reply.is_ok() || reply.body["metadata"]["annotations"] != probe["metadata"]["annotations"]
    }
}
