//! Checks of revised objects: what no rule may change, types, and the rules of Kubernetes.

use super::revise::{self, Facts, Request, Revision, Stop};
use super::trace::Trace;
use super::{Draft, Selection, limits, types, validate, variables};
use crate::domain::Failure;

/// A check of the object so far.
pub(super) type Watch<'w, 'a> = &'w dyn Fn(&Draft<'a>) -> Result<(), Failure>;

/// Applies all rules and transformations, and checks what comes of them.
pub(super) fn run<'r, 'a>(
    request: Request<'r, 'a>,
    selection: &Selection<'r>,
    facts: Facts<'_>,
    trace: Option<Trace<'a>>,
) -> Result<Revision<'a>, Stop> {
    let mut revision = revise::run(request, selection, facts, trace, None)?;
    // Run again with a check after each rule, to name the rule: a check for each rule would cost too much
    // where all is well.
    let refused = |failure: Failure, watch: Watch<'_, 'a>| {
        revise::run(request, selection, facts, None, Some(watch)).err().unwrap_or(Stop::Refused(failure))
    };
    match check(&revision.object, request, facts) {
        Ok(warnings) => {
            let cluster = request.target.cluster.as_str();
            let misplaced = variables::misplaced(&revision.object, facts.pod_templates);
            let warnings = warnings
                .into_iter()
                .chain(misplaced)
                .map(|warning| format!("cluster {cluster:?}: {warning}"));
            revision.warnings.extend(warnings);
        }
        Err(failure) => return Err(refused(failure, &|object| check(object, request, facts).map(drop))),
    }
    let gvk = &request.workload.gvk;
    if let Some(violation) = validate::introduced(&revision.object, gvk)?.into_iter().next() {
        let watch = |object: &Draft<'a>| {
            let is_there = validate::introduced(object, gvk)?.iter().any(|found| found.is_like(&violation));
            if is_there { Err(violation.failure()) } else { Ok(()) }
        };
        return Err(refused(violation.failure(), &watch));
    }
    Ok(revision)
}

/// Refuses a value of the wrong type, and what no rule may change. Gives warnings.
fn check(object: &Draft<'_>, request: Request<'_, '_>, facts: Facts<'_>) -> Result<Vec<String>, Failure> {
    limits::check(object, request.workload)?;
    types::check(object, request, facts.pod_templates)
}
