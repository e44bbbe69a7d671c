//! The questions of the interpreter webhook and their answers. Each operation has a variant with exactly the
//! fields that it needs.

use super::{ClusterName, Schedule, Workload};
use crate::json::{Raw, Value};
use crate::patch::Patch;

#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The identity in the object.
    pub workload: Workload,
    /// A map, at most [`crate::json::MAX_DEPTH`] levels deep.
    pub object: Raw<'a>,
    pub operation: Operation<'a>,
}

#[derive(Clone, Debug)]
pub enum Operation<'a> {
    /// The replicas that the object wants, and the requirements of one.
    InterpretReplica,
    /// The object with this number of replicas.
    ReviseReplica {
        /// Of one cluster. Never negative.
        replicas: i64,
    },
    /// The object for one cluster.
    ReviseObject(Target<'a>),
}

/// The cluster that a revision is for, and the schedule.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    pub cluster: ClusterName,
    /// Scheduled to the cluster; `None` if unknown.
    pub replicas: Option<i64>,
    /// `None` if unknown.
    pub schedule: Option<Schedule>,
    /// The template, before replicas and override policies.
    pub original: Option<Raw<'a>>,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug)]
pub enum Answer<'a> {
    /// To [`Operation::InterpretReplica`].
    Replicas {
        replicas: i64,
        /// Karmada's `ReplicaRequirements` of one replica; `None` if there are none.
        requirements: Option<Value<'a>>,
    },
    /// To the operations that change the object: the patch of the object in the question.
    Revision(Patch<'a>),
}
