//! Values, put together.

use super::{CaBundle, HookUrl};
use crate::json::Value;

/// An object of these members, in this order.
pub(super) fn map<const N: usize>(members: [(&'static str, Value<'static>); N]) -> Value<'static> {
    Value::Object(members.into_iter().collect())
}

/// An array of strings.
pub(super) fn list<T: Into<String>>(items: impl IntoIterator<Item = T>) -> Value<'static> {
    Value::array(items.into_iter().map(|item| item.into().into()).collect())
}

/// A `clientConfig`; Karmada has taken over its form from Kubernetes.
pub(super) fn client_config(url: &HookUrl, ca_bundle: Option<&CaBundle>) -> Value<'static> {
    let mut client = map([("url", url.as_str().to_owned().into())]);
    if let (Some(bundle), Some(client)) = (ca_bundle, client.object_mut()) {
        client.insert("caBundle", bundle.as_str().to_owned().into());
    }
    client
}
