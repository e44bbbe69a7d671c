//! The custom resource definitions on a real API server: accepted and refused documents, messages, and
//! printed columns.
//!
//! reviser does not run here; only the API server is tested.

mod documents;
mod mutated;
#[path = "../../support/places.rs"]
#[expect(dead_code, reason = "the rest is for tests of the schemas")]
mod places;
mod refused;
mod seen;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use http::Method;
use serde_json::{Value, json};

use self::places::definitions;
use crate::support::client::{Client, Reply};
use crate::support::plane::ControlPlane;
use crate::support::until;

const COLLECTION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A control plane with our definitions.
#[derive(Clone)]
struct Defined {
    plane: &'static ControlPlane,
    admin: Client,
    /// By kind.
    plurals: BTreeMap<String, String>,
}

impl Defined {
    /// `None`, with a message, without a control plane.
    fn shared() -> Option<Self> {
        static DEFINED: OnceLock<()> = OnceLock::new();
        let plane = ControlPlane::shared()?;
        let names = definitions().into_iter().map(|definition| definition.spec.names);
        let plurals = names.map(|names| (names.kind, names.plural)).collect();
        let defined = Self { plane, admin: plane.admin(), plurals };
        DEFINED.get_or_init(|| defined.define());
        Some(defined)
    }

    /// Applies them. Other tests on this control plane apply the same.
    fn define(&self) {
        for definition in definitions() {
            let names = &definition.spec.names;
            let path = format!("{COLLECTION}/{}.{}", names.plural, definition.spec.group);
            let body = serde_json::to_vec(&definition).unwrap();
            let apply = format!("{path}?fieldManager=tests&force=true&fieldValidation=Strict");
            self.admin.call(Method::PATCH, &apply, "application/apply-patch+yaml", body).ok();
            let collection = self.collection(&names.kind, None);
            until(&format!("{} are served", names.plural), || self.admin.get(&collection).is_ok());
        }
    }

    /// The collection path of a kind.
    fn collection(&self, kind: &str, namespace: Option<&str>) -> String {
        let plural = &self.plurals[kind];
        let namespace = namespace.map(|namespace| format!("/namespaces/{namespace}")).unwrap_or_default();
        format!("/apis/reviser.io/v1alpha1{namespace}/{plural}")
    }

    /// A dry run of a document, with strict field validation as `kubectl` uses it.
    fn try_out(&self, document: &Value) -> Reply {
        let kind = document["kind"].as_str().unwrap();
        let path = self.collection(kind, document["metadata"]["namespace"].as_str());
        self.admin.create(&format!("{path}?dryRun=All&fieldValidation=Strict"), document)
    }

    /// Creates the namespace of a document, if it has one.
    fn make_namespace_of(&self, document: &Value) {
        let Some(name) = document["metadata"]["namespace"].as_str() else { return };
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let made = self.admin.create("/api/v1/namespaces", &namespace);
        assert!(made.is_ok() || made.code == 409, "{}", made.text);
    }
}

#[test]
fn the_definitions_are_established_and_structural() {
    let Some(defined) = Defined::shared() else { return };
    for definition in definitions() {
        let name = format!("{}.{}", definition.spec.names.plural, definition.spec.group);
        let stored = defined.admin.get(&format!("{COLLECTION}/{name}")).ok();
        let conditions = stored["status"]["conditions"].as_array().unwrap();
        let found: Vec<(&str, &str)> = conditions
            .iter()
            .map(|condition| (condition["type"].as_str().unwrap(), condition["status"].as_str().unwrap()))
            .collect();
        assert_eq!(found, [("NamesAccepted", "True"), ("Established", "True")], "{name}: {conditions:#?}");
    }
}
