//! What is to be done when.

use std::collections::{BTreeMap, BTreeSet};

use super::WorkName;
use super::rate_limiter::Moment;
use crate::domain::BindingName;

/// Something that is to be done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Job {
    Touch(WorkName),
    /// To go on with the allocations of a binding that no Work hosts.
    Handover(BindingName),
    /// To take entries out of the ledger.
    Clear(BindingName),
}

/// When, and what first of several at one time.
pub(super) type Place = (Moment, u8);

/// Jobs by time. A job is in it once.
#[derive(Debug, Default)]
pub(super) struct Queue {
    order: BTreeSet<(Place, Job)>,
    places: BTreeMap<Job, Place>,
}

impl Queue {
    /// Puts a job in its place, or takes it out.
    pub(super) fn put(&mut self, job: &Job, place: Option<Place>) {
        if self.places.get(job) == place.as_ref() {
            return;
        }
        if let Some(was) = self.places.remove(job) {
            self.order.remove(&(was, job.clone()));
        }
        if let Some(place) = place {
            self.places.insert(job.clone(), place);
            self.order.insert((place, job.clone()));
        }
    }

    /// The job that comes first.
    pub(super) fn first(&self) -> Option<(Moment, Job)> {
        self.order.first().map(|((at, _), job)| (*at, job.clone()))
    }
}
