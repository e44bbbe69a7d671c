//! `POST /mutate/works`: revises Works on their way into Karmada's API server.

use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::admission::{self, Decoded, Operation, Review};
use super::envelope::Unreadable;
use super::{RevisionMetrics, unreadable};
use crate::domain::{
    Binding, BindingName, ClusterName, EXECUTION_NAMESPACE_PREFIX, Failure, Target, Workload,
};
use crate::engine::{Claim, HandoverEvent, ObjectSource, PolicySet, Request, Selection};
use crate::json::{Number, Pointer, Raw, Text, Value};
use crate::patch::Patch;
use crate::server::{Call, Door, DoorReply};
use crate::service::{
    MAX_ATTEMPTS, Mode, Origin, Outcome, Service, contended, has_revisable_manifest, in_time, select,
    transformation_warnings,
};
use crate::state::BindingLookup;
use crate::work::{Link, Manifest, Revised, Rewrite, Work};

/// The door for admission reviews of Works.
#[derive(Clone, Debug)]
pub struct Works {
    service: Arc<Service>,
    metrics: RevisionMetrics,
}

impl Works {
    pub const PATH: &'static str = "/mutate/works";

    /// The label of this door in metrics.
    pub const NAME: &'static str = "works";

    pub fn new(service: Arc<Service>, metrics: RevisionMetrics) -> Self {
        Self { service, metrics }
    }

    async fn reply(&self, call: &Call) -> Result<DoorReply, Unreadable> {
        let started = Instant::now();
        let body = admission::parse(&call.body)?;
        let Decoded { head, content } = admission::decode(&body)?;
        let outcome = match &content {
            Ok(review) => self.review(review, call.deadline).await,
            Err(failure) => Outcome::refused(failure.clone()),
        };
        Ok(admission::reply(&head, outcome, &self.metrics, started))
    }

    async fn review<'a>(&self, review: &Review<'a>, deadline: Option<Instant>) -> Outcome<Patch<'a>> {
        let resource = &review.resource;
        if (resource.group.as_ref(), resource.resource.as_ref()) != ("work.karmada.io", "works") {
            return admission::unexpected_resource(
                "revises",
                "works.work.karmada.io",
                "MutatingWebhookConfiguration",
                resource,
            );
        }
        match (review.operation, review.object) {
            (Operation::Create | Operation::Update, Some(object)) if resource.sub_resource.is_empty() => {
                let review = WorkReview {
                    namespace: &review.namespace,
                    object,
                    stored: review.old_object,
                    dry_run: review.dry_run,
                };
                review_work(&self.service, review, deadline).await
            }
            // A deletion and a status have no manifests to revise.
            _ => Outcome::unchanged(),
        }
    }
}

impl Door for Works {
    fn handle(&self, call: Call) -> BoxFuture<'_, DoorReply> {
        async move { self.reply(&call).await.unwrap_or_else(|error| unreadable(&error, &call)) }.boxed()
    }
}

/// A Work that is created or updated.
#[derive(Clone, Copy, Debug)]
pub struct WorkReview<'r, 'a> {
    pub namespace: &'r str,
    pub object: Raw<'a>,
    /// The stored version of the Work; `None` for a new Work.
    pub stored: Option<Raw<'a>>,
    pub dry_run: bool,
}

/// Revises a Work, with the allocations of its clusters in the ledger. Fails after `deadline`.
pub async fn review_work<'a>(
    service: &Service,
    review: WorkReview<'_, 'a>,
    deadline: Option<Instant>,
) -> Outcome<Patch<'a>> {
    let reviewed = in_time(review_in_time(service, review), deadline).await;
    reviewed.and_then(|reviewed| reviewed).unwrap_or_else(|failure| Outcome {
        cluster: Work::cluster(review.namespace),
        ..Outcome::refused(failure)
    })
}

async fn review_in_time<'a>(
    service: &Service,
    review: WorkReview<'_, 'a>,
) -> Result<Outcome<Patch<'a>>, Failure> {
    let work = Work::read(review.object)?;
    let policies = service.policies()?;
    if work.is_being_deleted() {
        return Ok(Outcome::unchanged());
    }
    let warnings = transformation_warnings(&policies, &work);
    if !has_revisable_manifest(&policies, &work) {
        return Ok(Outcome { warnings, ..Outcome::unchanged() });
    }
    let link = work.link()?;
    if link == Link::Undispatched && !work.is_recorded() {
        return Ok(Outcome::unchanged());
    }
    let cluster = Work::cluster(review.namespace).ok_or_else(|| {
        Failure::unprocessable(format!(
            "/metadata/namespace: {:?} is no execution namespace, so that the cluster of the Work is not known; name one that begins with {:?}",
            review.namespace, EXECUTION_NAMESPACE_PREFIX
        ))
    })?;
    let unchanged = Outcome { cluster: Some(cluster.clone()), warnings, ..Outcome::unchanged() };
    let restored = match restore(&work, review.stored) {
        Ok(restored) => restored,
        Err(Unrestorable::Unchanged(warning)) => return Ok(unchanged.with_warning(warning)),
        Err(Unrestorable::Refused(failure)) => return Err(failure),
    };
    let manifests =
        ManifestReviser { service, policies: &policies, work: &work, link, cluster, stored: review.stored };
    for _ in 0..MAX_ATTEMPTS {
        let mut rewrite = Rewrite::new(&work);
        let mut outcome = unchanged.clone();
        let mut claimed = Vec::new();
        for (position, (manifest, restored)) in work.manifests.iter().zip(&restored).enumerate() {
            let revised = manifests.revise(position, manifest, restored.as_ref(), &mut rewrite).await;
            match revised.map_err(|failure| manifests.locate(failure, position, manifest))? {
                ManifestOutcome::Unselected => {}
                ManifestOutcome::BindingDeleted(binding) => {
                    return Ok(unchanged
                        .with_warning(format!("the {binding} is deleted: the Work is left unchanged")));
                }
                ManifestOutcome::Revised(revised) => {
                    outcome.add(revised.outcome);
                    claimed.push((manifest, revised.claims, revised.binding));
                }
            }
        }
        outcome.result = Ok(rewrite.patch()?);
        if review.dry_run || commit(service, &claimed).await? {
            return Ok(outcome);
        }
    }
    Err(contended())
}

type Claimed<'w, 'a> = (&'w Manifest<'a>, Vec<Claim>, Option<Binding>);

/// False if another replica changed the ledger.
async fn commit(service: &Service, claimed: &[Claimed<'_, '_>]) -> Result<bool, Failure> {
    for (manifest, claims, binding) in claimed {
        let Some(workload) = &manifest.workload else { continue };
        if !service.commit(workload, binding.as_ref(), claims).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Why the revision of a Work cannot be taken back.
enum Unrestorable {
    /// The manifests are the stored ones, so the Work may be stored unchanged, with this warning.
    Unchanged(String),
    Refused(Failure),
}

/// The manifests without their last revision; `None` for a manifest that is not revised.
fn restore(work: &Work<'_>, stored: Option<Raw<'_>>) -> Result<Vec<Option<Value<'static>>>, Unrestorable> {
    let restore = |(position, manifest)| {
        work.restore(manifest, stored).map_err(|error| {
            let stored = stored.and_then(|stored| Work::read(stored).ok());
            if stored.is_some_and(|stored| work.has_same_manifests(&stored)) {
                Unrestorable::Unchanged(format!(
                    "reviser leaves the Work unchanged, because its revision can't be taken back: {error}"
                ))
            } else {
                Unrestorable::Refused(error.failure(position, manifest))
            }
        })
    };
    work.manifests.iter().enumerate().map(restore).collect()
}

/// Revises the manifests of one Work.
struct ManifestReviser<'w, 'a> {
    service: &'w Service,
    policies: &'w PolicySet,
    work: &'w Work<'a>,
    link: Link,
    cluster: ClusterName,
    stored: Option<Raw<'a>>,
}

/// What happens to one manifest.
enum ManifestOutcome {
    /// Nothing selects it.
    Unselected,
    /// The binding of the Work is deleted, so Karmada deletes the Work next.
    BindingDeleted(BindingName),
    Revised(Box<RevisedManifest>),
}

/// What becomes true when the claims are committed.
struct RevisedManifest {
    outcome: Outcome<()>,
    claims: Vec<Claim>,
    binding: Option<Binding>,
}

impl<'a> ManifestReviser<'_, 'a> {
    /// Revises a manifest into `rewrite`. `restored` is the manifest without its last revision.
    async fn revise(
        &self,
        position: usize,
        manifest: &Manifest<'a>,
        restored: Option<&Value<'static>>,
        rewrite: &mut Rewrite<'_, 'a>,
    ) -> Result<ManifestOutcome, Failure> {
        let Some(workload) = &manifest.workload else { return Ok(ManifestOutcome::Unselected) };
        let object = match restored {
            Some(restored) => ObjectSource::Value(restored.clone()),
            None => ObjectSource::Text(manifest.raw),
        };
        let selection = match self.link {
            Link::Undispatched => Selection::default(),
            Link::Binding(_) | Link::Unbound | Link::Lost(_) => select(self.policies, workload, &object)?,
        };
        if selection.is_empty() {
            if let Some(restored) = restored {
                rewrite.replace(position, restored)?;
            }
            return Ok(ManifestOutcome::Unselected);
        }
        let binding = match &self.link {
            Link::Unbound | Link::Undispatched => None,
            Link::Lost(failure) => return Err(failure.clone()),
            Link::Binding(name) => match self.binding(workload, name).await? {
                BindingLookup::Found(binding) => Some(binding),
                BindingLookup::Gone => return Ok(ManifestOutcome::BindingDeleted(name.clone())),
            },
        };
        // The object of that name on Karmada's API server is the template only for a binding or an owner.
        let template = if binding.is_some() || self.work.is_owned_by(workload) {
            self.service.template(workload, &object, &selection).await?
        } else {
            None
        };
        let template = template
            .as_ref()
            .map(|text| Text::parse(text.as_bytes()))
            .transpose()
            .map_err(|error| Failure::unprocessable(error.to_string()))?;
        let target = Target {
            cluster: self.cluster.clone(),
            replicas: self.replicas(workload, &object)?,
            schedule: binding.as_ref().map(|binding| binding.schedule.clone()),
            original: template.as_ref().map(Text::root),
        };
        let request = Request { workload, object: &object, target: &target, is_unbound: binding.is_none() };
        let origin = Origin {
            binding: binding.as_ref(),
            work_name: self.work.name.as_deref(),
            stored_work: self.stored,
        };
        let mut revision =
            self.service.plan(request, self.policies, &selection, origin, Mode::DryRun).await?;
        let revised = Revised {
            rules: revision.applied.clone(),
            hash: selection.hash(),
            hosts: std::mem::take(&mut revision.hosts),
        };
        rewrite.revise(position, workload, &mut revision.object, revised)?;
        let claims = std::mem::take(&mut revision.claims);
        let mut outcome = Outcome::from_revision((), revision);
        let handovers = outcome.handovers.iter().map(|handover| handover_warning(workload, handover));
        outcome.warnings = handovers.chain(outcome.warnings).collect();
        Ok(ManifestOutcome::Revised(Box::new(RevisedManifest { outcome, claims, binding })))
    }

    async fn binding(&self, workload: &Workload, name: &BindingName) -> Result<BindingLookup, Failure> {
        if let Some(namespace) = &name.namespace
            && self.work.manifests.len() == 1
            && *namespace != workload.namespace
        {
            return Err(Failure::unprocessable(format!(
                "/metadata/namespace: is {:?}, but the annotations of the Work name the {name}; a binding is in the namespace of its object, \
                 so correct the namespace or the annotations",
                workload.namespace
            )));
        }
        self.service.binding_of_work(workload, name).await
    }

    fn replicas(&self, workload: &Workload, object: &ObjectSource<'_>) -> Result<Option<i64>, Failure> {
        let interpretation = self.policies.interpretation(&workload.gvk)?;
        let replicas = object.at(&interpretation.replicas).ok().flatten();
        Ok(replicas.as_ref().and_then(Value::as_number).and_then(Number::as_i64))
    }

    /// Adds the path and the identity of a manifest to a failure.
    fn locate(&self, failure: Failure, position: usize, manifest: &Manifest<'_>) -> Failure {
        let path = Pointer::of(["spec", "workload", "manifests", &position.to_string()]);
        let failure = failure.inside(&path);
        match &manifest.workload {
            Some(workload) => failure.context(format_args!("{workload} cluster {:?}", self.cluster.as_str())),
            None => failure,
        }
    }
}

/// The warning about an allocation that leaves a cluster.
fn handover_warning(workload: &Workload, handover: &HandoverEvent) -> String {
    let HandoverEvent { allocation, from, to, waiting, overlaps, object_stays } = handover;
    let kept =
        if *object_stays { "; that cluster keeps the object (preserveResourcesOnDeletion)" } else { "" };
    let allocation = format!("allocation {allocation:?} of {workload}");
    match (waiting, overlaps) {
        (true, _) => {
            format!("{allocation} moves from {from} to {to} when the Work in {from} has released it{kept}")
        }
        (false, false) => format!("{allocation} has moved from {from} to {to}{kept}"),
        (false, true) => format!(
            "{allocation} has moved from {from} to {to} before the Work in {from}, which is being deleted, is gone: until then both host it{kept}"
        ),
    }
}
