//! Functions of optionals.

use std::rc::Rc;

use super::wrong;
use crate::expression::budget::Budget;
use crate::expression::error::ErrorKind;
use crate::expression::value::{Val, ValResult, View};

pub(super) fn of<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    Ok(Val::Optional(Some(Rc::new(arguments[0].clone()))))
}

pub(super) fn none<'v, 'a>(_: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    Ok(Val::Optional(None))
}

/// `none` for an empty, zero, false or null value.
pub(super) fn of_non_zero<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let zero = match arguments[0].view() {
        View::Null | View::Bool(false) | View::Int(0) | View::Text("") | View::Optional(None) => true,
        View::Double(number) => number == 0.0,
        View::List(items) => items.len() == 0,
        View::Map(members) => members.len() == 0,
        _ => false,
    };
    if zero { none(arguments, budget) } else { of(arguments, budget) }
}

pub(super) fn has_value<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    match arguments[0].view() {
        View::Optional(value) => Ok(Val::Bool(value.is_some())),
        _ => Err(wrong("hasValue", "an optional", &arguments[0])),
    }
}

pub(super) fn value<'v, 'a>(arguments: &[Val<'v, 'a>], _: &mut Budget) -> ValResult<'v, 'a> {
    match arguments[0].view() {
        View::Optional(Some(value)) => Ok(value.clone()),
        View::Optional(None) => Err(ErrorKind::failed("the optional has no value")),
        _ => Err(wrong("value", "an optional", &arguments[0])),
    }
}
