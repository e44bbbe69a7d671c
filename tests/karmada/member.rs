//! A member cluster: an API server of its own, and nothing behind it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::apply::{apply, path};
use crate::held::Held;
use crate::objects::rollout;
use crate::support::client::Client;
use crate::support::plane::ControlPlane;

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    plane: ControlPlane,
}

impl Member {
    pub(crate) fn new(name: &'static str, plane: ControlPlane) -> Self {
        Self { name, plane }
    }

    pub(crate) fn admin(&self) -> Client {
        self.plane.admin()
    }

    /// Its Rollout, if it has it.
    pub(crate) fn holds(&self) -> Option<Held> {
        let reply = self.admin().get(&path(&rollout(0, "")));
        (reply.code != 404).then(|| Held::of_member(&reply.ok()))
    }

    /// Makes it a member: Karmada pushes to it.
    pub(crate) fn join(&self, karmada: &Client) {
        let kubeconfig = std::fs::read_to_string(self.plane.kubeconfig("admin")).unwrap();
        let kubeconfig: Value = serde_json::from_str(&kubeconfig).unwrap();
        let server = &kubeconfig["clusters"][0]["cluster"];
        let token = STANDARD.encode(kubeconfig["users"][0]["user"]["token"].as_str().unwrap());
        let reference = |name: &str| json!({"namespace": "karmada-cluster", "name": name});
        let impersonator = format!("{}-impersonator", self.name);
        for name in [self.name, &impersonator] {
            let data = json!({"token": token, "caBundle": server["certificate-authority-data"]});
            apply(
                karmada,
                &json!({"apiVersion": "v1", "kind": "Secret", "metadata": reference(name), "data": data}),
            );
        }
        let zone = self.name.replace("cluster", "zone");
        apply(
            karmada,
            &json!({
                "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
                "metadata": {"name": self.name, "labels": {"zone": zone}},
                "spec": {
                    "syncMode": "Push", "apiEndpoint": server["server"],
                    "secretRef": reference(self.name), "impersonatorSecretRef": reference(&impersonator),
                },
            }),
        );
    }

    /// Takes its API server away. What runs in it would go on running.
    pub(crate) fn lose(&self) {
        self.plane.kill();
    }

    pub(crate) fn find_again(&self) {
        self.plane.start_again();
    }
}
