//! Displays pointers as field paths.

use std::fmt::Write as _;

use super::Pointer;

/// The field path of a pointer: `spec.rules[0].fort.steps`.
///
/// Names with characters other than letters, digits, `-` and `_` are quoted: `metadata.labels["a.b/c"]`.
pub fn field_path(pointer: &Pointer) -> String {
    let mut path = String::new();
    for token in pointer.tokens() {
        let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        let plain = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if digits {
            write!(path, "[{token}]")
        } else if plain && !token.is_empty() {
            write!(path, "{}{token}", if path.is_empty() { "" } else { "." })
        } else {
            write!(path, "[{token:?}]")
        }
        .unwrap_or_else(|_| unreachable!("a String takes it"));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_paths_have_points_between_names_and_brackets_around_positions() {
        let path = |pointer: &str| field_path(&Pointer::parse(pointer).unwrap());
        assert_eq!(path("/spec/rules/0/fort"), "spec.rules[0].fort");
        assert_eq!(path("/metadata/labels/a.b~1c"), r#"metadata.labels["a.b/c"]"#);
        assert_eq!(path(""), "");
    }
}
