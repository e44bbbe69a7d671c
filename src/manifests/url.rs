//! The URL that a webhook is called at.

use std::fmt;
use std::net::Ipv6Addr;

/// Longest host name, and longest part of one between dots.
const MAX_HOST: usize = 253;
const MAX_LABEL: usize = 63;

/// Why a text is not the URL of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Another scheme, or none.
    #[error(
        "failed to use the URL: it must begin with https://, the only scheme that webhooks are called by"
    )]
    Scheme,
    /// A user before the host.
    #[error("failed to use the URL: a user or a password may not be in it")]
    User,
    /// A host that is none.
    #[error("failed to use the URL: {0:?} is not a host; it is a name, an IP address, or [IPv6 address]")]
    Host(String),
    /// A port that is none.
    #[error("failed to use the URL: {0:?} is not a port; it is a number from 1 to 65535")]
    Port(String),
    /// A query.
    #[error("failed to use the URL: a query may not be in it, and callers drop it")]
    Query,
    /// A fragment.
    #[error("failed to use the URL: a fragment (#...) may not be in it")]
    Fragment,
    /// The path of something else.
    #[error("failed to use the URL: its path is {found:?}, and must be {wanted:?} or left out")]
    Path {
        /// What it is.
        found: String,
        /// Where the door is.
        wanted: &'static str,
    },
}

/// The URL of one of our doors, as a webhook configuration may hold it: `https`, host, port if any, and the door's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookUrl(String);

impl HookUrl {
    /// The URL in `text`, of the door at `path`. The path is added if the URL has none, and loses a slash at its end.
    pub fn new(text: &str, path: &'static str) -> Result<Self, UrlError> {
        let (scheme, rest) = text.split_once("://").ok_or(UrlError::Scheme)?;
        if !scheme.eq_ignore_ascii_case("https") {
            return Err(UrlError::Scheme);
        }
        // A fragment may hold a question mark, a query no number sign.
        if rest.contains('#') {
            return Err(UrlError::Fragment);
        }
        if rest.contains('?') {
            return Err(UrlError::Query);
        }
        let (authority, found) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        check_authority(authority)?;
        match found.trim_end_matches('/') {
            "" => {}
            trimmed if trimmed == path => {}
            _ => return Err(UrlError::Path { found: found.to_owned(), wanted: path }),
        }
        Ok(Self(format!("https://{authority}{path}")))
    }

    /// The URL.
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
    // The colons of an IPv6 address stand in brackets.
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
    fn the_path_is_added_and_a_slash_at_its_end_taken_away() {
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
    fn hosts_are_names_and_addresses() {
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
    fn what_callers_refuse_or_drop_is_refused() {
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
            let error = UrlError::Path { found: path.to_owned(), wanted: "/interpret" };
            assert_eq!(read(&format!("https://a{path}")), Err(error));
        }
    }
}
