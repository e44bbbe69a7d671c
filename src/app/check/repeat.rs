//! Finds rules that change their own result, by applying the policies twice.

use std::collections::BTreeMap;

use super::samples::{CheckReport, Trial, Trials, listed, overlap, rule_place};
use crate::app::trial::TrialObject;
use crate::domain::ClusterName;
use crate::engine::{ObjectSource, Revision, StepOutcome};
use crate::json::Pointer;
use crate::policy::{REPEATED_ON_CHAPERONS, certain_repeats};

/// Advice for kinds that no door revises twice.
const REPEATED_ELSEWHERE: &str = "POST /mutate/works undoes a revision first, and POST /interpret gets the object before any revision; this matters only \
                                  where both revise this kind, or where a result becomes a template: then read from `original`, or give the rule a \
                                  `when` that is false for its own result";

/// What a second application changes, by policy, rule and change, with the clusters.
#[derive(Default)]
pub(super) struct Repeated(BTreeMap<(usize, usize, String), Vec<ClusterName>>);

impl Repeated {
    /// Applies the policies at the positions in `tried` to their own result.
    pub(super) async fn run(&mut self, trial: &Trial<'_, '_, '_>, tried: &[usize], first: &Revision<'_>) {
        let result = ObjectSource::Value(first.object.value().clone());
        let found = match trial.revise_again(tried, &result).await {
            Ok(second) => changing_rules(trial, tried, &second),
            Err(failure) => {
                let message = failure.message();
                let rule = |&policy: &usize| Some((policy, trial.rule_of(policy, &message)?));
                let rule = tried.iter().find_map(rule);
                rule.map(|(policy, (rule, problem))| (policy, rule, format!("fails ({problem})")))
                    .into_iter()
                    .collect()
            }
        };
        for found in found {
            self.0.entry(found).or_default().push(trial.cluster.clone());
        }
    }

    pub(super) fn report(self, trials: &Trials<'_>, object: &TrialObject, report: &mut CheckReport) {
        let is_chaperon = object.is_chaperon();
        let advice = if is_chaperon { REPEATED_ON_CHAPERONS } else { REPEATED_ELSEWHERE };
        for ((policy, rule, what), clusters) in self.0 {
            let subject = &trials.set.policies[policy];
            // Reported already, without an object.
            if is_chaperon && !certain_repeats(subject, &subject.rules[rule]).is_empty() {
                continue;
            }
            let text = format!(
                "a second application on {} in {} {what}: {advice}",
                object.label(),
                listed(&clusters)
            );
            let fault = trials.documents.fault(policy, &rule_place(rule), &text);
            if is_chaperon { report.findings.push(fault) } else { report.notes.push(fault.to_string()) }
        }
    }
}

/// The rules that make the second result differ from the first, each with the change.
fn changing_rules(
    trial: &Trial<'_, '_, '_>,
    tried: &[usize],
    second: &Revision<'_>,
) -> Vec<(usize, usize, String)> {
    let (patch, Some(trace)) = (second.object.patch(), &second.trace) else { return Vec::new() };
    let places: Vec<&Pointer> = patch.places().collect();
    let mut found = Vec::new();
    for step in &trace.steps {
        let StepOutcome::Changed(changes) = &step.outcome else { continue };
        let named = trial.trials.rule_named(tried, &step.rule);
        // A change that another rule reverts is not in the patch.
        let change = changes.iter().find(|change| places.iter().any(|place| overlap(&change.place, place)));
        if let (Some((policy, rule)), Some(change)) = (named, change) {
            found.push((policy, rule, format!("changes {} again", change.place)));
        }
    }
    found
}
