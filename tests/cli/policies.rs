//! `reviser serve --policy`: policy files that change while requests are answered.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::files::Directory;
use crate::state::{Served, get};

/// Longer than it takes until files are looked at, unless they never are.
const PATIENCE: Duration = Duration::from_secs(20);

/// A policy that writes `value` at `place`.
fn policy(name: &str, place: &str, value: &str) -> String {
    format!(
        "apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {{name: {name}}}
spec:
  resourceSelectors:
  - {{apiVersion: deploy.example.com/v1alpha1, kind: Rollout}}
  rules:
  - name: only
    patch: {{type: Merge, value: {{spec: {{{place}: {value}}}}}}}
"
    )
}

/// What the two policies of a set write.
fn patch(value: &str) -> String {
    format!(
        r#"[{{"op":"add","path":"/spec/first","value":"{value}"}},{{"op":"add","path":"/spec/second","value":"{value}"}}]"#
    )
}

impl Served {
    /// Asks until the answer is `wanted`. Each that comes before has to be one of `before`.
    #[track_caller]
    fn comes_to(&self, wanted: &str, before: &[&str]) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = self.revised("checkout", "x");
            if answer == wanted {
                return;
            }
            assert!(before.contains(&answer.as_str()), "{answer}");
            assert!(Instant::now() < deadline, "still {answer}");
        }
    }

    /// Looks at the metric until it says this.
    #[track_caller]
    fn comes_to_be_stale(&self, stale: bool) {
        let wanted = format!("\nreviser_policies_stale {}\n", i32::from(stale));
        let deadline = Instant::now() + PATIENCE;
        while !get(self.server.admin, "/metrics").contains(&wanted) {
            assert!(Instant::now() < deadline, "never: {wanted}");
        }
    }
}

/// Makes a directory with a set that writes `value`.
fn set(directory: &Directory, name: &str, value: &str) {
    fs::create_dir_all(directory.path().join(name)).unwrap();
    directory.file(&format!("{name}/a.yaml"), &policy("a", "first", value));
    directory.file(&format!("{name}/b.yaml"), &policy("b", "second", value));
}

#[test]
fn a_mounted_set_is_swapped_as_a_whole() {
    let directory = Directory::new();
    set(&directory, "mounted/..one", "one");
    symlink("..one", directory.path().join("mounted/..data")).unwrap();
    for name in ["a.yaml", "b.yaml"] {
        symlink(format!("..data/{name}"), directory.path().join("mounted").join(name)).unwrap();
    }
    let served = Served::start_with(&directory, &["--policy", &directory.at("mounted")]);
    assert_eq!(served.revised("checkout", "x"), patch("one"));
    let mut last = "one";
    for next in ["two", "three"] {
        set(&directory, &format!("mounted/..{next}"), next);
        symlink(format!("..{next}"), directory.path().join("mounted/..new")).unwrap();
        fs::rename(directory.path().join("mounted/..new"), directory.path().join("mounted/..data")).unwrap();
        // Never parts of two sets.
        served.comes_to(&patch(next), &[&patch(last)]);
        last = next;
    }
    let log = served.server.end(Signal::TERM).stderr;
    let taken: Vec<&str> = log.lines().filter(|line| line.contains("policies read again")).collect();
    assert_eq!(taken.len(), 2, "{log}");
    assert!(taken.iter().all(|line| line.ends_with("documents=2 policies=2")), "{log}");
    assert!(!log.contains("refused"), "{log}");
}

#[test]
fn an_invalid_set_leaves_the_last_good_one_active_and_is_logged_once() {
    let directory = Directory::new();
    set(&directory, "policies", "good");
    let served = Served::start_with(&directory, &["--policy", &directory.at("policies")]);
    served.comes_to_be_stale(false);
    let broken = policy("b", "second", "new").replace("rules:", "rulse:");
    directory.file("policies/b.yaml", &format!("{broken}---\n{}", broken.replace("{name: b}", "{name: 7}")));
    // The other file is new, and valid.
    directory.file("policies/a.yaml", &policy("a", "first", "new"));
    served.comes_to_be_stale(true);
    served.comes_to(&patch("good"), &[&patch("good")]);
    // An unfinished file, and a directory that is gone.
    directory.file("policies/b.yaml", "");
    let said = |text: &str| served.server.process.says(|line| line.contains(text));
    said("b.yaml: the file is empty");
    fs::rename(directory.path().join("policies"), directory.path().join("gone")).unwrap();
    let line = said("policies: No such file or directory (os error 2)");
    assert!(line.contains("WARN") && line.contains("the last good policies stay active"), "{line}");
    assert_eq!(served.revised("checkout", "x"), patch("good"));
    assert!(get(served.server.admin, "/readyz").starts_with("HTTP/1.1 200 "));
    // A corrected set is activated.
    set(&directory, "gone", "corrected");
    fs::rename(directory.path().join("gone"), directory.path().join("policies")).unwrap();
    served.comes_to(&patch("corrected"), &[&patch("good")]);
    served.comes_to_be_stale(false);

    let log = directory.plain(&served.server.end(Signal::TERM).stderr);
    let refused: Vec<&str> = log.lines().filter(|line| line.contains("policy files refused")).collect();
    let first = refused.iter().find(|line| line.contains("rulse")).unwrap_or_else(|| panic!("{log}"));
    for finding in [
        "policies/b.yaml: document 1, line 4: spec.rules: is required",
        "policies/b.yaml: document 1, line 7: spec.rulse: unknown field",
        "policies/b.yaml: document 2, line 13: metadata.name: must be a string, is a number",
    ] {
        assert!(first.contains(finding), "{finding}\n{first}");
    }
    let mut different = refused.iter().map(|line| line.split_once("error=").unwrap().1).collect::<Vec<_>>();
    different.dedup();
    assert_eq!(different.len(), refused.len(), "{log}");
}
