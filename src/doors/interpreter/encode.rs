//! Encoding a `ResourceInterpreterContext`.

use super::{API_VERSION, Head, KIND};
use crate::domain::{Answer, Failure};
use crate::doors::envelope::{begin_reply, write_patch};
use crate::json::write_string;

/// The body of a reply, also for a failure: Karmada shows the message of a failure only if the HTTP status is
/// 200.
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
            // An unchanged object is answered with an empty patch: older versions of Karmada panic without
            // one.
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
