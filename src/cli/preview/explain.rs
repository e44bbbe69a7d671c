//! `preview -o explain`: what each rule did in each cluster, or why it did nothing.

use std::fmt::Write as _;

use super::{Shown, render, table};
use crate::domain::{ClusterName, shorten};
use crate::engine::{AllocationReason, Change, Placement, PlacementStatus, StepOutcome};
use crate::json::Value;

const MAX_VALUE_BYTES: usize = 120;

/// A table of all clusters, then for each cluster its allocations and the outcome of each rule.
pub(super) fn explain(shown: &[Shown<'_>], colour: bool) -> String {
    let mut text = table::clusters(shown);
    for shown in shown {
        let Ok(version) = &shown.revised else { continue };
        render::heading(
            &mut text,
            &format!("# cluster: {} (replicas: {})", shown.cluster, shown.replicas),
            colour,
        );
        let Some(trace) = &version.trace else { continue };
        for placement in &trace.placements {
            line(&mut text, &placed(placement, shown.cluster));
        }
        if trace.steps.is_empty() {
            line(&mut text, "no policy selects the object");
        }
        for step in &trace.steps {
            line(&mut text, &format!("{}: {}", step.rule, outcome(&step.outcome)));
            for warning in &step.warnings {
                line(&mut text, &format!("  warning: {warning}"));
            }
            if let StepOutcome::Changed(changes) = &step.outcome {
                for change in changes {
                    line(&mut text, &changed(change));
                }
            }
        }
    }
    text
}

fn line(text: &mut String, content: &str) {
    text.push_str(content);
    text.push('\n');
}

/// Where an allocation is, as seen from `cluster`.
fn placed(placement: &Placement, cluster: &ClusterName) -> String {
    let mut text = format!("allocation {}: ", placement.allocation);
    let done = match &placement.status {
        PlacementStatus::Nowhere => write!(text, "in no cluster, because the object is scheduled to none"),
        PlacementStatus::Waiting(from, to) => {
            write!(text, "in no cluster; it moves to {to} when the Work in {from} has released it")
        }
        PlacementStatus::Cluster(host, why, was) => {
            let here = if host == cluster { "here" } else { "elsewhere" };
            let was = was.as_ref().map(|was| format!(", and was in {was}")).unwrap_or_default();
            write!(text, "in {host}, so {here}: {}{was}", reason(*why))
        }
    };
    done.unwrap_or_else(|_| unreachable!("a String takes it"));
    text
}

fn reason(why: AllocationReason) -> &'static str {
    match why {
        AllocationReason::Pinned => "its annotation pins it there",
        AllocationReason::Sticky => "it is there already, and the cluster is still scheduled",
        AllocationReason::Found => "it is there already, according to the Work there",
        AllocationReason::HighestWeight => {
            "the cluster has the most replicas, or is the first of those that have"
        }
    }
}

fn outcome(outcome: &StepOutcome<'_>) -> String {
    match outcome {
        StepOutcome::OtherCluster => "not for this cluster (targetCluster)".to_owned(),
        StepOutcome::NoEntry => "not for this target (it has no entry for it)".to_owned(),
        StepOutcome::ConditionFalse(source) => {
            format!("not applied, its condition is false: {}", clipped(source.clone()))
        }
        StepOutcome::Skipped(failure) => format!("skipped (onError): {failure}"),
        StepOutcome::Nothing => "nothing to change".to_owned(),
        StepOutcome::Changed(changes) if changes.len() == 1 => "1 change".to_owned(),
        StepOutcome::Changed(changes) => format!("{} changes", changes.len()),
    }
}

fn changed(change: &Change<'_>) -> String {
    let value = |value: &Value<'_>| clipped(value.to_string());
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("  {}: {} -> {}", change.place, value(before), value(after)),
        (None, Some(after)) => format!("  {}: added {}", change.place, value(after)),
        (Some(before), None) => format!("  {}: removed {}", change.place, value(before)),
        (None, None) => format!("  {}", change.place),
    }
}

fn clipped(text: String) -> String {
    let line = if text.contains(['\n', '\r']) {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        text
    };
    shorten(line, MAX_VALUE_BYTES)
}
