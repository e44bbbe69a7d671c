//! Functions of lists, and functions of strings with the same name.

use std::cmp::Ordering;

use super::{int_argument, quantities, text, to_int, wrong, wrong_item};
use crate::expression::budget::Budget;
use crate::expression::error::ErrorKind;
use crate::expression::value::{Compared, Items, Val, ValResult, View, check_count, compare, equal};

pub(super) fn index_of<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let (View::List(items), [_, wanted]) = (arguments[0].view(), arguments) else {
        return text::index_of(arguments, budget);
    };
    for (position, item) in items.iter().enumerate() {
        if equal(&item, wanted, budget)? {
            return Ok(to_int(position));
        }
    }
    Ok(Val::Int(-1))
}

pub(super) fn last_index_of<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let (View::List(items), [_, wanted]) = (arguments[0].view(), arguments) else {
        return text::last_index_of(arguments, budget);
    };
    for position in (0..items.len()).rev() {
        if items.get(position).map_or(Ok(false), |item| equal(&item, wanted, budget))? {
            return Ok(to_int(position));
        }
    }
    Ok(Val::Int(-1))
}

pub(super) fn reverse<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let View::List(items) = arguments[0].view() else {
        return text::reverse(arguments, budget);
    };
    check_count(items.len())?;
    let mut reversed: Vec<_> = items.iter().collect();
    reversed.reverse();
    Val::list(reversed, budget)
}

pub(super) fn is_sorted<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let items = own("isSorted", arguments)?;
    let mut before: Option<Val<'v, 'a>> = None;
    for item in items.iter() {
        if let Some(before) = before
            && ordering("isSorted", &before, &item, budget)? == Ordering::Greater
        {
            return Ok(Val::Bool(false));
        }
        before = Some(item);
    }
    Ok(Val::Bool(true))
}

pub(super) fn min<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    extreme("min", Ordering::Less, arguments, budget)
}

pub(super) fn max<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    extreme("max", Ordering::Greater, arguments, budget)
}

fn extreme<'v, 'a>(
    name: &str,
    wanted: Ordering,
    arguments: &[Val<'v, 'a>],
    budget: &mut Budget,
) -> ValResult<'v, 'a> {
    let mut items = own(name, arguments)?.iter();
    let mut best =
        items.next().ok_or_else(|| ErrorKind::failed(format!("`{name}` of a list without items")))?;
    ordering(name, &best, &best, budget)?;
    for item in items {
        if ordering(name, &item, &best, budget)? == wanted {
            best = item;
        }
    }
    Ok(best)
}

/// The sum of integers, doubles or quantities, all of the same kind. The sum of an empty list is 0.
pub(super) fn sum<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let mut total: Option<Val<'v, 'a>> = None;
    for item in own("sum", arguments)?.iter() {
        budget.spend(1)?;
        let next = match (total.as_ref().map(Val::view), item.view()) {
            (None, View::Int(_) | View::Double(_) | View::Quantity(_)) => item.clone(),
            (Some(View::Int(a)), View::Int(b)) => Val::Int(
                a.checked_add(b)
                    .ok_or_else(|| ErrorKind::failed("the sum is beyond what an integer holds"))?,
            ),
            (Some(View::Double(a)), View::Double(b)) => Val::Double(a + b),
            (Some(View::Quantity(a)), View::Quantity(b)) => quantities::made(a.saturating_add(*b)),
            _ => {
                return Err(wrong_item("sum", "numbers of one kind or of quantities", &item));
            }
        };
        total = Some(next);
    }
    Ok(total.unwrap_or(Val::Int(0)))
}

pub(super) fn distinct<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let mut kept: Vec<Val<'v, 'a>> = Vec::new();
    'items: for item in own("distinct", arguments)?.iter() {
        for other in &kept {
            if equal(other, &item, budget)? {
                continue 'items;
            }
        }
        kept.push(item);
        check_count(kept.len())?;
    }
    Val::list(kept, budget)
}

/// Sorts a list. The sort is stable.
pub(super) fn sort<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let items = own("sort", arguments)?;
    check_count(items.len())?;
    // Compare all items first, because the comparison function of the sort can't return an error.
    let rounds = items.len().checked_ilog2().map_or(1, |rounds| rounds as usize + 1);
    let mut sorted = Vec::with_capacity(items.len());
    for item in items.iter() {
        budget.spend(rounds * (1 + item.as_text().map_or(0, str::len) / 64))?;
        let first = sorted.first().unwrap_or(&item);
        ordering("sort", first, &item, budget)?;
        if first.kind() != item.kind() {
            return Err(wrong_item("sort", "values of one kind", &item));
        }
        if matches!(item.view(), View::Double(number) if number.is_nan()) {
            return Err(ErrorKind::failed("`sort` takes no list with NaN"));
        }
        sorted.push(item);
    }
    let mut paid = Budget::new(u64::MAX);
    sorted.sort_by(|a, b| ordering("sort", a, b, &mut paid).unwrap_or(Ordering::Equal));
    Val::list(sorted, budget)
}

pub(super) fn slice<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let items = own("slice", arguments)?;
    let bound = |value| int_argument("slice", value).map(usize::try_from);
    match (bound(&arguments[1])?, bound(&arguments[2])?) {
        (Ok(start), Ok(end)) if start <= end && end <= items.len() => {
            check_count(end - start)?;
            Val::list((start..end).filter_map(|index| items.get(index)).collect(), budget)
        }
        _ => Err(ErrorKind::failed("`slice` goes beyond the list")),
    }
}

/// Replaces each item that is a list by the items of that list.
pub(super) fn flatten<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let mut flat = Vec::new();
    for item in own("flatten", arguments)?.iter() {
        match item.view() {
            View::List(items) => {
                check_count(flat.len() + items.len())?;
                flat.extend(items.iter());
            }
            _ => flat.push(item),
        }
        check_count(flat.len())?;
    }
    Val::list(flat, budget)
}

pub(super) fn range<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let count = usize::try_from(int_argument("lists.range", &arguments[0])?)
        .map_err(|_| ErrorKind::failed("`lists.range` takes no negative number"))?;
    check_count(count)?;
    Val::list((0..count).map(to_int).collect(), budget)
}

fn own<'x, 'v, 'a>(name: &str, arguments: &'x [Val<'v, 'a>]) -> Result<Items<'x, 'v, 'a>, ErrorKind> {
    match arguments[0].view() {
        View::List(items) => Ok(items),
        _ => Err(wrong(name, "a list", &arguments[0])),
    }
}

/// The order of two items. NaN is treated as equal to everything.
fn ordering(
    name: &str,
    a: &Val<'_, '_>,
    b: &Val<'_, '_>,
    budget: &mut Budget,
) -> Result<Ordering, ErrorKind> {
    budget.spend(1)?;
    if let (View::Quantity(a), View::Quantity(b)) = (a.view(), b.view()) {
        return Ok(a.cmp(b));
    }
    match compare(a, b, budget)? {
        Compared::Ordered(order) => Ok(order),
        Compared::Unordered => Ok(Ordering::Equal),
        Compared::Senseless => Err(wrong_item(name, "values that have an order among them", a)),
    }
}
