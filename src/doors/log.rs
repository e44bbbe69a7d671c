//! The log line of a request.

use std::time::Instant;

use super::envelope::Head;
use crate::service::Outcome;

/// Writes the line. Of the body it has only names and, in a failure, the invalid value.
pub(super) fn answered<T>(head: &Head<'_>, outcome: &Outcome<T>, started: Instant) {
    let operation = head.operation;
    let duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let (uid, kind, namespace) = (clip(&head.uid), clip(&head.kind), clip(&head.namespace));
    let (name, cluster) =
        (clip(&head.name), outcome.cluster.as_ref().map_or(&*head.cluster, |own| own.as_str()));
    let cluster = clip(cluster);
    let rules = outcome.applied.join(",");
    let dry_run = head.dry_run.filter(|dry_run| *dry_run);
    let warnings = (!outcome.warnings.is_empty()).then(|| outcome.warnings.join("; "));
    macro_rules! line {
        ($level:ident, $outcome:expr, $($error:tt)*) => {
            tracing::$level!(
                uid,
                operation,
                kind,
                namespace,
                name,
                cluster,
                rules,
                outcome = $outcome,
                duration_us,
                dry_run,
                warnings,
                $($error)*
                "answered"
            )
        };
    }
    match &outcome.result {
        Ok(_) => line!(info, "ok",),
        Err(failure) => line!(warn, failure.code().reason(), error = failure.message(),),
    }
}

/// Limits the length of a text that the caller chose.
fn clip(text: &str) -> &str {
    const MAX_BYTES: usize = 256;
    &text[..text.floor_char_boundary(MAX_BYTES)]
}
