//! Each captured review by itself, on a new server with the bindings of its recording and no Works.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::recording::{Body, What, all_reviews, bindings, capture};
use super::served::{Decision, Served, WORKS};

/// Allowed unchanged.
const UNTOUCHED: &str = "untouched";

/// The cluster hosts the fort. The manifest is unchanged; the record names the host.
const HERE: &str = "here: record";

/// Another cluster hosts it: both `Fort` steps are skipped.
const ELSEWHERE: &str = "elsewhere: record marker ~/spec/strategy/canary/steps/0/properties/pull ~/spec/strategy/canary/steps/1/properties/pull";

/// Each review with its bindings and the expected decision.
/// A Work written back during the recording has the revision of the recording server, without our marker, so
/// reviser takes its nulls for Karmada's.
const GOLDEN: &[(&str, &[&str], &str)] = &[
    ("work-create-cluster-x-w31", &["rb-at-work-create-cluster-x-w31"], HERE),
    ("work-create-cluster-z-w31", &["rb-w31"], ELSEWHERE),
    ("work-update-cluster-x-w31", &["rb-w31"], HERE),
    ("work-update-cluster-z-w31", &["rb-w31"], ELSEWHERE),
    ("work-update-cluster-z-restart", &["rb-w31"], ELSEWHERE),
    ("work-label-cluster-x", &["rb-w31"], HERE),
    ("work-label-cluster-z", &["rb-w31"], UNTOUCHED),
    ("work-dryrun-label-cluster-z", &["rb-w31"], UNTOUCHED),
    ("work-dryrun-delete", &["rb-w31"], UNTOUCHED),
    ("work-create-cluster-x-r0", &["rb-r0"], HERE),
    ("work-create-cluster-z-r0", &["rb-r0"], ELSEWHERE),
    ("work-update-cluster-x-r0", &["rb-r0"], HERE),
    ("work-update-cluster-z-r0", &["rb-r0"], ELSEWHERE),
    ("work-update-cluster-x-scale-to-0-stale", &["rb-at-work-update-cluster-x-scale-to-0-stale"], HERE),
    ("work-update-cluster-x-scale-to-0", &["rb-r0"], HERE),
    ("work-update-cluster-z-scale-to-0", &["rb-r0"], ELSEWHERE),
    ("work-update-cluster-z-reweight-stale", &["rb-at-work-update-cluster-z-reweight-stale"], ELSEWHERE),
    ("work-update-cluster-x-reweight", &["rb-at-work-update-cluster-z-reweight-stale"], HERE),
    ("work-update-cluster-z-reweight", &["rb-at-work-update-cluster-z-reweight-stale"], ELSEWHERE),
    ("work-update-cluster-x-not-in-binding", &["rb-at-work-update-cluster-x-not-in-binding"], ELSEWHERE),
    ("work-update-cluster-z-takes-over", &["rb-at-work-update-cluster-z-takes-over"], HERE),
    ("work-create-cluster-x-added-back", &["rb-seq-6-add-back-cluster-x"], ELSEWHERE),
    ("work-delete-cluster-x", &["rb-at-work-finalizer-cluster-x"], UNTOUCHED),
    ("work-finalizer-cluster-x", &["rb-at-work-finalizer-cluster-x"], UNTOUCHED),
    ("work-delete-cluster-z", &["rb-at-work-finalizer-cluster-x"], UNTOUCHED),
    ("work-finalizer-cluster-z", &["rb-at-work-finalizer-cluster-x"], UNTOUCHED),
    ("work-create-configmap-cluster-x", &["rb-attached-configmap"], UNTOUCHED),
    ("work-create-secret-cluster-x", &["rb-attached-secret"], UNTOUCHED),
    ("work-delete-configmap-cluster-x", &[], UNTOUCHED),
    ("work-finalizer-configmap-cluster-x", &[], UNTOUCHED),
    ("work-create-namespace-cluster-x", &[], UNTOUCHED),
    ("work-create-namespace-cluster-z", &[], UNTOUCHED),
    ("work-create-deployment-cluster-x", &["rb-deployment"], UNTOUCHED),
    ("work-create-deployment-cluster-z", &["rb-deployment"], UNTOUCHED),
];

/// The decision in one line.
fn line(body: &Body, decision: &Decision) -> String {
    if decision.is_untouched() {
        return UNTOUCHED.to_owned();
    }
    let work = decision.apply(body.part(&["object"]).unwrap());
    let record = work["metadata"]["annotations"]["reviser.io/revision"].as_str();
    let hosts = record.is_some_and(|record| {
        let record: Value = serde_json::from_str(record).unwrap();
        record["manifests"][0]["hosts"] == serde_json::json!(["fort"])
    });
    let mut line = format!("{}: {}", if hosts { "here" } else { "elsewhere" }, decision.paths().join(" "));
    for warning in &decision.warnings {
        write!(line, "; {warning}").unwrap();
    }
    line
}

#[test]
fn each_captured_review_has_the_decision_in_the_table() {
    let mut wrong = Vec::new();
    let mut served = Served::start(None);
    for (name, state, expected) in GOLDEN {
        served.restart(false);
        served.bindings(&bindings(state));
        let body = Body::captured(name);
        let line = line(&body, &served.review(&body.text));
        if line != *expected {
            wrong.push(format!("{name}: {line:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_has_every_captured_review() {
    let mut names: Vec<&str> = GOLDEN.iter().map(|(name, ..)| *name).collect();
    names.sort_unstable();
    assert_eq!(names, all_reviews());
}

/// A missing binding is an error of the installation, not a decision. Only revisions need a binding.
#[test]
fn without_bindings_only_revisions_fail() {
    let served = Served::start(None);
    for (name, _, expected) in GOLDEN {
        let body = Body::captured(name);
        let (status, reply) = served.exchange(WORKS, &body.text);
        let is_revised = body.kind() == "Rollout" && matches!(body.what, What::Write | What::Label);
        if is_revised {
            assert_eq!(status, 503, "{name}: {reply}");
            let message = reply["message"].as_str().unwrap();
            assert!(message.contains("no binding in the state files"), "{name}: {message}");
        } else {
            assert_eq!((status, *expected), (200, UNTOUCHED), "{name}: {reply}");
            assert!(Decision::read(&reply).is_untouched(), "{name}: {reply}");
        }
    }
}

/// The Works of Namespaces have no binding, so that a server without any state revises them.
#[test]
fn the_captured_namespaces_are_revised_where_a_policy_selects_them() {
    let policy = "apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: network}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Namespace, name: shop}]
  rules:
  - name: network
    patch: {type: Merge, value: {metadata: {labels: {topology.istio.io/network: 'network-${cluster.name}'}}}}
";
    let served = Served::start(Some(policy));
    for cluster in ["cluster-x", "cluster-z"] {
        let body = Body::captured(&format!("work-create-namespace-{cluster}"));
        let decision = served.review(&body.text);
        assert_eq!(
            decision.paths(),
            ["/metadata/annotations", "marker", "~/metadata/labels/topology.istio.io~1network"]
        );
        let work = decision.apply(body.part(&["object"]).unwrap());
        let label = work.pointer("/spec/workload/manifests/0/metadata/labels/topology.istio.io~1network");
        assert_eq!(label, Some(&format!("network-{cluster}").into()));
        // A touch of what is stored changes nothing.
        let touch = serde_json::json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "u", "kind": {"group": "work.karmada.io", "version": "v1alpha1", "kind": "Work"},
            "resource": {"group": "work.karmada.io", "version": "v1alpha1", "resource": "works"},
            "name": work["metadata"]["name"], "namespace": work["metadata"]["namespace"], "operation": "UPDATE",
            "object": work, "oldObject": work}});
        assert!(served.review(&touch.to_string()).is_untouched());
    }
}

/// The same requests, sent with `curl`.
#[test]
fn curl_gets_the_same_answers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !Command::new("curl").arg("--version").output().is_ok_and(|done| done.status.success()) {
        return skipped("there is no curl here");
    }
    for chunk in GOLDEN.chunk_by(|(_, one, _), (_, next, _)| one == next) {
        let served = Served::start(None);
        served.bindings(&bindings(chunk[0].1));
        let (port, authority) = served.port_and_authority();
        for (name, ..) in chunk {
            let line = format!(
                "curl -sS --cacert {} -H 'Content-Type: application/json' --data-binary @tests/data/captures/{name}.json \
                 'https://localhost:{port}/mutate/works?timeout=10s'",
                authority.display()
            );
            let done = Command::new("sh").args(["-c", &line]).current_dir(root).output().unwrap();
            assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
            let reply: Value = serde_json::from_slice(&done.stdout).unwrap();
            let (status, expected) = served.exchange(WORKS, &capture(name));
            assert_eq!((status, &expected), (200, &reply), "{name}");
        }
    }
}

#[expect(clippy::print_stdout, reason = "the test runner shows what a test prints")]
fn skipped(why: &str) {
    println!("skipped: {why}");
}
