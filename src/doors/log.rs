//! The one line of a request.

use std::time::Instant;

use crate::domain::Failure;

/// What the line says. Never holds anything of a body but names and, in a failure, the value that is wrong.
#[derive(Debug)]
pub(super) struct Line<'l> {
    pub(super) uid: &'l str,
    pub(super) operation: &'static str,
    pub(super) kind: &'l str,
    pub(super) namespace: &'l str,
    pub(super) name: &'l str,
    pub(super) cluster: &'l str,
    /// The rules that changed something.
    pub(super) applied: &'l [String],
    /// Whether nothing was to be written; `None` where a protocol knows no such thing.
    pub(super) dry_run: Option<bool>,
    /// What the caller was told besides.
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

/// The beginning of a text that a caller chose, for the log.
fn clip(text: &str) -> &str {
    const LONGEST: usize = 256;
    &text[..text.floor_char_boundary(LONGEST)]
}
