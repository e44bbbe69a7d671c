//! The reviews of Works that a real API server sent, byte by byte as they came, over HTTP/1.1 and HTTP/2, and
//! what they get.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Site;
use crate::admission::{Asked, Verdict, verify};
use crate::http2::Connection;
use crate::karmada::applied;

/// What the Rollout of a review gets, or another object.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gets {
    /// Nothing: not a word, and no patch.
    Nothing,
    /// A record that the cluster hosts the fort, and no other change.
    Fort,
    /// The steps of type `Fort` nulled, marked, recorded.
    Nulled,
}

use Gets::{Fort, Nothing, Nulled};

/// For each binding of the Rollout, the reviews at about its time, in an order that a fort could live
/// through.
const AT: &[(&str, &[(&str, Gets)])] = &[
    (
        "rb-w31",
        &[
            ("create-cluster-x-w31", Fort),
            ("create-cluster-z-w31", Nulled),
            ("create-configmap-cluster-x", Nothing),
            ("create-secret-cluster-x", Nothing),
            ("create-namespace-cluster-x", Nothing),
            ("create-namespace-cluster-z", Nothing),
            ("create-deployment-cluster-x", Nothing),
            ("create-deployment-cluster-z", Nothing),
            ("update-cluster-x-w31", Fort),
            ("update-cluster-z-w31", Nulled),
            ("update-cluster-z-restart", Nulled),
            // The recording server wrote nulls without a marker.
            ("label-cluster-x", Fort),
            ("label-cluster-z", Nothing),
            ("dryrun-label-cluster-z", Nothing),
            ("dryrun-delete", Nothing),
            ("update-cluster-z-reweight-stale", Nulled),
            ("update-cluster-x-reweight", Fort),
            ("update-cluster-z-reweight", Nulled),
            ("create-cluster-x-added-back", Fort),
        ],
    ),
    (
        "rb-r0",
        &[
            ("create-cluster-x-r0", Fort),
            ("create-cluster-z-r0", Nulled),
            ("update-cluster-x-r0", Fort),
            ("update-cluster-z-r0", Nulled),
            ("update-cluster-x-scale-to-0-stale", Fort),
            ("update-cluster-x-scale-to-0", Fort),
            ("update-cluster-z-scale-to-0", Nulled),
        ],
    ),
    // No Works are in the state, so the fort moves at once.
    (
        "rb-seq-5-remove-cluster-x",
        &[("update-cluster-x-not-in-binding", Nulled), ("update-cluster-z-takes-over", Fort)],
    ),
    (
        "rb-at-work-finalizer-cluster-x",
        &[
            ("delete-cluster-x", Nothing),
            ("finalizer-cluster-x", Nothing),
            ("delete-cluster-z", Nothing),
            ("finalizer-cluster-z", Nothing),
            ("delete-configmap-cluster-x", Nothing),
            ("finalizer-configmap-cluster-x", Nothing),
        ],
    ),
];

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/captures")
}

/// What an answer does to the Rollout in a Work, and the Work after it.
fn effect(body: &[u8], verdict: &Verdict) -> (Gets, Value) {
    let Verdict::Allowed { patch, warnings } = verdict else { panic!("{verdict:?}") };
    assert!(warnings.is_empty(), "{warnings:?}");
    let asked = Asked::of(body);
    let Some(patch) = patch else { return (Nothing, asked.object.unwrap_or_default()) };
    let before = asked.object.unwrap();
    let after = applied(&before, patch).unwrap();
    let manifest = |work: &Value| work["spec"]["workload"]["manifests"][0].clone();
    let mut expected = manifest(&before);
    let record = after["metadata"]["annotations"]["reviser.io/revision"].as_str().unwrap();
    let record: Value = serde_json::from_str(record).unwrap();
    let entry = &record["manifests"][0];
    assert_eq!(entry["object"], "Rollout.deploy.example.com shop/checkout");
    if expected == manifest(&after) {
        assert_eq!((&entry["hosts"], entry.get("id")), (&json!(["fort"]), None));
        return (Fort, after);
    }
    for step in [0, 1] {
        expected["spec"]["strategy"]["canary"]["steps"][step]["properties"]["pull"] = Value::Null;
    }
    expected["metadata"]["annotations"]["reviser.io/revised"] = entry["id"].clone();
    assert_eq!((&entry["hosts"], manifest(&after)), (&json!([]), expected));
    (Nulled, after)
}

#[tokio::test]
async fn every_recorded_review_gets_what_it_should_over_both_protocols() {
    let folder = captures();
    for (binding, reviews) in AT {
        let mut arguments = Vec::new();
        for file in [binding, "rb-attached-configmap", "rb-attached-secret", "rb-deployment"] {
            arguments.push("--state".into());
            arguments.push(folder.join(format!("{file}.json")));
        }
        let site = Site::with(arguments);
        let mut connection = Connection::to(&site).await;
        for (name, gets) in *reviews {
            let body = std::fs::read(folder.join(format!("work-{name}.json"))).unwrap();
            let verdict = site.admit(&body).unwrap_or_else(|broken| panic!("{name}: {broken}"));
            let (found, after) = effect(&body, &verdict);
            assert_eq!(found, *gets, "{name}: {verdict:?}");
            let reply = connection.send("/mutate/works", &body).await;
            let again = verify(&Asked::of(&body), &reply).unwrap_or_else(|broken| panic!("{name}: {broken}"));
            assert_eq!(again, verdict, "{name} over HTTP/2");
            if found != Nothing {
                // A touch of the stored Work changes nothing.
                let mut touched: Value = serde_json::from_slice(&body).unwrap();
                touched["request"]["operation"] = "UPDATE".into();
                touched["request"]["object"] = after.clone();
                touched["request"]["oldObject"] = after;
                let verdict = site.admit(touched.to_string().as_bytes()).unwrap();
                assert_eq!(verdict, Verdict::nothing(), "{name} once more");
            }
        }
    }
}

#[test]
fn no_recorded_review_is_left_out() {
    let mut listed: Vec<String> =
        AT.iter().flat_map(|(_, reviews)| *reviews).map(|(name, _)| format!("work-{name}.json")).collect();
    let mut there: Vec<String> = std::fs::read_dir(captures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        // What is stored is no review.
        .filter(|name| name.starts_with("work-") && !name.starts_with("work-stored-"))
        .collect();
    listed.sort();
    there.sort();
    assert_eq!(listed, there);
}
