//! Valid documents, the order of policies, and that all errors are found at once with their fields.

mod admit;
mod case;
mod divide;
mod env;
mod image;
mod limits;
mod merge_keys;
mod patch;
mod paths;
mod rules;
mod selectors;
mod tables;
mod templates;
mod types;
mod validity;

use super::compile;
use crate::domain::{ClusterName, GroupVersionKind, Workload};
use crate::engine::{Action, Elsewhere, GenerateWhen, Handover, PolicySet};
use crate::json::field_path;
use crate::json::{Text, Value};

fn document(text: &str) -> Value<'static> {
    Value::parse(text.as_bytes()).unwrap().into_owned()
}

/// A policy of this kind, with this metadata and these fields of the spec, in JSON.
fn policy(kind: &str, metadata: &str, spec: &str) -> Value<'static> {
    document(&format!(
        r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"{kind}","metadata":{metadata},"spec":{{{spec}}}}}"#
    ))
}

const SELECTORS: &str = r#""resourceSelectors":[{"apiVersion":"apps.example.com/v1","kind":"Train"}]"#;
const RULES: &str =
    r#""rules":[{"name":"r","fort":{"allocation":"lead","steps":"/spec/steps","field":"/go"}}]"#;

fn compiled(documents: &[Value<'static>]) -> PolicySet {
    compile(documents).unwrap_or_else(|findings| panic!("{findings:#?}"))
}

/// All findings, as `document field: problem`.
fn findings(documents: &[Value<'static>]) -> Vec<String> {
    let found = compile(documents).expect_err("nothing was found");
    found
        .iter()
        .map(|finding| format!("{} {}: {}", finding.document, field_path(&finding.field), finding.problem))
        .collect()
}

#[track_caller]
fn assert_found(documents: &[Value<'static>], expected: &[&str]) {
    let found = findings(documents);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}\nshould begin with\n{expected}");
    }
}

#[test]
fn all_that_a_document_can_say_arrives() {
    let set = compiled(&[policy(
        "ClusterRevisionPolicy",
        r#"{"name":"p","labels":{"a":"b"}}"#,
        r#""priority":-3,
        "resourceSelectors":[{"apiVersion":"v1","kind":"Thing","namespace":"n","name":"x","labelSelector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"NotIn","values":["v"]},{"key":"e","operator":"Exists"}]}}],
        "allocations":[{"name":"lead","strategy":"HighestWeight","handover":{"mode":"AfterRelease","timeout":"10m"}},{"name":"Other_2","handover":{"mode":"Immediate"}}],
        "rules":[{"name":"r","targetCluster":{"clusterNames":["a","b"],"exclude":["b"]},
          "fort":{"allocation":"lead","steps":"/spec/steps","match":{"type":"X","n":1},"field":"/a~1b","elsewhere":{"value":null},
            "generate":{"when":"Always","fort":[{"type":"X","n":1,"a/b":"go"},{"type":"Y"}]}}}]"#,
    )]);
    let policy = &set.policies[0];
    assert_eq!((policy.priority, policy.owner.to_string().as_str()), (-3, "ClusterRevisionPolicy/p"));
    let selector = &policy.selectors[0];
    assert_eq!(
        (selector.gvk.api_version().as_str(), selector.namespace.as_deref(), selector.name.as_deref()),
        ("v1", Some("n"), Some("x"))
    );
    assert_eq!(selector.labels.as_ref().unwrap().0.len(), 3);
    assert_eq!(
        set.allocations["lead"].handover,
        Handover::AfterRelease { timeout: Some(std::time::Duration::from_mins(10)) }
    );
    assert_eq!(set.allocations["Other_2"].handover, Handover::Immediate);
    let rule = &policy.rules[0];
    let names =
        ["a", "b", "c"].map(|name| rule.target.includes(&ClusterName::new(name).unwrap(), None).unwrap());
    assert_eq!(names, [true, false, false]);
    let Action::Fort(fort) = &rule.action else { panic!("{:?}", rule.action) };
    assert_eq!(fort.field.tokens(), ["a/b"]);
    assert!(matches!(&fort.elsewhere, Elsewhere::Value(value) if value.constant() == Some(&Value::Null)));
    let generate = fort.generate.as_ref().unwrap();
    assert_eq!(generate.when, GenerateWhen::Always);
    assert_eq!(
        generate.elsewhere.constant().unwrap().to_string(),
        r#"[{"type":"X","n":1,"a/b":null},{"type":"Y"}]"#
    );
}

#[test]
fn every_fault_of_every_document_is_found_at_once() {
    assert_found(
        &[
            policy(
                "ClusterRevisionPolicy",
                r#"{"name":"","namespace":"n"}"#,
                r#""prioritty":1,
                "resourceSelectors":[{"apiVersion":"a/b/c","kind":7,"labels":{}},"x"],
                "allocations":[{"name":"-bad"},{"name":"ok","strategy":"Highest","handover":{"mode":"Immediate","timeout":"5m"}}],
                "rules":[{"name":"r","forts":{}},{"name":"r","fort":{"allocation":"fort","steps":"spec","field":"","elsewhere":"Null","match":[]}}]"#,
            ),
            document("[]"),
            document(r#"{"apiVersion":"reviser.io/v1","kind":"RevisionPolicy"}"#),
            document(r#"{"apiVersion":"reviser.io/v1alpha1","kind":"RevisionPolice"}"#),
            policy("RevisionPolicy", r#"{"name":"p"}"#, r#""resourceSelectors":[],"rules":null"#),
        ],
        &[
            "0 metadata.name: must not be empty",
            "0 metadata.namespace: this kind is cluster-scoped",
            "0 spec.resourceSelectors[0].kind: must be a string, is a number",
            "0 spec.resourceSelectors[0].labels: unknown field; did you mean \"labelSelector\"?",
            "0 spec.resourceSelectors[1]: must be a map, is a string",
            "0 spec.allocations[0].name: \"-bad\" can't name an annotation",
            "0 spec.allocations[1].strategy: \"Highest\" is not one of HighestWeight; did you mean \"HighestWeight\"?",
            "0 spec.allocations[1].handover.timeout: has no meaning with the mode Immediate",
            "0 spec.rules[0]: a rule has exactly one of fort, patch, env, image, divide",
            "0 spec.rules[0].forts: unknown field; did you mean \"fort\"?",
            "0 spec.rules[1].fort.steps: \"spec\" is no JSON pointer: a JSON pointer begins with `/`",
            "0 spec.rules[1].fort.match: must be a map, is a list",
            "0 spec.rules[1].fort.field: must name a place below the root",
            "0 spec.rules[1].fort.elsewhere: \"Null\" is not one of SetNull, Remove",
            "0 spec.prioritty: unknown field; did you mean \"priority\"?",
            "0 spec.rules[1].fort.allocation: no policy defines the allocation \"fort\"",
            "1 : must be a map, is a list",
            "2 apiVersion: must be \"reviser.io/v1alpha1\", is \"reviser.io/v1\"",
            "3 kind: \"RevisionPolice\" is not one of ClusterRevisionPolicy, RevisionPolicy, ResourceInterpretation, ClusterTargetPodTransformation, TargetPodTransformation; did you mean \"RevisionPolicy\"?",
            "4 metadata.namespace: is required",
            "4 spec.resourceSelectors: needs at least one item",
            "4 spec.rules: is required",
        ],
    );
}

#[test]
fn an_allocation_is_defined_once_and_used_by_anybody() {
    let allocations = r#""allocations":[{"name":"lead"}]"#;
    let defining = |name: &str| {
        policy(
            "ClusterRevisionPolicy",
            &format!(r#"{{"name":"{name}"}}"#),
            &format!("{SELECTORS},{RULES},{allocations}"),
        )
    };
    let using = policy("RevisionPolicy", r#"{"name":"u","namespace":"n"}"#, &format!("{SELECTORS},{RULES}"));
    assert_eq!(compiled(&[using.clone(), defining("a")]).policies.len(), 2);
    assert_found(
        &[defining("a"), defining("b")],
        &["1 spec.allocations[0].name: allocation \"lead\" is already defined by ClusterRevisionPolicy/a"],
    );
    assert_found(&[using], &["0 spec.rules[0].fort.allocation: no policy defines the allocation \"lead\""]);
}

#[test]
fn selectors_name_kinds_and_have_no_wildcards() {
    let spec = format!(
        r#""resourceSelectors":[{{"apiVersion":"a/v1","kind":"*"}}],{RULES},"allocations":[{{"name":"lead"}}]"#
    );
    assert_found(
        &[policy("ClusterRevisionPolicy", r#"{"name":"p"}"#, &spec)],
        &["0 spec.resourceSelectors[0].apiVersion: wildcards select nothing here"],
    );
}

#[test]
fn one_fault_hides_no_other_and_makes_none_up() {
    let spec = |allocation: &str, fort: &str| {
        let rules = format!(r#""rules":[{{"name":"r","fort":{fort}}}]"#);
        vec![policy(
            "ClusterRevisionPolicy",
            r#"{"name":"p"}"#,
            &format!(r#"{SELECTORS},"allocations":[{allocation}],{rules}"#),
        )]
    };
    assert_found(
        &spec(r#"{"name":"lead"}"#, r#"{"allocation":"lend","steps":"/s","field":"pull"}"#),
        &[
            "0 spec.rules[0].fort.field: \"pull\" is no JSON pointer",
            "0 spec.rules[0].fort.allocation: no policy defines the allocation \"lend\"; did you mean \"lead\"?",
        ],
    );
    assert_found(
        &spec(
            r#"{"name":"lead","handover":{"timeout":"-5m"}}"#,
            r#"{"allocation":"lead","steps":"/s","field":"/p"}"#,
        ),
        &["0 spec.allocations[0].handover.timeout: must be a duration above zero"],
    );
}

#[test]
fn a_document_is_there_once() {
    let allocations = r#""allocations":[{"name":"lead"}]"#;
    let one = policy("RevisionPolicy", r#"{"name":"p","namespace":"n"}"#, &format!("{SELECTORS},{RULES}"));
    let elsewhere = policy(
        "RevisionPolicy",
        r#"{"name":"p","namespace":"m"}"#,
        &format!("{SELECTORS},{RULES},{allocations}"),
    );
    assert_eq!(compiled(&[one.clone(), elsewhere.clone()]).policies.len(), 2);
    assert_found(&[elsewhere, one.clone(), one], &["2 metadata.name: RevisionPolicy \"p\" is there twice"]);
}

#[test]
fn protected_fields_and_foreign_namespaces_are_refused_at_load() {
    let rules = |steps: &str| {
        format!(r#""rules":[{{"name":"r","fort":{{"allocation":"lead","steps":"{steps}","field":"/go"}}}}]"#)
    };
    for steps in ["/metadata", "/kind", "/metadata/annotations/work.karmada.io~1name"] {
        let spec = format!(r#"{SELECTORS},{},"allocations":[{{"name":"lead"}}]"#, rules(steps));
        assert_found(
            &[policy("ClusterRevisionPolicy", r#"{"name":"p"}"#, &spec)],
            &["0 spec.rules[0].fort.steps: "],
        );
    }
    let spec = format!(
        r#""resourceSelectors":[{{"apiVersion":"v1","kind":"T","namespace":"other"}}],{RULES},"allocations":[{{"name":"lead"}}]"#
    );
    assert_found(
        &[policy("RevisionPolicy", r#"{"name":"p","namespace":"n"}"#, &spec)],
        &["0 spec.resourceSelectors[0].namespace: a RevisionPolicy selects in its own namespace, \"n\""],
    );
}

#[test]
fn generated_steps_have_to_be_maps_that_the_field_fits() {
    let spec = |generate: &str| {
        format!(
            r#"{SELECTORS},"allocations":[{{"name":"lead"}}],"rules":[{{"name":"r","fort":{{"allocation":"lead","steps":"/spec/steps","field":"/a/b","generate":{generate}}}}}]"#
        )
    };
    for (generate, expected) in [
        ("{}", "0 spec.rules[0].fort.generate.fort: is required"),
        (r#"{"fort":[1]}"#, "0 spec.rules[0].fort.generate.fort[0]: a step must be a map, is a number"),
        (
            r#"{"fort":[{"a":"text"}]}"#,
            "0 spec.rules[0].fort.generate.fort: the field /a/b can't be treated in it: /0/a: must be a map",
        ),
        (
            r#"{"fort":[],"elsewhere":{}}"#,
            "0 spec.rules[0].fort.generate.elsewhere: must be a list, is a map",
        ),
        (
            r#"{"fort":[],"when":"Never"}"#,
            "0 spec.rules[0].fort.generate.when: \"Never\" is not one of Absent, Always",
        ),
    ] {
        assert_found(&[policy("ClusterRevisionPolicy", r#"{"name":"p"}"#, &spec(generate))], &[expected]);
    }
}

#[test]
fn cluster_policies_come_first_then_priority_then_name_in_whatever_order_they_are_read() {
    let document = |kind: &str, metadata: &str, priority: i64| {
        policy(kind, metadata, &format!(r#""priority":{priority},{SELECTORS},{RULES}"#))
    };
    let mut documents = vec![
        document("RevisionPolicy", r#"{"name":"a","namespace":"n"}"#, -5),
        document("ClusterRevisionPolicy", r#"{"name":"b"}"#, 2),
        document("ClusterRevisionPolicy", r#"{"name":"z"}"#, -1),
        document("ClusterRevisionPolicy", r#"{"name":"a"}"#, 2),
        policy(
            "ClusterRevisionPolicy",
            r#"{"name":"defines"}"#,
            &format!(r#"{SELECTORS},{RULES},"allocations":[{{"name":"lead"}}]"#),
        ),
    ];
    for _ in 0..documents.len() {
        documents.rotate_left(1);
        let order: Vec<String> =
            compiled(&documents).policies.iter().map(|policy| policy.owner.to_string()).collect();
        assert_eq!(
            order,
            [
                "ClusterRevisionPolicy/z",
                "ClusterRevisionPolicy/defines",
                "ClusterRevisionPolicy/a",
                "ClusterRevisionPolicy/b",
                "RevisionPolicy/a"
            ]
        );
    }
}

#[test]
fn selectors_select_as_karmada_does() {
    let set = compiled(&[
        policy(
            "ClusterRevisionPolicy",
            r#"{"name":"named"}"#,
            &format!(
                r#""resourceSelectors":[{{"apiVersion":"a/v1","kind":"T","name":"x","labelSelector":{{"matchLabels":{{"l":"no"}}}}}}],{RULES},"allocations":[{{"name":"lead"}}]"#
            ),
        ),
        policy(
            "ClusterRevisionPolicy",
            r#"{"name":"labelled"}"#,
            &format!(
                r#""resourceSelectors":[{{"apiVersion":"a/v1","kind":"T","labelSelector":{{"matchLabels":{{"l":"1"}},"matchExpressions":[{{"key":"m","operator":"DoesNotExist"}}]}}}}],{RULES}"#
            ),
        ),
        policy(
            "RevisionPolicy",
            r#"{"name":"home","namespace":"n"}"#,
            &format!(r#""resourceSelectors":[{{"apiVersion":"a/v1","kind":"T"}}],{RULES}"#),
        ),
    ]);
    let selecting = |api_version: &str, namespace: &str, name: &str, labels: &str| {
        let object = format!(r#"{{"metadata":{{"labels":{labels}}}}}"#);
        let object = Text::parse(object.as_bytes()).unwrap();
        let workload = Workload {
            gvk: GroupVersionKind::of(api_version, "T"),
            namespace: namespace.into(),
            name: name.into(),
        };
        let owners: Vec<String> = set
            .selecting(&workload, &object.root().into())
            .unwrap()
            .iter()
            .map(|policy| policy.owner.to_string())
            .collect();
        owners.iter().map(|owner| owner.split('/').next_back().unwrap()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(selecting("a/v1", "o", "x", "null"), "named");
    assert_eq!(selecting("a/v1", "n", "y", r#"{"l":"1"}"#), "labelled home");
    assert_eq!(selecting("a/v1", "o", "y", r#"{"l":"1","m":""}"#), "");
    assert_eq!(selecting("a/v2", "n", "x", "{}"), "");
    assert_eq!(selecting("b/v1", "n", "x", "{}"), "");
}

#[test]
fn interpretations_say_where_things_are() {
    let one = |spec: &str| policy("ResourceInterpretation", r#"{"name":"i"}"#, spec);
    let target = r#""target":{"apiVersion":"a/v1","kind":"T"}"#;
    let interpretation = |spec: &str| {
        compiled(&[one(&format!("{target}{spec}"))])
            .interpretation(&GroupVersionKind::of("a/v1", "T"))
            .unwrap()
            .clone()
    };
    let default = PolicySet::default().interpretation(&GroupVersionKind::of("a/v1", "T")).unwrap().clone();
    assert_eq!(interpretation(""), default);
    let given = interpretation(
        r#","replicaResource":{"replicas":"/spec/size","podTemplate":"/spec/pod","requirementsAtZero":true}"#,
    );
    assert_eq!(
        (given.replicas.to_string(), given.revised_replicas.to_string()),
        ("/spec/size".into(), "/spec/size".into())
    );
    assert_eq!((given.pod_template.to_string(), given.requirements_at_zero), ("/spec/pod".into(), true));
    let given = interpretation(r#","replicaRevision":{"replicas":"/spec/max"}"#);
    assert_eq!((given.replicas, given.revised_replicas.to_string()), (default.replicas, "/spec/max".into()));
    assert_found(&[one(&format!(r#"{target},"retention":{{}}"#))], &["0 spec.retention: unknown field"]);
    assert_found(
        &[one(&format!(r#"{target},"replicaRevision":{{"replicas":"/metadata/name"}}"#))],
        &["0 spec: replicas are written at /metadata/name"],
    );
    let twice = policy("ResourceInterpretation", r#"{"name":"j"}"#, target);
    assert_found(
        &[one(target), twice],
        &["1 spec.target: ResourceInterpretation/i is already for this kind"],
    );
}
