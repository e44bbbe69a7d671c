//! The questions that an interpreter answers, and the answers. One variant per operation, each with just what
//! that operation needs, so that an answer which lacks something cannot be made.

use super::{ClusterName, Schedule, Workload};
use crate::json::{Raw, Value};
use crate::patch::Patch;

/// A question about one workload.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Whom it is about: who the object says it is.
    pub workload: Workload,
    /// The object that the operation works on; a map, at most [`crate::json::MAX_DEPTH`] levels deep.
    pub object: Raw<'a>,
    /// What is asked.
    pub operation: Operation<'a>,
}

/// What is asked about the object.
#[derive(Clone, Debug)]
pub enum Operation<'a> {
    /// How many replicas does it want, and what does one of them need?
    InterpretReplica,
    /// How does it look with this many replicas?
    ReviseReplica {
        /// The replicas of one cluster. Never negative.
        replicas: i64,
    },
    /// How does it look in one cluster?
    ReviseObject(Target<'a>),
}

/// The cluster that a revision is for, and what is known about the whole schedule.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    /// The cluster.
    pub cluster: ClusterName,
    /// Replicas scheduled to it; `None` if nobody said.
    pub replicas: Option<i64>,
    /// All clusters of the workload; `None` if nobody said.
    pub schedule: Option<Schedule>,
    /// The template, before replicas and override policies.
    pub original: Option<Raw<'a>>,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug)]
pub enum Answer<'a> {
    /// To [`Operation::InterpretReplica`].
    Replicas {
        /// Replicas wanted.
        replicas: i64,
        /// Karmada's `ReplicaRequirements` of one replica; `None` for no statement.
        requirements: Option<Value<'a>>,
    },
    /// To the operations that change the object: the patch, which applies to the object of the question.
    Revision(Patch<'a>),
}
