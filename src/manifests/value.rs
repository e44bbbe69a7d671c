//! JSON values of webhook configurations, and their YAML.

use super::{CaBundle, HookUrl};
use crate::json::Value;
use crate::yaml;

/// An object with these members, in this order.
pub(super) fn map<const N: usize>(members: [(&'static str, Value<'static>); N]) -> Value<'static> {
    Value::Object(members.into_iter().collect())
}

pub(super) fn list<T: Into<String>>(items: impl IntoIterator<Item = T>) -> Value<'static> {
    Value::array(items.into_iter().map(|item| item.into().into()).collect())
}

/// A `clientConfig`. Kubernetes and Karmada have the same.
pub(super) fn client_config(url: &HookUrl, ca_bundle: Option<&CaBundle>) -> Value<'static> {
    let url = Some(("url", url.as_str().to_owned().into()));
    let ca_bundle = ca_bundle.map(|bundle| ("caBundle", bundle.as_str().to_owned().into()));
    Value::Object(url.into_iter().chain(ca_bundle).collect())
}

pub(super) fn to_yaml(value: &Value<'static>) -> String {
    let mut text = String::new();
    yaml::write(value, &mut text);
    text
}
