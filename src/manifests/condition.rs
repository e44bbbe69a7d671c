//! The `matchConditions` of the admission webhooks, in CEL.
//!
//! They read what a client sent before it has been validated, and a condition that errs refuses the request:
//! so each checks that a field is there and of the right type before it reads it. A condition cannot rely on
//! the ones before it, because the API server evaluates all of them.
//!
//! Source: kubernetes/kubernetes@v1.36.2
//! `staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions/matcher.go`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use super::Namespaces;
use super::value::map;
use crate::domain::{
    BINDING_NAME_ANNOTATION, CLUSTER_BINDING_NAME_ANNOTATION, ELECT_ANNOTATION, GroupVersionKind,
    PROPOSED_TRANSFORMATION_ANNOTATION, REVISED_ANNOTATION, REVISION_ANNOTATION, SUPPRESSED_LABEL,
    TRANSFORMATION_ANNOTATION,
};
use crate::json::Value;

/// With more namespaces than this the condition matches all, so that it stays short: each manifest of a Work
/// is compared with each namespace.
const MAX_NAMESPACES: usize = 64;

/// When a Work is sent.
pub(super) fn work_conditions(
    selected: &BTreeMap<GroupVersionKind, Namespaces>,
    transformations: bool,
) -> Value<'static> {
    named([
        ("not-being-deleted", not_being_deleted()),
        ("is-dispatched", is_dispatched()),
        ("selected-or-revised", selected_or_revised(selected, transformations)),
    ])
}

/// When a pod is sent from a source.
pub(super) fn pod_conditions() -> Value<'static> {
    let has_annotation =
        |key: &str| format!("{HAS_ANNOTATIONS}\n{} in object.metadata.annotations", literal(key));
    named([
        ("is-elected", has_annotation(ELECT_ANNOTATION)),
        ("names-transformations", has_annotation(PROPOSED_TRANSFORMATION_ANNOTATION)),
    ])
}

/// When a `PodChaperon` is sent from a target. `selected` are the namespaces that policies select it in,
/// `None` if no policy selects it.
pub(super) fn chaperon_conditions(selected: Option<&Namespaces>) -> Value<'static> {
    let transformed = format!(
        "{HAS_ANNOTATIONS} (\n  {} in object.metadata.annotations ||\n  {} in object.metadata.annotations\n)",
        literal(TRANSFORMATION_ANNOTATION),
        literal(PROPOSED_TRANSFORMATION_ANNOTATION)
    );
    let expression = match selected {
        None => transformed,
        Some(Namespaces::These(these)) if these.len() <= MAX_NAMESPACES => format!(
            "has(request.namespace) && {} ||\n{transformed}",
            one_of("request.namespace", these.iter().map(String::as_str))
        ),
        Some(_) => "object != null".to_owned(),
    };
    named([("selected-or-transformed", expression)])
}

/// That an object has annotations; to be continued.
const HAS_ANNOTATIONS: &str = "object != null &&
has(object.metadata) && type(object.metadata) == map &&
has(object.metadata.annotations) && type(object.metadata.annotations) == map &&";

fn named<const N: usize>(conditions: [(&'static str, String); N]) -> Value<'static> {
    let condition = |(name, expression): (&'static str, String)| {
        map([("name", name.into()), ("expression", expression.into())])
    };
    Value::array(conditions.into_iter().map(condition).collect())
}

fn not_being_deleted() -> String {
    "object != null &&
has(object.metadata) && type(object.metadata) == map &&
(!has(object.metadata.deletionTimestamp) || object.metadata.deletionTimestamp == null)"
        .to_owned()
}

/// A Work that has no binding and is not dispatched holds what Karmada collected from a member, and no rule
/// applies to it. A Work with a binding is dispatched later; a Work with a revision record has to be sent so
/// that it can be undone.
fn is_dispatched() -> String {
    let keys = [BINDING_NAME_ANNOTATION, CLUSTER_BINDING_NAME_ANNOTATION, REVISION_ANNOTATION];
    let annotations: Vec<String> =
        keys.iter().map(|key| format!("{} in object.metadata.annotations", literal(key))).collect();
    let annotations = annotations.join(" ||\n    ");
    let (label, value) = SUPPRESSED_LABEL;
    let (label, value) = (literal(label), literal(value));
    format!(
        "object != null &&
has(object.metadata) && type(object.metadata) == map && (
  has(object.metadata.annotations) && type(object.metadata.annotations) == map && (
    {annotations}
  ) ||
  has(object.spec) && type(object.spec) == map &&
  (!has(object.spec.suspendDispatching) || object.spec.suspendDispatching != true) &&
  (!has(object.metadata.labels) || type(object.metadata.labels) != map ||
    !({label} in object.metadata.labels) ||
    object.metadata.labels[{label}] != {value})
)"
    )
}

/// Objects that are marked as revised are always sent, so that the revision can be undone.
fn selected_or_revised(selected: &BTreeMap<GroupVersionKind, Namespaces>, transformations: bool) -> String {
    let revision = literal(REVISION_ANNOTATION);
    let mut marks = vec![literal(REVISED_ANNOTATION)];
    if transformations {
        marks.extend([TRANSFORMATION_ANNOTATION, PROPOSED_TRANSFORMATION_ANNOTATION].map(literal));
    }
    let marks: Vec<String> = marks.iter().map(|mark| format!("{mark} in m.metadata.annotations")).collect();
    let marked = match &marks[..] {
        [mark] => mark.clone(),
        marks => format!("(\n      {}\n    )", marks.join(" ||\n      ")),
    };
    let kinds = alternatives(selected).join(" ||\n      ");
    let kinds = match kinds.as_str() {
        "" => String::new(),
        kinds => format!(" ||\n    has(m.apiVersion) && has(m.kind) && (\n      {kinds}\n    )"),
    };
    format!(
        "object != null && (
  has(object.metadata) && type(object.metadata) == map &&
  has(object.metadata.annotations) && type(object.metadata.annotations) == map &&
  {revision} in object.metadata.annotations ||
  has(object.spec) && type(object.spec) == map &&
  has(object.spec.workload) && type(object.spec.workload) == map &&
  has(object.spec.workload.manifests) && type(object.spec.workload.manifests) == list &&
  object.spec.workload.manifests.exists(m, type(m) == map && (
    has(m.metadata) && type(m.metadata) == map &&
    has(m.metadata.annotations) && type(m.metadata.annotations) == map &&
    {marked}{kinds}
  ))
)"
    )
}

/// One alternative for each `apiVersion` and set of namespaces. The manifest is `m`, which has an
/// `apiVersion` and a `kind`; CEL can compare a value of any type with a string.
fn alternatives(selected: &BTreeMap<GroupVersionKind, Namespaces>) -> Vec<String> {
    let mut kinds: BTreeMap<(String, Option<&BTreeSet<String>>), Vec<&str>> = BTreeMap::new();
    for (gvk, namespaces) in selected {
        let namespaces = match namespaces {
            Namespaces::These(these) if these.len() <= MAX_NAMESPACES => Some(these),
            Namespaces::These(_) | Namespaces::All => None,
        };
        kinds.entry((gvk.api_version(), namespaces)).or_default().push(&gvk.kind);
    }
    let alternative =
        |((api_version, namespaces), kinds): ((String, Option<&BTreeSet<String>>), Vec<&str>)| {
            let mut text =
                format!("m.apiVersion == {} && {}", literal(&api_version), one_of("m.kind", kinds));
            if let Some(namespaces) = namespaces {
                text.push_str(
                    " &&\n      has(m.metadata) && type(m.metadata) == map && has(m.metadata.namespace) && ",
                );
                text.push_str(&one_of("m.metadata.namespace", namespaces.iter().map(String::as_str)));
            }
            text
        };
    kinds.into_iter().map(alternative).collect()
}

fn one_of<'t>(path: &str, texts: impl IntoIterator<Item = &'t str>) -> String {
    let texts: Vec<_> = texts.into_iter().map(literal).collect();
    match &texts[..] {
        [text] => format!("{path} == {text}"),
        texts => format!("{path} in [{}]", texts.join(", ")),
    }
}

/// `text` as a CEL literal. Names in policies may be any text.
fn literal(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            _ if c.is_control() => write!(out, "\\U{:08x}", u32::from(c))
                .unwrap_or_else(|fmt::Error| unreachable!("a String takes it")),
            _ => out.push(c),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(kinds: &[(&str, &str, Option<usize>)]) -> Vec<String> {
        let namespaces = |count: usize| (0..count).map(|n| format!("n{n:03}")).collect();
        let selected = kinds.iter().map(|(api_version, kind, count)| {
            let namespaces = count.map_or(Namespaces::All, |count| Namespaces::These(namespaces(count)));
            (GroupVersionKind::of(api_version, kind), namespaces)
        });
        alternatives(&selected.collect())
    }

    #[test]
    fn kinds_share_an_alternative_where_version_and_namespaces_are_the_same() {
        let all = kinds(&[
            ("v1", "Pod", None),
            ("apps/v1", "Deployment", None),
            ("apps/v1", "StatefulSet", None),
            ("apps/v1", "DaemonSet", Some(2)),
            ("apps/v1", "ReplicaSet", Some(1)),
        ]);
        let home =
            "has(m.metadata) && type(m.metadata) == map && has(m.metadata.namespace) && m.metadata.namespace";
        let expected = [
            "m.apiVersion == 'apps/v1' && m.kind in ['Deployment', 'StatefulSet']".to_owned(),
            format!("m.apiVersion == 'apps/v1' && m.kind == 'ReplicaSet' &&\n      {home} == 'n000'"),
            format!(
                "m.apiVersion == 'apps/v1' && m.kind == 'DaemonSet' &&\n      {home} in ['n000', 'n001']"
            ),
            "m.apiVersion == 'v1' && m.kind == 'Pod'".to_owned(),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn too_many_namespaces_match_all() {
        let [condition] = &kinds(&[("v1", "Pod", Some(MAX_NAMESPACES))])[..] else {
            panic!("expected one condition")
        };
        assert!(condition.contains("'n000', 'n001', "), "{condition}");
        assert_eq!(
            kinds(&[("v1", "Pod", Some(MAX_NAMESPACES + 1))]),
            ["m.apiVersion == 'v1' && m.kind == 'Pod'"]
        );
    }

    #[test]
    fn without_selected_kinds_only_marked_objects_match() {
        let condition = selected_or_revised(&BTreeMap::new(), false);
        assert!(!condition.contains("kind"), "{condition}");
        for mark in ["'reviser.io/revision' in object.", "'reviser.io/revised' in m."] {
            assert!(condition.contains(mark), "{condition}");
        }
    }

    #[test]
    fn objects_that_name_transformations_match() {
        let condition = selected_or_revised(&BTreeMap::new(), true);
        let expected = "    has(m.metadata.annotations) && type(m.metadata.annotations) == map &&
    (
      'reviser.io/revised' in m.metadata.annotations ||
      'reviser.io/targetpodtransformation' in m.metadata.annotations ||
      'multicluster.admiralty.io/targetpodtransformation' in m.metadata.annotations
    )
";
        assert!(condition.contains(expected), "{condition}");
        assert!(!selected_or_revised(&BTreeMap::new(), false).contains("targetpodtransformation"));
    }

    #[test]
    fn literals_are_escaped() {
        for (text, expected) in [
            ("it's", r"'it\'s'"),
            (r"a\", r"'a\\'"),
            ("a\"b", "'a\"b'"),
            ("a\nb\u{85}", r"'a\U0000000ab\U00000085'"),
            ("Übung", "'Übung'"),
        ] {
            assert_eq!(literal(text), expected);
        }
    }
}
