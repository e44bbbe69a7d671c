//! Lookups while files change.

use std::os::unix::fs::symlink;
use std::sync::atomic::AtomicBool;
use std::thread;

use super::*;

/// The shared progress of a writer and its readers.
#[derive(Default)]
struct Course {
    /// The last version that is certain to be on disk.
    written: AtomicU64,
    /// The number of completed lookups.
    lookups: AtomicU64,
    ended: AtomicBool,
}

impl Course {
    /// Calls `write` with each version from 1, and waits for at least one lookup after each.
    fn write(&self, versions: u64, mut write: impl FnMut(u64)) {
        for version in 1..=versions {
            write(version);
            self.written.store(version, Ordering::SeqCst);
            let seen = self.lookups.load(Ordering::SeqCst);
            while self.lookups.load(Ordering::SeqCst) == seen {
                thread::yield_now();
            }
        }
        self.ended.store(true, Ordering::SeqCst);
    }
}

/// Runs lookups in `tasks` tasks until the writer has ended. `check` receives the version that was on disk
/// before the lookup, and the snapshot.
async fn look_up(
    files: &StateFiles,
    course: &Arc<Course>,
    tasks: usize,
    check: impl Fn(u64, &Snapshot) + Clone + Send + Sync + 'static,
) {
    let tasks = (0..tasks).map(|_| {
        let (files, course, check) = (files.clone(), Arc::clone(course), check.clone());
        tokio::spawn(async move {
            loop {
                let ended = course.ended.load(Ordering::SeqCst);
                let written = course.written.load(Ordering::SeqCst);
                check(written, &files.current().await.unwrap());
                course.lookups.fetch_add(1, Ordering::SeqCst);
                if ended {
                    break;
                }
            }
        })
    });
    for task in futures_util::future::join_all(tasks).await {
        task.unwrap();
    }
}

fn version(snapshot: &Snapshot, name: &str) -> u64 {
    let Match::One(binding) = snapshot.binding(&workload(name), None) else { panic!("{name}") };
    u64::try_from(binding.schedule.clusters()[0].replicas).unwrap()
}

fn binding_of(name: &str, version: u64) -> String {
    binding(name, usize::try_from(version).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_lookup_sees_less_than_what_was_on_disk_when_it_began() {
    let directory = Arc::new(Directory::new());
    directory.write("a.yaml", &binding_of("checkout", 0));
    let files = directory.open(&["a.yaml"]).unwrap();
    let course = Arc::new(Course::default());
    let writer = {
        let (directory, course) = (Arc::clone(&directory), Arc::clone(&course));
        thread::spawn(move || {
            course.write(500, |version| directory.replace("a.yaml", &binding_of("checkout", version)));
        })
    };
    look_up(&files, &course, 8, |written, snapshot| assert!(version(snapshot, "checkout") >= written)).await;
    writer.join().unwrap();
    assert_eq!(replicas(&files, "checkout").await, Ok(500));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_set_is_seen_as_a_whole_or_not_at_all() {
    let directory = Arc::new(Directory::new());
    let swing = |directory: &Directory, version: u64| {
        let name = format!("..v{version}");
        fs::create_dir(directory.at(&name)).unwrap();
        for file in ["a", "b", "c"] {
            directory.write(&format!("{name}/{file}.yaml"), &binding_of(file, version));
        }
        symlink(&name, directory.at("..tmp")).unwrap();
        fs::rename(directory.at("..tmp"), directory.at("..data")).unwrap();
    };
    swing(&directory, 0);
    for file in ["a", "b", "c"] {
        symlink(format!("..data/{file}.yaml"), directory.at(&format!("{file}.yaml"))).unwrap();
    }
    let files = directory.open(&[""]).unwrap();
    let course = Arc::new(Course::default());
    let writer = {
        let (directory, course) = (Arc::clone(&directory), Arc::clone(&course));
        thread::spawn(move || course.write(300, |version| swing(&directory, version)))
    };
    look_up(&files, &course, 8, |_, snapshot| {
        let versions = ["a", "b", "c"].map(|name| version(snapshot, name));
        assert_eq!(versions, [versions[0]; 3]);
    })
    .await;
    writer.join().unwrap();
    assert_eq!(replicas(&files, "c").await, Ok(300));
    assert!(!files.is_stale());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn files_that_never_keep_still_leave_the_last_good_set_in_force() {
    let directory = Arc::new(Directory::new());
    directory.write("a.yaml", &binding_of("checkout", 7));
    let files = directory.open(&[""]).unwrap();
    let course = Arc::new(Course::default());
    let writer = {
        let (directory, course) = (Arc::clone(&directory), Arc::clone(&course));
        thread::spawn(move || {
            let mut version = 0;
            while !course.ended.load(Ordering::SeqCst) {
                version += 1;
                directory.write("b.yaml", &binding_of("cart", version));
                course.written.store(version, Ordering::SeqCst);
            }
        })
    };
    for _ in 0..20 {
        assert_eq!(replicas(&files, "checkout").await, Ok(7));
    }
    course.ended.store(true, Ordering::SeqCst);
    writer.join().unwrap();
    let last = i64::try_from(course.written.load(Ordering::SeqCst)).unwrap();
    assert_eq!(replicas(&files, "cart").await, Ok(last));
    assert!(!files.is_stale());
}

#[tokio::test]
async fn a_lookup_that_nobody_waits_for_leaves_the_others_alone() {
    let directory = Directory::new();
    directory.write("a.yaml", &binding("checkout", 1));
    let files = directory.open(&["a.yaml"]).unwrap();
    for n in 2..100 {
        directory.write("a.yaml", &binding("checkout", n));
        let workload = workload("checkout");
        // Dropped while it waits for the read, unless the read was fast enough.
        let _ = files.find(&workload, None).now_or_never();
        assert_eq!(replicas(&files, "checkout").await, Ok(i64::try_from(n).unwrap()));
    }
}
