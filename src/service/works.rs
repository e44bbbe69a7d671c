//! Works on their way into Karmada's API server.

use std::sync::OnceLock;
use std::time::Instant;

use super::revise::{Revised, Situation, SkippedRule};
use super::{Service, in_time, too_late};
use crate::domain::{Binding, BindingName, ClusterName, Failure, Target, Workload};
use crate::engine::{Draft, Handing, Policy, Request};
use crate::json::{Number, Pointer, Raw, Text};
use crate::patch::Patch;
use crate::state::BindingLookup;
use crate::work::{Entry, Manifest, Restored, Rewrite, Work};

/// A Work that is to be created or updated.
#[derive(Clone, Copy, Debug)]
pub struct WorkReview<'r, 'a> {
    /// The namespace that it is in.
    pub namespace: &'r str,
    /// The Work.
    pub object: Raw<'a>,
    /// The Work as it is stored; `None` for a new one.
    pub old: Option<Raw<'a>>,
    /// Nothing is to be written.
    pub dry_run: bool,
}

/// What becomes of a Work.
#[derive(Clone, Debug)]
pub struct WorkOutcome<'a> {
    /// What is to be changed in it, or why it can't be stored.
    pub patch: Result<Patch<'a>, Failure>,
    /// What whoever stores it should know.
    pub warnings: Vec<String>,
    /// The rules that changed something, as `Kind/policy/rule`.
    pub applied: Vec<String>,
    /// The rules that were skipped.
    pub skipped: Vec<SkippedRule>,
    /// The allocations that leave a cluster.
    pub handings: Vec<Handing>,
    /// The cluster that it is for, if it concerns us.
    pub cluster: Option<ClusterName>,
}

impl WorkOutcome<'_> {
    /// A Work that is left as it is.
    pub fn untouched() -> Self {
        Self {
            patch: Ok(Patch::default()),
            warnings: Vec::new(),
            applied: Vec::new(),
            skipped: Vec::new(),
            handings: Vec::new(),
            cluster: None,
        }
    }

    /// A Work that can't be stored, or not be reviewed.
    pub fn refused(failure: Failure) -> Self {
        Self { patch: Err(failure), ..Self::untouched() }
    }

    /// Something that is left as it is, although it should not have come here.
    pub fn ignored(warning: String) -> Self {
        Self { warnings: vec![warning], ..Self::untouched() }
    }
}

/// A Work that concerns us.
struct Job<'w, 'a> {
    work: &'w Work<'a>,
    old: Old<'a>,
    binding: BindingName,
    cluster: ClusterName,
    dry_run: bool,
}

/// The Work as it is stored, read when somebody asks.
struct Old<'a> {
    raw: Option<Raw<'a>>,
    read: OnceLock<Option<Work<'a>>>,
}

impl<'a> Old<'a> {
    /// One that can't be read has nothing to say.
    fn work(&self) -> Option<&Work<'a>> {
        self.read.get_or_init(|| Work::read(self.raw?).ok()).as_ref()
    }
}

/// What one manifest needs to be revised, if a policy selects it.
struct Selected<'p> {
    policies: Vec<&'p Policy>,
    binding: Binding,
}

/// Why a manifest needs no revision, or gets none.
enum Left {
    /// No policy selects it.
    Unselected,
    /// Its binding is gone.
    BindingGone,
}

impl Service {
    /// Reviews a Work. After `deadline` the outcome is a failure that says so.
    pub async fn review_work<'a>(
        &self,
        review: WorkReview<'_, 'a>,
        deadline: Option<Instant>,
    ) -> WorkOutcome<'a> {
        let late = || WorkOutcome::refused(too_late());
        in_time(self.review_work_in_time(review), deadline).await.unwrap_or_else(late)
    }

    async fn review_work_in_time<'a>(&self, review: WorkReview<'_, 'a>) -> WorkOutcome<'a> {
        let work = match Work::read(review.object) {
            Ok(work) => work,
            Err(failure) => return WorkOutcome::refused(failure),
        };
        if work.is_being_deleted() || !self.concerns(&work) {
            return WorkOutcome::untouched();
        }
        let binding = match work.binding() {
            Ok(Some(binding)) => binding,
            Ok(None) => return WorkOutcome::untouched(),
            Err(failure) => return WorkOutcome::refused(failure),
        };
        let Some(cluster) = Work::cluster(review.namespace) else {
            return WorkOutcome::refused(Failure::unprocessable(format!(
                "/metadata/namespace: {:?} is no namespace of a member cluster, so that nobody can tell which cluster the Work is for; Karmada's \
                 begin with {:?}",
                review.namespace,
                crate::domain::EXECUTION_NAMESPACE_PREFIX
            )));
        };
        let old = Old { raw: review.old, read: OnceLock::new() };
        let job = Job { work: &work, old, binding, cluster, dry_run: review.dry_run };
        self.rewrite(&job).await
    }

    /// Whether the Work has been revised, or holds something that may have to be.
    fn concerns(&self, work: &Work<'_>) -> bool {
        let known = |workload: &Workload| self.policies.knows(&workload.gvk);
        work.is_recorded()
            || work
                .manifests
                .iter()
                .any(|manifest| manifest.is_marked() || manifest.workload.as_ref().is_some_and(known))
    }

    async fn rewrite<'a>(&self, job: &Job<'_, 'a>) -> WorkOutcome<'a> {
        let mut outcome = WorkOutcome { cluster: Some(job.cluster.clone()), ..WorkOutcome::untouched() };
        let restored = match restore(job) {
            Ok(restored) => restored,
            Err(Unrestored::Unchanged(warning)) => {
                outcome.warnings.push(warning);
                return outcome;
            }
            Err(Unrestored::Refused(failure)) => {
                outcome.patch = Err(failure);
                return outcome;
            }
        };
        let mut rewrite = Rewrite::new(job.work);
        for (position, (manifest, restored)) in job.work.manifests.iter().zip(&restored).enumerate() {
            let done = match restored {
                None => {
                    let take =
                        |draft, entry: Tail<'_>| rewrite.revised(position, draft, |draft| entry.of(draft));
                    self.manifest(job, manifest, manifest.raw, &mut outcome, take).await
                }
                Some(text) => match Text::parse(text.as_bytes()) {
                    Ok(text) => {
                        let take = |draft, entry: Tail<'_>| {
                            rewrite.revised_again(position, draft, |draft| entry.of(draft))
                        };
                        self.manifest(job, manifest, text.root(), &mut outcome, take).await
                    }
                    Err(error) => Err(Failure::unprocessable(error.to_string())),
                },
            };
            match done {
                Ok(true) => {}
                Ok(false) => {
                    outcome.warnings.push(format!("the {} is gone: the Work is left as it is", job.binding));
                    return outcome;
                }
                Err(failure) => {
                    let position = position.to_string();
                    let place = Pointer::of(["spec", "workload", "manifests", &position]);
                    let failure = failure.inside(&place);
                    let workload = manifest.workload.as_ref();
                    outcome.patch = Err(match workload {
                        Some(workload) => {
                            failure.context(format_args!("{workload} cluster {:?}", job.cluster.as_str()))
                        }
                        None => failure,
                    });
                    return outcome;
                }
            }
        }
        outcome.patch = rewrite.patch();
        outcome
    }

    /// Revises one manifest, which without its last revision is `object`, and gives it to `take`. False if its binding is gone.
    async fn manifest<'b>(
        &self,
        job: &Job<'_, '_>,
        manifest: &Manifest<'_>,
        object: Raw<'b>,
        outcome: &mut WorkOutcome<'_>,
        take: impl FnOnce(Draft<'b>, Tail<'_>) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let Some(workload) = &manifest.workload else { return Ok(true) };
        let selected = match self.select(job, workload, object).await? {
            Ok(selected) => selected,
            Err(Left::BindingGone) => return Ok(false),
            Err(Left::Unselected) => {
                if manifest.is_marked() {
                    take(Draft::new(object)?, Tail { workload, revised: None })?;
                }
                return Ok(true);
            }
        };
        let interpretation = self.policies.interpretation(&workload.gvk);
        let own = object.at(&interpretation.replicas).ok().flatten();
        let target = Target {
            cluster: job.cluster.clone(),
            replicas: own.and_then(|raw| raw.as_number()).as_ref().and_then(Number::as_i64),
            schedule: Some(selected.binding.schedule),
            original: None,
        };
        let situation = Situation {
            explain: false,
            preserves: selected.binding.preserves,
            own: &|| job.old.work()?.delivery(&job.cluster, workload),
            dry_run: job.dry_run,
        };
        let request = Request { workload, object, target: &target };
        let revised = self.settle(request, &selected.policies, situation).await?;
        let Revised { object, applied, hosts, handings, hash, skipped, .. } = revised;
        let told = handings.iter().map(|handing| warning(workload, handing));
        for warning in told.chain(skipped.iter().map(SkippedRule::to_string)) {
            // The same object may be in the Work twice.
            if !outcome.warnings.contains(&warning) {
                outcome.warnings.push(warning);
            }
        }
        outcome.applied.extend(applied.iter().cloned());
        outcome.handings.extend(handings);
        outcome.skipped.extend(skipped);
        take(object, Tail { workload, revised: Some((applied, hash, hosts)) })?;
        Ok(true)
    }

    /// The policies that select a manifest, and its binding.
    async fn select(
        &self,
        job: &Job<'_, '_>,
        workload: &Workload,
        object: Raw<'_>,
    ) -> Result<Result<Selected<'_>, Left>, Failure> {
        let policies = self.policies.selecting(workload, &object)?;
        if policies.is_empty() {
            return Ok(Err(Left::Unselected));
        }
        if let Some(namespace) = &job.binding.namespace
            && job.work.manifests.len() == 1
            && *namespace != workload.namespace
        {
            return Err(Failure::unprocessable(format!(
                "/metadata/namespace: is {:?}, but the Work's annotations say that it belongs to the {}; a binding is in the namespace of its \
                 object, so mend the one or the other",
                workload.namespace, job.binding
            )));
        }
        Ok(match self.binding_of_work(workload, &job.binding).await? {
            BindingLookup::Found(binding) => Ok(Selected { policies, binding }),
            BindingLookup::Gone => Err(Left::BindingGone),
        })
    }
}

/// The manifests without their last revision, as text; `None` for those that carry none.
fn restore(job: &Job<'_, '_>) -> Result<Vec<Option<String>>, Unrestored> {
    let restore = |(position, manifest)| match job.work.restore(manifest, || job.old.work()) {
        Ok(Restored::Untouched) => Ok(None),
        Ok(Restored::Undone(object)) => Ok(Some(object.to_string())),
        Err(error) => Err((error.failure(position, manifest), error)),
    };
    job.work.manifests.iter().enumerate().map(restore).collect::<Result<_, _>>().map_err(
        |(failure, error)| match job.old.work() {
            Some(old) if job.work.same_manifests(old) => Unrestored::Unchanged(format!(
                "reviser leaves the Work as it is, because its revision can't be taken back: {error}"
            )),
            _ => Unrestored::Refused(failure),
        },
    )
}

/// A revision could not be taken back.
enum Unrestored {
    /// The manifests are those that are stored, so nothing gets worse if they stay.
    Unchanged(String),
    Refused(Failure),
}

/// What goes into the record of a manifest besides how it is undone.
struct Tail<'w> {
    workload: &'w Workload,
    /// Rules, hash of the policies and hosted allocations; `None` where no policy selects it.
    revised: Option<(Vec<String>, String, Vec<String>)>,
}

impl Tail<'_> {
    /// The entry for the record; none for a manifest that is as Karmada wrote it and hosts nothing.
    fn of(self, draft: &Draft<'_>) -> Option<Entry> {
        let (rules, hash, hosts) = self.revised?;
        let undo = draft.undo().into_owned();
        (!undo.is_empty() || !hosts.is_empty()).then(|| Entry::new(self.workload, undo, rules, hash, hosts))
    }
}

/// What whoever stores the Work should know about an allocation that leaves a cluster.
fn warning(workload: &Workload, handing: &Handing) -> String {
    let Handing { allocation, from, to, waits, kept_behind } = handing;
    let kept =
        if *kept_behind { "; that cluster keeps the object (preserveResourcesOnDeletion)" } else { "" };
    let what = format!("allocation {allocation:?} of {workload}");
    if *waits {
        format!("{what} goes from {from} to {to} when the Work in {from} has let go of it{kept}")
    } else {
        format!("{what} has gone from {from} to {to}{kept}")
    }
}
