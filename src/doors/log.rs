//! The log line of a request.

use std::time::Instant;

use crate::domain::Failure;

/// The fields of the line. Of the body they hold only names and, in a failure, the invalid value.
#[derive(Debug)]
pub(super) struct Line<'l> {
    pub(super) uid: &'l str,
    pub(super) operation: &'static str,
    pub(super) kind: &'l str,
    pub(super) namespace: &'l str,
    pub(super) name: &'l str,
    pub(super) cluster: &'l str,
    pub(super) applied: &'l [String],
    /// `None` for a protocol without dry runs.
    pub(super) dry_run: Option<bool>,
    pub(super) warnings: &'l [String],
    pub(super) failure: Option<&'l Failure>,
    pub(super) started: Instant,
}

impl Line<'_> {
    pub(super) fn write(&self) {
        let operation = self.operation;
        let duration_us = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (uid, kind, namespace) = (clip(self.uid), clip(self.kind), clip(self.namespace));
        let (name, cluster) = (clip(self.name), clip(self.cluster));
        let dry_run = self.dry_run.filter(|dry_run| *dry_run);
        let warnings = (!self.warnings.is_empty()).then(|| self.warnings.join("; "));
        macro_rules! line {
            ($level:ident, $outcome:expr, $($error:tt)*) => {
                tracing::$level!(
                    uid,
                    operation,
                    kind,
                    namespace,
                    name,
                    cluster,
                    rules = self.applied.join(","),
                    outcome = $outcome,
                    duration_us,
                    dry_run,
                    warnings,
                    $($error)*
                    "answered"
                )
            };
        }
        match self.failure {
            None => line!(info, "ok",),
            Some(failure) => line!(warn, failure.code().reason(), error = failure.message(),),
        }
    }
}

/// Limits the length of a text that the caller chose.
fn clip(text: &str) -> &str {
    const MAX_BYTES: usize = 256;
    &text[..text.floor_char_boundary(MAX_BYTES)]
}
