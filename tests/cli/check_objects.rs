//! `reviser check -f` with several objects, templates and warnings.

use crate::files::{Directory, assert_done};

const POLICY: &str = r#"apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: p}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  rules:
  - name: cluster
    patch: {type: JSON, value: [{op: add, path: /data/cluster, value: "${cluster.name}"}]}
"#;

const END: &str = "error: 1 finding; serve accepts the documents\n";

fn config_map(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\ndata: {data}\n")
}

const SECRET: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\n";

#[test]
fn every_object_is_tried_and_a_failure_names_its_object() {
    let directory = Directory::new();
    directory.file("policy.yaml", POLICY);
    directory.file("good.yaml", &format!("---\n# nothing\n---\n{}---\n{SECRET}", config_map("a", "{}")));
    let run = |arguments: &[&str]| directory.run(&[&["check", "-p", "policy.yaml"], arguments].concat());
    let note = "no policy selects 1 of the 2 objects\nno findings in 1 document\n";
    assert_done(&run(&["-f", "good.yaml"]), 0, "", note);
    let done = directory.run_with(
        &["check", "-p", "policy.yaml", "-f", "-"],
        &[],
        &std::fs::read_to_string(directory.path().join("good.yaml")).unwrap(),
    );
    assert_done(&done, 0, "", note);

    let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop}}\n";
    let done = directory.run_with(&["check", "-p", "policy.yaml", "-f", "-"], &[], list);
    assert!(
        done.stdout.contains("spec.rules[0]: fails on ConfigMap shop/b in sample-1, sample-2: "),
        "{}",
        done.stdout
    );
    directory.file("list.yaml", list);
    let done = run(&["-f", "good.yaml,list.yaml"]);
    let finding = "policy.yaml: document 1, line 7: spec.rules[0]: fails on ConfigMap shop/b in list.yaml in sample-1, sample-2: ";
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stdout.starts_with(finding), "{}", done.stdout);
    assert_eq!(done.stderr, format!("no policy selects 1 of the 3 objects\n{END}"));
}

#[test]
fn an_object_that_no_policy_selects_is_a_finding_where_none_is_selected() {
    let directory = Directory::new();
    directory.file("policy.yaml", POLICY);
    directory.file("one.yaml", SECRET);
    directory.file("two.yaml", &format!("{SECRET}---\n{SECRET}"));
    let run = |file: &str| directory.run(&["check", "-p", "policy.yaml", "-f", file]);
    assert_done(&run("one.yaml"), 1, "one.yaml: no policy selects this object\n", END);
    let finding = "two.yaml: document 1, line 1: no policy selects any of the 2 objects\n";
    assert_done(&run("two.yaml"), 1, finding, END);
}

#[test]
fn documents_of_reviser_are_passed_over_and_a_stream_of_nothing_else_is_a_finding() {
    let directory = Directory::new();
    directory.file("all.yaml", &format!("{POLICY}---\n{}", config_map("a", "{}")));
    let note =
        "all.yaml: document 1, line 1: skipped, because a ClusterRevisionPolicy of reviser is not revised\n";
    directory.file("policy.yaml", POLICY);
    let done = directory.run(&["check", "-p", "policy.yaml", "-f", "all.yaml"]);
    assert_done(&done, 0, "", &format!("{note}no findings in 1 document\n"));
    let done = directory.run(&["check", "-p", "policy.yaml", "-f", "policy.yaml"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(1), "policy.yaml: there is no object in it\n"));
}

#[test]
fn warnings_are_findings_of_the_rule_or_of_the_object() {
    let directory = Directory::new();
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicaz: 1, template: {spec: {containers: [{name: a}]}}}\n";
    let policy =
        POLICY.replace("apiVersion: v1, kind: ConfigMap", "apiVersion: apps/v1, kind: Deployment").replace(
            "type: JSON, value: [{op: add, path: /data/cluster, value: \"${cluster.name}\"}]",
            "type: Merge, value: \"${{'spec': {'pausd': true, 'replicas': cluster.name == 'a' ? 1 : 2}}}\"",
        );
    directory.file("policy.yaml", &policy);
    directory.file("object.yaml", deployment);
    let done = directory.run(&["check", "-p", "policy.yaml", "-f", "object.yaml", "--clusters", "a=1,b=1"]);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", done.stdout);
    assert!(lines[0].starts_with("object.yaml: /spec/replicaz: "), "{}", lines[0]);
    let rule = "policy.yaml: document 1, line 7: spec.rules[0]: warns on object.yaml in a, b: /spec/pausd: ";
    assert!(lines[1].starts_with(rule), "{}", lines[1]);
    assert_eq!(done.code, Some(1));
    // Only in the cluster in which it shows.
    directory.file("object.yaml", &deployment.replace("replicaz: 1, ", ""));
    directory.file(
        "policy.yaml",
        &policy.replace("    patch", "    targetCluster: {clusterNames: [b]}\n    patch"),
    );
    let done = directory.run(&["check", "-p", "policy.yaml", "-f", "object.yaml", "--clusters", "a=1,b=1"]);
    assert!(
        done.stdout.contains("spec.rules[0]: warns on object.yaml in b: /spec/pausd: "),
        "{}",
        done.stdout
    );
    assert_eq!(done.stdout.lines().count(), 1, "{}", done.stdout);
}

#[test]
fn a_template_is_read_where_one_is_given() {
    let directory = Directory::new();
    directory.file("policy.yaml", &POLICY.replace("${cluster.name}", "${original.data.x}"));
    directory.file("object.yaml", &config_map("a", "{y: \"1\"}"));
    directory.file("original.yaml", &config_map("a", "{x: \"1\"}"));
    let run = |arguments: &[&str]| {
        directory.run(&[&["check", "-p", "policy.yaml", "-f", "object.yaml"], arguments].concat())
    };
    assert_done(&run(&["--original", "original.yaml"]), 0, "", "no findings in 1 document\n");
    let note = "no --original: `original` and `divide` read the object itself\n";
    let itself = run(&[]);
    assert_eq!((itself.code, itself.stderr), (Some(1), format!("{note}{END}")));
    directory.file("object.yaml", &config_map("a", "{x: \"1\"}"));
    assert_done(&run(&[]), 0, "", &format!("{note}no findings in 1 document\n"));
    directory.file("original.yaml", &config_map("other", "{x: \"1\"}"));
    let wrong = run(&["--original", "original.yaml"]);
    assert_eq!(wrong.code, Some(1));
    assert!(
        wrong.stdout.starts_with("original.yaml: holds ConfigMap shop/other, but no template of an object"),
        "{}",
        wrong.stdout
    );
}

#[test]
fn an_object_that_nothing_selects_may_name_transformations_in_vain() {
    let directory = Directory::new();
    directory.file("policy.yaml", POLICY);
    let secret = SECRET.replace(
        "namespace: shop",
        "namespace: shop, annotations: {reviser.io/targetpodtransformation: ', ,'}",
    );
    directory.file("objects.yaml", &format!("{}---\n{secret}", config_map("a", "{}")));
    let done = directory.run(&["check", "-p", "policy.yaml", "-f", "objects.yaml"]);
    let note = "warning: Secret shop/s in objects.yaml: /metadata/annotations/reviser.io~1targetpodtransformation: holds commas and no name";
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{}", done.stderr);
    assert!(done.stderr.starts_with(note), "{}", done.stderr);
}
