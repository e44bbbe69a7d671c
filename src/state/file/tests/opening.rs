//! Tests of which files are opened and which are refused, and that refused files are unmodified.

use redb::{Database, TableDefinition};

use super::*;

fn refusal(path: &Path) -> OpenError {
    match FileLedger::open(path) {
        Ok(ledger) => panic!("opened: {:?}", entries(&ledger)),
        Err(error) => error,
    }
}

fn is_held(error: &OpenError) -> bool {
    matches!(error, OpenError::Held(_))
}

fn is_damaged(error: &OpenError) -> bool {
    matches!(error, OpenError::Damaged { .. })
}

/// A database with one table of the given name.
fn database(path: &Path, table: &str) -> Vec<u8> {
    let database = Database::create(path).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(TableDefinition::<&str, u64>::new(table)).unwrap();
    transaction.commit().unwrap();
    drop(database);
    let bytes = fs::read(path).unwrap();
    fs::remove_file(path).unwrap();
    bytes
}

#[test]
fn a_missing_file_and_an_empty_one_are_new_ledgers() {
    let (directory, path) = place();
    assert_eq!(found(&path), Model::new());
    assert_eq!(found(&path), Model::new());
    fs::write(&path, "").unwrap();
    assert_eq!(found(&path), Model::new());
    assert!(fs::metadata(&path).unwrap().len() > 0);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no other file is left there");
}

#[test]
fn what_a_creation_that_was_killed_has_left_is_replaced() {
    let (directory, path) = place();
    fs::write(directory.path().join("ledger.tmp"), "half").unwrap();
    put(&FileLedger::open(&path).unwrap(), "a", "x").unwrap();
    assert_eq!(found(&path), model(&[("a", "x")]));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn contents_that_this_version_did_not_write_are_refused_and_left_alone() {
    let (_directory, path) = place();
    put(&FileLedger::open(&path).unwrap(), "a", "x").unwrap();
    let good = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let text = "reviser-ledger v1\n5d36d481 {\"allocation\":\"fort\"}\n";
    let cases: [(Vec<u8>, &str); 10] = [
        (text.into(), "it has the text format of earlier builds"),
        (b"reviser-ledger v1\n".into(), "it has the text format of earlier builds"),
        (b"\n".into(), "it is not a ledger of reviser"),
        (b"apiVersion: v1\nkind: List\n".into(), "it is not a ledger of reviser"),
        (vec![0; 100_000], "it is not a ledger of reviser"),
        (b"SQLite format 3\0".iter().copied().cycle().take(8192).collect(), "it is not a ledger of reviser"),
        (database(&path, "sessions"), "it is a redb database of another program"),
        (
            database(&path, "reviser-ledger-v3"),
            "it has version \"3\", and this program knows only version \"2\"",
        ),
        (database(&path, "reviser-ledger-v2"), "it is damaged ("),
        (good[..good.len() / 2].into(), "it is damaged ("),
    ];
    for (contents, problem) in cases {
        fs::write(&path, &contents).unwrap();
        let error = refusal(&path);
        assert!(is_damaged(&error), "{error}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("failed to read the ledger {path:?}: {problem}")), "{text}");
        assert!(text.contains("restore it from a backup, or move it away"), "{text}");
        assert_eq!(fs::read(&path).unwrap(), contents);
    }
}

#[test]
fn a_file_that_ends_too_early_is_refused_and_left_alone() {
    let (_directory, path) = place();
    let ledger = FileLedger::open(&path).unwrap();
    for number in 0..200 {
        put(&ledger, &number.to_string(), "x").unwrap();
    }
    let expected = entries(&ledger);
    drop(ledger);
    let good = fs::read(&path).unwrap();
    for len in (1..good.len()).step_by(509) {
        fs::write(&path, &good[..len]).unwrap();
        match FileLedger::open(&path) {
            // The truncated end of the file has no used page.
            Ok(ledger) => assert_eq!(entries(&ledger), expected, "{len} bytes"),
            Err(error) => {
                assert!(is_damaged(&error), "{len} bytes: {error}");
                assert_eq!(fs::read(&path).unwrap(), good[..len]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damaged_bytes_are_noticed_unless_nothing_depends_on_them(
        clean in any::<bool>(),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        near in prop_oneof![Just(512_usize), Just(usize::MAX)],
    ) {
        let (_directory, path) = place();
        let ledger = FileLedger::open(&path).unwrap();
        for (name, to) in [("a", "x"), ("b", "y"), ("a", "z")] {
            put(&ledger, name, to).unwrap();
        }
        let expected = entries(&ledger);
        // The state after a kill, or after a clean exit.
        let mut bytes = fs::read(&path).unwrap();
        drop(ledger);
        if clean {
            bytes = fs::read(&path).unwrap();
        }
        let within = bytes.len().min(near);
        for (at, value) in damage {
            bytes[at.index(within)] = value;
        }
        fs::write(&path, &bytes).unwrap();
        match FileLedger::open(&path) {
            Ok(ledger) => {
                let found = entries(&ledger);
                // If the process was killed, a damaged last commit can't be distinguished from an incomplete
                // one.
                let before = model(&[("a", "x"), ("b", "y")]);
                prop_assert!(found == expected || !clean && found == before, "{found:?}");
            }
            Err(error) => {
                prop_assert!(is_damaged(&error), "{}", error);
                prop_assert!(fs::read(&path).unwrap() == bytes);
            }
        }
    }
}

#[test]
fn only_a_file_is_a_ledger() {
    let (directory, _) = place();
    for path in [directory.path().to_owned(), PathBuf::from("/"), PathBuf::from("/dev/null")] {
        let error = refusal(&path);
        assert!(matches!(error, OpenError::NotAFile(_)), "{error}");
        assert_eq!(
            error.to_string(),
            format!("failed to open the ledger {path:?}: it is not a regular file")
        );
    }
    assert!(matches!(refusal(Path::new("")), OpenError::NotAFile(_)));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
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
        // Not even root can create a file there.
        (PathBuf::from("/proc/ledger"), "failed to create the ledger "),
        (PathBuf::from("/proc/version"), "failed to create the ledger "),
    ] {
        let error = refusal(&path);
        assert!(error.to_string().starts_with(action), "{path:?}: {error}");
        assert!(std::error::Error::source(&error).is_some());
        assert!(!is_held(&error) && !is_damaged(&error));
    }
}

#[test]
fn a_ledger_has_one_user_at_a_time() {
    let (_directory, path) = place();
    let ledger = FileLedger::open(&path).unwrap();
    let error = refusal(&path);
    assert!(is_held(&error));
    assert_eq!(
        error.to_string(),
        format!(
            "failed to lock the ledger {path:?}: another process has it open; a ledger has one user at a time"
        )
    );
    put(&ledger, "a", "x").unwrap();
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "x")]));
}

#[test]
fn a_link_to_a_ledger_stays_one_and_meets_the_same_lock() {
    let (directory, path) = place();
    let link = directory.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    drop(FileLedger::open(&path).unwrap());
    let ledger = FileLedger::open(&link).unwrap();
    assert!(is_held(&refusal(&path)));
    put(&ledger, "a", "x").unwrap();
    drop(ledger);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(found(&path), model(&[("a", "x")]));
}

#[test]
fn a_new_ledger_has_the_permissions_of_the_empty_file_in_its_place() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_directory, path) = place();
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    put(&FileLedger::open(&path).unwrap(), "a", "x").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}
