//! The URL of a webhook.

use std::fmt;
use std::net::Ipv6Addr;

/// Of a host name, and of each part between dots, in bytes.
const MAX_HOST: usize = 253;
const MAX_LABEL: usize = 63;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("failed to use the URL: it must begin with https://, the only scheme that API servers call")]
    Scheme,
    #[error("failed to use the URL: remove the user and password")]
    User,
    #[error("failed to use the URL: {0:?} is not a host; use a name, an IP address, or [IPv6 address]")]
    Host(String),
    #[error("failed to use the URL: {0:?} is not a port; use a number from 1 to 65535")]
    Port(String),
    #[error("failed to use the URL: remove the query, which callers drop")]
    Query,
    #[error("failed to use the URL: remove the fragment (#...)")]
    Fragment,
    #[error("failed to use the URL: its path is {found:?}, and must be {expected:?} or left out")]
    Path { found: String, expected: &'static str },
    #[error(
        "failed to use the URL: its path is {found:?}, and must be {:?}, where NAME is the name of the Target or \
         ClusterTarget in the source", expected.replace(TARGET, "NAME")
    )]
    Target { found: String, expected: &'static str },
}

/// The placeholder for the target's name in the path of a door.
const TARGET: &str = "{target}";

/// The URL of one of our doors: `https`, a host, optionally a port, and the door's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookUrl(String);

impl HookUrl {
    /// Parses `text` as the URL of the door at `path`. The path may be left out, except if it ends in
    /// `{target}`: the URL then has the name of a target there. Slashes at the end are removed.
    pub fn new(text: &str, path: &'static str) -> Result<Self, UrlError> {
        let (scheme, rest) = text.split_once("://").ok_or(UrlError::Scheme)?;
        if !scheme.eq_ignore_ascii_case("https") {
            return Err(UrlError::Scheme);
        }
        // A fragment may contain a question mark; a query contains no `#`.
        if rest.contains('#') {
            return Err(UrlError::Fragment);
        }
        if rest.contains('?') {
            return Err(UrlError::Query);
        }
        let (authority, found) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        check_authority(authority)?;
        if let Some(parent) = path.strip_suffix(TARGET) {
            let name = found.trim_end_matches('/').strip_prefix(parent).filter(|name| is_target(name));
            let name = name.ok_or_else(|| UrlError::Target { found: found.to_owned(), expected: path })?;
            return Ok(Self(format!("https://{authority}{parent}{name}")));
        }
        match found.trim_end_matches('/') {
            "" => {}
            trimmed if trimmed == path => {}
            _ => return Err(UrlError::Path { found: found.to_owned(), expected: path }),
        }
        Ok(Self(format!("https://{authority}{path}")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check_authority(authority: &str) -> Result<(), UrlError> {
    if authority.contains('@') {
        return Err(UrlError::User);
    }
    // The colons of an IPv6 address are in brackets.
    let port = authority.rfind(':').filter(|colon| authority.rfind(']').is_none_or(|end| end < *colon));
    let (host, port) = match port {
        Some(colon) => (&authority[..colon], Some(&authority[colon + 1..])),
        None => (authority, None),
    };
    if !is_host(host) {
        return Err(UrlError::Host(host.to_owned()));
    }
    match port {
        Some(port) if !is_port(port) => Err(UrlError::Port(port.to_owned())),
        _ => Ok(()),
    }
}

fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[') {
        return address.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    let is_label = |label: &str| {
        (1..=MAX_LABEL).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    host.len() <= MAX_HOST && host.strip_suffix('.').unwrap_or(host).split('.').all(is_label)
}

/// Whether `name` is a valid name of a Kubernetes object (RFC 1123 subdomain).
fn is_target(name: &str) -> bool {
    let is_edge =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        is_edge(bytes.first())
            && is_edge(bytes.last())
            && bytes.iter().all(|byte| is_edge(Some(byte)) || *byte == b'-')
    };
    name.len() <= MAX_HOST && name.split('.').all(is_label)
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, UrlError> {
        HookUrl::new(text, "/interpret").map(|url| url.to_string())
    }

    #[test]
    fn the_path_is_added_and_a_trailing_slash_removed() {
        for text in [
            "https://reviser.example.com:8443",
            "https://reviser.example.com:8443/",
            "https://reviser.example.com:8443/interpret",
            "https://reviser.example.com:8443/interpret/",
            "HTTPS://reviser.example.com:8443/interpret",
        ] {
            assert_eq!(read(text).as_deref(), Ok("https://reviser.example.com:8443/interpret"), "{text}");
        }
    }

    #[test]
    fn hosts_are_names_or_addresses() {
        for host in [
            "localhost",
            "reviser.reviser-system.svc",
            "reviser.example.com.",
            "my_host",
            "10.0.0.1:443",
            "[::1]",
            "[fd00::1]:65535",
        ] {
            assert_eq!(read(&format!("https://{host}")), Ok(format!("https://{host}/interpret")));
        }
        let long = "a".repeat(64);
        for host in [
            "",
            "a b",
            "::1",
            "[::1",
            "[10.0.0.1]",
            "[fe80::1%eth0]",
            "a..b",
            ".",
            "ä.example.com",
            "a\\b",
            &long,
        ] {
            let error = read(&format!("https://{host}")).unwrap_err();
            assert!(matches!(error, UrlError::Host(_)), "{host}: {error}");
        }
        for port in ["", "0", "+80", "65536", "https", "80:"] {
            let error = read(&format!("https://[::1]:{port}/interpret")).unwrap_err();
            assert!(matches!(error, UrlError::Port(_) | UrlError::Host(_)), "{port}: {error}");
        }
    }

    #[test]
    fn a_path_with_a_placeholder_requires_a_target_name() {
        const PATH: &str = "/mutate/podchaperons/{target}";
        let read = |text: &str| HookUrl::new(text, PATH).map(|url| url.to_string());
        for name in ["eu", "eu.west-1", "0"] {
            let url = format!("https://a:1/mutate/podchaperons/{name}");
            assert_eq!(read(&url), Ok(url.clone()));
            assert_eq!(read(&format!("{url}/")), Ok(url));
        }
        for path in [
            "",
            "/",
            "/mutate/podchaperons",
            "/mutate/podchaperons/",
            "/mutate/podchaperons/{target}",
            "/mutate/podchaperons/a/b",
            "/mutate/podchaperons/A",
            "/mutate/works",
        ] {
            let error = read(&format!("https://a{path}")).unwrap_err();
            assert_eq!(error, UrlError::Target { found: path.to_owned(), expected: PATH });
            assert!(error.to_string().contains("must be \"/mutate/podchaperons/NAME\", "), "{error}");
        }
    }

    #[test]
    fn parts_that_callers_refuse_or_drop_are_refused() {
        for text in
            ["", "reviser.example.com", "http://reviser.example.com", "//reviser.example.com", "https:/a"]
        {
            assert_eq!(read(text), Err(UrlError::Scheme), "{text}");
        }
        assert_eq!(read("https://a?b=c"), Err(UrlError::Query));
        assert_eq!(read("https://a/interpret?"), Err(UrlError::Query));
        assert_eq!(read("https://a/interpret#b?c"), Err(UrlError::Fragment));
        assert_eq!(read("https://user:word@a/interpret"), Err(UrlError::User));
        for path in ["/mutate/works", "/interpret/x", "//interpret", "/Interpret", "/%69nterpret"] {
            let error = UrlError::Path { found: path.to_owned(), expected: "/interpret" };
            assert_eq!(read(&format!("https://a{path}")), Err(error));
        }
    }
}
