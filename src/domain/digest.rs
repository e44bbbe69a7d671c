//! Digests of texts.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest as sha256};

/// Bytes of the hash that are kept: enough to make an accidental collision improbable.
const KEPT: usize = 10;

/// The beginning of a SHA-256 of `parts`, in hexadecimal. The order of the parts and the boundaries between
/// them count.
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
