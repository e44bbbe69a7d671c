//! Sizes, types and conversions.

use super::{to_int, wrong};
use crate::expression::budget::Budget;
use crate::expression::error::ErrorKind;
use crate::expression::value::{Val, ValResult, View};

/// The number of characters of a string, items of a list, or members of a map.
pub(super) fn size<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    Ok(to_int(match arguments[0].view() {
        View::Text(text) => {
            budget.spend_text(text.len())?;
            text.chars().count()
        }
        View::List(items) => items.len(),
        View::Map(members) => members.len(),
        _ => return Err(wrong("size", "a string, a list or a map", &arguments[0])),
    }))
}

pub(super) fn type_of<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    Ok(Val::Type(arguments[0].kind()))
}

pub(super) fn dynamic<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    Ok(arguments[0].clone())
}

pub(super) fn int<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let out_of_range = || ErrorKind::failed("the number is beyond what an integer holds");
    match arguments[0].view() {
        View::Int(number) => Ok(Val::Int(number)),
        View::Double(number) => {
            // The bounds are excluded, as in the CEL specification: doubles near them are not exact.
            const BOUND: f64 = 9_223_372_036_854_775_807.0;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the range is checked, and the fraction is to go"
            )]
            let whole = number as i64;
            (number > -BOUND && number < BOUND).then_some(Val::Int(whole)).ok_or_else(out_of_range)
        }
        View::Text(text) => {
            budget.spend_text(text.len())?;
            let number = text.parse().map_err(|_| ErrorKind::failed("the string is not an integer"))?;
            Ok(Val::Int(number))
        }
        _ => Err(wrong("int", "a number or a string", &arguments[0])),
    }
}

pub(super) fn double<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    match arguments[0].view() {
        #[expect(clippy::cast_precision_loss, reason = "that is what a conversion to a double does")]
        View::Int(number) => Ok(Val::Double(number as f64)),
        View::Double(number) => Ok(Val::Double(number)),
        View::Text(text) => {
            budget.spend_text(text.len())?;
            let number = text.parse().map_err(|_| ErrorKind::failed("the string is not a number"))?;
            Ok(Val::Double(number))
        }
        _ => Err(wrong("double", "a number or a string", &arguments[0])),
    }
}

pub(super) fn string<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    match arguments[0].view() {
        View::Text(_) => Ok(arguments[0].clone()),
        View::Bool(flag) => Val::text(if flag { "true" } else { "false" }, budget),
        View::Int(number) => Val::text(&number.to_string(), budget),
        View::Double(number) => Val::text(&double_text(number), budget),
        View::Quantity(quantity) => Val::text(&quantity.to_string(), budget),
        _ => Err(wrong("string", "a string, a number, a boolean or a quantity", &arguments[0])),
    }
}

pub(super) fn bool<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    match arguments[0].view() {
        View::Bool(flag) => Ok(Val::Bool(flag)),
        View::Text("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(Val::Bool(true)),
        View::Text("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(Val::Bool(false)),
        View::Text(_) => Err(ErrorKind::failed("the string is not a boolean")),
        _ => Err(wrong("bool", "a boolean or a string", &arguments[0])),
    }
}

/// A double as Kubernetes writes it to JSON: without a fraction if it has none, with an exponent if it is
/// very large or small.
pub(in crate::expression) fn double_text(number: f64) -> String {
    const PLAIN: std::ops::Range<f64> = 1e-6..1e21;
    let size = number.abs();
    if size != 0.0 && size.is_finite() && !PLAIN.contains(&size) {
        format!("{number:e}")
    } else {
        format!("{number}")
    }
}
