//! Labels, annotations, and selectors of labels.

use super::field::{Field, Report};
use super::syntax::{ANNOTATION_KEY, LABEL_KEY, LABEL_VALUE};
use crate::json::{Object, Value};

/// For the keys and values of all annotations together.
const MOST_ANNOTATION_BYTES: usize = 256 * 1024;

/// Checks the metadata of an object or of a template.
pub(super) fn metadata(metadata: &Field<'_>, report: &mut Report) {
    labels(&metadata.get("labels"), report);
    annotations(&metadata.get("annotations"), report);
}

/// Checks labels, or another map with the same syntax.
pub(super) fn labels(labels: &Field<'_>, report: &mut Report) {
    for (key, label) in labels.entries() {
        if !(LABEL_KEY.holds)(key) {
            report.misspelt(&label, key, &LABEL_KEY);
        }
        report.spelled(&label, &LABEL_VALUE);
    }
}

fn annotations(annotations: &Field<'_>, report: &mut Report) {
    let mut bytes = 0;
    for (key, annotation) in annotations.entries() {
        if !(ANNOTATION_KEY.holds)(key) {
            report.misspelt(&annotation, key, &ANNOTATION_KEY);
        }
        bytes += key.len() + annotation.text().len();
    }
    if bytes > MOST_ANNOTATION_BYTES {
        let problem = format!(
            "has {bytes} bytes in keys and values, of {MOST_ANNOTATION_BYTES} that are allowed; write less into them"
        );
        report.add(annotations, problem);
    }
}

/// Checks a label selector.
pub(super) fn selector(selector: &Field<'_>, report: &mut Report) {
    labels(&selector.get("matchLabels"), report);
    for requirement in selector.get("matchExpressions").items() {
        let (operator, values) = (requirement.get("operator"), requirement.get("values"));
        match operator.text() {
            "In" | "NotIn" => report.not_empty(&values, "value for the operator"),
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                report.forbidden(&values, "with this operator");
            }
            "Exists" | "DoesNotExist" => {}
            _ => unknown_operator(&operator, &["In", "NotIn", "Exists", "DoesNotExist"], report),
        }
        report.required_as(&requirement.get("key"), &LABEL_KEY);
        for value in values.items() {
            report.spelled(&value, &LABEL_VALUE);
        }
    }
}

/// Refuses an operator that does not exist or is missing.
pub(super) fn unknown_operator(operator: &Field<'_>, known: &[&str], report: &mut Report) {
    if operator.is_blank() || operator.value.is_some_and(|value| value.as_str().is_some()) {
        let problem =
            format!("is {:?}, which is no operator; use one of {}", operator.text(), known.join(", "));
        report.add(operator, problem);
    }
}

/// The key of the first requirement of a label selector that labels do not meet. `None` if all are met or
/// can't be read.
pub(super) fn unmatched<'s>(selector: &'s Field<'s>, labels: &Field<'_>) -> Option<&'s str> {
    let empty = Object::new();
    let labels = labels.map().unwrap_or(&empty).index();
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let match_labels = selector.value?.get("matchLabels").and_then(Value::as_object);
    let mut wanted = match_labels.into_iter().flat_map(Object::iter);
    if let Some((key, _)) =
        wanted.find(|(key, value)| value.as_str().is_some() && label(key) != value.as_str())
    {
        return Some(key);
    }
    let expressions = selector.value?.get("matchExpressions").and_then(Value::as_array).unwrap_or_default();
    let broken = expressions.iter().find(|expression| {
        let text = |name: &str| expression.get(name).and_then(Value::as_str).unwrap_or_default();
        let found = label(text("key"));
        let values = expression.get("values").and_then(Value::as_array).unwrap_or_default();
        let is_listed = || values.iter().any(|value| value.as_str() == found);
        match text("operator") {
            "In" => found.is_none() || !is_listed(),
            "NotIn" => found.is_some() && is_listed(),
            "Exists" => found.is_none(),
            "DoesNotExist" => found.is_some(),
            _ => false,
        }
    });
    broken?.get("key").and_then(Value::as_str)
}
