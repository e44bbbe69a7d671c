//! Decoding reviews, refusing invalid ones, and encoding replies.

use serde_json::{Value, json};

use super::{Decoded, Review, Unreadable, parse};
use crate::json::Text;

mod captured;
mod read;
mod reply;
mod wrong;

/// Leaks the body, so that the result can borrow from it.
fn decode(body: impl Into<Vec<u8>>) -> Result<Decoded<'static, Review<'static>>, Unreadable> {
    let body: &'static [u8] = Vec::leak(body.into());
    let text: &'static Text<'static> = Box::leak(Box::new(parse(body)?));
    super::decode(text)
}

/// The update of a Work with these members of the request replaced or added; null removes a member.
fn request(changes: Value) -> String {
    let work =
        json!({"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"name": "checkout-1"}});
    let mut body = json!({
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": "u-1",
            "kind": {"group": "work.karmada.io", "version": "v1alpha1", "kind": "Work"},
            "resource": {"group": "work.karmada.io", "version": "v1alpha1", "resource": "works"},
            "name": "checkout-1",
            "namespace": "karmada-es-cluster-x",
            "operation": "UPDATE",
            "userInfo": {"username": "system:admin"},
            "object": work,
            "oldObject": work,
            "dryRun": false,
            "options": {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1"},
        }
    });
    let Value::Object(changes) = changes else { panic!("changes are a map") };
    for (name, value) in changes {
        match value {
            Value::Null => drop(body["request"].as_object_mut().unwrap().remove(&name)),
            value => body["request"][name] = value,
        }
    }
    body.to_string()
}

/// A map of `levels` levels.
fn deep(levels: usize) -> Value {
    (1..levels).fold(json!({}), |inner, _| Value::Object([("a".to_owned(), inner)].into_iter().collect()))
}
