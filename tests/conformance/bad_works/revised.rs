//! Works that have been revised, and what others have done to them since.

use serde_json::{Value, json};

use super::{Denied, Door, Gets, NULLED, Nothing, Patch, ROLLOUT, Warning, good, of, with};
use crate::admission::Verdict;
use crate::karmada::applied;

const MARKED: &str =
    "Rollout/checkout: /spec/workload/manifests/0: it is marked as revised (reviser.io/revised), but ";
const LEFT: &str = "reviser leaves the Work unchanged, because its revision can't be taken back: ";

/// What is stored after the good review.
fn stored(door: &Door) -> Value {
    let review: Value = serde_json::from_str(&good()).unwrap();
    let Verdict::Allowed { patch: Some(patch), .. } = &door.answer else { panic!("{:?}", door.answer) };
    applied(&review["request"]["object"], patch).unwrap()
}

/// The review of a Work that takes the place of another one, or of none.
fn update(object: &Value, old: Option<&Value>) -> String {
    let mut review: Value = serde_json::from_str(&good()).unwrap();
    review["request"]["object"] = object.clone();
    if let Some(old) = old {
        review["request"]["oldObject"] = old.clone();
    }
    review.to_string()
}

/// The Work, changed.
fn changed(work: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let mut work = work.clone();
    change(&mut work);
    work
}

/// The Work with this text for a record.
fn recorded(work: &Value, record: impl FnOnce(&str) -> Value) -> Value {
    changed(work, |work| {
        let place = &mut work["metadata"]["annotations"]["reviser.io/revision"];
        *place = record(place.as_str().unwrap());
    })
}

fn without_record(work: &Value) -> Value {
    changed(work, |work| {
        work["metadata"]["annotations"].as_object_mut().unwrap().remove("reviser.io/revision").unwrap();
    })
}

fn manifest(work: &mut Value) -> &mut Value {
    &mut work["spec"]["workload"]["manifests"][0]
}

/// Each Work is denied with this problem, and allowed unchanged, with the same message, if its manifests are
/// those that are stored.
fn check_irreversible(door: &mut Door, cases: &[(&str, Value, &'static str)]) {
    let unrevised: Value = serde_json::from_str::<Value>(&good()).unwrap()["request"]["object"].clone();
    for (name, work, problem) in cases {
        let denied = format!(
            "{MARKED}{problem}; let Karmada write the Work again (any change of the template does), or correct "
        );
        let left = format!("{LEFT}{problem}");
        // The tables hold what is known when this is compiled; this is not.
        let (denied, left): (&'static str, &'static str) = (denied.leak(), left.leak());
        let labelled = changed(work, |work| work["metadata"]["labels"] = json!({"by": "a user"}));
        let gets: [(&str, String, Gets); 4] = [
            (name, update(work, None), Denied(422, denied)),
            (name, update(work, Some(&unrevised)), Denied(422, denied)),
            (name, update(work, Some(work)), Warning(left)),
            (name, update(&labelled, Some(work)), Warning(left)),
        ];
        door.check(&gets);
    }
}

#[test]
fn what_comes_back_as_it_was_stored_stays() {
    let mut door = Door::open();
    let stored = stored(&door);
    let unrevised: Value = serde_json::from_str::<Value>(&good()).unwrap()["request"]["object"].clone();
    let labelled = changed(&stored, |work| work["metadata"]["labels"] = json!({"by": "a user"}));
    let beside = changed(&stored, |work| manifest(work)["spec"]["paused"] = json!(true));
    let bare = without_record(&stored);
    let back = changed(&stored, |work| {
        manifest(work)["spec"]["strategy"]["canary"]["steps"][0]["properties"]["pull"] = "true".into();
    });
    door.check(&[
        ("unchanged", update(&stored, Some(&stored)), Nothing),
        ("labelled", update(&labelled, Some(&stored)), Nothing),
        ("as a new one", update(&stored, None), Nothing),
        // The object and the old object the wrong way round: the stored one for the unrevised one.
        ("swapped", update(&stored, Some(&unrevised)), Nothing),
        ("changed beside the revision", update(&beside, Some(&stored)), Nothing),
        // The manifest of Karmada is revised, also if a user restores it.
        ("taken back by hand", update(&back, Some(&stored)), Patch(NULLED)),
        // The stored record helps.
        (
            "the record taken away",
            update(&bare, Some(&stored)),
            Patch(r#"{"op":"add","path":"/metadata/annotations/reviser.io~1revision","#),
        ),
    ]);
}

#[test]
fn a_revision_that_can_not_be_taken_back_is_denied_unless_it_is_stored_already() {
    let mut door = Door::open();
    let stored = stored(&door);
    let malformed = "the annotation reviser.io/revision of the Work is malformed";
    let missing = "the annotation reviser.io/revision of the Work has no record of it";
    let edited = "another client changed what the revision wrote: /spec/strategy/canary/steps/0/properties/pull: is not what was written there";
    let pull = "/spec/workload/manifests/0/spec/strategy/canary/steps/0/properties/pull";
    let cases = [
        ("no record", without_record(&stored), missing),
        (
            "a record from a future version",
            recorded(&stored, |record| with(record, r#""version":1"#, r#""version":2"#).into()),
            "the annotation reviser.io/revision of the Work has a format that this version of reviser does not support",
        ),
        ("half a record", recorded(&stored, |record| record[..record.len() / 2].into()), malformed),
        ("a record that is no JSON", recorded(&stored, |_| "yes".into()), malformed),
        ("an empty record", recorded(&stored, |_| "".into()), malformed),
        ("a record that is a list", recorded(&stored, |_| "[]".into()), malformed),
        ("a record that is a number", recorded(&stored, |_| 1.into()), malformed),
        (
            "a record with other values",
            recorded(&stored, |record| with(record, r#""was":"true""#, r#""was":"false""#).into()),
            malformed,
        ),
        (
            "a record of others",
            recorded(&stored, |record| with(record, "shop/checkout", "shop/cart").into()),
            malformed,
        ),
        ("a record of nothing", recorded(&stored, |_| r#"{"version":1,"manifests":[]}"#.into()), missing),
        (
            "a record nested deep",
            recorded(&stored, |_| format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)).into()),
            malformed,
        ),
        (
            "a marker that is a number",
            changed(&stored, |work| {
                manifest(work)["metadata"]["annotations"]["reviser.io/revised"] = 1.into();
            }),
            "the annotation reviser.io/revised of the manifest is no string",
        ),
        (
            "another marker",
            changed(&stored, |work| {
                manifest(work)["metadata"]["annotations"]["reviser.io/revised"] = "1".into();
            }),
            missing,
        ),
        (
            "edited by hand",
            changed(&stored, |work| *work.pointer_mut(pull).unwrap() = "later".into()),
            edited,
        ),
        (
            "steps taken away by hand",
            changed(&stored, |work| manifest(work)["spec"]["strategy"] = json!({})),
            "another client changed what the revision wrote: /spec/strategy/canary/steps/0/properties/pull: is not what was written there",
        ),
        (
            "another name",
            changed(&stored, |work| manifest(work)["metadata"]["name"] = "cart".into()),
            missing,
        ),
    ];
    let (named, others): (Vec<_>, Vec<_>) = cases.into_iter().partition(|(name, ..)| *name == "another name");
    check_irreversible(&mut door, &others);
    let denied = "Rollout/cart: /spec/workload/manifests/0: it is marked as revised (reviser.io/revised), but the annotation reviser.io/revision of the Work has no record of it; ";
    door.check(&[("another name", update(&named[0].1, Some(&stored)), Denied(422, denied))]);
}

#[test]
fn an_unmarked_manifest_does_not_mind_what_the_record_is() {
    let mut door = Door::open();
    let unrevised: Value = serde_json::from_str::<Value>(&good()).unwrap()["request"]["object"].clone();
    let with_record = |record: Value| {
        let mut work = unrevised.clone();
        work["metadata"]["annotations"]["reviser.io/revision"] = record;
        update(&work, None)
    };
    let put = r#"{"op":"replace","path":"/metadata/annotations/reviser.io~1revision","#;
    door.check(&[
        ("from a future version", with_record(r#"{"version":7}"#.into()), Patch(put)),
        ("malformed", with_record("{".into()), Patch(put)),
        ("a number", with_record(1.into()), Patch(put)),
    ]);
    let mut nothing = unrevised.clone();
    nothing["spec"]["workload"]["manifests"] = json!([]);
    nothing["metadata"]["annotations"]["reviser.io/revision"] = "{".into();
    let gone = r#"[{"op":"remove","path":"/metadata/annotations/reviser.io~1revision"}]"#;
    door.check(&[("no manifest any more", update(&nothing, None), Patch(gone))]);
}

#[test]
fn a_record_that_does_not_fit_is_denied_with_its_limit() {
    let mut door = Door::open();
    let step = r#"{"type":"Fort","properties":{"pull":"true"}}"#;
    let many = |count: usize| of(&with(ROLLOUT, step, &vec![step; count].join(",")));
    door.check(&[
        (
            "two thousand steps",
            many(2000),
            Patch("/spec/workload/manifests/0/spec/strategy/canary/steps/1999/properties/pull"),
        ),
        (
            "six thousand steps",
            many(6000),
            Denied(422, "/metadata/annotations/reviser.io~1revision: the record of the revision needs "),
        ),
    ]);
    let Ok(Verdict::Denied(_, message)) = door.site.admit(many(6000).as_bytes()) else { panic!() };
    assert!(
        message
            .ends_with(" that is more than the 262144 that an object may have; make the rules change less"),
        "{message}"
    );
}
