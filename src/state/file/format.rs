//! The text of a ledger: a line that names format and version, then one record a line, each a checksum
//! (CRC-32, eight hexadecimal digits), a space, and the entry as a JSON object.
//!
//! JSON escapes line ends, so that a record is one line whatever the names are. Of two records with one key
//! the later counts.

use std::borrow::Cow;
use std::io::{self, BufRead, Read as _, Write};

use serde::{Deserialize, Serialize};

use super::error::Damage;
use crate::domain::{AllocationKey, ClusterName};
use crate::state::memory::Entries;

/// The first line.
pub(super) const HEADER: &str = "reviser-ledger v1\n";
/// What the first line of any version begins with.
const MAGIC: &[u8] = b"reviser-ledger v";
/// More than any header: what has no line end within this is no ledger, and is not read on.
const MAX_HEADER_BYTES: u64 = 64;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry<'a> {
    #[serde(borrow)]
    allocation: Cow<'a, str>,
    #[serde(borrow)]
    group: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    namespace: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    cluster: Cow<'a, str>,
}

/// Writes the record of an entry, line end included; says how many bytes that were.
pub(super) fn write_record(
    out: &mut impl Write,
    key: &AllocationKey,
    cluster: &ClusterName,
) -> io::Result<u64> {
    let json = serde_json::to_string(&Entry {
        allocation: key.allocation.as_str().into(),
        group: key.group.as_str().into(),
        kind: key.kind.as_str().into(),
        namespace: key.namespace.as_str().into(),
        name: key.name.as_str().into(),
        cluster: cluster.as_str().into(),
    })?;
    let record = format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes()));
    out.write_all(record.as_bytes())?;
    Ok(record.len() as u64)
}

/// Reads a record, without its line end.
fn read_record(line: &[u8]) -> Result<(AllocationKey, ClusterName), Damage> {
    let (digits, json) = line.split_at_checked(8).ok_or(Damage::NoChecksum)?;
    let json = json.strip_prefix(b" ").ok_or(Damage::NoChecksum)?;
    // One way to write a checksum: neither signs, which `from_str_radix` takes, nor capitals.
    if !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(Damage::NoChecksum);
    }
    let digits = std::str::from_utf8(digits).map_err(|_| Damage::NoChecksum)?;
    let checksum = u32::from_str_radix(digits, 16).map_err(|_| Damage::NoChecksum)?;
    if crc32fast::hash(json) != checksum {
        return Err(Damage::Checksum);
    }
    let entry: Entry<'_> = serde_json::from_slice(json).map_err(|error| Damage::Entry(error.to_string()))?;
    let cluster =
        ClusterName::new(entry.cluster).ok_or_else(|| Damage::Entry("its cluster has no name".to_owned()))?;
    let key = AllocationKey {
        allocation: entry.allocation.into_owned(),
        group: entry.group.into_owned(),
        kind: entry.kind.into_owned(),
        namespace: entry.namespace.into_owned(),
        name: entry.name.into_owned(),
    };
    Ok((key, cluster))
}

/// What was found in a ledger.
pub(super) struct Contents {
    pub(super) entries: Entries,
    /// How many records there are; more than entries, where some were written over.
    pub(super) records: usize,
    /// How many bytes hold them, with the header.
    pub(super) bytes: u64,
    /// Whether something follows them that has no line end: a record that was not written to its end.
    pub(super) torn: bool,
}

/// Why the contents could not be had.
pub(super) enum ReadError {
    Io(io::Error),
    Damaged { line: usize, damage: Damage },
}

impl From<io::Error> for ReadError {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}

/// Reads a whole ledger.
pub(super) fn read(mut reader: impl BufRead) -> Result<Contents, ReadError> {
    let mut line = Vec::new();
    reader.by_ref().take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)?;
    check_header(&line).map_err(|damage| ReadError::Damaged { line: 1, damage })?;
    let mut contents =
        Contents { entries: Entries::default(), records: 0, bytes: line.len() as u64, torn: false };
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(contents);
        }
        let Some(record) = line.strip_suffix(b"\n") else {
            contents.torn = true;
            return Ok(contents);
        };
        let (key, cluster) = read_record(record)
            .map_err(|damage| ReadError::Damaged { line: contents.records + 2, damage })?;
        contents.entries.insert(&key, &cluster);
        contents.records += 1;
        contents.bytes += line.len() as u64;
    }
}

/// A header that is not whole is none: it came into being with the file.
fn check_header(line: &[u8]) -> Result<(), Damage> {
    if line == HEADER.as_bytes() {
        return Ok(());
    }
    match line.strip_prefix(MAGIC).and_then(|rest| rest.strip_suffix(b"\n")) {
        Some(version) => Err(Damage::Version(String::from_utf8_lossy(version).into_owned())),
        None => Err(Damage::Header),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::state::tests::{any_key, cluster, key};

    fn record(key: &AllocationKey, cluster: &ClusterName) -> Vec<u8> {
        let mut record = Vec::new();
        let written = write_record(&mut record, key, cluster).unwrap();
        assert_eq!(written, record.len() as u64);
        record
    }

    #[test]
    fn a_record_looks_as_it_always_did() {
        let written = String::from_utf8(record(&key("web"), &cluster("cluster-x"))).unwrap();
        let (checksum, json) = written.split_once(' ').unwrap();
        assert_eq!(
            json,
            "{\"allocation\":\"fort\",\"group\":\"deploy.example.com\",\"kind\":\"Rollout\",\
             \"namespace\":\"ns\",\"name\":\"web\",\"cluster\":\"cluster-x\"}\n"
        );
        assert_eq!(checksum, CHECKSUM, "files that were written with another one could not be read");
    }

    /// Of that record, by another implementation of CRC-32.
    const CHECKSUM: &str = "5d36d481";

    proptest! {
        #[test]
        fn a_record_is_one_line_and_gives_the_entry_back(key in any_key(), name in "\\PC{1,8}|\n") {
            let cluster = cluster(&name);
            let written = record(&key, &cluster);
            prop_assert_eq!(written.iter().position(|byte| *byte == b'\n'), Some(written.len() - 1));
            prop_assert_eq!(read_record(&written[..written.len() - 1]), Ok((key, cluster)));
        }

        #[test]
        fn no_line_of_any_bytes_is_taken_for_a_record(line in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(read_record(&line).is_err());
        }
    }

    #[test]
    fn a_right_checksum_does_not_make_an_entry() {
        let sealed = |json: &str| format!("{:08x} {json}", crc32fast::hash(json.as_bytes()));
        let whole = r#"{"allocation":"a","group":"","kind":"K","namespace":"","name":"n","cluster":"c"}"#;
        assert!(read_record(sealed(whole).as_bytes()).is_ok());
        for json in [
            "",
            "{}",
            "[]",
            &whole.replace(r#""c""#, r#""""#),
            &whole.replace(r#""c""#, "null"),
            &whole.replace('{', r#"{"more":1,"#),
            &whole.replace('{', r#"{"kind":"K","#),
            &whole[1..],
            &format!("{whole}{whole}"),
        ] {
            let damage = read_record(sealed(json).as_bytes()).unwrap_err();
            assert!(matches!(damage, Damage::Entry(_)), "{json}: {damage}");
        }
        let record = sealed(whole);
        let (checksum, json) = record.split_at(8);
        for line in [
            format!("{}{json}", checksum.to_uppercase()),
            format!("{checksum} {json}"),
            format!("{checksum}{}", &json[1..]),
            format!("+{}{json}", &checksum[1..]),
            whole.to_owned(),
        ] {
            assert!(read_record(line.as_bytes()).is_err(), "{line}");
        }
    }
}
