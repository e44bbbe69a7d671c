//! Functions of strings. Positions count characters, not bytes.

use super::{int_argument, text_argument, to_int, wrong, wrong_item};
use crate::expression::MAX_ITEMS;
use crate::expression::budget::Budget;
use crate::expression::error::ErrorKind;
use crate::expression::value::{Val, ValResult, View, check_count, check_length};

pub(super) fn starts_with<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let (own, other) = two("startsWith", arguments, budget)?;
    Ok(Val::Bool(own.starts_with(other)))
}

pub(super) fn ends_with<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let (own, other) = two("endsWith", arguments, budget)?;
    Ok(Val::Bool(own.ends_with(other)))
}

pub(super) fn contains<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let (own, other) = two("contains", arguments, budget)?;
    Ok(Val::Bool(own.contains(other)))
}

/// The character at a position, or an empty string at the end of the text.
pub(super) fn char_at<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let own = one("charAt", arguments, budget)?;
    let start = place("charAt", own, &arguments[1])?;
    let width = own[start..].chars().next().map_or(0, char::len_utf8);
    arguments[0].part(start, start + width, budget)
}

pub(super) fn index_of<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let (own, other) = two("indexOf", arguments, budget)?;
    let from = match arguments.get(2) {
        None => 0,
        Some(from) => {
            let from = position("indexOf", from)?;
            match byte_of(own, from) {
                _ if other.is_empty() => return Ok(to_int(from)),
                Some(byte) => byte,
                None => return Ok(Val::Int(-1)),
            }
        }
    };
    Ok(found(own, own[from..].find(other).map(|at| at + from)))
}

/// The last position at which `other` starts. With a position argument, the last that is not after it.
pub(super) fn last_index_of<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let (own, other) = two("lastIndexOf", arguments, budget)?;
    let end = match arguments.get(2) {
        None => own.len(),
        Some(from) => {
            let from = position("lastIndexOf", from)?;
            match byte_of(own, from) {
                _ if other.is_empty() => return Ok(to_int(from)),
                // A match that starts at `byte` ends `other.len()` bytes later.
                Some(byte) if byte < own.len() => (byte + other.len()).min(own.len()),
                _ => return Ok(Val::Int(-1)),
            }
        }
    };
    Ok(found(own, own[..own.floor_char_boundary(end)].rfind(other)))
}

pub(super) fn lower_ascii<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    Val::text(&one("lowerAscii", arguments, budget)?.to_ascii_lowercase(), budget)
}

pub(super) fn upper_ascii<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    Val::text(&one("upperAscii", arguments, budget)?.to_ascii_uppercase(), budget)
}

/// Replaces all matches, or the first `n`. A negative number means all.
pub(super) fn replace<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let (own, old) = two("replace", arguments, budget)?;
    let new = text_argument("replace", &arguments[2])?;
    let most = count("replace", arguments.get(3))?;
    let hits = own.matches(old).take(most).count();
    check_length((own.len() - hits * old.len()).saturating_add(hits.saturating_mul(new.len())))?;
    Val::text(&own.replacen(old, new, most), budget)
}

/// Splits at each separator, into at most `n` parts. An empty separator splits into characters.
pub(super) fn split<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let (own, separator) = two("split", arguments, budget)?;
    let most = count("split", arguments.get(2))?;
    if most == 0 || (own.is_empty() && separator.is_empty()) {
        return Val::list(Vec::new(), budget);
    }
    let most_cuts = (most - 1).min(MAX_ITEMS);
    let mut cuts = Vec::new();
    if separator.is_empty() {
        cuts.extend(own.char_indices().skip(1).take(most_cuts).map(|(at, _)| (at, at)));
    } else {
        let places = own.match_indices(separator).take(most_cuts);
        cuts.extend(places.map(|(at, _)| (at, at + separator.len())));
    }
    check_count(cuts.len() + 1)?;
    let mut parts = Vec::with_capacity(cuts.len() + 1);
    let mut start = 0;
    for (end, next) in cuts.into_iter().chain([(own.len(), own.len())]) {
        parts.push(arguments[0].part(start, end, budget)?);
        start = next;
    }
    Val::list(parts, budget)
}

pub(super) fn substring<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let own = one("substring", arguments, budget)?;
    let start = place("substring", own, &arguments[1])?;
    let end = arguments.get(2).map_or(Ok(own.len()), |end| place("substring", own, end))?;
    if start > end {
        return Err(ErrorKind::failed("`substring` ends before it begins"));
    }
    arguments[0].part(start, end, budget)
}

pub(super) fn trim<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let own = one("trim", arguments, budget)?;
    let start = own.len() - own.trim_start().len();
    arguments[0].part(start, start + own.trim().len(), budget)
}

pub(super) fn reverse<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let own = arguments[0].as_text().ok_or_else(|| wrong("reverse", "a string or a list", &arguments[0]))?;
    check_length(own.len())?;
    Val::text(&own.chars().rev().collect::<String>(), budget)
}

/// Joins the strings of a list with a separator.
pub(super) fn join<'v, 'a>(arguments: &[Val<'v, 'a>], budget: &mut Budget) -> ValResult<'v, 'a> {
    let View::List(items) = arguments[0].view() else {
        return Err(wrong("join", "a list", &arguments[0]));
    };
    let separator = arguments.get(1).map_or(Ok(""), |separator| text_argument("join", separator))?;
    let mut joined = String::new();
    for (position, item) in items.iter().enumerate() {
        let text = item.as_text().ok_or_else(|| wrong_item("join", "strings", &item))?;
        let between = if position == 0 { "" } else { separator };
        check_length(joined.len() + between.len() + text.len())?;
        budget.spend_text(between.len() + text.len())?;
        joined.push_str(between);
        joined.push_str(text);
    }
    Val::text(&joined, budget)
}

/// The receiver. Takes the steps for searching it.
fn one<'x>(name: &str, arguments: &'x [Val<'_, '_>], budget: &mut Budget) -> Result<&'x str, ErrorKind> {
    let own = text_argument(name, &arguments[0])?;
    budget.spend_text(own.len())?;
    Ok(own)
}

fn two<'x>(
    name: &str,
    arguments: &'x [Val<'_, '_>],
    budget: &mut Budget,
) -> Result<(&'x str, &'x str), ErrorKind> {
    let own = one(name, arguments, budget)?;
    let other = text_argument(name, &arguments[1])?;
    budget.spend_text(other.len())?;
    Ok((own, other))
}

fn position(name: &str, value: &Val<'_, '_>) -> Result<usize, ErrorKind> {
    usize::try_from(int_argument(name, value)?)
        .map_err(|_| ErrorKind::failed(format!("`{name}` takes no negative position")))
}

/// The byte offset of a character position, which may be the end of the text.
fn place(name: &str, text: &str, value: &Val<'_, '_>) -> Result<usize, ErrorKind> {
    let position = position(name, value)?;
    byte_of(text, position).ok_or_else(|| {
        ErrorKind::failed(format!("the position for `{name}` is behind the end of the string"))
    })
}

/// The byte offset of the character at `position`.
fn byte_of(text: &str, position: usize) -> Option<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(position)
}

/// An optional limit. No number, or a negative one, means no limit.
fn count(name: &str, value: Option<&Val<'_, '_>>) -> Result<usize, ErrorKind> {
    let Some(value) = value else { return Ok(usize::MAX) };
    Ok(usize::try_from(int_argument(name, value)?).unwrap_or(usize::MAX))
}

/// Converts a byte offset to a character position, or to -1 if there is none.
fn found<'v, 'a>(text: &str, byte: Option<usize>) -> Val<'v, 'a> {
    byte.map_or(Val::Int(-1), |byte| to_int(text[..byte].chars().count()))
}
