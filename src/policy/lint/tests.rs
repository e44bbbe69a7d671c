//! Tests of cluster overlap and of the places that rules write. Tests of whole documents are in
//! tests/data/check.

use super::clusters::{Overlap, is_exception, overlap};
use super::labels::contradiction;
use super::writes;
use crate::engine::{ClusterPattern, LabelRequirement, LabelSelector, PolicySet, TargetClusters};
use crate::json::Value;
use crate::policy::compile;

fn target(names: &[&str], exclude: &[&str]) -> TargetClusters {
    let patterns = |names: &[&str]| names.iter().map(|&name| ClusterPattern(name.to_owned())).collect();
    TargetClusters { names: patterns(names), exclude: patterns(exclude), ..TargetClusters::default() }
}

#[test]
fn two_rules_share_the_clusters_that_their_names_allow() {
    let yes = |name: &str| Overlap::Yes(Some(name.to_owned()));
    for (a, b, expected) in [
        (target(&[], &[]), target(&[], &[]), Overlap::Yes(None)),
        (target(&[], &["a"]), target(&[], &[]), Overlap::Yes(None)),
        (target(&[], &["*"]), target(&[], &[]), Overlap::No),
        (target(&["b", "a"], &[]), target(&[], &[]), yes("a")),
        (target(&["a"], &[]), target(&["b"], &[]), Overlap::No),
        (target(&["a"], &[]), target(&[], &["a"]), Overlap::No),
        (target(&["a", "b"], &[]), target(&["?"], &["a"]), yes("b")),
        (target(&["eu-*"], &[]), target(&[], &[]), Overlap::Yes(None)),
        (target(&["eu-*"], &[]), target(&[], &["eu-*"]), Overlap::No),
        (target(&["eu-*"], &[]), target(&["eu-*"], &[]), Overlap::Yes(None)),
        (target(&["eu-*"], &[]), target(&["us-*"], &[]), Overlap::No),
        (target(&["*-1"], &[]), target(&["*-2"], &[]), Overlap::No),
        (target(&["eu-*"], &[]), target(&["*-1"], &[]), Overlap::Perhaps),
    ] {
        assert_eq!(overlap(&a, &b), expected, "{a:?} {b:?}");
        assert_eq!(overlap(&b, &a), expected, "{b:?} {a:?}");
    }
}

#[test]
fn labels_make_it_a_guess_unless_they_can_not_both_be() {
    let labelled = |value: &str| {
        let requirement = LabelRequirement::In("tier".to_owned(), vec![value.to_owned()]);
        TargetClusters { labels: Some(LabelSelector(vec![requirement])), ..TargetClusters::default() }
    };
    assert_eq!(overlap(&labelled("gold"), &labelled("gold")), Overlap::Yes(None));
    assert_eq!(overlap(&labelled("gold"), &labelled("silver")), Overlap::No);
    assert_eq!(overlap(&labelled("gold"), &target(&["a"], &[])), Overlap::Perhaps);
}

#[test]
fn requirements_contradict_each_other_by_label() {
    let words = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>();
    let is_in = |key: &str, values: &[&str]| LabelRequirement::In(key.to_owned(), words(values));
    let not_in = |key: &str, values: &[&str]| LabelRequirement::NotIn(key.to_owned(), words(values));
    let exists = LabelRequirement::Exists("a".to_owned());
    let missing = LabelRequirement::DoesNotExist("a".to_owned());
    for (requirements, expected) in [
        (vec![is_in("a", &["x", "y"]), not_in("a", &["x"])], None),
        (vec![is_in("a", &["x"]), not_in("a", &["x", "y"])], Some("a")),
        (vec![is_in("b", &["x"]), is_in("b", &["y"]), exists.clone()], Some("b")),
        (vec![exists.clone(), missing.clone()], Some("a")),
        (vec![is_in("a", &["x"]), missing.clone()], Some("a")),
        (vec![not_in("a", &["x"]), missing], None),
        (vec![not_in("a", &["x"]), exists], None),
    ] {
        assert_eq!(contradiction([&LabelSelector(requirements.clone())]), expected, "{requirements:?}");
    }
}

#[test]
fn an_exception_is_for_fewer_clusters() {
    let all = target(&[], &[]);
    assert!(is_exception(&all, &target(&["a"], &[])) && is_exception(&all, &target(&[], &["a"])));
    assert!(!is_exception(&all, &all) && !is_exception(&target(&["a"], &[]), &all));
    assert!(is_exception(&target(&["a", "b"], &[]), &target(&["a"], &[])));
    assert!(!is_exception(&target(&["a", "b"], &[]), &target(&["a", "b"], &[])));
    assert!(!is_exception(&target(&["a", "b"], &[]), &target(&["c"], &[])));
    assert!(is_exception(&target(&["eu-*"], &[]), &target(&["eu-1"], &[])));
    assert!(!is_exception(&target(&["eu-*"], &["eu-1"]), &target(&["eu-1"], &[])));
}

#[test]
fn a_part_of_0_is_told_where_it_is_refused() {
    let found = |kind: &str, path: &str, rest: &str| {
        let text = format!(
            r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicy","metadata":{{"name":"p"}},"spec":{{
            "resourceSelectors":[{kind}],"rules":[{{"name":"r","divide":{{"path":"{path}"{rest}}}}}]}}}}"#
        );
        let documents = [Value::parse(text.as_bytes()).unwrap().into_owned()];
        let warnings = crate::policy::examine(&documents).warnings;
        warnings.iter().map(|finding| format!("{}: {}", finding.field, finding.problem)).collect::<Vec<_>>()
    };
    let autoscaler = r#"{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler"}"#;
    for path in ["/spec/minReplicas", "/spec/maxReplicas"] {
        assert_eq!(
            found(autoscaler, path, ""),
            [format!(
                "/spec/rules/0/divide: a part can be 0, and no API server takes 0 at {path} of a HorizontalPodAutoscaler; add `floor: 1`, or `minimum: 1` where the sum must stay the whole"
            )]
        );
        for enough in [r#","floor":1"#, r#","minimum":2"#] {
            assert_eq!(found(autoscaler, path, enough), [""; 0]);
        }
    }
    // Whether these fields may be 0 depends on other fields of the object.
    let deployment = r#"{"apiVersion":"apps/v1","kind":"Deployment"}"#;
    for path in ["/spec/replicas", "/spec/strategy/rollingUpdate/maxUnavailable"] {
        assert_eq!(found(deployment, path, ""), [""; 0]);
    }
}

/// What a rule with this action writes in a Deployment, as `WHAT=VALUE` with the containers.
fn written(action: &str) -> Vec<String> {
    let text = format!(
        r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicy","metadata":{{"name":"p"}},"spec":{{
        "resourceSelectors":[{{"apiVersion":"apps/v1","kind":"Deployment"}}],"rules":[{{"name":"r",{action}}}]}}}}"#
    );
    let document = Value::parse(text.as_bytes()).unwrap().into_owned();
    let set = compile(&[document]).unwrap_or_else(|findings| panic!("{findings:#?}"));
    let policy = &set.policies[0];
    let writes = writes::of(&policy.rules[0], &policy.selectors[0].gvk, &PolicySet::default());
    writes.iter().map(|write| format!("{}={} {:?}", write.what, write.value, write.containers)).collect()
}

#[test]
fn what_is_written_is_the_same_whatever_writes_it() {
    for (action, expected) in [
        (
            r#""patch":{"type":"Merge","value":{"spec":{"a":1,"b":null,"c":{},"d":[1],"e":"${replicas}"}}}"#,
            &["/spec/a=1 []", "/spec/b=nothing []", "/spec/d=[1] []"][..],
        ),
        (
            r#""patch":{"type":"JSON","value":[{"op":"add","path":"/spec/a","value":{"b":1,"c":null}},{"op":"add","path":"/spec/l/-","value":1},{"op":"remove","path":"/spec/d"}]}"#,
            &["/spec/a/b=1 []", "/spec/a/c=null []", "/spec/d=nothing []"],
        ),
        (
            r#""patch":{"type":"Strategic","value":{"metadata":{"finalizers":["a"]},"spec":{"template":{"spec":{"$patch":"replace","x":1}},"selector":{"matchLabels":{"a":"b"}}}}}"#,
            &["/spec/selector/matchLabels/a=\"b\" []"],
        ),
        (
            r#""patch":{"type":"Strategic","value":{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"i","args":["x"],"env":[{"name":"A","value":"b"}]}]}}}}}"#,
            &[
                "/spec/template/spec/containers[name=app]/image=\"i\" []",
                "/spec/template/spec/containers[name=app]/args=[\"x\"] []",
                "the environment variable \"A\"=\"b\" [\"app\"]",
            ],
        ),
        (
            r#""patch":{"type":"Strategic","value":{"spec":{"template":{"spec":{"containers":[{"name":"app","ports":[{"containerPort":53,"protocol":"UDP","hostPort":1},{"containerPort":80,"name":"web"}]}]}}}}}"#,
            &[
                "/spec/template/spec/containers[name=app]/ports[containerPort=53,protocol=UDP]/hostPort=1 []",
                "/spec/template/spec/containers[name=app]/ports[containerPort=80]/name=\"web\" []",
            ],
        ),
        (
            r#""patch":{"type":"Strategic","mergeKeys":[{"path":"/spec/template/spec/tolerations","key":"a.b"}],"value":{"spec":{"template":{"spec":{"tolerations":[{"a":{"b":1,"c":2}},{"a":{"b":"${cluster.name}","c":3}}]}}}}}"#,
            &["/spec/template/spec/tolerations[a.b=1]/a/c=2 []"],
        ),
        (
            r#""env":{"name":"A","value":"b","containers":["app"]}"#,
            &["the environment variable \"A\"=\"b\" [\"app\"]"],
        ),
        (r#""env":{"name":"A","value":"${cluster.name}"}"#, &[]),
        (r#""env":{"name":"A","remove":true}"#, &["the environment variable \"A\"=nothing []"]),
        (r#""image":{"tag":"1","registry":"${cluster.name}"}"#, &["the tag of images=\"1\" []"]),
    ] {
        assert_eq!(written(action), expected, "{action}");
    }
}
