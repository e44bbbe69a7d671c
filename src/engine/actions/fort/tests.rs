//! What the action does to steps.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::*;
use crate::domain::{ClusterName, GroupVersionKind, Schedule, Target, TargetCluster, Workload};
use crate::engine::{Deliveries, Facts, ObjectSource, Request};

fn value(text: &str) -> Value<'static> {
    Value::parse(text.as_bytes()).unwrap().into_owned()
}

fn fort(elsewhere: Elsewhere) -> Fort {
    Fort {
        allocation: "first".to_owned(),
        steps: Pointer::parse("/spec/rollout/phases").unwrap(),
        matches: value(r#"{"kind":"Probe"}"#).as_object().unwrap().clone(),
        field: Pointer::parse("/args/fetch/from").unwrap(),
        elsewhere,
        generate: None,
    }
}

fn object(phases: &str) -> Value<'static> {
    value(&format!(r#"{{"spec":{{"rollout":{{"phases":{phases}}}}}}}"#))
}

fn cluster(name: &str) -> ClusterName {
    ClusterName::new(name).unwrap()
}

fn schedule(host: &str) -> Schedule {
    Schedule::new(vec![TargetCluster { name: cluster(host), replicas: 1 }]).unwrap()
}

/// The object after the rule has been applied, and whether it asked for the allocation. `host` is the cluster
/// that hosts it; the object is revised for `x`.
fn applied(rule: &Fort, object: &Value<'static>, host: &str) -> Result<(Value<'static>, bool), Stop> {
    let target =
        Target { cluster: cluster("x"), replicas: None, schedule: Some(schedule(host)), original: None };
    let gvk = GroupVersionKind::of("example.com/v1", "Release");
    let workload = Workload { gvk, namespace: "n".to_owned(), name: "r".to_owned() };
    let object = ObjectSource::Value(object.clone());
    let request = Request { workload: &workload, object: &object, target: &target, is_unbound: false };
    let facts = Facts {
        entries: &BTreeMap::new(),
        allocations: &BTreeMap::new(),
        cluster: None,
        cluster_kind: None,
        pod_templates: &[],
        deliveries: Deliveries::Unreadable,
        preserves: false,
        now: Timestamp::UNIX_EPOCH,
    };
    let mut context = Context::new(request, facts);
    let mut draft = Draft::new(&object)?;
    rule.apply(&mut draft, &mut context)?;
    assert_eq!(context.warnings, [""; 0]);
    Ok((draft.value().clone(), !context.settled.is_empty()))
}

/// The phases after the rule has been applied in a cluster that does not host the allocation.
fn elsewhere(rule: &Fort, phases: &str) -> String {
    applied(rule, &object(phases), "y").unwrap().0.at(&rule.steps).unwrap().to_string()
}

fn refused(rule: &Fort, object: &Value<'static>) -> String {
    match applied(rule, object, "y").unwrap_err() {
        Stop::Refused(failure) => failure.message(),
        Stop::Unread => panic!("no Works are readable"),
    }
}

#[test]
fn elsewhere_the_field_is_nulled_in_the_steps_that_match_and_only_there() {
    let rule = fort(Elsewhere::SetNull);
    assert_eq!(
        elsewhere(
            &rule,
            r#"[{"kind":"Probe","args":{"fetch":{"from":"a","n":1.0}}},{"kind":"Batch","args":{"fetch":{"from":"a"}}},{"kind":"probe"},"Probe",null]"#
        ),
        r#"[{"kind":"Probe","args":{"fetch":{"from":null,"n":1.0}}},{"kind":"Batch","args":{"fetch":{"from":"a"}}},{"kind":"probe"},"Probe",null]"#
    );
}

#[test]
fn set_null_and_a_value_always_write_and_remove_only_takes_away() {
    let (bare, null) = (r#"[{"kind":"Probe"}]"#, r#"[{"kind":"Probe","args":{"fetch":null}}]"#);
    let written = r#"[{"kind":"Probe","args":{"fetch":{"from":null}}}]"#;
    assert_eq!(elsewhere(&fort(Elsewhere::SetNull), bare), written);
    assert_eq!(elsewhere(&fort(Elsewhere::SetNull), null), written);
    let skip = fort(Elsewhere::Value(Templated::Constant("skip".into())));
    assert_eq!(elsewhere(&skip, bare), r#"[{"kind":"Probe","args":{"fetch":{"from":"skip"}}}]"#);
    let remove = fort(Elsewhere::Remove);
    assert_eq!(elsewhere(&remove, bare), bare);
    assert_eq!(elsewhere(&remove, null), null);
    assert_eq!(
        elsewhere(&remove, r#"[{"kind":"Probe","args":{"fetch":{"from":null}}}]"#),
        r#"[{"kind":"Probe","args":{"fetch":{}}}]"#
    );
}

#[test]
fn where_the_allocation_is_nothing_is_written() {
    for phases in
        [r#"[{"kind":"Probe","args":{"fetch":{"from":"a"}}}]"#, r#"[{"kind":"Probe","args":"text"}]"#]
    {
        let hosting = applied(&fort(Elsewhere::SetNull), &object(phases), "x").unwrap().0;
        assert_eq!(hosting, object(phases));
    }
}

#[test]
fn a_match_compares_types_and_numbers_by_value() {
    let mut rule = fort(Elsewhere::Remove);
    rule.field = Pointer::of(["x"]);
    rule.matches = value(r#"{"n":1,"deep":{"list":[1,{"a":null}]},"on":true}"#).as_object().unwrap().clone();
    let step = |n: &str, list: &str, on: &str| {
        format!(r#"[{{"n":{n},"deep":{{"list":{list},"more":0}},"on":{on},"x":1}}]"#)
    };
    for (n, list, on, matches) in [
        ("1", r#"[1,{"a":null}]"#, "true", true),
        ("1.0", r#"[1e0,{"a":null}]"#, "true", true),
        (r#""1""#, r#"[1,{"a":null}]"#, "true", false),
        ("1", r#"[1,{"a":null,"b":1}]"#, "true", false),
        ("1", "[1,{}]", "true", false),
        ("1", r#"[1,{"a":null},2]"#, "true", false),
        ("1", r#"[1,{"a":null}]"#, r#""true""#, false),
    ] {
        let before = step(n, list, on);
        assert_eq!(elsewhere(&rule, &before) != before, matches, "{before}");
    }
}

#[test]
fn the_host_is_asked_for_only_where_it_matters() {
    let rule = fort(Elsewhere::SetNull);
    for object in [
        object("[]"),
        object("null"),
        object(r#"[{"kind":"Batch"}]"#),
        value("{}"),
        value(r#"{"spec":null}"#),
        value(r#"{"spec":{"rollout":{}}}"#),
    ] {
        assert_eq!(applied(&rule, &object, "x").unwrap(), (object, false));
    }
}

#[test]
fn steps_are_generated_where_there_are_none_or_always() {
    let (host, others) = (r#"[{"kind":"Probe","args":{}}]"#, r#"[{"kind":"Batch"}]"#);
    let mut rule = fort(Elsewhere::SetNull);
    rule.generate = Some(Generate {
        when: GenerateWhen::Absent,
        fort: Templated::Constant(value(host)),
        elsewhere: Templated::Constant(value(others)),
    });
    for absent in [object("[]"), object("null"), value("{}"), value(r#"{"spec":null,"kind":"X"}"#)] {
        for (cluster, expected) in [("x", host), ("y", others)] {
            let (after, asks) = applied(&rule, &absent, cluster).unwrap();
            assert!(asks);
            assert_eq!(after.at(&rule.steps).unwrap().to_string(), expected);
        }
    }
    let present = r#"[{"kind":"Probe"}]"#;
    assert_eq!(elsewhere(&rule, present), r#"[{"kind":"Probe","args":{"fetch":{"from":null}}}]"#);
    rule.generate.as_mut().unwrap().when = GenerateWhen::Always;
    assert_eq!(elsewhere(&rule, present), others);
}

#[test]
fn what_is_no_list_or_no_map_is_refused_with_its_place() {
    let rule = fort(Elsewhere::SetNull);
    for (object, place) in [
        (object(r#"{"a":1}"#), "/spec/rollout/phases: must be a list of steps, is a map"),
        (object(r#""text""#), "/spec/rollout/phases: must be a list of steps, is a string"),
        (value(r#"{"spec":{"rollout":[]}}"#), "/spec/rollout: must be a map, is a list"),
        (value(r#"{"spec":7}"#), "/spec: must be a map, is a number"),
        (
            object(r#"[{},{"kind":"Probe","args":"text"}]"#),
            "/spec/rollout/phases/1/args: must be a map, is a string",
        ),
        (
            object(r#"[{"kind":"Probe","args":{"fetch":[]}}]"#),
            "/spec/rollout/phases/0/args/fetch: must be a map, is a list",
        ),
    ] {
        let message = refused(&rule, &object);
        assert!(message.starts_with(place), "{message}");
    }
    let message = refused(&fort(Elsewhere::Remove), &object(r#"[{"kind":"Probe","args":{"fetch":"text"}}]"#));
    assert!(
        message.starts_with("/spec/rollout/phases/0/args/fetch: must be a map, is a string"),
        "{message}"
    );
}
