//! A verdict to bytes.

use super::{API_VERSION, Head, KIND};
use crate::domain::{Failure, shorten};
use crate::json::write_string;
use crate::patch::Patch;
use crate::protocol::envelope::{begin_reply, write_patch};

/// Longest warning, in bytes, that a reply carries. API servers cut the end off at 256 characters when there are many;
/// ours are shortened before that, in the middle, so that the advice at their end stays.
pub const MAX_WARNING_BYTES: usize = 255;

/// The answer to a review.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict<'a> {
    /// The write goes on.
    Allowed {
        /// What to change in the object first; nothing if it is empty.
        patch: Patch<'a>,
        /// What to tell the user, one line each.
        warnings: Vec<String>,
    },
    /// The write is refused, and the user reads why. What may be said so is told by [`decision`](super::decision).
    Denied(Failure),
}

/// The body of a reply, for an HTTP status of 200.
pub fn encode(head: &Head<'_>, verdict: &Verdict<'_>) -> String {
    let mut out = begin_reply(API_VERSION, KIND, &head.uid);
    match verdict {
        Verdict::Allowed { patch, warnings } => {
            out.push_str(r#","allowed":true"#);
            if !patch.is_empty() {
                write_patch(patch, &mut out);
            }
            write_warnings(warnings, &mut out);
        }
        Verdict::Denied(failure) => {
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
        // An API server drops a warning with control characters, without a word.
        let line = warning.replace(char::is_control, " ");
        write_string(&shorten(line, MAX_WARNING_BYTES), out);
    }
    if !warnings.is_empty() {
        out.push(']');
    }
}
