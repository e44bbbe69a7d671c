//! The variables of a policy.

use std::collections::BTreeMap;

use crate::domain::ClusterName;
use crate::expression::Expression;
use crate::json::Value;

/// What a variable of a policy stands for.
#[derive(Clone, Debug)]
pub enum Definition {
    Expression(Expression),
    /// A value for each cluster.
    Table(ClusterTable),
}

/// Values by the name of the cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterTable {
    pub values: BTreeMap<String, Value<'static>>,
    /// The value of a cluster that is not in `values`.
    pub default: Option<Value<'static>>,
}

/// Part of the message about a cluster without an entry in a [`ClusterTable`].
pub const NO_ENTRY: &str = "have no entry for the cluster";

impl ClusterTable {
    pub(super) fn get(&self, cluster: &ClusterName) -> Option<&Value<'static>> {
        self.values.get(cluster.as_str()).or(self.default.as_ref())
    }
}
