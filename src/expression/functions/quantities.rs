//! Functions of quantities, as in the CEL library of Kubernetes.
//!
//! Two differences: numbers are accepted as quantities, because `cpu: 1` is valid, and `mul` multiplies by an
//! integer.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{text_argument, wrong};
use crate::domain::{Format, Quantity};
use crate::expression::budget::Budget;
use crate::expression::error::ErrorKind;
use crate::expression::value::{Val, ValKind, ValResult, View};
use crate::json::Value;

pub(super) fn quantity<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let written;
    let text = match &arguments[0] {
        Val::Json(Value::Number(number)) => number.as_str(),
        Val::Int(number) => return Ok(made(Quantity::of_units(*number, Format::DecimalSi))),
        Val::Double(number) => {
            // Without an exponent, because an exponent would become the format of the quantity.
            written = number.to_string();
            written.as_str()
        }
        other => text_argument("quantity", other)?,
    };
    budget.spend_text(text.len())?;
    Quantity::parse(text).map(made).map_err(|error| ErrorKind::failed(error.to_string()))
}

pub(super) fn is_quantity<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    if !matches!(arguments[0].kind(), ValKind::String | ValKind::Int | ValKind::Double) {
        return Err(wrong("isQuantity", "a string", &arguments[0]));
    }
    match quantity(arguments, budget) {
        Err(limit @ ErrorKind::Limit(_)) => Err(limit),
        other => Ok(Val::Bool(other.is_ok())),
    }
}

pub(super) fn sign<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    own("sign", arguments).map(|own| Val::Int(order(own.cmp(&Quantity::ZERO))))
}

pub(super) fn is_integer<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    own("isInteger", arguments).map(|own| Val::Bool(integer(own).is_some()))
}

pub(super) fn as_integer<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    integer(own("asInteger", arguments)?)
        .map(Val::Int)
        .ok_or_else(|| ErrorKind::failed("the quantity is not an integer, or too large for one"))
}

pub(super) fn as_approximate_float<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    own("asApproximateFloat", arguments).map(|own| Val::Double(own.approximate_value()))
}

pub(super) fn add<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    Ok(made(own("add", arguments)?.saturating_add(other("add", arguments)?)))
}

pub(super) fn sub<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    Ok(made(own("sub", arguments)?.saturating_sub(other("sub", arguments)?)))
}

pub(super) fn mul<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    let own = own("mul", arguments)?;
    let View::Int(factor) = arguments[1].view() else {
        return Err(match arguments[1].kind() {
            ValKind::Double => ErrorKind::failed(
                "`mul` takes an integer, not a double; write `quantity(a.asApproximateFloat() * 1.5)`",
            ),
            _ => wrong("mul", "an integer", &arguments[1]),
        });
    };
    own.checked_mul(factor)
        .map(made)
        .ok_or_else(|| ErrorKind::failed("the result is beyond what a quantity holds"))
}

pub(super) fn compare_to<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    compared("compareTo", arguments).map(|found| Val::Int(order(found)))
}

pub(super) fn is_greater_than<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    compared("isGreaterThan", arguments).map(|found| Val::Bool(found == Ordering::Greater))
}

pub(super) fn is_less_than<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    compared("isLessThan", arguments).map(|found| Val::Bool(found == Ordering::Less))
}

pub(super) fn made<'v, 'a>(quantity: Quantity) -> Val<'v, 'a> {
    Val::Quantity(Rc::new(quantity))
}

fn own(name: &str, arguments: &[Val<'_, '_>]) -> Result<Quantity, ErrorKind> {
    match arguments[0].view() {
        View::Quantity(quantity) => Ok(*quantity),
        _ => Err(wrong(name, "a quantity", &arguments[0])),
    }
}

/// The second operand. `add` and `sub` also accept an integer.
fn other(name: &str, arguments: &[Val<'_, '_>]) -> Result<Quantity, ErrorKind> {
    match arguments[1].view() {
        View::Quantity(quantity) => Ok(*quantity),
        View::Int(number) => Ok(Quantity::of_units(number, Format::DecimalSi)),
        _ => Err(wrong(name, "a quantity or an integer", &arguments[1])),
    }
}

fn compared(name: &str, arguments: &[Val<'_, '_>]) -> Result<Ordering, ErrorKind> {
    let own = own(name, arguments)?;
    match arguments[1].view() {
        View::Quantity(quantity) => Ok(own.cmp(quantity)),
        _ => Err(wrong(name, "a quantity", &arguments[1])),
    }
}

fn order(ordering: Ordering) -> i64 {
    i64::from(ordering as i8)
}

/// The quantity as an integer, if it is one and fits into 64 bits.
fn integer(quantity: Quantity) -> Option<i64> {
    let value = quantity.value();
    (Quantity::of_units(value, Format::DecimalSi) == quantity).then_some(value)
}
