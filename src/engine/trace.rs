//! What each rule did, for `preview -o explain`.

use super::Draft;
use super::allocate::AllocationReason;
use super::handover::Settled;
use super::request::LedgerEntries;
use crate::domain::{ClusterName, Failure};
use crate::json::{Pointer, Value};
use crate::patch::rfc6902::{self, MissingPath, Op};
use crate::patch::{Operation, diff};

/// How a revision came about.
#[derive(Clone, Debug, Default)]
pub struct Trace<'a> {
    /// The rules of the policies that select the object, then its transformations, in order.
    pub steps: Vec<TraceStep<'a>>,
    /// The allocations that rules asked for, by name.
    pub placements: Vec<Placement>,
}

/// A rule or a transformation.
#[derive(Clone, Debug)]
pub struct TraceStep<'a> {
    /// `Kind/policy/rule`, or `Kind/name` of a transformation.
    pub rule: String,
    pub outcome: StepOutcome<'a>,
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug)]
pub enum StepOutcome<'a> {
    /// The rule is not for this cluster.
    OtherCluster,
    /// No entry of the transformation is for this cluster.
    NoEntry,
    /// The condition, with this source, does not hold.
    ConditionFalse(String),
    /// The rule failed, and is skipped.
    Skipped(Failure),
    /// It was applied and changed nothing.
    Nothing,
    /// In this order.
    Changed(Vec<Change<'a>>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Change<'a> {
    /// An index is that of the list after the changes before this one.
    pub place: Pointer,
    pub before: Option<Value<'a>>,
    pub after: Option<Value<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub allocation: String,
    pub status: PlacementStatus,
}

/// Where an allocation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementStatus {
    /// In this cluster. The last one is the cluster that the ledger held, if that is another one.
    Cluster(ClusterName, AllocationReason, Option<ClusterName>),
    /// In no cluster: the second waits until the first has released it.
    Waiting(ClusterName, ClusterName),
    /// The workload is not scheduled to any cluster.
    Nowhere,
}

impl Placement {
    /// `None` while the Works have not been read.
    pub(super) fn of(allocation: &str, settled: &Settled, entries: &LedgerEntries) -> Option<Self> {
        let status = match settled {
            Settled::Unread => return None,
            Settled::Nowhere => PlacementStatus::Nowhere,
            Settled::Waiting(event) => PlacementStatus::Waiting(event.from.clone(), event.to.clone()),
            Settled::In(choice, _) => {
                let entry = entries.get(allocation).cloned().flatten();
                PlacementStatus::Cluster(
                    choice.cluster.clone(),
                    choice.reason,
                    entry.filter(|was| *was != choice.cluster),
                )
            }
        };
        Some(Self { allocation: allocation.to_owned(), status })
    }
}

/// The outcome of a step that has been applied.
pub(super) fn changed<'a>(before: &Draft<'a>, after: &Draft<'a>) -> StepOutcome<'a> {
    let changes = changes(before.value(), after.value());
    if changes.is_empty() { StepOutcome::Nothing } else { StepOutcome::Changed(changes) }
}

/// What turns `before` into `after`, each change with what it replaces.
fn changes<'a>(before: &Value<'a>, after: &Value<'a>) -> Vec<Change<'a>> {
    let mut so_far = before.clone();
    let mut changes = Vec::new();
    for operation in diff(before, after).0 {
        let there = so_far.at(operation.path()).cloned();
        let (operation, change) = match operation {
            // What is at the index of an item that is put in moves on.
            Operation::Add(place, value) => {
                let change = Change { place: place.clone(), before: None, after: Some(value.clone()) };
                (Op::Add(place, value), change)
            }
            Operation::Remove(place) => {
                let change = Change { place: place.clone(), before: there, after: None };
                (Op::Remove(place), change)
            }
            Operation::Replace(place, value) => {
                let change = Change { place: place.clone(), before: there, after: Some(value.clone()) };
                (Op::Replace(place, value), change)
            }
        };
        changes.push(change);
        if let Ok(changed) = rfc6902::apply(&so_far, &[operation], MissingPath::Fail) {
            so_far = changed;
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_told_with_what_it_replaces() {
        let value = |text: &'static str| Value::parse(text.as_bytes()).unwrap();
        let before = value(r#"{"a":1,"l":[1,2,3,4],"m":{"x":null},"gone":"g"}"#);
        let after = value(r#"{"a":2,"l":[1,9],"m":{"x":{}},"new":[]}"#);
        let found: Vec<String> = changes(&before, &after)
            .iter()
            .map(|change| {
                let text = |value: &Option<Value<'_>>| {
                    value.as_ref().map_or_else(|| "-".to_owned(), Value::to_string)
                };
                format!("{} {} {}", change.place, text(&change.before), text(&change.after))
            })
            .collect();
        assert_eq!(
            found,
            ["/a 1 2", "/l/1 2 9", "/l/3 4 -", "/l/2 3 -", "/m/x null {}", "/gone \"g\" -", "/new - []"]
        );
        assert_eq!(changes(&after, &after), []);
    }
}
