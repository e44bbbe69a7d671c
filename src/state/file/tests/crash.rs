//! Power failures: each write after the last sync may be present, missing or partial.

use std::sync::{Mutex, OnceLock};

use redb::backends::InMemoryBackend;
use redb::{Builder, StorageBackend};

use super::store::Store;
use super::*;

/// An operation on a disk, or a swap that was reported as done.
#[derive(Clone, Debug)]
enum Step {
    Length(u64),
    Write(u64, Vec<u8>),
    Sync,
    Answered(Model),
}

/// A disk that records all operations.
#[derive(Debug)]
struct Recorder {
    disk: InMemoryBackend,
    steps: Arc<Mutex<Vec<Step>>>,
}

impl Recorder {
    fn note(&self, step: Step) -> io::Result<()> {
        self.steps.lock().map_err(|_poisoned| io::ErrorKind::Other)?.push(step);
        Ok(())
    }
}

impl StorageBackend for Recorder {
    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.disk.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.note(Step::Length(len))?;
        self.disk.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.note(Step::Sync)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.note(Step::Write(offset, data.to_vec()))?;
        self.disk.write(offset, data)
    }
}

/// The bytes of an empty ledger, and the operations of writing to it.
fn history(writes: usize) -> (Vec<u8>, Vec<Step>) {
    let (_directory, path) = place();
    drop(FileLedger::open(&path).expect("a ledger"));
    let image = fs::read(&path).expect("the file");
    let disk = InMemoryBackend::new();
    disk.set_len(image.len() as u64).expect("memory");
    disk.write(0, &image).expect("memory");
    let steps = Arc::new(Mutex::new(Vec::new()));
    let recorder = Recorder { disk, steps: Arc::clone(&steps) };
    let store = Store(Builder::new().create_with_backend(recorder).expect("a database"));
    let mut model = Model::new();
    for number in 0..writes {
        let (key, cluster) = (key(&(number % 7).to_string()), cluster(&format!("cluster-{number}")));
        store.write(&[(&key, &cluster)]).expect("a commit");
        model.insert(key, cluster);
        steps.lock().expect("no panic").push(Step::Answered(model.clone()));
    }
    let steps = steps.lock().expect("no panic").clone();
    (image, steps)
}

fn apply(image: &mut Vec<u8>, step: &Step) {
    match step {
        Step::Length(len) => image.resize(usize::try_from(*len).expect("small"), 0),
        Step::Write(offset, data) => {
            let start = usize::try_from(*offset).expect("small");
            let end = start + data.len();
            if image.len() < end {
                image.resize(end, 0);
            }
            image[start..end].copy_from_slice(data);
        }
        Step::Sync | Step::Answered(_) => {}
    }
}

/// The content of a disk after a power failure. The last sync and all operations before it are complete. For
/// each later one `luck` decides whether it is lost, partial or complete.
fn image(empty: &[u8], before: &[Step], luck: &[u8]) -> Vec<u8> {
    const SECTOR: usize = 512;
    let synced = before.iter().rposition(|step| matches!(step, Step::Sync)).map_or(0, |at| at + 1);
    let mut image = empty.to_vec();
    before[..synced].iter().for_each(|step| apply(&mut image, step));
    for (step, luck) in before[synced..].iter().zip(luck.iter().cycle()) {
        match (step, luck) {
            (_, 0) => {}
            (Step::Write(offset, data), 1) => {
                let half = data.len() / 2 / SECTOR * SECTOR;
                apply(&mut image, &Step::Write(*offset, data[..half].to_vec()));
            }
            _ => apply(&mut image, step),
        }
    }
    image
}

fn answered<'s>(mut steps: impl Iterator<Item = &'s Step>) -> Option<Model> {
    steps.find_map(|step| match step {
        Step::Answered(model) => Some(model.clone()),
        _ => None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn after_a_power_failure_what_was_answered_is_there_and_at_most_one_more_swap(
        failure in any::<proptest::sample::Index>(),
        luck in proptest::collection::vec(0..4_u8, 1..30),
    ) {
        static HISTORY: OnceLock<(Vec<u8>, Vec<Step>)> = OnceLock::new();
        let (empty, steps) = HISTORY.get_or_init(|| history(24));
        let (before, after) = steps.split_at(failure.index(steps.len()));
        let (_directory, path) = place();
        fs::write(&path, image(empty, before, &luck)).unwrap();
        let last = answered(before.iter().rev()).unwrap_or_default();
        let next = answered(after.iter()).unwrap_or_else(|| last.clone());
        let ledger = FileLedger::open(&path).unwrap();
        let mut expected = entries(&ledger);
        prop_assert!(expected == last || expected == next, "{:?}", expected);
        put(&ledger, "c", "new").unwrap();
        drop(ledger);
        expected.insert(key("c"), cluster("new"));
        prop_assert_eq!(found(&path), expected);
    }
}
