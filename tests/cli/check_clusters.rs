//! `reviser check` and the clusters that there are: given, in state files, named by policies, made up.

use rustix::process::Signal;

use crate::files::{Directory, assert_done};
use crate::process::{Done, Server};

const OBJECT: &str =
    "apiVersion: a.example.com/v1\nkind: Train\nmetadata: {name: a, namespace: shop}\nspec: {cars: 3}\n";

/// A policy for the object, with these variables and rules.
fn policy(rest: &str) -> String {
    format!(
        "apiVersion: reviser.io/v1alpha1\nkind: ClusterRevisionPolicy\nmetadata: {{name: p}}\nspec:\n  \
         resourceSelectors: [{{apiVersion: a.example.com/v1, kind: Train}}]\n{rest}"
    )
}

/// A rule that writes this expression.
fn rule(name: &str, fields: &str, expression: &str) -> String {
    format!(
        "  - {{name: {name}, {fields}patch: {{type: Merge, value: {{spec: {{x: '${{{expression}}}'}}}}}}}}\n"
    )
}

fn check(policy: &str, object: &str, arguments: &[&str]) -> Done {
    let directory = Directory::new();
    directory.file("policy.yaml", policy);
    directory.file("object.yaml", object);
    directory.run(&[&["check", "-p", "policy.yaml", "-f", "object.yaml"], arguments].concat())
}

fn cluster(name: &str, rest: &str) -> String {
    format!("---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {{name: {name}{rest}}}\n")
}

const FINE: &str = "no findings in 1 document\n";

#[test]
fn a_name_that_is_looked_up_is_no_finding_for_a_made_up_cluster() {
    let object = OBJECT.replace("spec:", "stages: {member1: x}\nspec:");
    for rest in [
        // A table in the rule, a table in a variable, and a table that is indexed by a variable.
        format!("  rules:\n{}", rule("r", "", r#"{"member1": "a", "member2": "b"}[cluster.name]"#)),
        format!(
            "  variables:\n  - {{name: v, expression: '{{\"member1\": \"a\"}}[cluster.name]'}}\n  rules:\n{}",
            rule("r", "", "variables.v")
        ),
        format!(
            "  variables:\n  - {{name: t, expression: '{{\"member1\": {{\"a\": 1}}}}'}}\n  rules:\n{}",
            rule("r", "", "variables.t[cluster.name].a")
        ),
        // A table of the policy.
        format!(
            "  variables:\n  - {{name: v, values: {{member1: a, member2: b}}}}\n  rules:\n{}",
            rule("r", "", "variables.v")
        ),
        // Only the object has the names.
        format!("  rules:\n{}", rule("r", "", "object.stages[cluster.name]")),
        // The rule works for the cluster that is named, so it is the made-up name that does not fit.
        format!(
            "  rules:\n{}{}",
            rule("r", "", r#"cluster.name.split("-")[2]"#),
            rule("s", "targetCluster: {clusterNames: [eu-west-1]}, ", "1")
        ),
        format!(
            "  rules:\n{}",
            rule("r", "targetCluster: {clusterNames: ['eu-*']}, ", r#"{"eu-1": "a"}[cluster.name]"#)
        ),
    ] {
        let done = check(&policy(&rest), &object, &[]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{rest}: {}", done.stderr);
        let is_note = |line: &str| {
            line == FINE.trim_end()
                || line.contains("fails on object.yaml in a cluster that no policy names: ")
        };
        assert!(done.stderr.lines().all(is_note), "{}", done.stderr);
    }
}

#[test]
fn what_fails_in_a_named_cluster_or_under_any_name_is_a_finding() {
    let table = r#"{"member1": "a"}[cluster.name]"#;
    for (rest, clusters) in [
        // Another rule names a cluster that the table does not have.
        (
            format!(
                "  rules:\n{}{}",
                rule("r", "", table),
                rule("s", "targetCluster: {clusterNames: [member2]}, ", "1")
            ),
            "member2",
        ),
        // The same for a table of the policy.
        (
            format!(
                "  variables:\n  - {{name: v, values: {{member1: a}}}}\n  rules:\n{}{}",
                rule("r", "", "variables.v"),
                rule("s", "targetCluster: {clusterNames: [member2]}, ", "1")
            ),
            "member2",
        ),
        // Reads the name, but to tell where the allocation is.
        (
            format!(
                "  allocations: [{{name: lead}}]\n  rules:\n{}",
                rule("r", "when: allocations.lead != cluster.name, ", "object.nothing")
            ),
            "sample-2",
        ),
        // Nothing is known of other members of the table.
        (
            format!("  rules:\n{}", rule("r", "", r#"{"member1": object.nothing}[cluster.name]"#)),
            "member1, sample-1, sample-2",
        ),
    ] {
        let done = check(&policy(&rest), OBJECT, &[]);
        assert_eq!(done.code, Some(1), "{}", done.stderr);
        assert!(done.stdout.contains(&format!("fails on object.yaml in {clusters}: ")), "{}", done.stdout);
        assert_eq!(done.stdout.lines().count(), 1, "{}", done.stdout);
        assert!(!done.stderr.contains("in a cluster that no policy names"), "{}", done.stderr);
    }
}

#[test]
fn the_clusters_that_are_given_are_tried_and_no_others() {
    let table = policy(&format!("  rules:\n{}", rule("r", "", r#"{"member1": "a"}[cluster.name]"#)));
    assert_done(&check(&table, OBJECT, &["--clusters", "member1=1"]), 0, "", FINE);
    let done = check(&table, OBJECT, &["--clusters", "member1=2, member3=1"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stdout.contains("fails on object.yaml in member3: "), "{}", done.stdout);

    // Replicas are those of the schedule.
    let divided = policy(&format!("  rules:\n{}", rule("r", "", "6 / (replicas - 1)")));
    assert_done(&check(&divided, OBJECT, &["--clusters", "a=3,b=2"]), 0, "", FINE);
    assert!(check(&divided, OBJECT, &["--clusters", "a=3,b=1"]).stdout.contains("in b: "));
    let done = check(&divided, OBJECT, &["--clusters", "a=3,a=1"]);
    assert_done(&done, 2, "", "error: --clusters: cluster \"a\" is listed twice\n");
    let environment = [("REVISER_CLUSTERS", "a=3,b=2"), ("REVISER_FILENAME", "object.yaml")];
    let directory = Directory::new();
    directory.file("policy.yaml", &divided);
    directory.file("object.yaml", OBJECT);
    assert_done(&directory.run_with(&["check", "-p", "policy.yaml"], &environment, ""), 0, "", FINE);
}

#[test]
fn labels_and_state_tell_what_rules_read() {
    let labels = policy(&format!("  rules:\n{}", rule("r", "", "cluster.labels.region")));
    let done = check(&labels, OBJECT, &["--clusters", "a=1,b=1"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "no labels are known");
    assert!(
        done.stderr.starts_with("object.yaml: not all of ClusterRevisionPolicy/p can be tried: "),
        "{}",
        done.stderr
    );
    let run =
        |labels_of: &str| check(&labels, OBJECT, &["--clusters", "a=1,b=1", "--cluster-labels", labels_of]);
    assert_done(&run("a:region=eu, b:region=us"), 0, "", FINE);
    for missing in ["a:region=eu", "a:region=eu,b:zone=1"] {
        let done = run(missing);
        assert_eq!(done.code, Some(1), "{}", done.stderr);
        assert!(done.stdout.contains("fails on object.yaml in b: "), "{}", done.stdout);
    }

    let directory = Directory::new();
    directory.file("policy.yaml", &labels);
    directory.file("object.yaml", OBJECT);
    directory.file(
        "state.yaml",
        &(cluster("a", ", labels: {region: eu}") + &cluster("b", ", labels: {region: us}")),
    );
    let arguments = ["check", "-p", "policy.yaml", "-f", "object.yaml", "--state", "state.yaml"];
    assert_done(&directory.run(&arguments), 0, "", FINE);
    directory.file("state.yaml", &(cluster("a", ", labels: {region: eu}") + &cluster("c", "")));
    let done = directory.run(&arguments);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(
        done.stdout.contains("fails on object.yaml in c: ") && !done.stdout.contains("sample"),
        "{}",
        done.stdout
    );
    directory.file("state.yaml", "kind: Cluster\n");
    let done = directory.run(&arguments);
    assert_eq!((done.code, done.stdout.as_str()), (Some(1), ""));
    assert!(
        done.stderr.starts_with("error: the state files are refused:\nstate.yaml: document 1"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_division_is_not_refused_because_of_clusters_that_are_made_up() {
    let named = "targetCluster: {clusterNames: [a, b, c, d]}, ";
    let rest = format!("  rules:\n  - {{name: d, {named}divide: {{path: /spec/cars, minimum: 1}}}}\n");
    let done = check(&policy(&rest), OBJECT, &[]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{}", done.stderr);
    assert!(done.stderr.contains("not all of ClusterRevisionPolicy/p can be tried: "), "{}", done.stderr);
    let done = check(&policy(&rest), OBJECT, &["--clusters", "a=1,b=1,c=1,d=1"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stdout.contains("4 clusters can't get 1 each"), "{}", done.stdout);
    // A failure with any number of clusters is a finding.
    let done = check(&policy(&rest), &OBJECT.replace("cars: 3", "cars: x"), &[]);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
}

const UNKNOWN: &str = "  rules:\n  - name: r\n    targetCluster: {clusterNames: [memebr1, 'eu-*'], exclude: [member2]}\n    \
                       patch: {type: Merge, value: {spec: {x: 1}}}\n";

#[test]
fn a_name_that_no_known_cluster_has_is_a_finding() {
    let directory = Directory::new();
    directory.file("policy.yaml", &policy(UNKNOWN));
    directory.file("state.yaml", &(cluster("member1", "") + &cluster("eu-1", "")));
    let place = "policy.yaml: document 1, line 8: spec.rules[0].targetCluster";
    let misspelt = format!(
        "{place}.clusterNames[0]: \"memebr1\" matches none of the known clusters: eu-1, member1; did you mean \"member1\"?\n"
    );
    let excluded = format!(
        "{place}.exclude[0]: \"member2\" matches none of the known clusters: eu-1, member1; did you mean \"member1\"?\n"
    );
    let end = "error: 2 findings; serve accepts the documents\n";
    let run = |arguments: &[&str]| directory.run(&[&["check", "-p", "policy.yaml"], arguments].concat());
    assert_done(&run(&["--state", "state.yaml"]), 1, &format!("{misspelt}{excluded}"), end);
    assert_done(&run(&["--clusters", "member1=1,eu-1=0"]), 1, &format!("{misspelt}{excluded}"), end);
    assert_done(&run(&["--state", "state.yaml", "--clusters", "memebr1=1,member2=1"]), 0, "", FINE);
    assert_done(&run(&[]), 0, "", FINE);
    let done = run(&["--clusters", "a=1"]);
    assert_eq!(
        done.stdout
            .matches("matches none of the known clusters: a; change the name, or add the cluster")
            .count(),
        3
    );
}

#[test]
fn serve_warns_of_a_name_that_no_cluster_in_the_state_has() {
    let directory = Directory::new();
    let file = directory.file("policy.yaml", &policy(UNKNOWN));
    let state = directory
        .file("state.yaml", &(cluster("member1", "") + &cluster("eu-1", "") + &cluster("member2", "")));
    let server = Server::start(["-p", &file, "--state", &state, "--drain-seconds", "0"]);
    let line = server.process.says(|line| line.contains("matches none of the known clusters"));
    assert!(line.contains("WARN") && line.contains("clusterNames[0]: \\\"memebr1\\\""), "{line}");
    // And when the policies change.
    directory.file("policy.yaml", &policy(&UNKNOWN.replace("memebr1", "member7")));
    server.process.says(|line| line.contains("member7"));
    let log = server.end(Signal::TERM).stderr;
    assert_eq!(log.matches("matches none of the known clusters").count(), 2, "{log}");
    let unknown = Server::start(["-p", &file, "--drain-seconds", "0"]);
    assert!(!unknown.end(Signal::TERM).stderr.contains("known clusters"));
}
