//! Image references, as container runtimes read them.
//!
//! Source: distribution/reference `reference.go` (the grammar) and `normalize.go` (what counts as a registry,
//! and what a name without one stands for). Nothing is normalised unless that is asked for: no `docker.io`
//! and no `library/` is put in front.

use std::borrow::Cow;
use std::fmt;

/// `[registry/]repository[:tag][@digest]`, in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) registry: Option<String>,
    pub(super) repository: String,
    pub(super) tag: Option<String>,
    pub(super) digest: Option<String>,
}

/// Why a text is no reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReferenceError {
    #[error("the repository is empty or not in lower case letters, digits and separators")]
    Repository,
    #[error("the registry is no host, or host and port")]
    Registry,
    #[error("the tag is not made of up to 128 letters, digits, `_`, `.` and `-`")]
    Tag,
    #[error("the digest is not algorithm:hex with at least 32 digits")]
    Digest,
}

impl Reference {
    /// Takes a text apart.
    pub(super) fn parse(text: &str) -> Result<Self, ReferenceError> {
        let (named, digest) = match text.split_once('@') {
            Some((named, digest)) => (named, Some(digest.to_owned())),
            None => (text, None),
        };
        let (path, tag) = match named.rsplit_once(':') {
            // The colon of a port comes before a slash.
            Some((path, tag)) if !tag.contains('/') => (path, Some(tag.to_owned())),
            _ => (named, None),
        };
        let (registry, repository) = match path.split_once('/') {
            Some((first, rest)) if is_registry(first) => (Some(first.to_owned()), rest.to_owned()),
            _ => (None, path.to_owned()),
        };
        let reference = Self { registry, repository, tag, digest };
        reference.check().map(|()| reference)
    }

    /// Whether this is the registry of the image. An image that names none is of Docker Hub.
    pub(super) fn is_of(&self, registry: &str) -> bool {
        match &self.registry {
            Some(own) => own == registry || is_docker_hub(own) && is_docker_hub(registry),
            None => is_docker_hub(registry),
        }
    }

    /// The repository as its registry has it: Docker Hub keeps an image with a name of one part below
    /// `library/`.
    pub(super) fn full_repository(&self) -> Cow<'_, str> {
        let is_short = !self.repository.contains('/');
        if is_short && self.registry.as_deref().is_none_or(is_docker_hub) {
            Cow::Owned(format!("library/{}", self.repository))
        } else {
            Cow::Borrowed(&self.repository)
        }
    }

    /// What [`check`](Self::check) found, with what to change where the text of the part shows it.
    pub(super) fn explain(&self, error: ReferenceError) -> String {
        let registry = self.registry.as_deref().unwrap_or_default();
        if error != ReferenceError::Registry {
            return error.to_string();
        }
        let advice = if registry.contains("://") {
            "leave out the scheme"
        } else if registry.contains('/') {
            "the path belongs to `repository`, or to `repositoryPrefix`, which keeps the repository of each image"
        } else if !registry.is_empty() && !is_registry(registry) {
            "it needs a dot or a port, or to be `localhost`"
        } else {
            return error.to_string();
        };
        format!("{error}; {advice}")
    }

    /// Whether the parts make a reference that would be taken apart into the same parts.
    pub(super) fn check(&self) -> Result<(), ReferenceError> {
        if !is_repository(&self.repository) {
            return Err(ReferenceError::Repository);
        }
        let first = self.repository.split_once('/').map(|(first, _)| first);
        match &self.registry {
            Some(registry) if !is_registry(registry) || !is_host(registry) => Err(ReferenceError::Registry),
            // It would be taken for a registry.
            None if first.is_some_and(is_registry) => Err(ReferenceError::Repository),
            _ if self.tag.as_deref().is_some_and(|tag| !is_tag(tag)) => Err(ReferenceError::Tag),
            _ if self.digest.as_deref().is_some_and(|digest| !is_digest(digest)) => {
                Err(ReferenceError::Digest)
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(registry) = &self.registry {
            write!(f, "{registry}/")?;
        }
        f.write_str(&self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

/// The names of Docker Hub as a registry.
fn is_docker_hub(registry: &str) -> bool {
    matches!(registry, "docker.io" | "index.docker.io")
}

/// Whether the first part of a path is a registry and not the beginning of a repository.
fn is_registry(part: &str) -> bool {
    part.contains(['.', ':']) || part == "localhost" || part.chars().any(char::is_uppercase)
}

fn is_host(registry: &str) -> bool {
    let (host, port) = match registry.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, "")) => (address, None),
        Some((address, rest)) => (address, rest.strip_prefix(':').or(Some(""))),
        None => match registry.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (registry, None),
        },
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        let inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        !bytes.is_empty() && bytes.iter().all(inner) && bytes[0] != b'-' && bytes[bytes.len() - 1] != b'-'
    };
    let is_address = registry.starts_with('[') && host.parse::<core::net::Ipv6Addr>().is_ok();
    port.is_none_or(is_port) && (is_address || host.split('.').all(is_label))
}

/// Parts between slashes, each of lower case letters and digits with separators (`.`, `_`, `__`, hyphens)
/// inside.
fn is_repository(path: &str) -> bool {
    const LONGEST: usize = 255;
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        let mut run = String::new();
        let mut last = None;
        for byte in part.bytes() {
            if is_alphanumeric(byte) {
                let is_separator =
                    matches!(run.as_str(), "" | "." | "_" | "__") || run.bytes().all(|byte| byte == b'-');
                if !is_separator || (last.is_none() && !run.is_empty()) {
                    return false;
                }
                run.clear();
                last = Some(byte);
            } else if matches!(byte, b'.' | b'_' | b'-') {
                run.push(char::from(byte));
            } else {
                return false;
            }
        }
        last.is_some() && run.is_empty()
    };
    path.len() <= LONGEST && path.split('/').all(is_part)
}

fn is_tag(tag: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=128).contains(&tag.len())
        && tag.bytes().next().is_some_and(word)
        && tag.bytes().all(|byte| word(byte) || matches!(byte, b'.' | b'-'))
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else { return false };
    let is_part = |part: &str| {
        part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    algorithm.split(['+', '.', '-', '_']).all(is_part)
        && hex.len() >= 32
        && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn references_come_apart_and_together_again() {
        for (text, registry, repository, tag) in [
            ("nginx", None, "nginx", None),
            ("nginx:1.27", None, "nginx", Some("1.27")),
            ("ubuntu/nginx", None, "ubuntu/nginx", None),
            ("docker.io/library/nginx:latest", Some("docker.io"), "library/nginx", Some("latest")),
            ("localhost/a", Some("localhost"), "a", None),
            ("localhost:5000/a/b:v1", Some("localhost:5000"), "a/b", Some("v1")),
            (
                "registry.example.com:443/team/app_x__y-z.w",
                Some("registry.example.com:443"),
                "team/app_x__y-z.w",
                None,
            ),
            ("[::1]:5000/a", Some("[::1]:5000"), "a", None),
            ("MyHost/a", Some("MyHost"), "a", None),
        ] {
            for digest in [None, Some(DIGEST)] {
                let whole = digest.map_or_else(|| text.to_owned(), |digest| format!("{text}@{digest}"));
                let reference = Reference::parse(&whole).unwrap();
                assert_eq!(reference.registry.as_deref(), registry, "{whole}");
                assert_eq!(
                    (reference.repository.as_str(), reference.tag.as_deref()),
                    (repository, tag),
                    "{whole}"
                );
                assert_eq!(reference.digest.as_deref(), digest);
                assert_eq!(reference.to_string(), whole);
            }
        }
    }

    #[test]
    fn what_is_no_reference_is_refused_with_the_part() {
        for (text, error) in [
            ("", ReferenceError::Repository),
            ("Nginx", ReferenceError::Repository),
            ("a//b", ReferenceError::Repository),
            ("a/", ReferenceError::Repository),
            ("-a", ReferenceError::Repository),
            ("a..b", ReferenceError::Repository),
            ("a___b", ReferenceError::Repository),
            ("$(IMAGE)", ReferenceError::Repository),
            ("a:", ReferenceError::Tag),
            ("a:.x", ReferenceError::Tag),
            ("-x.y/a", ReferenceError::Registry),
            ("x.y:z/a", ReferenceError::Registry),
            ("a@sha256:short", ReferenceError::Digest),
            ("a@b", ReferenceError::Digest),
        ] {
            assert_eq!(Reference::parse(text).unwrap_err(), error, "{text}");
        }
        let long = format!("a:{}", "t".repeat(129));
        assert_eq!(Reference::parse(&long).unwrap_err(), ReferenceError::Tag);
    }
}
