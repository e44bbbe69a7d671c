//! How an object names its transformations: in two annotations, separated by commas.

use std::collections::BTreeSet;

use super::draft::ObjectSource;
use crate::domain::{
    Failure, PROPOSED_TRANSFORMATION_ANNOTATION, TRANSFORMATION_ANNOTATION, join_transformations, shorten,
};
use crate::json::{Pointer, Value};

/// In bytes, in messages.
pub(super) const MAX_NAME_BYTES: usize = 300;

#[derive(Debug)]
pub(super) struct Named {
    /// In the order in which they apply, without empty ones.
    pub(super) names: Vec<String>,
    /// `<pointer>: <problem>; <advice>`
    pub(super) warnings: Vec<String>,
    /// The annotation `reviser.io/targetpodtransformation`; empty where it is missing.
    own: String,
}

impl Named {
    /// The annotation that has `name`.
    pub(super) fn place(&self, name: &str) -> Pointer {
        let is_own = self.own.split(',').any(|own| own.trim() == name);
        let key = if is_own { TRANSFORMATION_ANNOTATION } else { PROPOSED_TRANSFORMATION_ANNOTATION };
        annotation(key)
    }
}

fn annotation(key: &str) -> Pointer {
    Pointer::of(["metadata", "annotations", key])
}

/// Whether an object names transformations, or has an annotation for them that can't be read.
pub fn names_transformations(object: &ObjectSource<'_>) -> bool {
    !matches!(texts(object), Ok((proposed, own)) if join_transformations(&proposed, &own).is_empty())
}

/// Probable mistakes in the annotations. Empty if they can't be read.
pub fn transformation_name_warnings(object: &ObjectSource<'_>) -> Vec<String> {
    named(object).map(|named| named.warnings).unwrap_or_default()
}

pub(super) fn named(object: &ObjectSource<'_>) -> Result<Named, Failure> {
    let (proposed, own) = texts(object)?;
    let joined = join_transformations(&proposed, &own);
    let names = joined.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    let mut warnings = Vec::new();
    let is_copied = !proposed.is_empty() && joined == own;
    for (key, text) in [(PROPOSED_TRANSFORMATION_ANNOTATION, &proposed), (TRANSFORMATION_ANNOTATION, &own)] {
        // No second warning for a copy.
        if key == TRANSFORMATION_ANNOTATION || !is_copied {
            warnings.extend(empty_items(text).map(|problem| format!("{}: {problem}", annotation(key))));
        }
    }
    let mut found = Named { names, warnings: Vec::new(), own };
    let mut seen = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    for name in &found.names {
        if !seen.insert(name) && repeated.insert(name) {
            let shown = shorten(format!("{name:?}"), MAX_NAME_BYTES);
            warnings.push(format!(
                "{}: {shown} is named more than once and applies each time; name it once",
                found.place(name)
            ));
        }
    }
    found.warnings = warnings;
    Ok(found)
}

/// The problem of empty items between commas. A comma at the end is fine.
fn empty_items(text: &str) -> Option<String> {
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    let (last, items) = items.split_last()?;
    if last.is_empty() && !items.is_empty() && items.iter().all(|item| item.is_empty()) {
        return Some(
            "holds commas and no name, so that no transformation applies; name one, or remove the annotation"
                .to_owned(),
        );
    }
    let empty = items.iter().position(|item| item.is_empty())?;
    Some(format!("item {} is empty and is left out; remove its comma, or write the name", empty + 1))
}

/// The values of the annotations `multicluster.admiralty.io/targetpodtransformation` and
/// `reviser.io/targetpodtransformation`; empty where one is missing or null.
fn texts(object: &ObjectSource<'_>) -> Result<(String, String), Failure> {
    let text = |key: &str| {
        let problem = match object.at(&annotation(key)) {
            Ok(None | Some(Value::Null)) => return Ok(String::new()),
            Ok(Some(Value::String(text))) => return Ok(text.trim().to_owned()),
            Ok(Some(other)) => format!("must be a string, is {}", other.kind()),
            Err(error) => error.to_string(),
        };
        let place = annotation(key);
        Err(Failure::unprocessable(format!("{place}: {problem}; name transformations, separated by commas")))
    };
    Ok((text(PROPOSED_TRANSFORMATION_ANNOTATION)?, text(TRANSFORMATION_ANNOTATION)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Text;

    /// What these annotations name, or the message of the refusal.
    fn read(annotations: &str) -> (Option<Named>, String) {
        let text = format!(r#"{{"metadata":{{"annotations":{annotations}}}}}"#);
        let text = Text::parse(text.as_bytes()).unwrap();
        match named(&text.root().into()) {
            Ok(named) => (Some(named), String::new()),
            Err(refusal) => (None, refusal.message()),
        }
    }

    fn of(annotations: &str) -> Named {
        read(annotations).0.unwrap()
    }

    fn own(text: &str) -> Named {
        of(&format!(r#"{{"reviser.io/targetpodtransformation":"{text}"}}"#))
    }

    #[test]
    fn blanks_around_names_and_a_comma_at_the_end_count_for_nothing() {
        for (text, names) in [
            ("", &[][..]),
            (" ", &[]),
            ("a", &["a"]),
            (" a ,b", &["a", "b"]),
            ("a,b,", &["a", "b"]),
            ("a b", &["a b"]),
            ("a,\\n  b", &["a", "b"]),
        ] {
            let named = own(text);
            assert_eq!(
                (named.names, named.warnings),
                (names.iter().map(|&name| name.into()).collect(), vec![]),
                "{text:?}"
            );
        }
    }

    #[test]
    fn empty_items_and_names_that_come_twice_are_warned_of() {
        let place = "/metadata/annotations/reviser.io~1targetpodtransformation: ";
        for (text, names, warnings) in [
            (
                "a,,b",
                &["a", "b"][..],
                &["item 2 is empty and is left out; remove its comma, or write the name"][..],
            ),
            (",a", &["a"], &["item 1 is empty and is left out; remove its comma, or write the name"]),
            ("a,b,,", &["a", "b"], &["item 3 is empty and is left out; remove its comma, or write the name"]),
            (
                ",",
                &[],
                &[
                    "holds commas and no name, so that no transformation applies; name one, or remove the annotation",
                ],
            ),
            (
                " , , ",
                &[],
                &[
                    "holds commas and no name, so that no transformation applies; name one, or remove the annotation",
                ],
            ),
            ("a,a", &["a", "a"], &["\"a\" is named more than once and applies each time; name it once"]),
            (
                "b,a,,b, a,b",
                &["b", "a", "b", "a", "b"],
                &[
                    "item 3 is empty and is left out; remove its comma, or write the name",
                    "\"b\" is named more than once and applies each time; name it once",
                    "\"a\" is named more than once and applies each time; name it once",
                ],
            ),
        ] {
            let named = own(text);
            assert_eq!(named.names, names, "{text:?}");
            let expected: Vec<String> = warnings.iter().map(|warning| format!("{place}{warning}")).collect();
            assert_eq!(named.warnings, expected, "{text:?}");
        }
    }

    #[test]
    fn each_annotation_is_looked_at_where_it_is_and_a_copy_once() {
        let both = |proposed: &str, own: &str| {
            of(&format!(
                r#"{{"multicluster.admiralty.io/targetpodtransformation":"{proposed}","reviser.io/targetpodtransformation":"{own}"}}"#
            ))
        };
        let copied = both("a,,b", "a,,b");
        assert_eq!(copied.warnings.len(), 1, "{copied:?}");
        assert!(copied.warnings[0].starts_with("/metadata/annotations/reviser.io~1"), "{copied:?}");
        let two = both("a,,b", "c,,d");
        assert_eq!(two.names, ["a", "b", "c", "d"]);
        assert_eq!(two.warnings.len(), 2, "{two:?}");
        assert!(two.warnings[0].starts_with("/metadata/annotations/multicluster.admiralty.io~1"), "{two:?}");
        assert!(
            two.place("a").to_string().contains("multicluster.")
                && two.place("c").to_string().contains("reviser.")
        );
    }

    #[test]
    fn what_is_no_text_is_refused_and_what_is_missing_names_none() {
        for annotations in ["null", "[]", r#""a""#, "{}", r#"{"reviser.io/targetpodtransformation":null}"#] {
            let named = of(annotations);
            assert!(named.names.is_empty() && named.warnings.is_empty(), "{annotations}");
        }
        for value in ["1", "true", "[]", "{}"] {
            let refusal = read(&format!(r#"{{"reviser.io/targetpodtransformation":{value}}}"#)).1;
            assert!(refusal.contains("must be a string"), "{refusal}");
        }
    }
}
