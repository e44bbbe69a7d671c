//! Disks that are full or broken for a while.

use std::sync::{Mutex, MutexGuard};

use super::*;

/// What goes wrong next.
#[derive(Debug, Default)]
struct Plan {
    /// The next write stops after so many bytes.
    append: Option<usize>,
    /// So many syncs fail.
    syncs: usize,
    /// So many truncations fail.
    truncations: usize,
}

/// A file with which things go wrong as planned.
struct Faulty {
    file: File,
    plan: Arc<Mutex<Plan>>,
}

fn fail_some(times: &mut usize, what: &str) -> io::Result<()> {
    if *times == 0 {
        return Ok(());
    }
    *times -= 1;
    Err(io::Error::other(what.to_owned()))
}

impl Faulty {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap()
    }
}

impl Tape for Faulty {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stop = self.plan().append.take();
        match stop {
            Some(len) => {
                self.file.append(&bytes[..len.min(bytes.len())])?;
                Err(io::Error::other("no space"))
            }
            None => self.file.append(bytes),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        fail_some(&mut self.plan().syncs, "no sync")?;
        self.file.sync()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        fail_some(&mut self.plan().truncations, "no truncation")?;
        self.file.truncate(len)
    }
}

fn open_faulty(path: &Path) -> (FileLedger, Arc<Mutex<Plan>>) {
    let plan = Arc::new(Mutex::new(Plan::default()));
    let tape_plan = Arc::clone(&plan);
    let ledger =
        FileLedger::open_with(path, COMPACT_ABOVE, |file| Box::new(Faulty { file, plan: tape_plan }));
    (ledger.unwrap(), plan)
}

/// The reason at the end of the chain.
fn reason(error: &LedgerError) -> String {
    error.source.to_string()
}

#[test]
fn a_write_that_fails_anywhere_changes_nothing_and_the_next_one_works() {
    let (_directory, path) = place();
    let (ledger, plan) = open_faulty(&path);
    put(&ledger, "a", "old").unwrap();
    let record = fs::read(&path).unwrap().len() - format::HEADER.len();
    let mut expected = model(&[("a", "old")]);
    for len in 0..=record {
        let before = fs::read(&path).unwrap();
        // With the whole record in the file it is the sync that fails.
        *plan.lock().unwrap() = if len < record {
            Plan { append: Some(len), ..Plan::default() }
        } else {
            Plan { syncs: 1, ..Plan::default() }
        };
        let error = put(&ledger, "a", "new").unwrap_err();
        assert_eq!(reason(&error), if len < record { "no space" } else { "no sync" });
        assert_eq!(
            error.to_string(),
            format!(
                "failed to write allocation \"fort\" of Rollout.deploy.example.com ns/a to the ledger \"{}\"",
                path.display()
            )
        );
        assert_eq!(entries(&ledger), expected);
        assert_eq!(fs::read(&path).unwrap(), before, "after {len} bytes");

        put(&ledger, &len.to_string(), "x").unwrap();
        expected.insert(key(&len.to_string()), cluster("x"));
    }
    drop(ledger);
    assert_eq!(found(&path), expected);
}

#[test]
fn nothing_is_written_behind_a_torn_record() {
    let (_directory, path) = place();
    for len in [0, 1, 60, 1000] {
        let (ledger, plan) = open_faulty(&path);
        put(&ledger, "a", "old").unwrap();
        let before = fs::read(&path).unwrap();
        // The write, what takes it back at once, and what tries that again before the next two writes.
        *plan.lock().unwrap() = Plan { append: Some(len), truncations: 3, ..Plan::default() };
        let reasons: Vec<_> = (0..3).map(|_| reason(&put(&ledger, "b", "new").unwrap_err())).collect();
        assert_eq!(reasons, ["no space", "no truncation", "no truncation"]);
        assert_eq!(entries(&ledger), model(&[("a", "old")]), "what is there can be read all the while");
        let torn = fs::read(&path).unwrap();
        assert!(torn.starts_with(&before) && (len == 0 || torn.len() > before.len()));

        put(&ledger, "c", "new").unwrap();
        drop(ledger);
        assert_eq!(found(&path), model(&[("a", "old"), ("c", "new")]));
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_torn_record_that_nobody_could_take_back_is_dropped_at_the_next_start() {
    let (_directory, path) = place();
    let (ledger, plan) = open_faulty(&path);
    put(&ledger, "a", "old").unwrap();
    *plan.lock().unwrap() = Plan { append: Some(60), truncations: usize::MAX, ..Plan::default() };
    put(&ledger, "a", "new").unwrap_err();
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "old")]));
}

#[test]
fn swaps_that_are_written_together_fail_together() {
    let (_directory, path) = place();
    let (ledger, plan) = open_faulty(&path);
    plan.lock().unwrap().syncs = usize::MAX;
    let ledger = Arc::new(ledger);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..50)
            .map(|number: usize| {
                let ledger = Arc::clone(&ledger);
                tokio::spawn(async move {
                    ledger.compare_and_swap(&key(&(number % 10).to_string()), None, None, &cluster("x")).await
                })
            })
            .collect();
        for task in tasks {
            // Not even as lost: there is nothing that it could have lost to.
            assert_eq!(reason(&task.await.unwrap().unwrap_err()), "no sync");
        }
    });
    assert_eq!(entries(&ledger), Model::new());
    assert_eq!(fs::read_to_string(&path).unwrap(), format::HEADER);
}

#[test]
fn a_compaction_that_fails_is_no_failure_of_the_ledger() {
    let (_directory, path) = place();
    let ledger = open_compacting(&path, 4);
    let temporary = replacement::sibling(&path, ".tmp");
    // What cannot be removed as if it were a file stands in the way.
    fs::create_dir(&temporary).unwrap();
    for number in 0..12 {
        put(&ledger, "a", &number.to_string()).unwrap();
    }
    assert_eq!(lines(&path), 13, "nothing was compacted");
    fs::remove_dir(&temporary).unwrap();
    for number in 12..40 {
        put(&ledger, "a", &number.to_string()).unwrap();
        match number {
            // With every record would be too often,
            13 => assert_eq!(lines(&path), 15),
            // with twice as many will do, and then it is as ever.
            24.. => assert!(lines(&path) <= 1 + 5, "{number}"),
            _ => {}
        }
    }
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "39")]));
}
