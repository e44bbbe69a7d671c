//! The lines of `expected.json` that are no patches.

use serde_json::{Value, json};

/// Replicas, and what one of them needs.
pub(crate) fn replicas(count: i64, requirements: Option<Value>) -> String {
    let mut line = json!({"replicas": count});
    if let Some(requirements) = requirements {
        line["replicaRequirements"] = requirements;
    }
    line.to_string()
}

/// A refusal.
pub(crate) fn refused(code: i64, message: &str) -> String {
    json!({"code": code, "message": message}).to_string()
}
