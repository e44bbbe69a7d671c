//! An answer to bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{API_VERSION, Head, KIND};
use crate::domain::{Answer, Failure};
use crate::json::write_string;

/// The body of a reply. Failures travel in it too: this protocol's callers show their message only if the HTTP
/// status is 200.
pub fn encode(head: &Head<'_>, answer: &Result<Answer<'_>, Failure>) -> String {
    let mut out = String::with_capacity(512);
    out.push_str(r#"{"apiVersion":""#);
    out.push_str(API_VERSION);
    out.push_str(r#"","kind":""#);
    out.push_str(KIND);
    out.push_str(r#"","response":{"uid":"#);
    write_string(&head.uid, &mut out);
    match answer {
        Ok(Answer::Replicas { replicas, requirements }) => {
            out.push_str(r#","successful":true,"replicas":"#);
            out.push_str(&replicas.to_string());
            if let Some(requirements) = requirements {
                out.push_str(r#","replicaRequirements":"#);
                requirements.write_to(&mut out);
            }
        }
        Ok(Answer::Revision(patch)) => {
            // An unchanged object is answered with the empty list: older Karmada panics without a patch.
            out.push_str(r#","successful":true,"patchType":"JSONPatch","patch":""#);
            STANDARD.encode_string(patch.to_text(), &mut out);
            out.push('"');
        }
        Err(failure) => {
            out.push_str(r#","successful":false,"status":{"code":"#);
            out.push_str(&failure.code().status().to_string());
            out.push_str(r#","message":"#);
            write_string(&failure.message(), &mut out);
            out.push('}');
        }
    }
    out.push_str("}}");
    out
}
