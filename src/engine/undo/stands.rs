//! Whether a value is still the one that was written.

use crate::json::Value;

/// Whether `found` is `written` as an API server gives it back: the order of members does not count, and numbers are
/// what Go makes of them, integers of 64 bits or floating-point numbers.
pub(super) fn stands(found: &Value<'_>, written: &Value<'_>) -> bool {
    match (found, written) {
        (Value::Number(found), Value::Number(written)) => found.same_stored(written),
        (Value::Array(found), Value::Array(written)) => {
            found.len() == written.len()
                && found.iter().zip(written.iter()).all(|(found, written)| stands(found, written))
        }
        (Value::Object(found), Value::Object(written)) => {
            let index = written.index();
            found.len() == written.len()
                && found
                    .iter()
                    .all(|(name, found)| index.get(name).is_some_and(|written| stands(found, written)))
        }
        _ => found == written,
    }
}
