//! The `matchConditions` of the doors for admission, in CEL.
//!
//! They see what a client sent before anything has checked it, and one that errs refuses the request. So each looks at
//! every step before it takes the next. None relies on another: the API server evaluates all of them.
//!
//! Source: kubernetes/kubernetes@v1.36.2 `staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions/matcher.go`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use super::Namespaces;
use super::build::map;
use crate::domain::{
    BINDING_NAME_ANNOTATION, CLUSTER_BINDING_NAME_ANNOTATION, ELECT_ANNOTATION, GroupVersionKind,
    PROPOSED_TRANSFORMATION_ANNOTATION, REVISED_ANNOTATION, REVISION_ANNOTATION, SUPPRESSED_LABEL,
    TRANSFORMATION_ANNOTATION,
};
use crate::json::Value;

/// With more namespaces than this, objects of the kind match in all: the condition has to stay short, and each manifest
/// of a Work is compared with each of them.
const MAX_NAMESPACES: usize = 64;

/// The conditions under which a Work is sent: all of them.
pub(super) fn conditions(
    selected: &BTreeMap<GroupVersionKind, Namespaces>,
    transformations: bool,
) -> Value<'static> {
    named([
        ("not-being-deleted", not_being_deleted()),
        ("is-dispatched", is_dispatched()),
        ("selected-or-revised", selected_or_revised(selected, transformations)),
    ])
}

/// The conditions under which a pod is sent from a source: all of them.
pub(super) fn pod_conditions() -> Value<'static> {
    let names = |key: &str| format!("{HAS_ANNOTATIONS}\n{} in object.metadata.annotations", literal(key));
    named([
        ("is-elected", names(ELECT_ANNOTATION)),
        ("names-transformations", names(PROPOSED_TRANSFORMATION_ANNOTATION)),
    ])
}

/// The conditions under which a `PodChaperon` is sent from a target: all of them. `selected` are the namespaces that
/// policies select it in; `None` if none selects it at all.
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

/// That an object has annotations; goes on with what is asked of them.
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

/// A Work without a binding that is not dispatched holds what Karmada has collected from a member, and no rule applies to it. With a
/// binding it is dispatched later; with a record it has to be sent to be undone.
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

/// What is marked has to come whatever policies select: nobody else can undo it.
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

/// One alternative for each `apiVersion` and set of namespaces. The manifest is `m`, and its `apiVersion` and `kind` are
/// known to be there; whatever they are, CEL can compare them with a string.
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

/// That what `path` leads to is one of `texts`.
fn one_of<'t>(path: &str, texts: impl IntoIterator<Item = &'t str>) -> String {
    let texts: Vec<_> = texts.into_iter().map(literal).collect();
    match &texts[..] {
        [text] => format!("{path} == {text}"),
        texts => format!("{path} in [{}]", texts.join(", ")),
    }
}

/// `text` as a literal of CEL. Policies may hold any text as a name, and it must not get out of its quotes.
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
    fn many_namespaces_are_all() {
        let [condition] = &kinds(&[("v1", "Pod", Some(MAX_NAMESPACES))])[..] else { panic!("one is wanted") };
        assert!(condition.contains("'n000', 'n001', "), "{condition}");
        assert_eq!(
            kinds(&[("v1", "Pod", Some(MAX_NAMESPACES + 1))]),
            ["m.apiVersion == 'v1' && m.kind == 'Pod'"]
        );
    }

    #[test]
    fn nothing_selected_leaves_the_marks() {
        let condition = selected_or_revised(&BTreeMap::new(), false);
        assert!(!condition.contains("kind"), "{condition}");
        for mark in ["'reviser.io/revision' in object.", "'reviser.io/revised' in m."] {
            assert!(condition.contains(mark), "{condition}");
        }
    }

    #[test]
    fn transformations_bring_what_chooses_them() {
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
    fn no_text_gets_out_of_its_quotes() {
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
