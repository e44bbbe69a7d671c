//! `reviser check`.

use std::path::Path;

use crate::files::{BROKEN, Directory, ROLLOUT, assert_done, broken_policies, policy};
use crate::process::{Process, Server, reviser};

#[test]
fn policies_that_are_well_are_counted_on_stderr() {
    let directory = Directory::new();
    directory.file("one.yaml", &policy("a", "fort"));
    let both = format!("{}---\n{}", policy("b", "second"), policy("c", "third"));
    directory.file("two.yaml", &both);
    assert_done(&directory.run(&["check", "-p", "one.yaml"]), 0, "", "no findings in 1 document\n");
    for arguments in [
        vec!["check", "-p", "."],
        vec!["check", "-p", "one.yaml", "-p", "two.yaml"],
        vec!["check", "--policy", "one.yaml,two.yaml"],
        vec!["check", "-p", "two.yaml", "-p", ".", "-p", "one.yaml"],
    ] {
        assert_done(&directory.run(&arguments), 0, "", "no findings in 3 documents\n");
    }
    let done = directory.run_with(&["check"], &[("REVISER_POLICY", "one.yaml,two.yaml")], "");
    assert_done(&done, 0, "", "no findings in 3 documents\n");
}

#[test]
fn every_finding_is_a_line_with_file_document_line_and_field() {
    let directory = Directory::new();
    broken_policies(&directory);
    let path = directory.path().display().to_string();
    let done = directory.run(&["check", "-p", &path]);
    assert_done(&done, 1, &format!("{}\n", BROKEN.join("\n")), "error: 6 findings\n");
}

#[test]
fn two_definitions_of_one_allocation_are_a_finding_of_the_second() {
    let directory = Directory::new();
    directory.file("a.yaml", &policy("one", "fort"));
    directory.file("b.yaml", &policy("two", "fort"));
    let finding = "b.yaml: document 1, line 9: spec.allocations[0].name: allocation \"fort\" is already defined by \
                   ClusterRevisionPolicy/one; a name is defined once, over all policies\n";
    let done = directory.run(&["check", "-p", "b.yaml", "-p", "a.yaml"]);
    assert_done(&done, 1, finding, "error: 1 finding\n");
}

#[test]
fn a_path_that_leads_to_no_document_is_a_finding() {
    let directory = Directory::new();
    std::fs::create_dir(directory.path().join("empty")).unwrap();
    directory.file("comment.yaml", "# nothing\n");
    for (path, finding) in [
        ("missing.yaml", "missing.yaml: No such file or directory (os error 2)\n"),
        ("empty", "empty: no *.yaml, *.yml or *.json file in this directory\n"),
        ("comment.yaml", "comment.yaml: there is no document in it\n"),
    ] {
        assert_done(&directory.run(&["check", "-p", path]), 1, finding, "error: 1 finding\n");
    }
}

#[test]
fn without_a_policy_there_is_nothing_to_check() {
    let text = "error: the following required arguments were not provided:\n  --policy <FILE|DIR>\n\n\
                Usage: reviser check --policy <FILE|DIR>\n\nFor more information, try '--help'.\n";
    assert_done(&Directory::new().run(&["check"]), 2, "", text);
}

/// What `check` says in tests/data/check, held against a file there; `UPDATE_GOLDEN=1` writes the file.
#[track_caller]
fn assert_golden(arguments: &[&str], code: i32, golden: &str) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/check");
    let mut command = reviser([&["check"], arguments].concat());
    command.current_dir(&place);
    let done = Process::start(command, b"").ended();
    let said = format!("{}---\n{}", done.stdout, done.stderr);
    let path = place.join(golden);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &said).unwrap();
    }
    assert_eq!((done.code, said.as_str()), (Some(code), std::fs::read_to_string(path).unwrap().as_str()));
}

#[test]
fn every_fault_of_the_wrong_documents_is_named() {
    assert_golden(&["-p", "wrong"], 1, "wrong.txt");
    // Each file has a fault of its own, whatever is with it.
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/check");
    let files: Vec<String> = std::fs::read_dir(place.join("wrong"))
        .unwrap()
        .map(|entry| format!("wrong/{}", entry.unwrap().file_name().to_str().unwrap()))
        .collect();
    assert_eq!(files.len(), 21);
    let said = std::fs::read_to_string(place.join("wrong.txt")).unwrap();
    for file in files {
        assert!(said.lines().any(|line| line.starts_with(&format!("{file}: "))), "{file}");
    }
}

#[test]
fn what_can_be_meant_is_no_finding() {
    assert_golden(&["-p", "right"], 0, "right.txt");
}

#[test]
fn the_definition_of_a_member_tells_how_lists_are_merged() {
    assert_golden(&["-p", "lists/policy.yaml", "--crd", "lists/definition.yaml"], 1, "lists.txt");
}

#[test]
fn the_definition_of_a_member_tells_which_field_would_not_skip_a_step() {
    assert_golden(&["-p", "crd/policy.yaml", "--crd", "crd/definition.yaml"], 1, "crd.txt");
    let built_in = "manifests/examples/rollout-fort.yaml";
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join(built_in).display().to_string();
    let note =
        "sample/deployment.yaml: is no CustomResourceDefinition of apiextensions.k8s.io/v1; not looked at\n";
    let directory = Directory::new();
    std::fs::create_dir(directory.path().join("sample")).unwrap();
    directory.file("sample/deployment.yaml", "kind: Deployment\n");
    let done = directory.run(&["check", "-p", &policy, "--crd", "sample/deployment.yaml"]);
    assert_done(&done, 0, "", &format!("{note}no findings in 1 document\n"));
    directory.file("empty.yaml", "# nothing\n");
    let done = directory.run(&["check", "-p", &policy, "--crd", "empty.yaml"]);
    let note = "the files of --crd hold no CustomResourceDefinition\n";
    assert_done(&done, 0, "", &format!("{note}no findings in 1 document\n"));
    // As `kubectl get crd -o yaml` prints several.
    let of = |name: &str| {
        let path = format!("tests/data/check/{name}");
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    };
    let indented = of("crd/definition.yaml").replace('\n', "\n  ");
    directory.file("list.yaml", &format!("apiVersion: v1\nkind: List\nitems:\n- {}\n", indented.trim_end()));
    directory.file("policy.yaml", &of("crd/policy.yaml"));
    let done = directory.run(&["check", "-p", "policy.yaml", "--crd", "list.yaml"]);
    let expected = of("crd.txt")
        .split("---\n")
        .next()
        .unwrap()
        .replace("crd/policy.yaml", "policy.yaml")
        .replace("crd/definition.yaml", "list.yaml");
    assert_eq!((done.code, done.stdout.as_str()), (Some(1), expected.as_str()));
    let done = directory.run(&["check", "-p", &policy, "--crd", "missing.yaml"]);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(1), "missing.yaml: No such file or directory (os error 2)\n")
    );
}

#[test]
fn a_sample_tells_which_rule_fails_on_it_in_which_cluster() {
    assert_golden(&["-p", "sample/policies.yaml", "-f", "sample/deployment.yaml"], 1, "sample.txt");
}

#[test]
fn a_sample_that_nothing_can_be_tried_on_is_a_finding() {
    let directory = Directory::new();
    directory.file("policy.yaml", &policy("a", "fort"));
    directory.file("rollout.yaml", ROLLOUT);
    let fine = directory.run(&["check", "-p", "policy.yaml", "-f", "rollout.yaml"]);
    assert_done(&fine, 0, "", "no findings in 1 document\n");
    for (text, finding) in [
        ("kind: ConfigMap\n", "/apiVersion: must be a string that is not empty"),
        ("[1]\n", "must be a map, is a list"),
        ("", "there is no object in it"),
    ] {
        directory.file("other.yaml", text);
        let done = directory.run(&["check", "-p", "policy.yaml", "-f", "rollout.yaml", "-f", "other.yaml"]);
        let end = "error: 1 finding; serve accepts the documents\n";
        assert_done(&done, 1, &format!("other.yaml: {finding}\n"), end);
    }
    directory.file("policy.yaml", "kind: Wrong\n");
    let done = directory.run(&["check", "-p", "policy.yaml", "-f", "rollout.yaml"]);
    assert_eq!(done.code, Some(1));
    assert!(
        done.stderr
            .starts_with("the policies are not tried on objects and definitions until they are corrected\n"),
        "{}",
        done.stderr
    );
}

#[test]
fn serve_accepts_warnings_and_logs_them_once() {
    let directory = Directory::new();
    let unused = policy("a", "fort").replace("  - name: fort\n", "  - name: fort\n  - name: other\n");
    let file = directory.file("policy.yaml", &unused);
    let server = Server::start(["-p", &file]);
    let line = server.process.says(|line| line.contains("no rule uses the allocation"));
    assert!(
        line.contains("WARN") && line.contains("document 1, line 10: spec.allocations[1].name: "),
        "{line}"
    );
}

#[test]
fn a_sample_that_chooses_a_transformation_is_tried_with_it() {
    let directory = Directory::new();
    directory.file(
        "policy.yaml",
        "kind: ClusterTargetPodTransformation\nmetadata: {name: gpu}\ntransformations:\n\
         - targetReference: {kind: Cluster, name: sample-1}\n  patch: {spec: {template: {spec: {containers: [{image: x}]}}}}\n",
    );
    let sample = |name: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop, annotations: \
             {{reviser.io/targetpodtransformation: {name}}}}}\nspec: {{template: {{spec: {{containers: [{{name: a}}]}}}}}}\n"
        )
    };
    for (name, problem) in [
        ("gpu", "fails: ClusterTargetPodTransformation/gpu cluster \"sample-1\": "),
        ("gpt", "/metadata/annotations/"),
    ] {
        directory.file("sample.yaml", &sample(name));
        let done = directory.run(&["check", "-p", "policy.yaml", "-f", "sample.yaml"]);
        assert_eq!(done.code, Some(1), "{}", done.stderr);
        assert!(done.stdout.starts_with(&format!("sample.yaml: {problem}")), "{}", done.stdout);
        assert_eq!(done.stdout.lines().count(), 1, "{}", done.stdout);
    }
}
