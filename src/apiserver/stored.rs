//! Objects as stored by an API server.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::value::RawValue;

/// An object as stored by an API server.
#[derive(Clone, Debug)]
pub struct Stored {
    metadata: ObjectMeta,
    text: Box<RawValue>,
}

impl Stored {
    pub fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// The namespace; empty for a cluster-scoped object.
    pub fn namespace(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// The resource version when the object was read. It changes with each write.
    pub fn resource_version(&self) -> &str {
        self.metadata.resource_version.as_deref().unwrap_or_default()
    }

    /// The JSON text that the server sent. Items of lists of built-in kinds have no `apiVersion` and `kind`.
    pub fn text(&self) -> &str {
        self.text.get()
    }
}

#[derive(serde::Deserialize)]
struct Head {
    metadata: ObjectMeta,
}

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let Head { metadata } = serde_json::from_str(text.get()).map_err(D::Error::custom)?;
        Ok(Self { metadata, text })
    }
}

impl Resource for Stored {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(kind: &ApiResource) -> Cow<'_, str> {
        kind.kind.as_str().into()
    }

    fn group(kind: &ApiResource) -> Cow<'_, str> {
        kind.group.as_str().into()
    }

    fn version(kind: &ApiResource) -> Cow<'_, str> {
        kind.version.as_str().into()
    }

    fn plural(kind: &ApiResource) -> Cow<'_, str> {
        kind.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
