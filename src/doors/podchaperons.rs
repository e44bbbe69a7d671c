//! `POST /mutate/podchaperons/{target}`: revises `PodChaperon`s for one of Admiralty's targets.
//!
//! The object does not say which target it is for, so the path does.

use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::admission::{self, Decoded, Operation, Review};
use super::envelope::Unreadable;
use super::{RevisionMetrics, unreadable};
use crate::domain::{
    ADMIRALTY_GROUP, ClusterName, Failure, GroupVersionKind, POD_CHAPERON, Target, Workload,
};
use crate::engine::{ObjectSource, Request};
use crate::json::{Pointer, Raw};
use crate::patch::Patch;
use crate::server::{Call, Door, DoorReply};
use crate::service::{MAX_ATTEMPTS, Mode, Origin, Outcome, Service, contended, in_time};

/// The door for admission reviews of `PodChaperon`s.
#[derive(Clone, Debug)]
pub struct PodChaperons {
    service: Arc<Service>,
    metrics: RevisionMetrics,
}

impl PodChaperons {
    pub const PATH: &'static str = "/mutate/podchaperons/{target}";

    /// The label of this door in metrics.
    pub const NAME: &'static str = "podchaperons";

    pub fn new(service: Arc<Service>, metrics: RevisionMetrics) -> Self {
        Self { service, metrics }
    }

    async fn reply(&self, call: &Call) -> Result<DoorReply, Unreadable> {
        let started = Instant::now();
        let body = admission::parse(&call.body)?;
        let Decoded { head, content } = admission::decode(&body)?;
        let outcome = match &content {
            Ok(review) => self.review(review, call).await,
            Err(failure) => Outcome::refused(failure.clone()),
        };
        Ok(admission::reply(&head, outcome, &self.metrics, started))
    }

    async fn review<'a>(&self, review: &Review<'a>, call: &Call) -> Outcome<Patch<'a>> {
        let resource = &review.resource;
        if (resource.group.as_ref(), resource.resource.as_ref()) != (ADMIRALTY_GROUP, "podchaperons") {
            let expected = format!("podchaperons.{ADMIRALTY_GROUP}");
            return admission::unexpected_resource(
                "revises",
                &expected,
                "MutatingWebhookConfiguration",
                resource,
            );
        }
        let Some(object) = created(review) else { return Outcome::unchanged() };
        let Some(target) = call.target.as_deref().and_then(ClusterName::new) else {
            return Outcome::refused(Failure::bad_request(
                "the path names no target; fix the URL of the webhook configuration",
            ));
        };
        let workload = Workload {
            gvk: GroupVersionKind {
                group: ADMIRALTY_GROUP.to_owned(),
                version: resource.version.clone().into_owned(),
                kind: POD_CHAPERON.to_owned(),
            },
            namespace: namespace(review, &object),
            name: review.name.clone().into_owned(),
        };
        // Admiralty creates one PodChaperon for one pod, so there are no replicas and no schedule.
        let target = Target { cluster: target, replicas: None, schedule: None, original: None };
        let object = ObjectSource::Text(object);
        let request = Request { workload: &workload, object: &object, target: &target, is_unbound: false };
        let mode = if review.dry_run { Mode::DryRun } else { Mode::Commit };
        let mut outcome = in_time(self.revise(request, mode), call.deadline)
            .await
            .and_then(|revised| revised)
            .unwrap_or_else(Outcome::refused);
        let cluster = target.cluster;
        outcome.result = outcome
            .result
            .map_err(|failure| failure.context(format_args!("{workload} cluster {:?}", cluster.as_str())));
        Outcome { cluster: Some(cluster), ..outcome }
    }

    async fn revise<'a>(&self, request: Request<'_, 'a>, mode: Mode) -> Result<Outcome<Patch<'a>>, Failure> {
        let service = &self.service;
        let policies = service.policies()?;
        let selection = policies.selection(request.workload, request.object)?;
        let cluster = &request.target.cluster;
        if selection.is_empty() {
            let warnings = selection.warnings_for(request.workload, cluster);
            return Ok(Outcome { warnings, ..Outcome::unchanged() });
        }
        for _ in 0..MAX_ATTEMPTS {
            let attempt = service.attempt(request, &policies, &selection, Origin::default(), mode);
            let Some(revision) = attempt.await? else { continue };
            let is_unknown = service.reads_clusters() && !revision.knows_cluster;
            let mut outcome = Outcome::from_revision(revision.object.patch(), revision);
            if is_unknown && !selection.transformations.is_empty() {
                outcome.warnings.push(format!(
                    "there is no document of the target {:?}, so that targetReference is compared with its name alone; fix the URL of the \
                     webhook configuration, or pass the document with --state",
                    cluster.as_str()
                ));
            }
            return Ok(outcome);
        }
        Err(contended())
    }
}

impl Door for PodChaperons {
    fn handle(&self, call: Call) -> BoxFuture<'_, DoorReply> {
        async move { self.reply(&call).await.unwrap_or_else(|error| unreadable(&error, &call)) }.boxed()
    }
}

/// The object, if it is being created. Admiralty makes the pod from what is created, so later writes have no
/// effect on it.
fn created<'a>(review: &Review<'a>) -> Option<Raw<'a>> {
    let is_created = review.operation == Operation::Create && review.resource.sub_resource.is_empty();
    let object = review.object.filter(|_| is_created)?;
    let deletion = object.at(&Pointer::of(["metadata", "deletionTimestamp"])).ok().flatten();
    deletion.is_none_or(|deletion| deletion.is_null()).then_some(object)
}

/// The namespace of the request, or the object's if the request has none.
fn namespace(review: &Review<'_>, object: &Raw<'_>) -> String {
    if !review.namespace.is_empty() {
        return review.namespace.clone().into_owned();
    }
    let own = object.at(&Pointer::of(["metadata", "namespace"])).ok().flatten();
    own.and_then(|own| own.as_str().ok()?).unwrap_or_default().into_owned()
}
