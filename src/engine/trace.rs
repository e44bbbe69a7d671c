//! What each rule did, for those who ask: `preview -o explain` and nobody else, since it costs a copy of the object a rule.

use super::allocate::AllocationReason;
use super::handover::Settled;
use super::revise::LedgerEntries;
use crate::domain::{ClusterName, Failure};
use crate::json::{Pointer, Value};
use crate::patch::rfc6902::{self, MissingPath, Op};
use crate::patch::{Operation, diff};

/// Why a revision is what it is.
#[derive(Clone, Debug, Default)]
pub struct Trace<'a> {
    /// What came of each rule of the policies that select the object, in their order.
    pub steps: Vec<TraceStep<'a>>,
    /// Where the allocations are that rules have asked for, by name.
    pub placements: Vec<Placement>,
}

/// What came of one rule.
#[derive(Clone, Debug)]
pub struct TraceStep<'a> {
    /// The rule, as `Kind/policy/rule`.
    pub rule: String,
    /// What came of it.
    pub outcome: StepOutcome<'a>,
    /// What it warns of.
    pub warnings: Vec<String>,
}

/// What came of a rule.
#[derive(Clone, Debug)]
pub enum StepOutcome<'a> {
    /// It is not for this cluster.
    OtherCluster,
    /// It is a transformation, and none of its entries is for this cluster.
    NoEntry,
    /// Its condition, this one, does not hold.
    ConditionFalse(String),
    /// It could not be applied, for this reason, and says that it is skipped then.
    Skipped(Failure),
    /// It was applied, and found nothing to change.
    Nothing,
    /// It made these changes, in this order.
    Changed(Vec<Change<'a>>),
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change<'a> {
    /// Where. An index counts as the list is after the changes before this one.
    pub place: Pointer,
    /// What was there, if anything was.
    pub before: Option<Value<'a>>,
    /// What is there now, if anything is.
    pub after: Option<Value<'a>>,
}

/// Where an allocation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Its name.
    pub allocation: String,
    /// Where it is.
    pub status: PlacementStatus,
}

/// Where an allocation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementStatus {
    /// In this cluster, by this rule; before that it was in another, if one is named.
    Cluster(ClusterName, AllocationReason, Option<ClusterName>),
    /// In none yet: it waits until the first of these clusters lets go of it, to be in the second.
    Waiting(ClusterName, ClusterName),
    /// Nowhere, because the workload is not scheduled anywhere.
    Nowhere,
}

impl Placement {
    /// What has been settled, in the words of this module; `None` where nothing has.
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

/// What turns `before` into `after`, each change with what it replaces.
pub(super) fn changes<'a>(before: &Value<'a>, after: &Value<'a>) -> Vec<Change<'a>> {
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
        let told: Vec<String> = changes(&before, &after)
            .iter()
            .map(|change| {
                let text = |value: &Option<Value<'_>>| {
                    value.as_ref().map_or_else(|| "-".to_owned(), Value::to_string)
                };
                format!("{} {} {}", change.place, text(&change.before), text(&change.after))
            })
            .collect();
        assert_eq!(
            told,
            ["/a 1 2", "/l/1 2 9", "/l/3 4 -", "/l/2 3 -", "/m/x null {}", "/gone \"g\" -", "/new - []"]
        );
        assert_eq!(changes(&after, &after), []);
    }
}
