//! `reviser preview -o explain`, and the clusters that preview is given.

use crate::files::{Directory, ROLLOUT, assert_done};
use crate::process::Done;

const POLICY: &str = r#"apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: p}
spec:
  resourceSelectors: [{apiVersion: apps.example.com/v1, kind: Train}]
  allocations: [{name: lead}]
  rules:
  - name: env
    env: {name: CLUSTER, value: "${cluster.name}"}
  - name: only-x
    targetCluster: {clusterNames: [x]}
    patch: {type: Merge, value: {spec: {paused: true, replicas: null}}}
  - name: busy
    when: replicas > 2
    image: {registry: r.example.com}
  - name: missing
    onError: Skip
    env: {name: A, value: b, containers: [nope]}
  - name: leader
    when: allocations.lead == cluster.name
    patch: {type: JSON, value: [{op: add, path: /spec/list/1, value: 9}]}
  - name: same
    patch: {type: Merge, value: {kind2: null}}
"#;

const DEPLOYMENT: &str = "apiVersion: apps.example.com/v1
kind: Train
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  list: [1, 2]
  template: {spec: {containers: [{name: app, image: \"web:1\"}]}}
";

const MISSING: &str = "ClusterRevisionPolicy/p/missing: skipped (onError): /spec/template/spec: has no container \"nope\"; name \
                       a container that exists, or use `onError: Skip`";

fn explain(directory: &Directory, arguments: &[&str]) -> Done {
    directory.file("deployment.yaml", DEPLOYMENT);
    directory.file("policy.yaml", POLICY);
    let fixed = ["preview", "-f", "deployment.yaml", "-p", "policy.yaml", "-o", "explain"];
    directory.run(&[&fixed, arguments].concat())
}

#[test]
fn every_rule_says_what_it_did_or_why_it_did_nothing() {
    let expected = format!(
        r#"CLUSTER  REPLICAS  HOSTS  RULES
x        3         lead   ClusterRevisionPolicy/p/env, ClusterRevisionPolicy/p/only-x, ClusterRevisionPolicy/p/busy, ClusterRevisionPolicy/p/leader
y        1         -      ClusterRevisionPolicy/p/env

# cluster: x (replicas: 3)
allocation lead: in x, so here: the cluster has the most replicas, or is the first of those that have
ClusterRevisionPolicy/p/env: 1 change
  /spec/template/spec/containers/0/env: added [{{"name":"CLUSTER","value":"x"}}]
ClusterRevisionPolicy/p/only-x: 2 changes
  /spec/replicas: removed 3
  /spec/paused: added true
ClusterRevisionPolicy/p/busy: 1 change
  /spec/template/spec/containers/0/image: "web:1" -> "r.example.com/web:1"
{MISSING}
ClusterRevisionPolicy/p/leader: 1 change
  /spec/list/1: added 9
ClusterRevisionPolicy/p/same: nothing to change

# cluster: y (replicas: 1)
allocation lead: in x, so elsewhere: the cluster has the most replicas, or is the first of those that have
ClusterRevisionPolicy/p/env: 1 change
  /spec/template/spec/containers/0/env: added [{{"name":"CLUSTER","value":"y"}}]
ClusterRevisionPolicy/p/only-x: not for this cluster (targetCluster)
ClusterRevisionPolicy/p/busy: not applied, its condition is false: replicas > 2
{MISSING}
ClusterRevisionPolicy/p/leader: not applied, its condition is false: allocations.lead == cluster.name
ClusterRevisionPolicy/p/same: nothing to change
"#
    );
    let directory = Directory::new();
    for arguments in [&["--clusters", "x=3,y=1"][..], &["--clusters", "x=3", "--clusters", "y=1"]] {
        assert_done(&explain(&directory, arguments), 0, &expected, "");
    }
}

#[test]
fn an_allocation_says_why_it_is_where_it_is_in_every_cluster() {
    let directory = Directory::new();
    let lines = |arguments: &[&str]| {
        let done = explain(&directory, arguments);
        let lines = done.stdout.lines().filter(|line| line.starts_with("allocation")).map(str::to_owned);
        lines.collect::<Vec<_>>()
    };
    assert_eq!(
        lines(&["--clusters", "x=3,y=1", "--allocation", "lead=y"]),
        [
            "allocation lead: in y, so elsewhere: it is there already, and the cluster is still scheduled",
            "allocation lead: in y, so here: it is there already, and the cluster is still scheduled",
        ]
    );
    assert_eq!(
        lines(&["--clusters", "x=3", "--allocation", "lead=gone"]),
        [
            "allocation lead: in x, so here: the cluster has the most replicas, or is the first of those that have, and was in gone"
        ]
    );
    directory.file(
        "pinned.yaml",
        &DEPLOYMENT.replace("namespace: shop", "annotations: {reviser.io/lead-cluster: \"y\"}"),
    );
    let done = directory.run(&[
        "preview",
        "-f",
        "pinned.yaml",
        "-p",
        "policy.yaml",
        "-o",
        "explain",
        "--clusters",
        "x=3,y=1",
    ]);
    assert!(
        done.stdout.contains("allocation lead: in y, so here: its annotation pins it there\n"),
        "{}",
        done.stdout
    );
}

#[test]
fn an_object_that_no_policy_selects_says_so() {
    let directory = Directory::new();
    directory.file("policy.yaml", POLICY);
    let done = directory.run_with(
        &["preview", "-f", "-", "-p", "policy.yaml", "--clusters", "x=1", "-o", "explain"],
        &[],
        ROLLOUT,
    );
    let table = "CLUSTER  REPLICAS  HOSTS  RULES\nx        1         -      -\n";
    let note =
        "no policy selects Rollout/checkout (deploy.example.com/v1alpha1): every cluster gets it unchanged\n";
    let rest = "\n# cluster: x (replicas: 1)\nno policy selects the object\n";
    assert_done(&done, 0, &format!("{table}{rest}"), note);
}

#[test]
fn labels_of_clusters_are_those_that_are_given() {
    let directory = Directory::new();
    directory.file("deployment.yaml", DEPLOYMENT);
    let policy = POLICY.split("  - name: env\n").next().unwrap().to_owned()
        + "  - name: eu\n    targetCluster: {labelSelector: {matchLabels: {region: eu}}}\n    patch: {type: Merge, value: {spec: {tier: \"${cluster.labels.tier}\"}}}\n";
    directory.file("policy.yaml", &policy);
    let fixed =
        ["preview", "-f", "deployment.yaml", "-p", "policy.yaml", "--clusters", "x=1,y=1", "-o", "explain"];
    let done =
        directory.run(&[&fixed[..], &["--cluster-labels", "x:region=eu,x:tier=gold,y:region=us"]].concat());
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{}", done.stdout);
    assert!(done.stdout.contains("  /spec/tier: added \"gold\"\n"), "{}", done.stdout);
    assert!(done.stdout.contains("ClusterRevisionPolicy/p/eu: not for this cluster (targetCluster)\n"));

    let unknown = directory.run(&[&fixed[..], &["--cluster-labels", "x:region=eu,x:tier=gold"]].concat());
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("nothing is known about \"y\""), "{}", unknown.stderr);
    for wrong in ["x", "x:region", "x:=eu", ":region=eu"] {
        assert_eq!(
            directory.run(&[&fixed[..], &["--cluster-labels", wrong]].concat()).code,
            Some(2),
            "{wrong}"
        );
    }
}

#[test]
fn labels_that_are_given_are_over_those_of_the_state() {
    let directory = Directory::new();
    directory.file("deployment.yaml", DEPLOYMENT);
    let policy = POLICY.split("  - name: env\n").next().unwrap().to_owned()
        + "  - name: all\n    patch: {type: Merge, value: {spec: {is: \"${cluster.region} ${cluster.labels.tier} ${cluster.labels.team}\"}}}\n";
    directory.file("policy.yaml", &policy);
    directory.file(
        "state.yaml",
        "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: x, labels: {tier: gold, team: a}}\nspec: {region: eu}\n",
    );
    let fixed = [
        "preview",
        "-f",
        "deployment.yaml",
        "-p",
        "policy.yaml",
        "--clusters",
        "x=1",
        "--state",
        "state.yaml",
    ];
    for (arguments, expected) in [
        (&["-o", "explain"][..], "  /spec/is: added \"eu gold a\"\n"),
        (&["-o", "explain", "--cluster-labels", "x:tier=iron"], "  /spec/is: added \"eu iron a\"\n"),
        (&["-o", "yaml", "--cluster-labels", "y:tier=iron"], "\n  is: eu gold a\n"),
    ] {
        let done = directory.run(&[&fixed[..], arguments].concat());
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
        assert!(done.stdout.contains(expected), "{}", done.stdout);
    }
}

#[test]
fn works_of_the_state_keep_an_allocation_where_it_is() {
    let directory = Directory::new();
    directory.file("state.yaml", "kind: [");
    let done = explain(&directory, &["--clusters", "x=3,y=1", "--state", "state.yaml"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(1), ""));
    assert!(
        done.stderr.starts_with("error: the state files are refused:\nstate.yaml: line "),
        "{}",
        done.stderr
    );
    let record = r#"{"version":1,"manifests":[{"object":"Train.apps.example.com shop/web","rules":[],"hash":"h","hosts":["lead"]}]}"#;
    let work = |namespace: &str, record: &str| {
        format!(
            r#"{{"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{{"name":"web-1","namespace":"{namespace}",
            "annotations":{{"reviser.io/revision":{record:?}}}}},"spec":{{"workload":{{"manifests":[
            {{"apiVersion":"apps.example.com/v1","kind":"Train","metadata":{{"name":"web","namespace":"shop"}}}}]}}}}}}"#
        )
    };
    directory.file("state.json", &work("karmada-es-y", record));
    let done = explain(&directory, &["--clusters", "x=3,y=1", "--state", "state.json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let found = "allocation lead: in y, so here: it is there already, according to the Work there\n";
    assert!(done.stdout.contains(found), "{}", done.stdout);
    // It is not scheduled to y any more, and the Work there still is.
    let done = explain(&directory, &["--clusters", "x=3", "--state", "state.json"]);
    let waits = "allocation lead: in no cluster; it moves to x when the Work in y has released it\n";
    assert!(done.stdout.contains(waits), "{}", done.stdout);
}
