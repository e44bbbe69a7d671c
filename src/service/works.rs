//! Works on their way into Karmada's API server.

use std::sync::OnceLock;
use std::time::Instant;

use super::concern::{at_work, concerns, unheard};
use super::revise::{MAX_ATTEMPTS, Planned, Revised, Situation, SkippedRule, contended};
use super::{ReviewOutcome, Service, in_time, too_late};
use crate::domain::{Binding, BindingName, ClusterName, Failure, Target, Workload};
use crate::engine::{Claim, Draft, HandoverEvent, PolicySet, Request, Selection};
use crate::json::{Number, ParseError, Pointer, Raw, Text};
use crate::patch::Patch;
use crate::state::BindingLookup;
use crate::work::{Entry, Link, Manifest, Restored, Rewrite, Work};

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

/// A Work that concerns us.
struct Job<'w, 'a> {
    work: &'w Work<'a>,
    old: Old<'a>,
    /// The policies that were in force when it came.
    set: &'w PolicySet,
    link: Link,
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
    selection: Selection<'p>,
    /// `None` for a Work that was made without one.
    binding: Option<Binding>,
}

/// What has to be in the ledger for the revision of a manifest to be true.
struct Claimed<'w> {
    workload: &'w Workload,
    binding: Option<Binding>,
    all: Vec<Claim>,
}

/// Why a Work is left as it is.
enum Left {
    /// This binding is gone.
    BindingGone(BindingName),
    /// A manifest can't be revised.
    Refused(Failure),
}

impl From<Failure> for Left {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl Left {
    /// The same, told of a manifest at its place.
    fn of(self, position: usize, manifest: &Manifest<'_>, cluster: &ClusterName) -> Self {
        let Self::Refused(failure) = self else { return self };
        let place = Pointer::of(["spec", "workload", "manifests", &position.to_string()]);
        let failure = failure.inside(&place);
        Self::Refused(match &manifest.workload {
            Some(workload) => failure.context(format_args!("{workload} cluster {:?}", cluster.as_str())),
            None => failure,
        })
    }
}

impl Service {
    /// Reviews a Work. After `deadline` the outcome is a failure that says so.
    pub async fn review_work<'a>(
        &self,
        review: WorkReview<'_, 'a>,
        deadline: Option<Instant>,
    ) -> ReviewOutcome<'a> {
        let late = || ReviewOutcome::refused(too_late());
        in_time(self.review_work_in_time(review), deadline).await.unwrap_or_else(late)
    }

    async fn review_work_in_time<'a>(&self, review: WorkReview<'_, 'a>) -> ReviewOutcome<'a> {
        let work = match Work::read(review.object) {
            Ok(work) => work,
            Err(failure) => return ReviewOutcome::refused(failure),
        };
        let set = match self.policies() {
            Ok(set) => set,
            Err(failure) => return ReviewOutcome::refused(failure),
        };
        if work.is_being_deleted() {
            return ReviewOutcome::untouched();
        }
        let unheard = unheard(&set, &work);
        if !concerns(&set, &work) {
            return ReviewOutcome { warnings: unheard, ..ReviewOutcome::untouched() };
        }
        let link = match work.link() {
            Ok(Link::Undispatched) if !work.is_recorded() => return ReviewOutcome::untouched(),
            Ok(link) => link,
            Err(failure) => return ReviewOutcome::refused(failure),
        };
        let Some(cluster) = Work::cluster(review.namespace) else {
            return ReviewOutcome::refused(Failure::unprocessable(format!(
                "/metadata/namespace: {:?} is no namespace of a member cluster, so that nobody can tell which cluster the Work is for; Karmada's \
                 begin with {:?}",
                review.namespace,
                crate::domain::EXECUTION_NAMESPACE_PREFIX
            )));
        };
        let old = Old { raw: review.old, read: OnceLock::new() };
        let job = Job { work: &work, old, set: &set, link, cluster, dry_run: review.dry_run };
        let outcome = self.rewrite(&job).await;
        ReviewOutcome { warnings: [unheard, outcome.warnings].concat(), ..outcome }
    }

    async fn rewrite<'a>(&self, job: &Job<'_, 'a>) -> ReviewOutcome<'a> {
        let mut outcome = ReviewOutcome { cluster: Some(job.cluster.clone()), ..ReviewOutcome::untouched() };
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
        for _ in 0..MAX_ATTEMPTS {
            let mut outcome = outcome.clone();
            let mut claims = Vec::new();
            outcome.patch = match self.rewritten(job, &restored, &mut outcome, &mut claims).await {
                Ok(patch) => Ok(patch),
                Err(Left::BindingGone(binding)) => {
                    outcome.warnings.push(format!("the {binding} is gone: the Work is left as it is"));
                    return outcome;
                }
                Err(Left::Refused(failure)) => Err(failure),
            };
            // Nothing is claimed for a Work that is not stored.
            if job.dry_run || outcome.patch.is_err() {
                return outcome;
            }
            match self.commit_all(&claims).await {
                Ok(true) => return outcome,
                Ok(false) => {}
                Err(failure) => return ReviewOutcome { patch: Err(failure), ..outcome },
            }
        }
        ReviewOutcome { patch: Err(contended()), ..outcome }
    }

    async fn commit_all(&self, manifests: &[Claimed<'_>]) -> Result<bool, Failure> {
        for Claimed { workload, binding, all } in manifests {
            if !self.commit(workload, binding.as_ref(), all).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The patch of the whole Work, with what has to be claimed for it.
    async fn rewritten<'a, 'w>(
        &self,
        job: &Job<'w, 'a>,
        restored: &[Option<String>],
        outcome: &mut ReviewOutcome<'_>,
        claims: &mut Vec<Claimed<'w>>,
    ) -> Result<Patch<'a>, Left> {
        let mut rewrite = Rewrite::new(job.work);
        for (position, (manifest, restored)) in job.work.manifests.iter().zip(restored).enumerate() {
            let done =
                self.rewrite_manifest(job, position, restored.as_deref(), &mut rewrite, outcome, claims);
            done.await.map_err(|left| left.of(position, manifest, &job.cluster))?;
        }
        Ok(rewrite.patch()?)
    }

    /// Revises the manifest at a position, which without its last revision is `restored`, if it had one.
    async fn rewrite_manifest<'w, 'a>(
        &self,
        job: &Job<'w, 'a>,
        position: usize,
        restored: Option<&str>,
        rewrite: &mut Rewrite<'w, 'a>,
        outcome: &mut ReviewOutcome<'_>,
        claims: &mut Vec<Claimed<'w>>,
    ) -> Result<(), Left> {
        let manifest = &job.work.manifests[position];
        let Some(workload) = &manifest.workload else { return Ok(()) };
        let refused = |error: ParseError| Left::Refused(Failure::unprocessable(error.to_string()));
        let restored = restored.map(|text| Text::parse(text.as_bytes())).transpose().map_err(refused)?;
        let object = restored.as_ref().map_or(manifest.raw, Text::root);
        let Some(selected) = self.select(job, workload, object).await? else {
            if manifest.is_marked() {
                let (draft, tail) = (Draft::new(object)?, Tail { workload, revised: None });
                rewrite.revised_again(position, draft, |draft| tail.of(draft))?;
            }
            return Ok(());
        };
        let template = if selected.binding.is_some() || job.work.is_owned_by(workload) {
            self.template(workload, &object, &selected.selection).await?
        } else {
            // An object of that name on Karmada's API server need not be what the Work was made from.
            None
        };
        let template = template.as_ref().map(|text| Text::parse(text.as_bytes())).transpose();
        let template = template.map_err(refused)?;
        let (original, target) = (template.as_ref().map(Text::root), (workload, selected));
        if restored.is_none() && original.is_none() {
            let (draft, tail) = self.manifest(job, target, manifest.raw, None, outcome, claims).await?;
            rewrite.revised(position, draft, |draft| tail.of(draft))?;
        } else {
            let (draft, tail) = self.manifest(job, target, object, original, outcome, claims).await?;
            rewrite.revised_again(position, draft, |draft| tail.of(draft))?;
        }
        Ok(())
    }

    /// Revises one manifest, which without its last revision is `object`.
    async fn manifest<'b, 'w>(
        &self,
        job: &Job<'w, '_>,
        (workload, selected): (&'w Workload, Selected<'w>),
        object: Raw<'b>,
        original: Option<Raw<'b>>,
        outcome: &mut ReviewOutcome<'_>,
        claims: &mut Vec<Claimed<'w>>,
    ) -> Result<(Draft<'b>, Tail<'w>), Left> {
        let interpretation = job.set.interpretation(&workload.gvk)?;
        let own = object.at(&interpretation.replicas).ok().flatten();
        let target = Target {
            cluster: job.cluster.clone(),
            replicas: own.and_then(|raw| raw.as_number()).as_ref().and_then(Number::as_i64),
            schedule: selected.binding.as_ref().map(|binding| binding.schedule.clone()),
            original,
        };
        let situation = Situation {
            explain: false,
            preserves: selected.binding.as_ref().is_some_and(|binding| binding.preserves),
            binding: selected.binding.as_ref(),
            called: job.work.name.as_deref(),
            own: &|| job.old.work()?.delivery(&job.cluster, workload),
        };
        let request = Request { workload, object, target: &target, is_unbound: selected.binding.is_none() };
        let Planned { revised, claims: own } =
            self.plan(request, job.set, &selected.selection, situation).await?;
        claims.push(Claimed { workload, binding: selected.binding, all: own });
        let Revised { object, applied, hosts, handovers, hash, skipped, warnings, .. } = revised;
        let told = handovers.iter().map(|event| warning(workload, event));
        for warning in told.chain(skipped.iter().map(SkippedRule::to_string)).chain(warnings) {
            // The same object may be in the Work twice.
            if !outcome.warnings.contains(&warning) {
                outcome.warnings.push(warning);
            }
        }
        outcome.applied.extend(applied.iter().cloned());
        outcome.handovers.extend(handovers);
        outcome.skipped.extend(skipped);
        Ok((object, Tail { workload, revised: Some((applied, hash, hosts)) }))
    }

    /// What is at work on a manifest, and its binding; `None` if nothing is.
    async fn select<'w>(
        &self,
        job: &Job<'w, '_>,
        workload: &Workload,
        object: Raw<'_>,
    ) -> Result<Option<Selected<'w>>, Left> {
        if job.link == Link::Undispatched {
            return Ok(None);
        }
        let selection = at_work(job.set, workload, &object)?;
        if selection.is_empty() {
            return Ok(None);
        }
        let binding = match &job.link {
            Link::Unbound | Link::Undispatched => return Ok(Some(Selected { selection, binding: None })),
            Link::Lost(failure) => return Err(Left::Refused(failure.clone())),
            Link::Binding(binding) => binding,
        };
        if let Some(namespace) = &binding.namespace
            && job.work.manifests.len() == 1
            && *namespace != workload.namespace
        {
            return Err(Left::Refused(Failure::unprocessable(format!(
                "/metadata/namespace: is {:?}, but the Work's annotations say that it belongs to the {binding}; a binding is in the namespace of its \
                 object, so mend the one or the other",
                workload.namespace
            ))));
        }
        match self.binding_of_work(workload, binding).await? {
            BindingLookup::Found(binding) => Ok(Some(Selected { selection, binding: Some(binding) })),
            BindingLookup::Gone => Err(Left::BindingGone(binding.clone())),
        }
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
fn warning(workload: &Workload, event: &HandoverEvent) -> String {
    let HandoverEvent { allocation, from, to, waiting, overlaps, object_stays } = event;
    let kept =
        if *object_stays { "; that cluster keeps the object (preserveResourcesOnDeletion)" } else { "" };
    let what = format!("allocation {allocation:?} of {workload}");
    match (waiting, overlaps) {
        (true, _) => {
            format!("{what} goes from {from} to {to} when the Work in {from} has let go of it{kept}")
        }
        (false, false) => format!("{what} has gone from {from} to {to}{kept}"),
        (false, true) => format!(
            "{what} has gone from {from} to {to} before the Work in {from}, which is being deleted: both host it until that is gone{kept}"
        ),
    }
}
