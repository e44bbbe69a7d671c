//! Rules that do something else when they are applied to their own result: found by applying them twice.

use std::collections::BTreeMap;

use super::samples::{Report, Trial, Trials, listed, overlap, rule_place};
use crate::app::trial::TrialObject;
use crate::domain::ClusterName;
use crate::engine::Revision;
use crate::engine::StepOutcome;
use crate::json::{Pointer, Text};
use crate::policy::{REPEATED_ON_CHAPERONS, certain_repeats};

/// Where a difference matters for an object that no door revises twice.
const REPEATED_ELSEWHERE: &str = "POST /mutate/works undoes a revision first, and POST /interpret gets the object before any revision; it matters only \
                                  where both revise this kind, or where a result becomes a template: read from `original` then, or give the rule a \
                                  `when` that is false for its own result";

/// What a second application does that the first did not, by policy, rule and what it is, with the clusters.
#[derive(Default)]
pub(super) struct Repeated(BTreeMap<(usize, usize, String), Vec<ClusterName>>);

impl Repeated {
    /// Applies the policies at the positions in `tried` to what they have made of the object.
    pub(super) async fn run(&mut self, trial: &Trial<'_, '_, '_>, tried: &[usize], first: &Revision<'_>) {
        // A number that can't be read again is no fault of the rules.
        let Ok(result) = first.object.to_value() else { return };
        let text = result.to_string();
        let Ok(text) = Text::parse(text.as_bytes()) else { return };
        let found = match trial.revise_again(tried, text.root()).await {
            Ok(second) => differing(trial, tried, &second),
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

    pub(super) fn report(self, trials: &Trials<'_>, object: &TrialObject, report: &mut Report) {
        let is_chaperon = object.is_chaperon();
        let advice = if is_chaperon { REPEATED_ON_CHAPERONS } else { REPEATED_ELSEWHERE };
        for ((policy, rule, what), clusters) in self.0 {
            let subject = &trials.set.policies[policy];
            // What shows without an object is a finding already.
            if is_chaperon && !certain_repeats(subject, &subject.rules[rule]).is_empty() {
                continue;
            }
            let text = format!(
                "a second application on {} in {} {what}: {advice}",
                object.label(),
                listed(&clusters)
            );
            let fault = trials.examined.fault(policy, &rule_place(rule), &text);
            if is_chaperon { report.findings.push(fault) } else { report.notes.push(fault.to_string()) }
        }
    }
}

/// The rules that make the second result another one than the first, each with what it changes again.
fn differing(
    trial: &Trial<'_, '_, '_>,
    tried: &[usize],
    second: &Revision<'_>,
) -> Vec<(usize, usize, String)> {
    let (Ok(patch), Some(trace)) = (second.object.patch(), &second.trace) else { return Vec::new() };
    let places: Vec<&Pointer> = patch.places().collect();
    let mut found = Vec::new();
    for step in &trace.steps {
        let StepOutcome::Changed(changes) = &step.outcome else { continue };
        let named = trial.trials.rule_named(tried, &step.rule);
        // What one rule changes and another changes back makes no difference.
        let change = changes.iter().find(|change| places.iter().any(|place| overlap(&change.place, place)));
        if let (Some((policy, rule)), Some(change)) = (named, change) {
            found.push((policy, rule, format!("changes {} again", change.place)));
        }
    }
    found
}
