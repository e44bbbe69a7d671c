//! `preview` and `check -f` of what names transformations: pods and `PodChaperon`s.

use std::path::Path;
use std::process::Command;

use crate::files::Directory;

const POD: &str = r#"apiVersion: v1
kind: Pod
metadata:
  name: train
  annotations: {multicluster.admiralty.io/elect: "", multicluster.admiralty.io/targetpodtransformation: gpu}
spec:
  nodeSelector: {gpu: none}
  containers: [{name: c, image: i}]
"#;

const CHAPERON: &str = r"apiVersion: multicluster.admiralty.io/v1alpha1
kind: PodChaperon
metadata:
  generateName: train-
  annotations: {reviser.io/targetpodtransformation: gpu}
spec:
  schedulerName: admiralty-candidate
  nodeSelector: {gpu: none}
  containers: [{name: c, image: i}]
";

const TARGETS: &str = "apiVersion: multicluster.admiralty.io/v1alpha1
kind: ClusterTarget
metadata: {name: eu}
---
apiVersion: multicluster.admiralty.io/v1alpha1
kind: ClusterTarget
metadata: {name: oregon}
";

/// A transformation `gpu` with these entries.
fn transformation(entries: &str) -> String {
    format!("kind: TargetPodTransformation\nmetadata: {{name: gpu}}\ntransformations:\n{entries}")
}

fn entry(kind: &str, name: &str, patch: &str) -> String {
    format!("- {{targetReference: {{kind: {kind}, name: {name}}}, patch: {patch}}}\n")
}

/// A directory with both objects, the targets, and the transformation `gpu`.
fn directory(entries: &str) -> Directory {
    let directory = Directory::new();
    directory.file("pod.yaml", POD);
    directory.file("chaperon.yaml", CHAPERON);
    directory.file("targets.yaml", TARGETS);
    directory.file("policies.yaml", &transformation(entries));
    directory
}

/// Exit code, stdout and stderr of `preview` for `clusters`, with what is known of the targets.
fn preview(
    directory: &Directory,
    object: &str,
    clusters: &str,
    more: &[&str],
) -> (Option<i32>, String, String) {
    let arguments =
        ["preview", "-f", object, "-p", "policies.yaml", "--state", "targets.yaml", "--clusters", clusters];
    let shown = directory.run(&[&arguments, more].concat());
    (shown.code, shown.stdout, shown.stderr)
}

const V100: &str = "{spec: {nodeSelector: {gpu: V100}}}";

#[test]
fn both_are_shown_as_a_target_gets_them() {
    let directory = directory(&entry("ClusterTarget", "eu", V100));
    for object in ["pod.yaml", "chaperon.yaml"] {
        let shown = preview(&directory, object, "eu=0", &["--cluster", "eu", "-o", "patch"]);
        let patch = r#"[{"op":"replace","path":"/spec/nodeSelector/gpu","value":"V100"}]"#;
        assert_eq!((shown.0, shown.1.trim_end(), shown.2.as_str()), (Some(0), patch, ""), "{object}");
        let checked = directory.run(&["check", "-p", "policies.yaml", "-f", object]);
        assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), ""), "{object}: {}", checked.stderr);
        assert!(!checked.stderr.contains("warning"), "{object}: {}", checked.stderr);
    }
}

#[test]
fn what_no_target_takes_is_refused_by_both() {
    let directory = directory(&entry("ClusterTarget", "eu", "{spec: {schedulerName: default-scheduler}}"));
    let (code, _, stderr) = preview(&directory, "chaperon.yaml", "eu=0", &[]);
    let problem = "TargetPodTransformation/gpu cluster \"eu\": /spec/schedulerName: names the scheduler";
    assert!(code == Some(1) && stderr.contains(problem), "{stderr}");
    let checked = directory.run(&["check", "-p", "policies.yaml", "-f", "chaperon.yaml"]);
    assert!(checked.code == Some(1) && checked.stdout.contains(problem), "{}", checked.stdout);
}

#[test]
fn a_transformation_that_changes_nothing_is_warned_of_with_the_reason() {
    for (entries, cluster, why) in [
        (entry("ClusterTarget", "eu", V100), "oregon", "none of its entries is for this target"),
        (entry("ClusterTarget", "eu", "\"# later\""), "eu", "its patches for this target are empty"),
        (
            entry("ClusterTarget", "eu", "{spec: {nodeSelector: {gpu: none}}}"),
            "eu",
            "what it writes for this target is there already",
        ),
        (
            entry("ClusterTarget", "eu", "{spec: {nodeSelector: {}}}"),
            "eu",
            "what it writes for this target is there already",
        ),
    ] {
        let directory = directory(&entries);
        for object in ["pod.yaml", "chaperon.yaml"] {
            let (code, _, stderr) = preview(&directory, object, &format!("{cluster}=0"), &[]);
            let warning = format!(
                "warning: TargetPodTransformation/gpu cluster \"{cluster}\": changes nothing: {why}\n"
            );
            assert_eq!((code, stderr.as_str()), (Some(0), warning.as_str()), "{object} {entries}");
        }
        if cluster == "eu" {
            let checked = directory.run(&["check", "-p", "policies.yaml", "-f", "pod.yaml"]);
            let warning =
                format!("warning: pod.yaml: TargetPodTransformation/gpu changes nothing in eu: {why}\n");
            assert!(
                checked.code == Some(0) && checked.stderr.contains(&warning),
                "{entries}: {}",
                checked.stderr
            );
        }
    }
}

#[test]
fn explain_says_that_no_entry_is_for_a_target() {
    let directory = directory(&entry("ClusterTarget", "eu", V100));
    let (_, stdout, _) = preview(&directory, "pod.yaml", "oregon=0", &["-o", "explain"]);
    assert!(
        stdout.contains("TargetPodTransformation/gpu: not for this target (it has no entry for it)\n"),
        "{stdout}"
    );
}

#[test]
fn a_target_that_is_not_known_is_warned_of() {
    let entries = [
        entry("ClusterTarget", "eu", V100),
        entry("ClusterTarget", "oregn", V100),
        entry("Target", "eu", V100),
        entry("Target", "paris", V100),
    ];
    let directory = directory(&entries.concat());
    for object in ["pod.yaml", "chaperon.yaml"] {
        let (code, _, stderr) = preview(&directory, object, "eu=0", &[]);
        assert_eq!(code, Some(0), "{stderr}");
        let place = "warning: TargetPodTransformation/gpu transformations";
        for problem in [
            "[1].targetReference: there is no ClusterTarget \"oregn\"; ",
            "[2].targetReference: \"eu\" is a ClusterTarget, not a Target; ",
            "[3].targetReference: there is no Target \"paris\" in namespace \"default\"; ",
        ] {
            assert!(stderr.contains(&format!("{place}{problem}")), "{problem}\n{stderr}");
        }
        assert_eq!(stderr.lines().count(), 3, "{stderr}");
    }
    let arguments = ["check", "-f", "pod.yaml", "-p", "policies.yaml", "--state", "targets.yaml"];
    let checked = directory.run(&arguments);
    let finding = "pod.yaml: TargetPodTransformation/gpu transformations[1].targetReference: there is no ClusterTarget \"oregn\"; ";
    assert!(
        checked.code == Some(1) && checked.stdout.contains(finding),
        "{}{}",
        checked.stdout,
        checked.stderr
    );
    // Without --state nothing is known of any target, and nothing is missed.
    let shown = directory.run(&["preview", "-f", "pod.yaml", "-p", "policies.yaml", "--clusters", "eu=0"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
}

#[test]
fn labels_of_the_command_line_leave_a_target_what_it_is() {
    let directory = directory(&entry("Target", "eu", V100));
    let (code, stdout, stderr) = preview(
        &directory,
        "pod.yaml",
        "eu=0",
        &["--cluster-labels", "eu:region=eu", "-o", "patch", "--cluster", "eu"],
    );
    assert_eq!((code, stdout.trim_end()), (Some(0), "[]"), "{stderr}");
    assert!(stderr.contains("is for the Target \"eu\", and \"eu\" is a ClusterTarget here"), "{stderr}");
}

#[test]
fn a_chaperon_has_no_replicas_and_no_schedule_as_on_its_door() {
    let directory = directory(&entry("ClusterTarget", "eu", V100));
    directory.file(
        "policies.yaml",
        "apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: p}
spec:
  resourceSelectors:
  - {apiVersion: multicluster.admiralty.io/v1alpha1, kind: PodChaperon}
  rules: [{name: r, env: {name: COUNT, value: '${replicas}'}}]
",
    );
    let without = CHAPERON.replace("{reviser.io/targetpodtransformation: gpu}", "{}");
    directory.file("chaperon.yaml", &without);
    let (code, _, stderr) = preview(&directory, "chaperon.yaml", "eu=3", &[]);
    assert!(code == Some(1) && stderr.contains("the number of replicas"), "{stderr}");
}

#[test]
fn a_policy_that_selects_a_chaperon_by_its_name_is_told_which_name_it_has() {
    let directory = directory(&entry("ClusterTarget", "eu", V100));
    let policy = |name: &str| {
        format!(
            "apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {{name: p}}
spec:
  resourceSelectors:
  - {{apiVersion: multicluster.admiralty.io/v1alpha1, kind: PodChaperon, name: {name}}}
  rules: [{{name: r, env: {{name: COUNT, value: x}}}}]
"
        )
    };
    directory.file("policies.yaml", &policy("train"));
    let checked = directory.run(&["check", "-p", "policies.yaml"]);
    let finding =
        "spec.resourceSelectors[0].name: selects nothing: a PodChaperon has no name yet when it is created";
    assert!(
        checked.stdout.contains(finding) && checked.stdout.contains("write \"train-\""),
        "{}",
        checked.stdout
    );
    directory.file("policies.yaml", &policy("train-"));
    directory.file("selected.yaml", &CHAPERON.replace("{reviser.io/targetpodtransformation: gpu}", "{}"));
    let checked = directory.run(&["check", "-p", "policies.yaml", "-f", "chaperon.yaml"]);
    let selected = directory.run(&["check", "-p", "policies.yaml", "-f", "selected.yaml"]);
    assert_eq!(
        (checked.code, checked.stdout.contains("selects nothing")),
        (Some(1), false),
        "{}",
        checked.stdout
    );
    assert_eq!((selected.code, selected.stdout.as_str()), (Some(0), ""));
}

/// The commands in the `console` blocks of a document, each with the output below it.
fn console(document: &str) -> Vec<(String, String)> {
    let mut steps: Vec<(String, String)> = Vec::new();
    let mut is_console = false;
    for line in document.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_console = language == "console";
        } else if let (true, Some(command)) = (is_console, line.strip_prefix("$ ")) {
            steps.push((command.to_owned(), String::new()));
        } else if let (true, Some((_, output))) = (is_console, steps.last_mut()) {
            output.push_str(line);
            output.push('\n');
        }
    }
    steps.retain(|(command, _)| {
        command.starts_with("reviser preview ") || command.starts_with("reviser check ")
    });
    steps
}

#[test]
fn the_lines_of_the_documents_show_what_is_below_them() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    for document in ["samples/admiralty/README.md", "docs/admiralty.md"] {
        let text = std::fs::read_to_string(repository.join(document)).unwrap();
        let steps = console(&text);
        assert!(!steps.is_empty(), "{document}");
        for (command, shown) in steps {
            let arguments: Vec<&str> = command.split(' ').skip(1).collect();
            let ran = Command::new(env!("CARGO_BIN_EXE_reviser"))
                .args(&arguments)
                .current_dir(repository)
                .env_clear()
                .output()
                .unwrap();
            let said = [ran.stderr, ran.stdout].concat();
            assert_eq!(String::from_utf8_lossy(&said), shown, "{document}: {command}");
        }
    }
}
