//! Evaluates binary operators.

use std::cmp::Ordering;

use super::budget::Budget;
use super::error::ErrorKind;
use super::node::Binary;
use super::value::{
    Compared, Items, Val, ValKind, ValResult, View, check_count, check_length, compare, equal,
};

pub(super) fn binary<'v, 'a>(
    operator: Binary,
    a: &Val<'v, 'a>,
    b: &Val<'v, 'a>,
    budget: &mut Budget,
) -> ValResult<'v, 'a> {
    match operator {
        Binary::Equal => equal(a, b, budget).map(Val::Bool),
        Binary::NotEqual => equal(a, b, budget).map(|same| Val::Bool(!same)),
        Binary::In => contains(b, a, budget).map(Val::Bool),
        Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
            match compare(a, b, budget)? {
                Compared::Ordered(order) => Ok(Val::Bool(holds(operator, order))),
                Compared::Unordered => Ok(Val::Bool(false)),
                Compared::Senseless => Err(senseless(operator, a, b)),
            }
        }
        _ => arithmetic(operator, a, b, budget),
    }
}

fn holds(operator: Binary, order: Ordering) -> bool {
    match operator {
        Binary::Less => order.is_lt(),
        Binary::LessOrEqual => order.is_le(),
        Binary::Greater => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// The operator `in`: whether a list has the item, or a map the key.
fn contains(container: &Val<'_, '_>, item: &Val<'_, '_>, budget: &mut Budget) -> Result<bool, ErrorKind> {
    match (container.view(), item.view()) {
        (View::List(items), _) => {
            for other in items.iter() {
                if equal(&other, item, budget)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (View::Map(members), View::Text(name)) => Ok(members.get(name, budget)?.is_some()),
        (View::Map(_), View::Int(_) | View::Double(_) | View::Bool(_)) => Ok(false),
        _ => Err(senseless(Binary::In, item, container)),
    }
}

fn arithmetic<'v, 'a>(
    operator: Binary,
    a: &Val<'v, 'a>,
    b: &Val<'v, 'a>,
    budget: &mut Budget,
) -> ValResult<'v, 'a> {
    match (a.view(), b.view()) {
        (View::Int(a), View::Int(b)) => integers(operator, a, b).map(Val::Int),
        (View::Double(left), View::Double(right)) => match operator {
            Binary::Add => Ok(Val::Double(left + right)),
            Binary::Subtract => Ok(Val::Double(left - right)),
            Binary::Multiply => Ok(Val::Double(left * right)),
            Binary::Divide => Ok(Val::Double(left / right)),
            _ => Err(senseless(operator, a, b)),
        },
        (View::Text(a), View::Text(b)) if operator == Binary::Add => {
            check_length(a.len() + b.len())?;
            Val::text(&[a, b].concat(), budget)
        }
        (View::List(a), View::List(b)) if operator == Binary::Add => {
            check_count(a.len().saturating_add(b.len()))?;
            Val::list(a.iter().chain(Items::iter(b)).collect(), budget)
        }
        _ => Err(senseless(operator, a, b)),
    }
}

fn integers(operator: Binary, a: i64, b: i64) -> Result<i64, ErrorKind> {
    let given = match operator {
        Binary::Add => a.checked_add(b),
        Binary::Subtract => a.checked_sub(b),
        Binary::Multiply => a.checked_mul(b),
        Binary::Divide | Binary::Remainder if b == 0 => return Err(ErrorKind::failed("a division by zero")),
        Binary::Divide => a.checked_div(b),
        _ => a.checked_rem(b),
    };
    given.ok_or_else(|| ErrorKind::failed("the result is beyond what an integer holds"))
}

/// The error for an operator that does not accept quantities, with the function to call instead.
pub(super) fn no_quantities(operator: Binary) -> String {
    let sign = operator.sign();
    let advice = match operator {
        Binary::Add => "write `a.add(b)`",
        Binary::Subtract => "write `a.sub(b)`",
        Binary::Multiply => {
            "write `a.mul(2)` for a whole factor, and `quantity(a.asApproximateFloat() * 1.5)` for any other"
        }
        Binary::Divide | Binary::Remainder => "write `quantity(a.asApproximateFloat() / 2.0)`",
        Binary::Less => "write `a.isLessThan(b)`",
        Binary::Greater => "write `a.isGreaterThan(b)`",
        Binary::LessOrEqual => "write `a.compareTo(b) <= 0`",
        Binary::GreaterOrEqual => "write `a.compareTo(b) >= 0`",
        Binary::Equal | Binary::NotEqual | Binary::In => "compare it with another quantity",
    };
    format!("`{sign}` is not for quantities; {advice}")
}

/// The error for an operator that is not defined for two values.
fn senseless(operator: Binary, a: &Val<'_, '_>, b: &Val<'_, '_>) -> ErrorKind {
    let (sign, kinds) = (operator.sign(), (a.kind(), b.kind()));
    let advice = match kinds {
        (ValKind::Quantity, _) | (_, ValKind::Quantity) => return ErrorKind::failed(no_quantities(operator)),
        (ValKind::Int, ValKind::Double) | (ValKind::Double, ValKind::Int) => {
            "; convert one with int() or double()"
        }
        (ValKind::String, ValKind::Int | ValKind::Double | ValKind::Bool) if operator == Binary::Add => {
            "; convert with string()"
        }
        _ => "",
    };
    ErrorKind::failed(format!(
        "`{sign}` has no meaning between {} and {}{advice}",
        kinds.0.article(),
        kinds.1.article()
    ))
}
