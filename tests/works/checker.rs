//! The invariants after every write.

use serde_json::Value;

use crate::api::Stored;

/// The clusters whose Work has an active fort: a step of that type whose `pull` is not null.
pub(crate) fn hosts(stored: &Stored) -> Vec<(String, bool)> {
    let hosting = stored.works.iter().filter(|(_, work)| runs_a_fort(work));
    hosting
        .map(|(cluster, work)| (cluster.clone(), work["metadata"].get("deletionTimestamp").is_some()))
        .collect()
}

fn runs_a_fort(work: &Value) -> bool {
    let manifests = work["spec"]["workload"]["manifests"].as_array().unwrap();
    manifests.iter().any(|manifest| {
        let steps = manifest["spec"]["strategy"]["canary"]["steps"].as_array();
        steps.is_some_and(|steps| {
            steps.iter().any(|step| step["type"] == "Fort" && !step["properties"]["pull"].is_null())
        })
    })
}

/// Reasons that permit a second fort in a Work that is being deleted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Excuses {
    /// A user has pinned the allocation, which moves it before the old cluster has deleted its Work.
    pub(crate) pinned: bool,
    /// `handover.timeout` is set, and time has passed.
    pub(crate) timed_out: bool,
}

/// Checks that at most one Work has a fort.
pub(crate) fn check(stored: &Stored, excuses: Excuses) -> Result<(), String> {
    let hosts = hosts(stored);
    let counted = hosts.iter().filter(|(_, leaving)| !(*leaving && (excuses.pinned || excuses.timed_out)));
    if counted.count() <= 1 { Ok(()) } else { Err(format!("more than one fort: {hosts:?}")) }
}

#[test]
fn two_forts_are_an_error() {
    let work = |pull: Value, deleting: bool| {
        let mut work = serde_json::json!({"metadata": {}, "spec": {"workload": {"manifests": [
            {"spec": {"strategy": {"canary": {"steps": [{"type": "Fort", "properties": {"pull": pull}}]}}}},
        ]}}});
        if deleting {
            work["metadata"]["deletionTimestamp"] = "x".into();
        }
        work
    };
    let stored = |works: [Value; 2]| Stored {
        binding: None,
        works: ["x", "z"].map(str::to_owned).into_iter().zip(works).collect(),
    };
    let two = stored([work("false".into(), false), work("false".into(), true)]);
    assert!(check(&two, Excuses::default()).is_err());
    assert!(check(&two, Excuses { pinned: true, timed_out: false }).is_ok());
    assert!(
        check(&stored([work(Value::Null, false), work("false".into(), true)]), Excuses::default()).is_ok()
    );
    let two = stored([work("false".into(), false), work("true".into(), false)]);
    assert!(check(&two, Excuses { pinned: true, timed_out: true }).is_err());
}
