//! `reviser serve --state`: what is known about clusters, and rules that ask for it.

use rustix::process::Signal;

use crate::files::Directory;
use crate::state::Served;

/// The Clusters as a real Karmada had them.
const CLUSTERS: [(&str, &str); 2] = [
    ("state/x.json", include_str!("../data/captures/cluster-x.json")),
    ("state/z.json", include_str!("../data/captures/cluster-z.json")),
];

const POLICY: &str = r#"apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: clusters}
spec:
  resourceSelectors:
  - {apiVersion: deploy.example.com/v1alpha1, kind: Rollout}
  rules:
  - name: europe
    targetCluster: {labelSelector: {matchExpressions: [{key: region, operator: In, values: [eu-west, eu-north]}]}}
    patch: {type: Merge, value: {spec: {privacy: "${cluster.labels['env']}"}}}
  - name: region
    targetCluster: {exclude: [plain]}
    patch: {type: Merge, value: {spec: {registry: "registry.${cluster.region}.example.com", zone: "${cluster.zone}"}}}
"#;

/// A patch that adds these members to the spec.
fn added(members: &[(&str, &str)]) -> String {
    let entry =
        |(name, value): &(&str, &str)| format!(r#"{{"op":"add","path":"/spec/{name}","value":"{value}"}}"#);
    format!("[{}]", members.iter().map(entry).collect::<Vec<_>>().join(","))
}

#[test]
fn rules_know_the_clusters_in_the_state_files() {
    let directory = Directory::new();
    std::fs::create_dir(directory.path().join("state")).unwrap();
    for (name, text) in CLUSTERS {
        directory.file(name, text);
    }
    let policy = directory.file("policy.yaml", POLICY);
    let served = Served::start_with(&directory, &["--policy", &policy, "--state", &directory.at("state")]);
    let loaded = served.server.process.says(|line| line.contains("state loaded"));
    assert!(loaded.ends_with("bindings=0 works=0 clusters=2 targets=0"), "{loaded}");
    let europe = [("privacy", "prod"), ("registry", "registry.eu-west.example.com"), ("zone", "eu-west-1a")];
    assert_eq!(served.revised("checkout", "cluster-x"), added(&europe));
    let us = [("registry", "registry.us-east.example.com"), ("zone", "us-east-1b")];
    assert_eq!(served.revised("checkout", "cluster-z"), added(&us));

    // Of another one nothing is known, until something is.
    let unknown = served.revised("checkout", "cluster-q");
    let expected = "503: ClusterRevisionPolicy/clusters rule \"europe\" cluster \"cluster-q\": \
                    the rule selects clusters by labels or fields, and nothing is known about \"cluster-q\"; give its Cluster document in --state";
    assert_eq!(unknown, expected);
    directory.file(
        "state/q.yaml",
        "apiVersion: multicluster.admiralty.io/v1alpha1\nkind: Target\nmetadata:\n  name: cluster-q\n  namespace: shop\n  labels: {region: eu-north, env: test}\n",
    );
    // A Target has labels, and no region beside them.
    let without = served.revised("checkout", "cluster-q");
    assert!(without.starts_with("422: ") && without.contains("cluster.region"), "{without}");
    directory.file("state/w.json", &CLUSTERS[0].1.replace("cluster-x", "cluster-q"));
    assert_eq!(served.revised("checkout", "cluster-q"), added(&europe));
    assert_eq!(served.server.end(Signal::TERM).code, Some(0));
}
