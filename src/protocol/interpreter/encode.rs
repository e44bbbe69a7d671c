//! An answer to bytes.

use super::{API_VERSION, Head, KIND};
use crate::domain::{Answer, Failure};
use crate::json::write_string;
use crate::protocol::envelope::{begin_reply, write_patch};

/// The body of a reply. Failures travel in it too: this protocol's callers show their message only if the HTTP
/// status is 200.
pub fn encode(head: &Head<'_>, answer: &Result<Answer<'_>, Failure>) -> String {
    let mut out = begin_reply(API_VERSION, KIND, &head.uid);
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
            out.push_str(r#","successful":true"#);
            write_patch(patch, &mut out);
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
