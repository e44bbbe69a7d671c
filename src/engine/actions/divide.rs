//! The action `divide`: a number, shared out among the clusters.

use crate::domain::{Failure, Schedule};
use crate::engine::revise::Request;
use crate::engine::{Draft, locate};
use crate::json::{Number, Pointer, Value};

/// Divides the integer at a place among the clusters of the binding.
///
/// Of the template, where that is known, else of the object. The parts sum exactly to the whole: the largest remainders get what
/// is left over, of equal ones the first in binding order. A cluster that the binding does not list gets 0. Nothing happens where the place is
/// missing or null. A `*` in the path is all items of the list there, an index is one of them; each number is divided for itself.
#[derive(Clone, Debug)]
pub struct Divide {
    /// The place.
    pub path: Pointer,
    /// By what it is divided.
    pub weights: Weights,
    /// What each cluster gets at least, out of the whole.
    pub minimum: u32,
    /// What each cluster gets at least, also where the sum is then more than the whole. A cluster that the binding does not list gets it too.
    pub floor: u32,
    /// What becomes of a percentage.
    pub percentages: Percentages,
}

/// By what a number is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// By the replicas of each cluster; equally if all have none.
    #[default]
    Replicas,
    /// Equally.
    Equal,
}

/// What becomes of a percentage, such as `"25%"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Percentages {
    /// It stays: it is one of the cluster's own replicas.
    #[default]
    Keep,
    /// It is divided as a number is.
    Scale,
}

impl Divide {
    /// Applies it to `object`.
    pub fn apply(&self, object: &mut Draft<'_>, request: &Request<'_, '_>) -> Result<(), Failure> {
        let misread = |error: &dyn std::fmt::Display| refused(&self.path, &error.to_string());
        if let Some(head) = self.first_list(object)? {
            let Some(mut list) = object.find(&head)? else { return Ok(()) };
            let original = request.target.original.map(|original| original.at(&head)).transpose();
            let original = original.map_err(|error| misread(&error))?.map(|found| {
                found.map_or(Ok(Value::Null), |raw| raw.to_value()).map_err(|error| misread(&error))
            });
            let rest = &self.path.tokens()[head.tokens().len()..];
            self.descend(&mut list, original.transpose()?.as_ref(), rest, &head, request)?;
            return object.set(&head, list);
        }
        let whole = match &request.target.original {
            Some(original) => {
                let found = original.at(&self.path).map_err(|error| misread(&error))?;
                found.map(|raw| raw.to_value()).transpose().map_err(|error| misread(&error))?
            }
            None => object
                .find(&self.path)
                .map_err(|failure| failure.with_detail(format_args!("`divide.path` is {}", self.path)))?,
        };
        match self.part(whole.as_ref(), &self.path, request)? {
            Some(part) => object.set(&self.path, part),
            None => Ok(()),
        }
    }

    /// The first list of the object on the way that a step of the path goes into.
    fn first_list(&self, object: &Draft<'_>) -> Result<Option<Pointer>, Failure> {
        for (depth, token) in self.path.tokens().iter().enumerate().filter(|(_, token)| is_item(token)) {
            let place = self.path.prefix(depth);
            let found = object.peek(&place)?;
            if matches!(found, Some(Value::Array(_))) {
                return Ok(Some(place));
            }
            if found.is_none() || token == "*" {
                break;
            }
        }
        Ok(None)
    }

    /// Divides the numbers below `value`, which is at `place`, to which the steps of `rest` lead. `original` is the value at `place` in
    /// the template, where that is known; items of lists are matched by position.
    fn descend(
        &self,
        value: &mut Value<'_>,
        original: Option<&Value<'_>>,
        rest: &[String],
        place: &Pointer,
        request: &Request<'_, '_>,
    ) -> Result<(), Failure> {
        let Some((token, rest)) = rest.split_first() else {
            let whole = original.unwrap_or(value);
            if let Some(part) = self.part(Some(whole), place, request)? {
                *value = part;
            }
            return Ok(());
        };
        match value {
            Value::Null => Ok(()),
            Value::Array(items) if is_item(token) => {
                let items = std::sync::Arc::make_mut(items);
                let theirs = original.map(|original| original.as_array().unwrap_or_default());
                if let Some(theirs) = theirs.filter(|theirs| theirs.len() != items.len()) {
                    return Err(Failure::unprocessable(format!(
                        "{place}: can't be divided: has {} items, and {} in the template, so that it is not known which are the same; divide before the list is changed, or name a place outside of it",
                        items.len(),
                        theirs.len()
                    )));
                }
                for (position, item) in items.iter_mut().enumerate() {
                    if token == "*" || *token == position.to_string() {
                        let original = theirs.map(|theirs| &theirs[position]);
                        self.descend(item, original, rest, &place.join(position.to_string()), request)?;
                    }
                }
                Ok(())
            }
            Value::Object(members) => {
                let original = original.map(|original| original.get(token).unwrap_or(&Value::Null));
                let mut member = members.get(token).cloned().unwrap_or(Value::Null);
                self.descend(&mut member, original, rest, &place.join(token), request)?;
                if !member.is_null() {
                    members.insert(token.clone(), member);
                }
                Ok(())
            }
            other => Err(locate::not_a_map(place, other.kind())),
        }
    }

    /// What the cluster gets of a number at `place`; `None` where there is nothing to divide.
    fn part(
        &self,
        whole: Option<&Value<'_>>,
        place: &Pointer,
        request: &Request<'_, '_>,
    ) -> Result<Option<Value<'static>>, Failure> {
        let Some(whole) = self.whole(whole, place)? else { return Ok(None) };
        let target = request.target;
        let Some(schedule) = &target.schedule else {
            let problem = format!("{place}: can't be divided");
            return Err(
                request.unscheduled(&problem, "give `request.targetClusters`, or the binding in --state")
            );
        };
        let position = schedule.clusters().iter().position(|entry| entry.name == target.cluster);
        let part = match position {
            Some(position) => self.parts(whole.number, place, schedule)?[position],
            None => 0,
        };
        let part = part.max(i64::from(self.floor));
        Ok(Some(if whole.is_percentage { format!("{part}%").into() } else { Value::from(part) }))
    }

    fn whole(&self, value: Option<&Value<'_>>, place: &Pointer) -> Result<Option<Whole>, Failure> {
        let (digits, is_percentage) = match value {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => (number.as_str(), false),
            Some(Value::String(text)) => match text.strip_suffix('%') {
                Some(_) if self.percentages == Percentages::Keep => return Ok(None),
                Some(digits) => (digits, true),
                None => return Err(refused(place, "is a string that is no percentage")),
            },
            Some(other) => return Err(refused(place, &format!("is {}", other.kind()))),
        };
        match Number::parse(digits).and_then(|number| number.as_i64()).filter(|number| *number >= 0) {
            Some(number) => Ok(Some(Whole { number, is_percentage })),
            None => Err(refused(place, "is negative or no integer")),
        }
    }

    /// What each cluster of the schedule gets.
    fn parts(&self, whole: i64, place: &Pointer, schedule: &Schedule) -> Result<Vec<i64>, Failure> {
        let clusters = schedule.clusters();
        let minimum = i64::from(self.minimum);
        let needed = i64::try_from(clusters.len()).ok().and_then(|count| count.checked_mul(minimum));
        if needed.is_none_or(|needed| needed > whole) {
            return Err(Failure::unprocessable(format!(
                "{place}: can't be divided: is {whole}, of which {} clusters can't get {minimum} each; make it larger, or use `floor: {minimum}` in place of `minimum`, with which the sum may be more than the whole",
                clusters.len()
            )));
        }
        let mut weights: Vec<i64> = match self.weights {
            Weights::Replicas => clusters.iter().map(|entry| entry.replicas).collect(),
            Weights::Equal => vec![1; clusters.len()],
        };
        if weights.iter().all(|weight| *weight == 0) {
            weights.fill(1);
        }
        Ok(shares(whole, &weights, minimum))
    }
}

/// Whether a step of the path can go into a list.
fn is_item(token: &str) -> bool {
    token == "*" || !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit())
}

fn refused(place: &Pointer, problem: &str) -> Failure {
    Failure::unprocessable(format!("{place}: can't be divided: {problem}; it must be an integer from 0 on"))
}

/// What is to be divided.
struct Whole {
    number: i64,
    is_percentage: bool,
}

/// Shares `whole` out by weight. Those whose share would be below `minimum` get that, and the others share the rest.
///
/// Not all weights are 0, and there is enough for the minimum.
fn shares(whole: i64, weights: &[i64], minimum: i64) -> Vec<i64> {
    let mut parts = vec![None; weights.len()];
    loop {
        let free: Vec<usize> = (0..weights.len()).filter(|&at| parts[at].is_none()).collect();
        let rest = whole - parts.iter().flatten().sum::<i64>();
        let total: i128 = free.iter().map(|&at| i128::from(weights[at])).sum();
        let exact = |at: usize| i128::from(rest) * i128::from(weights[at]);
        let mut is_settled = true;
        for &at in &free {
            // Compared without division: exact / total < minimum.
            if total > 0 && exact(at) < i128::from(minimum) * total || total == 0 {
                parts[at] = Some(minimum);
                is_settled = false;
            }
        }
        if is_settled {
            largest_remainders(rest, &free, weights, total, &mut parts);
            return parts.into_iter().map(Option::unwrap_or_default).collect();
        }
        if free.iter().all(|&at| parts[at].is_some()) {
            // All that are left have no weight: what the minimum leaves goes to the first by weight, in order.
            let mut given: Vec<i64> = parts.into_iter().map(Option::unwrap_or_default).collect();
            let left = whole - given.iter().sum::<i64>();
            if let Some(heaviest) = (0..weights.len()).rev().max_by_key(|&at| weights[at]) {
                given[heaviest] += left;
            }
            return given;
        }
    }
}

/// The whole parts first; one more to those with the largest remainder, of equal ones to the first.
fn largest_remainders(rest: i64, free: &[usize], weights: &[i64], total: i128, parts: &mut [Option<i64>]) {
    let mut remainders: Vec<(i128, usize)> = Vec::with_capacity(free.len());
    let mut left = i128::from(rest);
    for &at in free {
        let exact = i128::from(rest) * i128::from(weights[at]);
        let part = exact.checked_div(total).unwrap_or(0);
        left -= part;
        parts[at] = i64::try_from(part).ok();
        remainders.push((exact.checked_rem(total).unwrap_or(0), at));
    }
    // Stable: equal remainders stay in binding order.
    remainders.sort_by_key(|(remainder, _)| std::cmp::Reverse(*remainder));
    for (_, at) in remainders.into_iter().take(usize::try_from(left).unwrap_or(0)) {
        parts[at] = parts[at].map(|part| part + 1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_largest_remainders_get_what_is_left_over() {
        for (whole, weights, minimum, expected) in [
            (10, &[3, 1][..], 0, &[8, 2][..]),
            (10, &[1, 1, 1], 0, &[4, 3, 3]),
            (5, &[3, 1], 0, &[4, 1]),
            (1, &[1, 1], 0, &[1, 0]),
            (0, &[3, 1], 0, &[0, 0]),
            (10, &[9, 1], 1, &[9, 1]),
            (10, &[99, 1], 1, &[9, 1]),
            (10, &[1, 0], 2, &[8, 2]),
            (6, &[4, 1, 1], 2, &[2, 2, 2]),
            (7, &[1, 1, 4], 1, &[1, 1, 5]),
            (3, &[0, 5, 0], 1, &[1, 1, 1]),
        ] {
            assert_eq!(shares(whole, weights, minimum), expected, "{whole} {weights:?} {minimum}");
        }
    }

    proptest! {
        /// Exactly the whole, nobody below the minimum, and without one nobody off the exact share by one or more.
        #[test]
        fn parts_sum_to_the_whole(
            weights in proptest::collection::vec(0i64..20, 1..8), whole in 0i64..1000, minimum in 0i64..5,
        ) {
            let count = i64::try_from(weights.len()).unwrap();
            prop_assume!(weights.iter().any(|weight| *weight > 0) && whole >= count * minimum);
            let parts = shares(whole, &weights, minimum);
            prop_assert_eq!(parts.iter().sum::<i64>(), whole);
            prop_assert!(parts.iter().all(|part| *part >= minimum));
            if minimum == 0 {
                let total: i64 = weights.iter().sum();
                for (part, weight) in parts.iter().zip(&weights) {
                    prop_assert!((part * total - whole * weight).abs() < total, "{:?}", parts);
                }
            }
            // A heavier cluster never gets less.
            for (part, weight) in parts.iter().zip(&weights) {
                for (other, other_weight) in parts.iter().zip(&weights) {
                    prop_assert!(weight <= other_weight || part >= other, "{:?}", parts);
                }
            }
        }
    }
}
