//! What is opened, what is refused, and that what is refused is left alone.

use super::*;

/// Opens what must be refused.
fn refusal(path: &Path) -> OpenError {
    match FileLedger::open(path) {
        Ok(ledger) => panic!("opened: {:?}", entries(&ledger)),
        Err(error) => error,
    }
}

#[test]
fn a_missing_file_and_an_empty_one_are_new_ledgers() {
    let (_directory, path) = place();
    assert_eq!(found(&path), Model::new());
    assert_eq!(fs::read_to_string(&path).unwrap(), "reviser-ledger v1\n");
    fs::write(&path, "").unwrap();
    assert_eq!(found(&path), Model::new());
    assert_eq!(fs::read_to_string(&path).unwrap(), "reviser-ledger v1\n");
}

#[test]
fn contents_that_this_version_did_not_write_are_refused_and_left_alone() {
    let (_directory, path) = place();
    put(&FileLedger::open(&path).unwrap(), "a", "x").unwrap();
    let good = fs::read(&path).unwrap();
    let after_good = |more: &[u8]| [good.as_slice(), more].concat();
    let cases: [(Vec<u8>, usize, &str); 12] = [
        (b"\n".into(), 1, "this is no ledger of reviser"),
        (b"reviser-ledger v1".into(), 1, "this is no ledger of reviser"),
        (b"reviser-ledger v1\r\n".into(), 1, "version \"1\\r\""),
        (b"reviser-ledger v2\n".into(), 1, "version \"2\", and this program knows only version \"1\""),
        (b"apiVersion: v1\nkind: List\n".into(), 1, "this is no ledger of reviser"),
        (vec![0; 5000], 1, "this is no ledger of reviser"),
        (vec![b'x'; 5000], 1, "this is no ledger of reviser"),
        (after_good(b"\n"), 3, "it does not begin with a checksum"),
        (after_good(&[0, 0, 0, b'\n']), 3, "it does not begin with a checksum"),
        (after_good(b"00000000 {}\n"), 3, "its checksum does not fit"),
        (after_good(b"a3a6bf43 {}\n"), 3, "it holds no entry (missing field `allocation`"),
        (after_good(b"\xff\xfe\n00000000 half"), 3, "it does not begin with a checksum"),
    ];
    for (contents, line, problem) in cases {
        fs::write(&path, &contents).unwrap();
        let error = refusal(&path);
        assert!(error.is_damaged() && !error.is_held());
        let text = error.to_string();
        let place = format!("failed to read the ledger {path:?}, line {line}: ");
        assert!(text.starts_with(&place) && text.contains(problem), "{text}");
        assert!(text.contains("restore it from a backup, or move it away"), "{text}");
        assert_eq!(fs::read(&path).unwrap(), contents);
    }
}

#[test]
fn every_damaged_byte_is_noticed() {
    let (_directory, path) = place();
    let ledger = FileLedger::open(&path).unwrap();
    for (name, to) in [("a", "x"), ("b", "y")] {
        put(&ledger, name, to).unwrap();
    }
    drop(ledger);
    let good = fs::read(&path).unwrap();
    // Without its line end the last record is one that was not written to its end; see `crash`.
    for at in 0..good.len() - 1 {
        for damage in [good[at] ^ 1, good[at] ^ 0x80, b'\n', 0] {
            if damage == good[at] {
                continue;
            }
            let mut bad = good.clone();
            bad[at] = damage;
            fs::write(&path, &bad).unwrap();
            assert!(refusal(&path).is_damaged(), "byte {at}: {damage}");
            assert_eq!(fs::read(&path).unwrap(), bad);
        }
    }
}

#[test]
fn only_a_file_is_a_ledger() {
    let (directory, _) = place();
    for path in [directory.path().to_owned(), PathBuf::from("/"), PathBuf::from("/dev/null")] {
        let error = refusal(&path);
        assert!(matches!(error, OpenError::NotAFile { .. }), "{error}");
        assert_eq!(error.to_string(), format!("failed to open the ledger {path:?}: it is no regular file"));
    }
    assert!(matches!(refusal(Path::new("")), OpenError::NotAFile { .. }));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "no lock file is left there");
}

#[test]
fn where_no_file_can_be_the_error_says_so() {
    let (directory, path) = place();
    fs::write(&path, "").unwrap();
    let dangling = directory.path().join("link");
    std::os::unix::fs::symlink(directory.path().join("nowhere"), &dangling).unwrap();
    for (path, action) in [
        (directory.path().join("missing/ledger"), "failed to find the directory of the ledger, "),
        (path.join("ledger"), "failed to find the ledger "),
        (dangling, "failed to find the ledger "),
        // Nobody, not even the superuser, can make a file there.
        (PathBuf::from("/proc/ledger"), "failed to open the lock file "),
        (PathBuf::from("/proc/version"), "failed to open the lock file "),
    ] {
        let error = refusal(&path);
        assert!(error.to_string().starts_with(action), "{path:?}: {error}");
        assert!(std::error::Error::source(&error).is_some());
        assert!(!error.is_held() && !error.is_damaged());
    }
}

#[test]
fn a_ledger_has_one_user_at_a_time() {
    let (_directory, path) = place();
    let ledger = FileLedger::open(&path).unwrap();
    let error = refusal(&path);
    assert!(error.is_held() && !error.is_damaged());
    let pid = std::process::id();
    assert_eq!(
        error.to_string(),
        format!(
            "failed to lock the ledger {path:?}: it is held by another process (pid {pid}); \
             a ledger has one user at a time"
        )
    );
    put(&ledger, "a", "x").unwrap();
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "x")]));
}

#[test]
fn a_lock_file_without_a_process_id_locks_all_the_same() {
    let (_directory, path) = place();
    let _ledger = FileLedger::open(&path).unwrap();
    fs::write(replacement::sibling(&path, ".lock"), "\u{7f}").unwrap();
    assert!(matches!(refusal(&path), OpenError::Held { holder: None, .. }));
}

#[test]
fn a_link_to_a_ledger_stays_one_and_meets_the_same_lock() {
    let (directory, path) = place();
    let link = directory.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    drop(FileLedger::open(&path).unwrap());
    let ledger = open_compacting(&link, 2);
    assert!(refusal(&path).is_held());
    for number in 0..20 {
        put(&ledger, "a", &number.to_string()).unwrap();
    }
    drop(ledger);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(found(&path), model(&[("a", "19")]));
}

#[test]
fn a_ledger_keeps_its_permissions_when_it_is_written_anew() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_directory, path) = place();
    let mut ledger = open_compacting(&path, 2);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    for number in 0..20 {
        put(&ledger, "a", &number.to_string()).unwrap();
        ledger = {
            drop(ledger);
            open_compacting(&path, 2)
        };
    }
    assert!(lines(&path) < 20);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}
