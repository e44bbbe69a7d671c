//! Explains findings that a scalar of an embedded YAML text is not a string, by how the scalar is written.

use super::finding::Finding;
use crate::json::{Pointer, Value};
use crate::yaml::{self, Reading};

/// Adds to the findings of `document` how the values are written in its YAML texts.
pub(super) fn explain<'f>(document: &Value<'static>, findings: impl IntoIterator<Item = &'f mut Finding>) {
    for finding in findings {
        if yaml::asks_for_a_string(&finding.problem)
            && let Some(reading) = reading(document, &finding.field)
        {
            finding.problem = reading.explain(&finding.problem);
        }
    }
}

/// How the value at `field` is written, if it is in a YAML text.
fn reading(document: &Value<'static>, field: &Pointer) -> Option<Reading> {
    let steps = (0..field.tokens().len())
        .find(|&steps| document.at(&field.prefix(steps)).is_some_and(|value| value.as_str().is_some()))?;
    let text = document.at(&field.prefix(steps))?.as_str()?;
    match yaml::documents(text).ok()?.as_slice() {
        [one] => one.lines.reading(&field.suffix(steps)),
        _ => None,
    }
}
