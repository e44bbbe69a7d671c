//! Works that are read, revised, stored and restored, with the changes of Karmada's webhook in between.

use proptest::prelude::*;

use super::*;
use crate::domain::{BindingName, ClusterName, GroupVersionKind, Hosts, Workload};
use crate::engine::{Draft, ObjectSource};
use crate::json::{Pointer, Text, Value};
use crate::patch::Operation;

fn value(text: &str) -> Value<'static> {
    Value::parse(text.as_bytes()).unwrap().into_owned()
}

fn workload() -> Workload {
    Workload { gvk: GroupVersionKind::of("a/v1", "Train"), namespace: "ns".into(), name: "n".into() }
}

/// A Work with these annotations and one manifest.
fn work(annotations: &str, manifest: &str) -> String {
    format!(
        r#"{{"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{{"name":"w","namespace":"karmada-es-x","annotations":{annotations}}},"spec":{{"workload":{{"manifests":[{manifest}]}}}}}}"#
    )
}

const BOUND: &str = r#"{"resourcebinding.karmada.io/name":"b","resourcebinding.karmada.io/namespace":"ns"}"#;
const MANIFEST: &str = r#"{"apiVersion":"a/v1","kind":"Train","metadata":{"annotations":{"own":"1"},"name":"n","namespace":"ns"},"spec":{"a":1.0,"b":[],"c":null}}"#;

/// The object after an API server applied the patch.
fn applied(object: &str, patch: &crate::patch::Patch<'_>) -> String {
    let mut object: serde_json::Value = serde_json::from_str(object).unwrap();
    let patch: json_patch::Patch = serde_json::from_str(&patch.to_text()).unwrap();
    json_patch::patch(&mut object, &patch).unwrap();
    object.to_string()
}

#[expect(clippy::unwrap_in_result, reason = "what is an error of the test is none of the result")]
/// Rewrites the only manifest of a Work as the Work door does.
fn rewrite(
    text: &str,
    old: Option<&str>,
    hosts: &[&str],
    change: &[(&str, Option<&str>)],
) -> Result<String, String> {
    let parsed = Text::parse(text.as_bytes()).unwrap();
    let old = old.map(|old| Text::parse(old.as_bytes()).unwrap());
    let work = Work::read(parsed.root()).unwrap();
    let manifest = &work.manifests[0];
    let stored = old.as_ref().map(Text::root);
    let restored = work.restore(manifest, stored).map_err(|error| error.failure(0, manifest).message())?;
    let mut rewrite = Rewrite::new(&work);
    let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
    let revised = Revised { rules: vec!["r".into()], hash: "h".into(), hosts };
    let object = restored.map_or(ObjectSource::Text(manifest.raw), ObjectSource::Value);
    let mut draft = Draft::new(&object).unwrap();
    for (place, value) in change {
        let value = value.map_or(Value::Null, self::value);
        draft.set(&Pointer::parse(place).unwrap(), value).unwrap();
    }
    rewrite.revise(0, &workload(), &mut draft, revised).unwrap();
    let patch = rewrite.patch().map_err(|failure| failure.message())?;
    Ok(applied(text, &patch))
}

const CHANGE: &[(&str, Option<&str>)] = &[("/spec/a", Some("2")), ("/spec/d/e", None)];

#[test]
fn a_revision_is_marked_recorded_and_undone() {
    let written = work(BOUND, MANIFEST);
    let revised = rewrite(&written, None, &["fort"], CHANGE).unwrap();
    let text = Text::parse(revised.as_bytes()).unwrap();
    let read = Work::read(text.root()).unwrap();
    assert!(read.is_recorded() && read.manifests[0].is_marked());
    let delivery = read.delivery(&ClusterName::new("x").unwrap(), &workload()).unwrap();
    assert_eq!(delivery.hosts, Hosts::Recorded(vec!["fort".to_owned()]));
    // A second revision changes nothing, with and without the stored Work.
    assert_eq!(rewrite(&revised, None, &["fort"], CHANGE).unwrap(), revised);
    assert_eq!(rewrite(&revised, Some(&revised), &["fort"], CHANGE).unwrap(), revised);
    // A revision without changes removes both annotations.
    assert_eq!(value(&rewrite(&revised, None, &[], &[]).unwrap()), value(&written));
    // Other rules begin with the manifest that Karmada wrote.
    let other = &[("/spec/b", Some("[1]"))];
    assert_eq!(rewrite(&revised, None, &[], other).unwrap(), rewrite(&written, None, &[], other).unwrap());
    // Karmada overwrites the manifest and keeps the Work's annotations.
    let mut afresh = value(&written);
    let record = value(&revised).at(&Pointer::parse("/metadata/annotations").unwrap()).cloned().unwrap();
    let metadata = afresh.object_mut().unwrap().get_mut("metadata").unwrap().object_mut().unwrap();
    metadata.insert("annotations", record);
    assert_eq!(
        value(&rewrite(&afresh.to_string(), Some(&revised), &["fort"], CHANGE).unwrap()),
        value(&revised)
    );
}

/// Karmada writes no annotations to the Work of a Namespace, and a patch can only add to an existing map.
#[test]
fn the_record_adds_missing_maps_and_removes_them_again() {
    let written = work(BOUND, MANIFEST);
    for metadata in [r#""annotations":null,"#, "", r#""annotations":{},"#, r#""annotations":{"a":"b"},"#] {
        let written = written.replace(&format!(r#","annotations":{BOUND}"#), "");
        let written = written.replacen(r#""metadata":{"#, &format!(r#""metadata":{{{metadata}"#), 1);
        let revised = rewrite(&written, None, &[], CHANGE).unwrap();
        let text = Text::parse(revised.as_bytes()).unwrap();
        assert!(Work::read(text.root()).unwrap().is_recorded());
        assert_eq!(rewrite(&revised, None, &[], CHANGE).unwrap(), revised, "{metadata}");
        // An API server drops an empty map of annotations.
        let stored = written.replace(r#""annotations":null,"#, "").replace(r#""annotations":{},"#, "");
        assert_eq!(value(&rewrite(&revised, None, &[], &[]).unwrap()), value(&stored), "{metadata}");
    }
    let bare = r#"{"spec":{"workload":{"manifests":[{"apiVersion":"a/v1","kind":"Train","metadata":{"name":"n","namespace":"ns"}}]}}}"#;
    let revised = rewrite(bare, None, &[], CHANGE).unwrap();
    assert!(value(&revised).get("metadata").is_some(), "{revised}");
}

#[test]
fn a_host_is_recorded_even_if_nothing_changes() {
    let written = work(BOUND, MANIFEST);
    let revised = rewrite(&written, None, &["fort"], &[]).unwrap();
    let text = Text::parse(revised.as_bytes()).unwrap();
    let read = Work::read(text.root()).unwrap();
    assert!(read.is_recorded() && !read.manifests[0].is_marked());
    let cluster = ClusterName::new("x").unwrap();
    assert!(read.delivery(&cluster, &workload()).unwrap().says_it_hosts("fort"));
    assert_eq!(rewrite(&revised, None, &["fort"], &[]).unwrap(), revised);
    assert_eq!(value(&rewrite(&revised, None, &[], &[]).unwrap()), value(&written));
    let other = Workload { name: "m".into(), ..workload() };
    assert_eq!(read.delivery(&cluster, &other), None);
}

/// A record counts only for the manifest that it was written for.
#[test]
fn a_record_of_another_manifest_is_ignored() {
    let revised = rewrite(&work(BOUND, MANIFEST), None, &[], CHANGE).unwrap();
    let annotations =
        value(&revised).at(&Pointer::parse("/metadata/annotations").unwrap()).unwrap().to_string();
    for (annotations, manifest) in [(BOUND, MANIFEST), (&annotations, MANIFEST)] {
        let text = work(annotations, manifest);
        let text = Text::parse(text.as_bytes()).unwrap();
        let delivery =
            Work::read(text.root()).unwrap().delivery(&ClusterName::new("x").unwrap(), &workload()).unwrap();
        assert_eq!(delivery.hosts, Hosts::Unrecorded);
    }
}

#[test]
fn a_marker_without_a_fitting_record_is_refused() {
    let written = work(BOUND, MANIFEST);
    let revised = rewrite(&written, None, &[], CHANGE).unwrap();
    let refused = |text: &str, old: Option<&str>| rewrite(text, old, &[], CHANGE).unwrap_err();
    let manifest =
        value(&revised).at(&Pointer::parse("/spec/workload/manifests/0").unwrap()).unwrap().to_string();
    // Without a record, the record of the stored Work is used if it fits.
    let bare = work(BOUND, &manifest);
    assert_eq!(value(&rewrite(&bare, Some(&revised), &[], CHANGE).unwrap()), value(&revised));
    let expected = "Train/n: /spec/workload/manifests/0: it is marked as revised (reviser.io/revised), but the annotation reviser.io/revision \
                    of the Work has no record of it; let Karmada write the Work again";
    assert!(refused(&bare, None).starts_with(expected), "{}", refused(&bare, None));
    assert!(refused(&bare, Some(&written)).starts_with(expected));
    for (from, to, problem) in [
        (
            r#"\"version\":1"#,
            r#"\"version\":2"#,
            "has a format that this version of reviser does not support",
        ),
        (r#"\"wrote\":2"#, r#"\"wrote\":3"#, "is malformed"),
        (r#"{\"version"#, r#"\"version"#, "is malformed"),
        (
            r#""a":2"#,
            r#""a":3"#,
            "another client changed what the revision wrote: /spec/a: is not what was written there",
        ),
    ] {
        let broken = revised.replace(from, to);
        assert_ne!(broken, revised, "{from}");
        assert!(refused(&broken, None).contains(problem), "{}", refused(&broken, None));
    }
    let renamed = revised.replace(r#""name":"n","#, r#""name":"m","#);
    assert_ne!(renamed, revised);
    assert!(refused(&renamed, None).contains("has no record of it"));
    let number = revised.replacen(r#""reviser.io/revised":""#, r#""reviser.io/revised":1,"x":""#, 1);
    assert!(refused(&number, None).contains("of the manifest is no string; "), "{}", refused(&number, None));
}

#[test]
fn a_record_that_does_not_fit_is_refused() {
    let long = "x".repeat(200 << 10);
    let manifest = MANIFEST.replace(r#""a":1.0"#, &format!(r#""a":"{long}""#));
    let short = rewrite(&work(BOUND, &manifest), None, &[], CHANGE).unwrap();
    assert_eq!(value(&rewrite(&short, None, &[], &[]).unwrap()), value(&work(BOUND, &manifest)));
    let crowded = BOUND.replacen('{', &format!(r#"{{"other":"{}","#, "y".repeat(60 << 10)), 1);
    let refusal = rewrite(&work(&crowded, &manifest), None, &[], CHANGE).unwrap_err();
    assert!(
        refusal.starts_with("/metadata/annotations/reviser.io~1revision: the record of the revision needs "),
        "{refusal}"
    );
}

#[test]
fn members_of_the_wrong_type_count_as_missing() {
    for text in [
        "{}",
        r#"{"metadata":1,"spec":[]}"#,
        r#"{"spec":{"workload":{"manifests":{}}}}"#,
        r#"{"spec":{"workload":{"manifests":[]}}}"#,
        r#"{"metadata":{"annotations":null}}"#,
    ] {
        let text = Text::parse(text.as_bytes()).unwrap();
        let work = Work::read(text.root()).unwrap();
        assert!(work.manifests.is_empty() && !work.is_being_deleted());
        assert_eq!(work.link(), Ok(Link::Unbound));
    }
    let text = work(
        r#"{"clusterresourcebinding.karmada.io/name":"c"}"#,
        r#"null,1,"x",[],{},{"kind":1},{"apiVersion":"v1","kind":"A"}"#,
    );
    let text = Text::parse(text.as_bytes()).unwrap();
    let work = Work::read(text.root()).unwrap();
    let binding = BindingName { namespace: None, name: "c".into() };
    assert_eq!(work.link(), Ok(Link::Binding(binding)));
    assert_eq!(work.manifests.len(), 7);
    assert!(work.manifests.iter().all(|manifest| manifest.workload.is_none() && !manifest.is_marked()));
    for (namespace, cluster) in
        [("karmada-es-x", Some("x")), ("karmada-es-", None), ("default", None), ("", None)]
    {
        assert_eq!(Work::cluster(namespace).as_ref().map(ClusterName::as_str), cluster);
    }
}

/// What `mutating-config` and the API server do to a revised manifest (facts: managed lists, a permanent id,
/// sorted members).
fn mutated(work: &str) -> String {
    let mut work: serde_json::Value = serde_json::from_str(work).unwrap();
    let metadata = work.pointer_mut("/spec/workload/manifests/0/metadata").unwrap();
    metadata["labels"]["work.karmada.io/permanent-id"] = "id".into();
    let keys = |map: Option<&serde_json::Value>| {
        let keys =
            map.and_then(serde_json::Value::as_object).map(|map| map.keys().cloned().collect::<Vec<_>>());
        serde_json::Value::from(keys.unwrap_or_default().join(","))
    };
    metadata["annotations"]["resourcetemplate.karmada.io/managed-labels"] = keys(metadata.get("labels"));
    metadata["annotations"]["resourcetemplate.karmada.io/managed-annotations"] = "".into();
    let listed = keys(metadata.get("annotations"));
    metadata["annotations"]["resourcetemplate.karmada.io/managed-annotations"] = listed;
    work.to_string()
}

fn any_manifest() -> impl Strategy<Value = String> {
    let maps = [
        "",
        r#""annotations":null,"#,
        r#""annotations":{},"#,
        r#""annotations":{"own":"1"},"labels":{"l":"1"},"#,
        r#""labels":null,"#,
    ];
    let specs = [
        "{}",
        r#"{"a":1.0,"b":[],"c":null}"#,
        r#"{"b":{},"d":{"e":1e2,"f":[{"g":-0.0},{"g":null}]}}"#,
        "null",
    ];
    (proptest::sample::select(maps.to_vec()), proptest::sample::select(specs.to_vec())).prop_map(|(maps, spec)| {
        format!(r#"{{"apiVersion":"a/v1","kind":"Train","metadata":{{{maps}"name":"n","namespace":"ns"}},"spec":{spec}}}"#)
    })
}

type Change = Vec<(&'static str, Option<&'static str>)>;

fn any_change() -> impl Strategy<Value = Change> {
    let places = [
        "/spec/a",
        "/spec/b/x",
        "/spec/c",
        "/spec/d/f",
        "/spec/d/e",
        "/metadata/labels/zone",
        "/metadata/annotations/zone",
        "/new/deep/er",
    ];
    let values =
        [None, Some("{}"), Some("[]"), Some("[{\"g\":1},2]"), Some("1"), Some("1.50"), Some("\"text\"")];
    let one = (proptest::sample::select(places.to_vec()), proptest::sample::select(values.to_vec()));
    // Only a map can hold `/spec/b/x`.
    let fits = |(place, _): &(&str, Option<&str>)| !place.starts_with("/spec/b");
    proptest::collection::vec(one.prop_filter("no list in the way", fits), 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// f(f(x)) = f(x); a changed policy starts from the original; without a policy the manifest is what
    /// Karmada wrote. All hold with the changes of Karmada's webhook and the API server in between.
    #[test]
    fn a_revision_can_always_be_made_again_changed_and_taken_back(
        manifest in any_manifest(), first in any_change(), second in any_change(),
    ) {
        let written = mutated(&work(BOUND, &manifest));
        let unchanged = |text: &str| mutated(&rewrite(text, None, &[], &[]).unwrap());
        let revised = mutated(&rewrite(&written, None, &[], &first).unwrap());
        prop_assert_eq!(&mutated(&rewrite(&revised, Some(&revised), &[], &first).unwrap()), &revised);
        prop_assert_eq!(unchanged(&revised), unchanged(&written));
        let again = mutated(&rewrite(&revised, None, &[], &second).unwrap());
        prop_assert_eq!(&again, &mutated(&rewrite(&written, None, &[], &second).unwrap()));
        prop_assert_eq!(unchanged(&again), unchanged(&written));
    }
}

#[test]
fn an_existing_value_is_replaced_and_the_record_comes_first() {
    let text = work(BOUND, MANIFEST);
    let text = Text::parse(text.as_bytes()).unwrap();
    let work = Work::read(text.root()).unwrap();
    let mut rewrite = Rewrite::new(&work);
    let mut draft = Draft::new(&work.manifests[0].raw.into()).unwrap();
    draft.set(&Pointer::parse("/spec/a").unwrap(), Value::Null).unwrap();
    let revised = Revised { rules: vec![], hash: "h".into(), hosts: vec![] };
    rewrite.revise(0, &workload(), &mut draft, revised).unwrap();
    let patch = rewrite.patch().unwrap();
    let paths: Vec<String> = patch.0.iter().map(Operation::path).map(Pointer::to_string).collect();
    assert_eq!(
        paths,
        [
            "/metadata/annotations/reviser.io~1revision",
            "/spec/workload/manifests/0/metadata/annotations/reviser.io~1revised",
            "/spec/workload/manifests/0/spec/a",
        ]
    );
}
