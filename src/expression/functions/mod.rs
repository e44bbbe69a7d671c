//! The table of functions: their names, signatures and implementations.
//!
//! Functions that have a node of their own in the tree are not here: loops, `has`, `matches`, `find`, `or`,
//! `orValue`, `optMap`, `optFlatMap`.

#[expect(
    clippy::unnecessary_wraps,
    reason = "a function of the table may fail, whether or not this one does"
)]
mod convert;
mod format;
mod lists;
#[expect(
    clippy::unnecessary_wraps,
    reason = "a function of the table may fail, whether or not this one does"
)]
mod optionals;
mod quantities;
mod text;

use Style::{Both, Global, Member};

use super::budget::Budget;
use super::error::ErrorKind;
use super::value::{Val, ValKind, View};

pub(super) use convert::double_text;

#[derive(Clone, Copy, Debug)]
pub(super) struct Function(&'static Signature);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `f(x)`
    Global,
    /// `x.f()`
    Member,
    /// `f(x)` or `x.f()`
    Both,
}

/// The implementation of a function. The receiver of a member call is the first argument.
type Body = for<'x, 'v, 'a> fn(&'x [Val<'v, 'a>], &'x mut Budget) -> Result<Val<'v, 'a>, ErrorKind>;

#[derive(Debug)]
struct Signature {
    name: &'static str,
    style: Style,
    /// The number of arguments, without the receiver.
    fewest: usize,
    most: usize,
    /// The kind of the result, if it is always the same.
    gives: Option<ValKind>,
    body: Body,
}

const fn function(
    name: &'static str,
    style: Style,
    (fewest, most): (usize, usize),
    gives: Option<ValKind>,
    body: Body,
) -> Signature {
    Signature { name, style, fewest, most, gives, body }
}

const BOOL: Option<ValKind> = Some(ValKind::Bool);
const INT: Option<ValKind> = Some(ValKind::Int);
const DOUBLE: Option<ValKind> = Some(ValKind::Double);
const STRING: Option<ValKind> = Some(ValKind::String);
const LIST: Option<ValKind> = Some(ValKind::List);
const OPTIONAL: Option<ValKind> = Some(ValKind::Optional);
const QUANTITY: Option<ValKind> = Some(ValKind::Quantity);

static FUNCTIONS: &[Signature] = &[
    function("size", Both, (0, 0), INT, convert::size),
    function("type", Global, (1, 1), Some(ValKind::Type), convert::type_of),
    function("dyn", Global, (1, 1), None, convert::dynamic),
    function("int", Global, (1, 1), INT, convert::int),
    function("double", Global, (1, 1), DOUBLE, convert::double),
    function("string", Global, (1, 1), STRING, convert::string),
    function("bool", Global, (1, 1), BOOL, convert::bool),
    function("startsWith", Member, (1, 1), BOOL, text::starts_with),
    function("endsWith", Member, (1, 1), BOOL, text::ends_with),
    function("contains", Member, (1, 1), BOOL, text::contains),
    function("charAt", Member, (1, 1), STRING, text::char_at),
    function("indexOf", Member, (1, 2), INT, lists::index_of),
    function("lastIndexOf", Member, (1, 2), INT, lists::last_index_of),
    function("lowerAscii", Member, (0, 0), STRING, text::lower_ascii),
    function("upperAscii", Member, (0, 0), STRING, text::upper_ascii),
    function("replace", Member, (2, 3), STRING, text::replace),
    function("split", Member, (1, 2), LIST, text::split),
    function("substring", Member, (1, 2), STRING, text::substring),
    function("trim", Member, (0, 0), STRING, text::trim),
    function("join", Member, (0, 1), STRING, text::join),
    function("reverse", Member, (0, 0), None, lists::reverse),
    function("format", Member, (1, 1), STRING, format::format),
    function("isSorted", Member, (0, 0), BOOL, lists::is_sorted),
    function("sum", Member, (0, 0), None, lists::sum),
    function("min", Member, (0, 0), None, lists::min),
    function("max", Member, (0, 0), None, lists::max),
    function("distinct", Member, (0, 0), LIST, lists::distinct),
    function("sort", Member, (0, 0), LIST, lists::sort),
    function("slice", Member, (2, 2), LIST, lists::slice),
    function("flatten", Member, (0, 0), LIST, lists::flatten),
    function("lists.range", Global, (1, 1), LIST, lists::range),
    function("optional.of", Global, (1, 1), OPTIONAL, optionals::of),
    function("optional.ofNonZeroValue", Global, (1, 1), OPTIONAL, optionals::of_non_zero),
    function("optional.none", Global, (0, 0), OPTIONAL, optionals::none),
    function("hasValue", Member, (0, 0), BOOL, optionals::has_value),
    function("value", Member, (0, 0), None, optionals::value),
    function("quantity", Global, (1, 1), QUANTITY, quantities::quantity),
    function("isQuantity", Global, (1, 1), BOOL, quantities::is_quantity),
    function("sign", Member, (0, 0), INT, quantities::sign),
    function("isInteger", Member, (0, 0), BOOL, quantities::is_integer),
    function("asInteger", Member, (0, 0), INT, quantities::as_integer),
    function("asApproximateFloat", Member, (0, 0), DOUBLE, quantities::as_approximate_float),
    function("add", Member, (1, 1), QUANTITY, quantities::add),
    function("sub", Member, (1, 1), QUANTITY, quantities::sub),
    function("mul", Member, (1, 1), QUANTITY, quantities::mul),
    function("compareTo", Member, (1, 1), INT, quantities::compare_to),
    function("isGreaterThan", Member, (1, 1), BOOL, quantities::is_greater_than),
    function("isLessThan", Member, (1, 1), BOOL, quantities::is_less_than),
];

/// Functions that have nodes of their own, with whether they are called as members. Used for suggestions.
const OTHERS: [(&str, bool); 14] = [
    ("has", false),
    ("matches", false),
    ("matches", true),
    ("find", true),
    ("findAll", true),
    ("or", true),
    ("orValue", true),
    ("optMap", true),
    ("optFlatMap", true),
    ("all", true),
    ("exists", true),
    ("exists_one", true),
    ("filter", true),
    ("map", true),
];

/// Namespaces of functions, as in `lists.range`.
pub(super) const NAMESPACES: [&str; 2] = ["lists", "optional"];

#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name).chain(OTHERS.iter().map(|(name, _)| *name))
}

impl Function {
    /// Finds a function by its name, style and number of arguments. The error says what does not match.
    pub(super) fn find(name: &str, member: bool, arguments: usize) -> Result<Self, String> {
        let fits = |style: Style| style == Both || (style == Member) == member;
        let Some(signature) = FUNCTIONS.iter().find(|f| f.name == name && fits(f.style)) else {
            return Err(unknown(name, member));
        };
        let Signature { style, fewest, most, .. } = signature;
        let (fewest, most) =
            if *style == Both && !member { (fewest + 1, most + 1) } else { (*fewest, *most) };
        if !(fewest..=most).contains(&arguments) {
            let range = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
            return Err(format!("the function `{name}` takes {range} arguments, not {arguments}"));
        }
        Ok(Self(signature))
    }

    pub(super) fn gives(self) -> Option<ValKind> {
        self.0.gives
    }

    pub(super) fn call<'v, 'a>(
        self,
        arguments: &[Val<'v, 'a>],
        budget: &mut Budget,
    ) -> Result<Val<'v, 'a>, ErrorKind> {
        (self.0.body)(arguments, budget)
    }
}

/// The message for a name that has no function of this style.
fn unknown(name: &str, member: bool) -> String {
    let names = |member: bool| {
        let table = FUNCTIONS.iter().filter(move |f| f.style == Both || (f.style == Member) == member);
        let others = OTHERS.iter().filter(move |(_, of_member)| *of_member == member);
        table.map(|f| f.name).chain(others.map(|(name, _)| *name))
    };
    if names(!member).any(|known| known == name) {
        let right = if member { format!("{name}(x)") } else { format!("x.{name}(...)") };
        return format!("the function `{name}` is called as `{right}`");
    }
    let advice = match name {
        "uint" => "; there are no unsigned integers, write `int`".to_owned(),
        "timestamp" | "duration" | "now" | "bytes" => "; there are no times and no bytes here".to_owned(),
        _ => super::scope::hint(name, names(member)),
    };
    format!("unknown function `{name}`{advice}")
}

/// The error for an argument of the wrong kind.
fn wrong(name: &str, expected: &str, found: &Val<'_, '_>) -> ErrorKind {
    ErrorKind::failed(format!("`{name}` takes {expected}, not {}", found.kind().article()))
}

/// The error for a list argument with an item of the wrong kind.
fn wrong_item(name: &str, expected: &str, found: &Val<'_, '_>) -> ErrorKind {
    ErrorKind::failed(format!(
        "`{name}` takes a list of {expected}, and this one holds {}",
        found.kind().article()
    ))
}

fn text_argument<'x>(name: &str, value: &'x Val<'_, '_>) -> Result<&'x str, ErrorKind> {
    value.as_text().ok_or_else(|| wrong(name, "a string", value))
}

fn int_argument(name: &str, value: &Val<'_, '_>) -> Result<i64, ErrorKind> {
    match value.view() {
        View::Int(number) => Ok(number),
        _ => Err(wrong(name, "an integer", value)),
    }
}

fn to_int<'v, 'a>(count: usize) -> Val<'v, 'a> {
    Val::Int(i64::try_from(count).unwrap_or(i64::MAX))
}
