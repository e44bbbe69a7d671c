//! The action `divide`: a number, shared among the clusters.

use std::sync::Arc;

use crate::domain::{Failure, Schedule};
use crate::engine::request::Request;
use crate::engine::{Draft, locate, pattern};
use crate::json::{Number, Pointer, Value};

/// Divides the integer at a place among the clusters of the binding.
///
/// The integer is that of the template where the template is known, else that of the object. The shares sum
/// exactly to it: clusters with the largest remainders get the rest, of equal ones the first in the binding.
/// A cluster that the binding does not list gets 0. A place that is missing or null is left unchanged. A `*`
/// in the path stands for each item of a list, an index for one; each number is divided on its own.
#[derive(Clone, Debug)]
pub struct Divide {
    pub path: Pointer,
    pub weights: Weights,
    /// The least share of a cluster. The sum stays the whole.
    pub minimum: u32,
    /// The least share of a cluster, also of one that the binding does not list. The sum can be more than the
    /// whole.
    pub floor: u32,
    pub percentages: Percentages,
}

/// The weights of the clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// The replicas of each cluster; equal weights if all have none.
    #[default]
    Replicas,
    Equal,
}

/// What to do with a percentage, such as `"25%"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Percentages {
    /// Keep it: it is a percentage of the cluster's own replicas.
    #[default]
    Keep,
    /// Divide it as a number.
    Scale,
}

impl Divide {
    pub(super) fn apply<'a>(&self, draft: &mut Draft<'a>, request: Request<'_, 'a>) -> Result<(), Failure> {
        let list = self.first_list(draft)?;
        let place = list.as_ref().unwrap_or(&self.path);
        let template = match &request.target.original {
            Some(template) => {
                let found = template.at(place).and_then(|found| found.map(|raw| raw.to_value()).transpose());
                Some(found.map_err(|error| refused(place, &error.to_string()))?.unwrap_or(Value::Null))
            }
            None => None,
        };
        if list.is_some() {
            let Some(mut list) = draft.find(place)?.cloned() else { return Ok(()) };
            let rest = &self.path.tokens()[place.tokens().len()..];
            self.divide_below(&mut list, template.as_ref(), rest, place, request)?;
            return draft.set(place, list);
        }
        let whole = match &template {
            Some(whole) => whole,
            None => match draft.find(place) {
                Ok(found) => found.unwrap_or(&Value::Null),
                Err(failure) => {
                    return Err(failure.with_detail(format_args!("`divide.path` is {place}")));
                }
            },
        };
        match self.share(whole, place, request)? {
            Some(share) => draft.set(place, share),
            None => Ok(()),
        }
    }

    /// The first list on the path.
    fn first_list(&self, draft: &Draft<'_>) -> Result<Option<Pointer>, Failure> {
        let is_item = |token: &str| token == pattern::ITEMS || pattern::is_index(token);
        for (depth, token) in self.path.tokens().iter().enumerate().filter(|(_, token)| is_item(token)) {
            let place = self.path.prefix(depth);
            match draft.find(&place)? {
                Some(Value::Array(_)) => return Ok(Some(place)),
                None => break,
                Some(_) if token == pattern::ITEMS => break,
                Some(_) => {}
            }
        }
        Ok(None)
    }

    /// Divides the numbers at `path` below `value`, which is at `place`. `template` is the value there in the
    /// template, if that is known; items of lists are matched by position.
    fn divide_below(
        &self,
        value: &mut Value<'_>,
        template: Option<&Value<'_>>,
        path: &[String],
        place: &Pointer,
        request: Request<'_, '_>,
    ) -> Result<(), Failure> {
        let Some((token, rest)) = path.split_first() else {
            if let Some(share) = self.share(template.unwrap_or(value), place, request)? {
                *value = share;
            }
            return Ok(());
        };
        match value {
            Value::Null => Ok(()),
            Value::Array(items) if token == pattern::ITEMS || pattern::is_index(token) => {
                let theirs = template.map(|template| template.as_array().unwrap_or_default());
                if let Some(theirs) = theirs.filter(|theirs| theirs.len() != items.len()) {
                    return Err(Failure::unprocessable(format!(
                        "{place}: can't be divided: has {} items, and {} in the template, so that it is not known which are the same; divide before the list is changed, or name a place outside of it",
                        items.len(),
                        theirs.len()
                    )));
                }
                for (position, item) in Arc::make_mut(items).iter_mut().enumerate() {
                    if token == pattern::ITEMS || *token == position.to_string() {
                        let template = theirs.map(|theirs| &theirs[position]);
                        let place = place.join(position.to_string());
                        self.divide_below(item, template, rest, &place, request)?;
                    }
                }
                Ok(())
            }
            Value::Object(members) => {
                let template = template.map(|template| template.get(token).unwrap_or(&Value::Null));
                let mut member = members.get(token).cloned().unwrap_or(Value::Null);
                self.divide_below(&mut member, template, rest, &place.join(token), request)?;
                if !member.is_null() {
                    members.insert(token.clone(), member);
                }
                Ok(())
            }
            other => Err(locate::not_a_map(place, other.kind())),
        }
    }

    /// The share of the cluster. `None` where there is nothing to divide.
    fn share(
        &self,
        whole: &Value<'_>,
        place: &Pointer,
        request: Request<'_, '_>,
    ) -> Result<Option<Value<'static>>, Failure> {
        let (digits, is_percentage) = match whole {
            Value::Null => return Ok(None),
            Value::Number(number) => (number.as_str(), false),
            Value::String(text) => match text.strip_suffix('%') {
                Some(_) if self.percentages == Percentages::Keep => return Ok(None),
                Some(digits) => (digits, true),
                None => return Err(refused(place, "is a string that is no percentage")),
            },
            other => return Err(refused(place, &format!("is {}", other.kind()))),
        };
        let number = Number::parse(digits).and_then(|number| number.as_i64()).filter(|number| *number >= 0);
        let number = number.ok_or_else(|| refused(place, "is negative or no integer"))?;
        let Some(schedule) = &request.target.schedule else {
            return Err(request.unscheduled(
                &format!("{place}: can't be divided"),
                "give `request.targetClusters`, or the binding in --state",
            ));
        };
        let position = schedule.clusters().iter().position(|entry| entry.name == request.target.cluster);
        let share = match position {
            Some(position) => self.shares(number, place, schedule)?[position],
            None => 0,
        };
        let share = share.max(i64::from(self.floor));
        Ok(Some(if is_percentage { format!("{share}%").into() } else { Value::from(share) }))
    }

    /// The share of each cluster of the schedule.
    fn shares(&self, whole: i64, place: &Pointer, schedule: &Schedule) -> Result<Vec<i64>, Failure> {
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

fn refused(place: &Pointer, problem: &str) -> Failure {
    Failure::unprocessable(format!("{place}: can't be divided: {problem}; it must be an integer from 0 on"))
}

/// Shares `whole` by weight. Where a share would be below `minimum`, it is that, and the others share the
/// rest.
///
/// Not all weights are 0, and `whole` is enough for the minimum of all.
fn shares(whole: i64, weights: &[i64], minimum: i64) -> Vec<i64> {
    let mut parts = vec![None; weights.len()];
    loop {
        let open: Vec<usize> = (0..weights.len()).filter(|&at| parts[at].is_none()).collect();
        let rest = whole - parts.iter().flatten().sum::<i64>();
        let total: i128 = open.iter().map(|&at| i128::from(weights[at])).sum();
        let exact = |at: usize| i128::from(rest) * i128::from(weights[at]);
        let mut is_settled = true;
        for &at in &open {
            // Compared without division: exact / total < minimum.
            if total > 0 && exact(at) < i128::from(minimum) * total || total == 0 {
                parts[at] = Some(minimum);
                is_settled = false;
            }
        }
        if is_settled {
            largest_remainders(rest, &open, weights, total, &mut parts);
            return parts.into_iter().map(Option::unwrap_or_default).collect();
        }
        if open.iter().all(|&at| parts[at].is_some()) {
            // The rest goes to the heaviest cluster; of several, to the first.
            let mut given: Vec<i64> = parts.into_iter().map(Option::unwrap_or_default).collect();
            let left = whole - given.iter().sum::<i64>();
            if let Some(heaviest) = (0..weights.len()).rev().max_by_key(|&at| weights[at]) {
                given[heaviest] += left;
            }
            return given;
        }
    }
}

/// Rounds shares down, and gives one more to those with the largest remainders; of equal ones, to the first.
fn largest_remainders(rest: i64, open: &[usize], weights: &[i64], total: i128, parts: &mut [Option<i64>]) {
    let mut remainders: Vec<(i128, usize)> = Vec::with_capacity(open.len());
    let mut left = i128::from(rest);
    for &at in open {
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
    fn the_largest_remainders_get_the_rest() {
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
        /// Exactly the whole, no share below the minimum, and without a minimum no share off the exact one by
        /// one or more.
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
