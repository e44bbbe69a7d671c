//! Files that change in different ways.

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use super::*;

#[tokio::test]
async fn a_file_that_is_written_in_place_is_seen_by_the_next_lookup() {
    let directory = Directory::new();
    directory.write("a.yaml", &binding("checkout", 100));
    let files = directory.open(&["a.yaml"]).unwrap();
    // Equal lengths, with many changes in one tick of the file system's clock.
    for n in 100..600 {
        directory.write("a.yaml", &binding("checkout", n));
        assert_eq!(replicas(&files, "checkout").await, Ok(i64::try_from(n).unwrap()));
    }
}

#[tokio::test]
async fn a_file_that_is_replaced_is_seen_by_the_next_lookup() {
    let directory = Directory::new();
    directory.write("a.yaml", &binding("checkout", 100));
    let files = directory.open(&["a.yaml"]).unwrap();
    for n in 100..600 {
        directory.replace("a.yaml", &binding("checkout", n));
        assert_eq!(replicas(&files, "checkout").await, Ok(i64::try_from(n).unwrap()));
    }
}

#[tokio::test]
async fn files_that_come_and_go_in_a_directory_are_seen() {
    let directory = Directory::new();
    // The directory is still empty.
    let files = directory.open(&[""]).unwrap();
    for n in 1..200 {
        let name = format!("{n}.yaml");
        assert!(replicas(&files, &format!("w{n}")).await.unwrap_err().starts_with("no binding"));
        directory.write(&name, &binding(&format!("w{n}"), n));
        assert_eq!(replicas(&files, &format!("w{n}")).await, Ok(i64::try_from(n).unwrap()));
        fs::remove_file(directory.at(&name)).unwrap();
        assert!(!files.is_stale());
    }
}

#[tokio::test]
async fn a_mounted_config_map_is_seen_as_soon_as_it_is_swung() {
    let directory = Directory::new();
    let version = |n: usize| {
        let name = format!("..v{n}");
        fs::create_dir(directory.at(&name)).unwrap();
        directory.write(&format!("{name}/a.yaml"), &binding("checkout", n));
        symlink(&name, directory.at("..data_tmp")).unwrap();
        fs::rename(directory.at("..data_tmp"), directory.at("..data")).unwrap();
    };
    version(100);
    symlink("..data/a.yaml", directory.at("a.yaml")).unwrap();
    for paths in [&[""][..], &["a.yaml"]] {
        let files = directory.open(paths).unwrap();
        let first = if paths[0].is_empty() { 101 } else { 301 };
        for n in first..first + 200 {
            version(n);
            assert_eq!(replicas(&files, "checkout").await, Ok(i64::try_from(n).unwrap()));
            fs::remove_dir_all(directory.at(&format!("..v{}", n - 1))).unwrap();
        }
    }
}

#[tokio::test]
async fn a_link_is_seen_to_lead_elsewhere() {
    let directory = Directory::new();
    fs::create_dir(directory.at("one")).unwrap();
    fs::create_dir(directory.at("two")).unwrap();
    directory.write("one/a.yaml", &binding("checkout", 1));
    directory.write("two/a.yaml", &binding("checkout", 2));
    symlink("one", directory.at("now")).unwrap();
    let files = directory.open(&["now"]).unwrap();
    assert_eq!(replicas(&files, "checkout").await, Ok(1));
    symlink("two", directory.at("next")).unwrap();
    fs::rename(directory.at("next"), directory.at("now")).unwrap();
    assert_eq!(replicas(&files, "checkout").await, Ok(2));
}

#[tokio::test]
async fn files_that_rest_are_not_read_again() {
    let directory = Directory::new();
    directory.write("a.yaml", &binding("checkout", 1));
    let files = directory.open(&[""]).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    // Reads repeat only as long as a change might not change the metadata.
    while !files.0.active.load().stamps.is_current() {
        assert!(Instant::now() < deadline, "it never settles");
        assert_eq!(replicas(&files, "checkout").await, Ok(1));
    }
    let (begun, active) = (files.0.begun.load(Ordering::SeqCst), files.0.active.load_full());
    for _ in 0..100 {
        assert_eq!(replicas(&files, "checkout").await, Ok(1));
    }
    assert_eq!(files.0.begun.load(Ordering::SeqCst), begun);
    // New metadata with the same content does not create a new snapshot.
    let snapshot = Arc::clone(&active.snapshot);
    directory.write("a.yaml", &binding("checkout", 1));
    assert_eq!(replicas(&files, "checkout").await, Ok(1));
    assert!(files.0.begun.load(Ordering::SeqCst) > begun);
    assert!(Arc::ptr_eq(&snapshot, &files.0.active.load().snapshot));
}
