//! The syntax of names and other short texts.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[derive(Debug)]
pub(super) struct Syntax {
    /// Whether a text, which is not empty, has this syntax.
    pub(super) holds: fn(&str) -> bool,
    /// What such a text is, for `… is no NAME`.
    pub(super) name: &'static str,
    /// How it is spelled, for `use …`.
    pub(super) advice: &'static str,
}

pub(super) const DNS_LABEL: Syntax = Syntax {
    holds: is_dns_label,
    name: "DNS label",
    advice: "up to 63 lower-case letters, digits and `-`, with a letter or digit at both ends",
};

pub(super) const DNS_SUBDOMAIN: Syntax = Syntax {
    holds: is_dns_subdomain,
    name: "DNS subdomain",
    advice: "up to 253 lower-case letters, digits, `-` and `.`, with a letter or digit at both ends of each part",
};

pub(super) const SERVICE_NAME: Syntax = Syntax {
    holds: |text| is_dns_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase()),
    name: "name of a Service",
    advice: "up to 63 lower-case letters, digits and `-`, with a letter at the start and a letter or digit at the end",
};

pub(super) const HOST: Syntax = Syntax {
    holds: |text| match text.strip_prefix("*.") {
        Some(rest) => is_dns_subdomain(rest),
        None => is_dns_subdomain(text) && ip(text).is_none(),
    },
    name: "host name",
    advice: "a DNS name in lower case, or `*.` and one",
};

pub(super) const LABEL_KEY: Syntax = Syntax {
    holds: is_label_key,
    name: "key of a label",
    advice: "up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends, behind `DOMAIN/` if need be",
};

pub(super) const ANNOTATION_KEY: Syntax = Syntax {
    holds: |text| is_label_key(&text.to_lowercase()),
    name: "key of an annotation",
    advice: LABEL_KEY.advice,
};

pub(super) const LABEL_VALUE: Syntax = Syntax {
    holds: |text| text.is_empty() || text.len() <= 63 && is_name(text),
    name: "value of a label",
    advice: "up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
};

pub(super) const PORT_NAME: Syntax = Syntax {
    holds: |text| {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        text.len() <= 15
            && text.bytes().all(is_plain)
            && text.bytes().any(|byte| byte.is_ascii_lowercase())
            && !text.contains("--")
            && !text.starts_with('-')
            && !text.ends_with('-')
    },
    name: "name of a port",
    advice: "up to 15 lower-case letters, digits and single `-`, with a letter in it and no `-` at the ends",
};

pub(super) const VARIABLE: Syntax = Syntax {
    holds: |text| text.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'='),
    name: "name of an environment variable",
    advice: "printable ASCII without `=`",
};

pub(super) const CONFIG_KEY: Syntax = Syntax {
    holds: |text| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        text.len() <= 253 && text.bytes().all(is_plain) && text != "." && !text.starts_with("..")
    },
    name: "key of a ConfigMap or Secret",
    advice: "up to 253 letters, digits, `-`, `_` and `.`, not `.` alone and without `..` at the start",
};

pub(super) const PERCENTAGE: Syntax = Syntax {
    holds: |text| percentage(text).is_some(),
    name: "percentage",
    advice: "an integer, or one behind which `%` stands, as in \"25%\"",
};

pub(super) const HEADER: Syntax = Syntax {
    holds: |text| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'),
    name: "name of an HTTP header",
    advice: "letters, digits and `-`",
};

pub(super) const DRIVER: Syntax = Syntax {
    holds: |text| text.len() <= 63 && is_dns_subdomain(&text.to_lowercase()),
    name: "name of a CSI driver",
    advice: "up to 63 letters, digits, `-` and `.`, with a letter or digit at both ends of each part",
};

pub(super) const SYSCTL: Syntax = Syntax {
    holds: |text| {
        let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_inner = |byte: u8| is_end(&byte) || matches!(byte, b'-' | b'_');
        let is_segment = |segment: &str| {
            segment.bytes().all(is_inner)
                && segment.as_bytes().first().is_some_and(is_end)
                && segment.as_bytes().last().is_some_and(is_end)
        };
        text.len() <= 253 && text.split(['.', '/']).all(is_segment)
    },
    name: "name of a sysctl",
    advice: "up to 253 lower-case letters, digits, `-` and `_` in parts with `.` or `/` between them",
};

pub(super) const IP: Syntax =
    Syntax { holds: |text| ip(text).is_some(), name: "IP address", advice: "one, as in 10.9.8.7 or fd00::1" };

pub(super) const CIDR: Syntax = Syntax {
    holds: |text| cidr(text).is_some(),
    name: "CIDR",
    advice: "an address and the length of its prefix, as in 10.9.8.0/24",
};

pub(super) const RELATIVE_PATH: Syntax = Syntax {
    holds: |text| !text.starts_with('/') && has_no_backsteps(text),
    name: "relative path",
    advice: "one without `/` at the start and without `..` in it",
};

pub(super) const FILE_PATH: Syntax = Syntax {
    holds: |text| (RELATIVE_PATH.holds)(text) && !text.starts_with(".."),
    name: "path of a file in a volume",
    advice: "one without `/` or `..` at the start and without `..` in it",
};

pub(super) const NO_BACKSTEPS: Syntax =
    Syntax { holds: has_no_backsteps, name: "path that can be used here", advice: "one without `..` in it" };

pub(super) const PATH_PART: Syntax = Syntax {
    holds: |text| !matches!(text, "." | "..") && !text.contains(['/', '%']),
    name: "part of a path",
    advice: "a name without `/` and `%`",
};

pub(super) const ABSOLUTE_PATH: Syntax = Syntax {
    holds: |text| text.starts_with('/'),
    name: "absolute path",
    advice: "one with `/` at the start",
};

/// Whether a part of a path is `..`.
fn has_no_backsteps(text: &str) -> bool {
    text.split('/').all(|part| part != "..")
}

fn is_dns_label(text: &str) -> bool {
    let is_end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= 63 && is_made_of(text, is_end, |byte| is_end(byte) || byte == b'-')
}

fn is_dns_subdomain(text: &str) -> bool {
    let is_end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= 253
        && text.split('.').all(|part| is_made_of(part, is_end, |byte| is_end(byte) || byte == b'-'))
}

fn is_label_key(text: &str) -> bool {
    let name = match text.split_once('/') {
        Some((domain, name)) if is_dns_subdomain(domain) => name,
        Some(_) => return false,
        None => text,
    };
    name.len() <= 63 && is_name(name)
}

/// Letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
fn is_name(text: &str) -> bool {
    let is_end = |byte: u8| byte.is_ascii_alphanumeric();
    is_made_of(text, is_end, |byte| is_end(byte) || matches!(byte, b'-' | b'_' | b'.'))
}

/// Whether a text has such bytes at both ends, and such ones in it. It must not be empty.
fn is_made_of(text: &str, is_end: impl Fn(u8) -> bool, is_inner: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => {
            is_end(*first) && is_end(*last) && bytes.iter().all(|&byte| is_inner(byte))
        }
        _ => false,
    }
}

/// The number of a percentage.
pub(super) fn percentage(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // Go takes the largest integer for a number that does not fit, too.
    is_number.then(|| digits.parse().unwrap_or(i64::MAX))
}

/// An address. Zeros at the start of the numbers of an IPv4 address are skipped, as older API servers do.
pub(super) fn ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    let trimmed = |part: &str| match part.trim_start_matches('0') {
        "" if !part.is_empty() => "0".to_owned(),
        rest => rest.to_owned(),
    };
    let parts: Vec<String> = text.split('.').map(trimmed).collect();
    parts.join(".").parse::<Ipv4Addr>().ok().map(IpAddr::V4)
}

/// An address and the length of its prefix.
pub(super) fn cidr(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let (address, length) = (ip(address)?, length.parse().ok().filter(|_| is_number)?);
    (length <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, length))
}

/// Whether all addresses of the second are among those of the first, which has more.
pub(super) fn is_strict_subset((outer, length): (IpAddr, u8), (inner, inner_length): (IpAddr, u8)) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    };
    let differ = (bits(outer) ^ bits(inner)).leading_zeros();
    outer.is_ipv4() == inner.is_ipv4() && length < inner_length && differ >= u32::from(length)
}
