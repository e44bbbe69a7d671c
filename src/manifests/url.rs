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
    /// A path that names no target.
    #[error(
        "failed to use the URL: its path is {found:?}, and must be {:?}, NAME being what the source calls the target: the name of a Target or \
         ClusterTarget", wanted.replace(TARGET, "NAME")
    )]
    Target {
        /// What it is.
        found: String,
        /// Where the door is.
        wanted: &'static str,
    },
}

/// What stands for the name of a target in the path of a door.
const TARGET: &str = "{target}";

/// The URL of one of our doors, as a webhook configuration may hold it: `https`, host, port if any, and the door's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookUrl(String);

impl HookUrl {
    /// The URL in `text`, of the door at `path`. The path is added if the URL has none, and loses a slash at its end. One that
    /// ends in `{target}` has to be given, with a name in that place.
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
        if let Some(parent) = path.strip_suffix(TARGET) {
            let name = found.trim_end_matches('/').strip_prefix(parent).filter(|name| is_target(name));
            let name = name.ok_or_else(|| UrlError::Target { found: found.to_owned(), wanted: path })?;
            return Ok(Self(format!("https://{authority}{parent}{name}")));
        }
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

/// Whether an object can be called so.
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
    fn a_door_for_targets_wants_the_name_of_one() {
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
            assert_eq!(error, UrlError::Target { found: path.to_owned(), wanted: PATH });
            assert!(error.to_string().contains("must be \"/mutate/podchaperons/NAME\", "), "{error}");
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
