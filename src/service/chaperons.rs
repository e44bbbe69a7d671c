//! Pods on their way to one of Admiralty's targets, and pods that are to get there.

use std::time::Instant;

use super::revise::{Revised, Situation, SkippedRule};
use super::{ReviewOutcome, Service, in_time, too_late};
use crate::domain::{
    ClusterName, ELECT_ANNOTATION, Failure, PROPOSED_TRANSFORMATION_ANNOTATION, SOURCE_POD_ANNOTATION,
    TRANSFORMATION_ANNOTATION, Target, Workload, join_transformations,
};
use crate::engine::{self, Draft, Request};
use crate::json::{Pointer, Raw};

/// A `PodChaperon` that is to be created in a target.
#[derive(Clone, Copy, Debug)]
pub struct ChaperonReview<'r, 'a> {
    /// Who it is.
    pub workload: &'r Workload,
    /// The object.
    pub object: Raw<'a>,
    /// What the source calls the target.
    pub target: &'r ClusterName,
    /// Nothing is to be written.
    pub dry_run: bool,
}

impl Service {
    /// Reviews a `PodChaperon`. After `deadline` the outcome is a failure that says so.
    pub async fn review_chaperon<'a>(
        &self,
        review: ChaperonReview<'_, 'a>,
        deadline: Option<Instant>,
    ) -> ReviewOutcome<'a> {
        let late = || ReviewOutcome::refused(too_late());
        let outcome = in_time(self.review_chaperon_in_time(review), deadline).await.unwrap_or_else(late);
        let ChaperonReview { workload, target, .. } = review;
        let about =
            |failure: Failure| failure.context(format_args!("{workload} cluster {:?}", target.as_str()));
        ReviewOutcome { patch: outcome.patch.map_err(about), cluster: Some(target.clone()), ..outcome }
    }

    async fn review_chaperon_in_time<'a>(&self, review: ChaperonReview<'_, 'a>) -> ReviewOutcome<'a> {
        match self.revise_chaperon(review).await {
            Ok(outcome) => outcome,
            Err(failure) => ReviewOutcome::refused(failure),
        }
    }

    async fn revise_chaperon<'a>(
        &self,
        review: ChaperonReview<'_, 'a>,
    ) -> Result<ReviewOutcome<'a>, Failure> {
        let ChaperonReview { workload, object, target, dry_run } = review;
        let set = self.policies()?;
        let selection = set.selection(workload, &object)?;
        if selection.is_empty() {
            let warnings = selection.warnings_for(workload, target);
            return Ok(ReviewOutcome { warnings, ..ReviewOutcome::untouched() });
        }
        // Admiralty makes one pod a time out of one that is there: nobody knows of replicas, or of a schedule.
        let target = Target { cluster: target.clone(), replicas: None, schedule: None, original: None };
        let request = Request { workload, object, target: &target, is_unbound: false };
        let revised = if dry_run {
            self.plan(request, &set, &selection, Situation::default()).await?.revised
        } else {
            self.settle(request, &set, &selection, Situation::default()).await?
        };
        let Revised { object, applied, skipped, warnings: told, handovers, knows_cluster, .. } = revised;
        let mut warnings: Vec<String> = skipped.iter().map(SkippedRule::to_string).chain(told).collect();
        if self.clusters.is_some() && !knows_cluster && !selection.transformations.is_empty() {
            warnings.push(format!(
                "nothing is known about the target {:?}, so that targetReference goes by its name alone; correct the URL of the webhook configuration, or give its document in --state",
                target.cluster.as_str()
            ));
        }
        Ok(ReviewOutcome {
            patch: object.patch(),
            warnings,
            applied,
            skipped,
            handovers,
            ..ReviewOutcome::untouched()
        })
    }
}

/// What comes of a pod that is to be created in a source: the names of its transformations are copied to an annotation that Admiralty
/// sends to targets. A pod that Admiralty has saved before is refused, because the copy would come too late.
pub fn elect(pod: Raw<'_>) -> ReviewOutcome<'_> {
    let annotations = Pointer::of(["metadata", "annotations"]);
    let Some(members) = pod.at(&annotations).ok().flatten() else { return ReviewOutcome::untouched() };
    let text = |key: &str| {
        let raw = members.get(key).ok().flatten();
        raw.and_then(|raw| raw.as_str().ok().flatten())
    };
    let (Some(_), Some(proposed)) = (text(ELECT_ANNOTATION), text(PROPOSED_TRANSFORMATION_ANNOTATION)) else {
        return ReviewOutcome::untouched();
    };
    let warnings = engine::transformation_name_warnings(&pod);
    let own = text(TRANSFORMATION_ANNOTATION).unwrap_or_default();
    let joined = join_transformations(&proposed, &own);
    if joined == own {
        return ReviewOutcome { warnings, ..ReviewOutcome::untouched() };
    }
    if text(SOURCE_POD_ANNOTATION).is_some() {
        return ReviewOutcome::refused(Failure::unprocessable(format!(
            "{}: Admiralty has saved the pod already, so that its transformations would reach no target; give the webhook configuration of \
             reviser a name that sorts before Admiralty's, or remove this annotation from the pod",
            annotations.join(SOURCE_POD_ANNOTATION)
        )));
    }
    let copied = || {
        let mut draft = Draft::new(pod)?;
        draft.set(&annotations.join(TRANSFORMATION_ANNOTATION), joined.into())?;
        draft.patch()
    };
    ReviewOutcome { patch: copied(), warnings, ..ReviewOutcome::untouched() }
}
