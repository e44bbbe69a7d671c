//! Encoding an `AdmissionReview`.

use super::{API_VERSION, Head, KIND};
use crate::domain::{Failure, shorten};
use crate::doors::envelope::{begin_reply, write_patch};
use crate::json::write_string;
use crate::patch::Patch;

/// Longest warning in a reply, in bytes. API servers cut off the end of a long warning at 256 characters;
/// warnings are shortened in the middle before that, so that the advice at their end stays.
pub const MAX_WARNING_BYTES: usize = 255;

/// The response to a review.
#[derive(Clone, Debug, PartialEq)]
pub enum Response<'a> {
    /// The write continues with the patched object. An API server shows the warnings to its client.
    Allowed { patch: Patch<'a>, warnings: Vec<String> },
    /// The write is refused with the failure's message.
    Denied(Failure),
}

/// The body of a reply, for an HTTP status of 200.
pub fn encode(head: &Head<'_>, response: &Response<'_>) -> String {
    let mut out = begin_reply(API_VERSION, KIND, &head.uid);
    match response {
        Response::Allowed { patch, warnings } => {
            out.push_str(r#","allowed":true"#);
            if !patch.is_empty() {
                write_patch(patch, &mut out);
            }
            write_warnings(warnings, &mut out);
        }
        Response::Denied(failure) => {
            out.push_str(r#","allowed":false,"status":{"status":"Failure","message":"#);
            write_string(&failure.message(), &mut out);
            out.push_str(r#","reason":""#);
            out.push_str(failure.code().reason());
            out.push_str(r#"","code":"#);
            out.push_str(&failure.code().status().to_string());
            out.push('}');
        }
    }
    out.push_str("}}");
    out
}

fn write_warnings(warnings: &[String], out: &mut String) {
    for (position, warning) in warnings.iter().enumerate() {
        out.push_str(if position == 0 { r#","warnings":["# } else { "," });
        // An API server drops a warning with control characters silently.
        let line = warning.replace(char::is_control, " ");
        write_string(&shorten(line, MAX_WARNING_BYTES), out);
    }
    if !warnings.is_empty() {
        out.push(']');
    }
}
