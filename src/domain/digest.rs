//! Short names for contents.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest as sha256};

/// How many bytes of the hash are kept: enough that no two contents get the same by accident.
const KEPT: usize = 10;

/// A short name for `parts`, in this order: the beginning of a SHA-256, in hexadecimal. Where one part ends and the
/// next begins counts too.
pub fn digest<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut text = String::new();
    for part in parts {
        // The length first, so that "ab" and "c" are not "a" and "bc".
        let _ = write!(text, "{}:{part}", part.len());
    }
    let mut name = String::with_capacity(2 * KEPT);
    for byte in sha256(&SHA256, text.as_bytes()).as_ref().iter().take(KEPT) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn contents_have_names_of_their_own() {
        // `printf 3:abc | sha256sum`
        assert_eq!(digest(["abc"]), "aab5f9ae99b2e38fb462");
        let names = [digest(["ab", "c"]), digest(["a", "bc"]), digest(["abc"]), digest(["abc", ""])];
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name}");
        }
    }
}
