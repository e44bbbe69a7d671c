//! Files that commands are given, and what they say about them.

use std::path::{Path, PathBuf};

use crate::process::{Done, Process, reviser};

/// A Rollout with steps of two types.
pub(crate) const ROLLOUT: &str = r#"apiVersion: deploy.example.com/v1alpha1
kind: Rollout
metadata:
  name: checkout
  namespace: shop
spec:
  replicas: 3
  strategy:
    canary:
      steps:
      - type: Fort
        properties:
          pull: "false"
      - type: Batch
        properties:
          pull: "false"
      - type: Fort
        properties:
          pull: "true"
"#;

/// The same where it does not host the fort.
pub(crate) fn rollout_elsewhere() -> String {
    let (fort, all) = ("- type: Fort\n        properties:\n          pull: ", ROLLOUT);
    all.replace(&format!("{fort}\"false\""), &format!("{fort}null"))
        .replace(&format!("{fort}\"true\""), &format!("{fort}null"))
}

/// The same with something in it that the rule can't be applied to.
pub(crate) fn rollout_that_is_refused() -> String {
    ROLLOUT.replacen("properties:\n          pull: \"false\"", "properties: 7", 1)
}

/// The patch where it does not host the fort.
pub(crate) const PATCH: &str = concat!(
    r#"[{"op":"replace","path":"/spec/strategy/canary/steps/0/properties/pull","value":null},"#,
    r#"{"op":"replace","path":"/spec/strategy/canary/steps/2/properties/pull","value":null}]"#
);

/// A policy for the Rollout, of this name.
pub(crate) fn policy(name: &str, allocation: &str) -> String {
    format!(
        "apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata:
  name: {name}
spec:
  resourceSelectors:
  - {{apiVersion: deploy.example.com/v1alpha1, kind: Rollout}}
  allocations:
  - name: {allocation}
  rules:
  - name: steps
    fort:
      allocation: {allocation}
      steps: /spec/strategy/canary/steps
      match: {{type: Fort}}
      field: /properties/pull
"
    )
}

/// Two files with many faults, and a valid one.
pub(crate) fn broken_policies(directory: &Directory) {
    directory.file("a.yaml", &policy("good", "fort"));
    let broken = policy("bad", "fort")
        .replace("field:", "feild:")
        .replace("steps: /spec", "steps: spec")
        .replace("kind: Rollout", "kind: 7");
    directory.file("b.yaml", &format!("# The first is well.\n{}---\n{broken}", policy("other", "second")));
    directory.file("c.json", "{");
}

/// What is said about [`broken_policies`], line by line, with the directory left out.
pub(crate) const BROKEN: [&str; 6] = [
    "b.yaml: document 2, line 25: spec.resourceSelectors[0].kind: must be a string, is a number",
    "b.yaml: document 2, line 27: spec.allocations[0].name: allocation \"fort\" is already defined by \
     ClusterRevisionPolicy/good; a name is defined once, over all policies",
    "b.yaml: document 2, line 30: spec.rules[0].fort.field: is required",
    "b.yaml: document 2, line 32: spec.rules[0].fort.steps: \"spec/strategy/canary/steps\" is no JSON pointer: a JSON \
     pointer begins with `/`",
    "b.yaml: document 2, line 34: spec.rules[0].fort.feild: unknown field; did you mean \"field\"?",
    "c.json: line 2, column 1: while parsing a node, did not find expected node content",
];

/// A directory of the test's own.
pub(crate) struct Directory(tempfile::TempDir);

impl Directory {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a name in it, as an argument.
    pub(crate) fn at(&self, name: &str) -> String {
        self.path().join(name).display().to_string()
    }

    /// Writes a file, and gives its path as an argument.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path().join(name), text).unwrap();
        self.at(name)
    }

    /// `text` with the path of the directory left out.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.path().display()), "")
    }

    /// Runs the program to its end in this directory, and leaves the path of it out of what it says.
    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        self.run_with(arguments, &[], "")
    }

    /// The same with an environment and something on the standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)], input: &str) -> Done {
        let mut command = reviser(arguments);
        command.current_dir(self.path()).envs(environment.iter().copied());
        let done = Process::start(command, input.as_bytes()).ended();
        Done { code: done.code, stdout: self.plain(&done.stdout), stderr: self.plain(&done.stderr) }
    }

    /// Makes a pair of certificate and key for this machine, in a directory of this name.
    pub(crate) fn certificates(&self, name: &str) -> PathBuf {
        let done = self.run(&["certs", "--out", name, "--dns", "localhost", "--ip", "127.0.0.1"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        self.path().join(name)
    }
}

/// Exit code, stdout and stderr.
#[track_caller]
pub(crate) fn assert_done(done: &Done, code: i32, stdout: &str, stderr: &str) {
    assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (Some(code), stdout, stderr));
}
