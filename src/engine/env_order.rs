//! The order of environment variables that refer to others of their container.
//!
//! `$(NAME)` in a value stands for the value of the variable NAME, if that is defined before: by `envFrom`,
//! or further up in `env`. Otherwise it is not expanded. `$$` is a literal `$`.

use std::collections::{BTreeSet, HashMap};

use super::{Draft, pattern};
use crate::json::{Pointer, Value};

/// The names that a value refers to.
pub(super) fn references(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        loop {
            let behind = &rest[rest.find('$')? + 1..];
            match (behind.strip_prefix('$'), behind.strip_prefix('(')) {
                (Some(escaped), _) => rest = escaped,
                (None, Some(opened)) => match opened.split_once(')') {
                    Some((name, closed)) => {
                        rest = closed;
                        return Some(name);
                    }
                    None => rest = opened,
                },
                (None, None) => rest = behind,
            }
        }
    })
}

pub(super) fn name<'v>(variable: &'v Value<'_>) -> Option<&'v str> {
    variable.get("name")?.as_str()
}

pub(super) fn refers(variable: &Value<'_>, wanted: &str) -> bool {
    let value = variable.get("value").and_then(Value::as_str).unwrap_or_default();
    references(value).any(|name| name == wanted)
}

/// Warnings for variables that the rules have put after others which refer to them.
pub(super) fn misplaced(draft: &Draft<'_>, templates: &[Pointer]) -> Vec<String> {
    let mut warnings = Vec::new();
    for template in templates {
        for list in ["initContainers", "containers"] {
            let place = template.join("spec").join(list);
            pattern::each(draft.value(), place.tokens(), &Pointer::ROOT, &mut |containers, place| {
                let found = forward(containers);
                if found.is_empty() {
                    return;
                }
                let before = draft.original().at(place).map(forward).unwrap_or_default();
                let known: BTreeSet<String> = before.into_iter().map(|found| found.key).collect();
                for Forward { container, user, used, .. } in
                    found.into_iter().filter(|found| !known.contains(&found.key))
                {
                    let place = place.join(container.to_string()).join("env").join(user.to_string());
                    warnings.push(format!(
                        "{place}: refers to $({used}), which comes after it and is not expanded here; put {used} before it"
                    ));
                }
            });
        }
    }
    warnings
}

/// A variable that refers to one after it.
struct Forward {
    /// The container and both variables, by name.
    key: String,
    container: usize,
    user: usize,
    used: String,
}

fn forward(containers: &Value<'_>) -> Vec<Forward> {
    let mut found = Vec::new();
    for (container, value) in containers.as_array().unwrap_or_default().iter().enumerate() {
        let variables = value.get("env").and_then(Value::as_array).unwrap_or_default();
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (position, variable) in variables.iter().enumerate() {
            first.entry(name(variable).unwrap_or_default()).or_insert(position);
        }
        for (user, variable) in variables.iter().enumerate() {
            let text = variable.get("value").and_then(Value::as_str).unwrap_or_default();
            for used in references(text).filter(|used| first.get(used).is_some_and(|at| *at > user)) {
                let (own, used) = (name(variable).unwrap_or_default(), used.to_owned());
                let key = format!("{:?} {own:?} {used:?}", name(value));
                found.push(Forward { key, container, user, used });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_those_that_kubernetes_expands() {
        for (value, expected) in [
            ("$(A)", &["A"][..]),
            ("a-$(A).$(B_1)$(A)", &["A", "B_1", "A"]),
            ("$$(A)", &[]),
            ("$$$(A)", &["A"]),
            ("$(A", &[]),
            ("$(A $(B)", &["A $(B"]),
            ("$A ${A} $", &[]),
            ("$()", &[""]),
            ("ä$(Ä)", &["Ä"]),
        ] {
            assert_eq!(references(value).collect::<Vec<_>>(), expected, "{value}");
        }
    }
}
