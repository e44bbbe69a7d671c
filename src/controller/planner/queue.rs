//! A queue of jobs by time.

use std::collections::{BTreeMap, BTreeSet};

use super::WorkName;
use super::rate_limiter::Moment;
use crate::domain::BindingName;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Job {
    Touch(WorkName),
    /// Continue with the allocations of a binding that no Work hosts.
    Handover(BindingName),
    /// Remove entries from the ledger of a binding.
    Clear(BindingName),
}

/// When a job is due, and its rank among jobs that are due at the same time.
pub(super) type Place = (Moment, u8);

/// Jobs by time. It holds each job at most once.
#[derive(Debug, Default)]
pub(super) struct Queue {
    order: BTreeSet<(Place, Job)>,
    places: BTreeMap<Job, Place>,
}

impl Queue {
    /// Inserts, moves or removes a job.
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

    /// The first job.
    pub(super) fn first(&self) -> Option<(Moment, Job)> {
        self.order.first().map(|((at, _), job)| (*at, job.clone()))
    }
}
