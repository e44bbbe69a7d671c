//! `reviser check`.

use crate::files::{BROKEN, Directory, assert_done, broken_policies, policy};

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
