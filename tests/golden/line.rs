//! The lines of `expected.json` other than patches.

use serde_json::{Value, json};

/// Replicas, and the requirements of one replica.
pub(crate) fn replicas(count: i64, requirements: Option<Value>) -> String {
    let mut line = json!({"replicas": count});
    if let Some(requirements) = requirements {
        line["replicaRequirements"] = requirements;
    }
    line.to_string()
}

pub(crate) fn refused(code: i64, message: &str) -> String {
    json!({"code": code, "message": message}).to_string()
}
