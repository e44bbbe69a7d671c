//! Reads `TargetPodTransformation` and `ClusterTargetPodTransformation`, as proposed to Admiralty.

use super::decode::{Fields, Node, Notes, one_of};
use super::types;
use super::{patch, selector};
use crate::domain::{ClusterKind, ClusterName, digest};
use crate::engine::{TargetPatch, Targets, Transformation, TransformationScope};
use crate::json::Pointer;

const KINDS: &[(&str, ClusterKind)] = &[
    ("Target", ClusterKind::Target),
    ("ClusterTarget", ClusterKind::ClusterTarget),
    ("Cluster", ClusterKind::Cluster),
];

/// Reads `transformations`, which are at the top level of the document.
pub(super) fn transformation(
    scope: TransformationScope,
    name: &str,
    fields: &mut Fields<'_>,
    notes: &mut Notes,
) -> Option<Transformation> {
    let node = fields.required("transformations", notes)?;
    let items = node.items(notes);
    if items.is_empty() && node.value.as_array().is_some() {
        notes.note(&node.field, "needs at least one item");
    }
    let entries = items.into_iter().filter_map(|item| entry(item, notes)).collect();
    let text = node.value.to_string();
    let mut read = Transformation { scope, name: name.to_owned(), entries, digest: String::new() };
    read.digest = digest([read.to_string().as_str(), &text]);
    Some(read)
}

/// Reports a name that no workload can select.
pub(super) fn check_name(name: &str, field: &Pointer, notes: &mut Notes) {
    if name.contains(|c: char| c == ',' || c.is_whitespace()) {
        notes.note(
            field,
            format!("{name:?} can't be chosen: names are separated by commas; leave out commas and blanks"),
        );
    }
}

fn entry(node: Node<'_>, notes: &mut Notes) -> Option<TargetPatch> {
    let mut fields = Fields::of(node, notes)?;
    let reference = fields.optional("targetReference");
    let selector = fields.optional("targetSelector");
    // `required` would reject a null, which is the value of a patch with only comments. It changes nothing.
    let given = fields.object.get("patch").cloned();
    let _ = fields.optional("patch");
    let place = fields.field.join("patch");
    if given.is_none() {
        notes.note(&place, "is required");
    }
    let is_known = |name: &str| ["targetReference", "targetSelector", "patch"].contains(&name);
    let misspelt = fields.object.iter().any(|(name, _)| !is_known(name));
    let targets = match (reference, selector) {
        (Some(node), None) => reference_of(node, notes),
        (None, Some(node)) => selector::target_selector(node, notes).map(Targets::Selector),
        (reference, selector) => {
            // A misspelled field is reported below, with the probable name.
            if !misspelt {
                let found = if reference.is_some() { "both" } else { "none" };
                notes.note(
                    &fields.field,
                    format!("needs exactly one of targetReference, targetSelector, and has {found}"),
                );
            }
            // Both are read, to find all errors at once.
            let _ = reference.and_then(|node| reference_of(node, notes));
            let _ = selector.and_then(|node| selector::target_selector(node, notes));
            None
        }
    };
    let patch = given.and_then(|given| patch::strategic(given, &place, notes));
    if let Some(patch) = &patch {
        types::transformation(patch, &place, notes);
    }
    fields.end(notes);
    Some(TargetPatch { targets: targets?, patch: patch? })
}

fn reference_of(node: Node<'_>, notes: &mut Notes) -> Option<Targets> {
    let mut fields = Fields::of(node, notes)?;
    let kind = fields.required("kind", notes).and_then(|node| one_of(&node, KINDS, notes));
    let name = fields.required("name", notes).and_then(|node| node.name(notes));
    fields.end(notes);
    Some(Targets::Reference(kind?, ClusterName::new(name?)?))
}

#[cfg(test)]
mod tests {
    use crate::domain::{GroupVersionKind, Workload};
    use crate::engine::{PolicySet, TransformationScope};
    use crate::json::field_path;
    use crate::json::{Text, Value};
    use crate::policy::compile;
    use crate::yaml;

    /// The document of the proposal, with its misspelled word corrected.
    const PROPOSED: &str = r##"
kind: TargetPodTransformation
metadata:
  name: use-v100-32G
transformations:
- targetReference:
    kind: Target
    name: eu
  patch: "# user can define inline strategic merge patch here"
- targetReference:
    kind: ClusterTarget
    name: oregon
  patch: "# user can define inline strategic merge patch here"
"##;

    fn documents(text: &str) -> Vec<Value<'static>> {
        yaml::documents(text).unwrap().into_iter().map(|document| document.value).collect()
    }

    fn compiled(text: &str) -> PolicySet {
        compile(&documents(text)).unwrap_or_else(|findings| panic!("{findings:#?}"))
    }

    fn findings(text: &str) -> Vec<String> {
        let found = compile(&documents(text)).expect_err("nothing was found");
        found.iter().map(|finding| format!("{}: {}", field_path(&finding.field), finding.problem)).collect()
    }

    fn one(entry: &str) -> String {
        format!("kind: TargetPodTransformation\nmetadata: {{name: a}}\ntransformations:\n- {entry}\n")
    }

    #[test]
    fn the_document_of_the_proposal_is_accepted_as_it_stands() {
        let set = compiled(PROPOSED);
        assert_eq!(set.transformations.len(), 1);
        compiled(&format!("apiVersion: reviser.io/v1alpha1{PROPOSED}"));
    }

    #[test]
    fn a_misspelt_target_reference_is_told_by_its_right_name() {
        for misspelt in ["targetRefernce", "targetReferece", "targetRefrence", "tagetReference"] {
            let (head, tail) = PROPOSED.rsplit_once("targetReference").unwrap();
            let found = findings(&format!("{head}{misspelt}{tail}"));
            let expected =
                format!("transformations[1].{misspelt}: unknown field; did you mean \"targetReference\"?");
            assert_eq!(found, [expected]);
        }
    }

    #[test]
    fn every_fault_is_found_with_its_place() {
        for (text, expected) in [
            (
                one("{patch: {}}"),
                "transformations[0]: needs exactly one of targetReference, targetSelector, and has none",
            ),
            (
                one("{targetSelector: {a: b}, targetReference: {kind: Target, name: x}, patch: {}}"),
                "transformations[0]: needs exactly one of targetReference, targetSelector, and has both",
            ),
            (one("{targetSelector: {a: b}}"), "transformations[0].patch: is required"),
            (
                one("{targetReference: {kind: Targets, name: x}, patch: {}}"),
                "transformations[0].targetReference.kind: \"Targets\" is not one of Target, ClusterTarget, Cluster; did you mean \"Target\"?",
            ),
            (
                one("{targetReference: {kind: Target}, patch: {}}"),
                "transformations[0].targetReference.name: is required",
            ),
            (
                one("{targetSelector: {a: 1}, patch: {}}"),
                "transformations[0].targetSelector.a: must be a string, is a number",
            ),
            (
                one("{targetSelector: {matchLabels: {a: b}, c: d}, patch: {}}"),
                "transformations[0].targetSelector.c: unknown field; known here: matchLabels, matchExpressions",
            ),
            (one("{targetSelector: {}, patch: 'a: [}'}"), "transformations[0].patch: is no YAML: "),
            (
                one("{targetSelector: {}, patch: [1]}"),
                "transformations[0].patch: a strategic merge patch is a map",
            ),
            (
                one("{targetSelector: {}, patch: {metadata: {name: x}}}"),
                "transformations[0].patch.metadata.name: /metadata/name says who the object is",
            ),
            (
                one("{targetSelector: {}, patch: {metadata: {generateName: x}}}"),
                "transformations[0].patch.metadata.generateName: /metadata/generateName says who the object is",
            ),
            (
                one("{targetSelector: {}, patch: {metadata: {labels: {multicluster.admiralty.io/x: y}}}}"),
                "transformations[0].patch.metadata.labels[\"multicluster.admiralty.io/x\"]: \"multicluster.admiralty.io/x\" belongs to the platform",
            ),
            (
                one("{targetSelector: {}, patch: {spec: {$path: merge}}}"),
                "transformations[0].patch.spec[\"$path\"]: `$path` is no directive",
            ),
            (
                "kind: TargetPodTransformation\nmetadata: {name: a}\nspec: {transformations: []}\n"
                    .to_owned(),
                "transformations: is required",
            ),
            (
                "kind: ClusterTargetPodTransformation\nmetadata: {name: a}\ntransformations: []\n".to_owned(),
                "transformations: needs at least one item",
            ),
            (
                one("{targetSelector: {}, patch: {}}").replace("name: a", "name: 'a,b'"),
                "metadata.name: \"a,b\" can't be chosen",
            ),
            (
                format!("apiVersion: reviser.io/v1\n{}", one("{targetSelector: {}, patch: {}}")),
                "apiVersion: must be \"reviser.io/v1alpha1\", is \"reviser.io/v1\"",
            ),
            (
                one("{targetSelector: {}, patch: {}}")
                    .replace("kind: T", "kind: ClusterT")
                    .replace("name: a", "name: a, namespace: b"),
                "metadata.namespace: this kind is cluster-scoped",
            ),
            (
                format!("{0}---\n{0}", one("{targetSelector: {}, patch: {}}")),
                "metadata.name: TargetPodTransformation \"a\" is there twice",
            ),
            (
                one("{targetSelector: {}, patch: {}}")
                    .replace("TargetPodTransformation", "TargetPodTransformations"),
                "apiVersion: is required",
            ),
        ] {
            let found = findings(&text);
            assert!(found.iter().any(|found| found.starts_with(expected)), "{expected}\n{found:#?}");
        }
    }

    #[test]
    fn of_one_name_the_namespaced_comes_before_the_cluster_scoped() {
        let document = |kind: &str, namespace: &str| {
            format!(
                "---\nkind: {kind}\nmetadata: {{name: gpu{namespace}}}\ntransformations: [{{targetSelector: {{}}, patch: }}]\n"
            )
        };
        let all = [
            document("ClusterTargetPodTransformation", ""),
            document("TargetPodTransformation", ""),
            document("TargetPodTransformation", ", namespace: shop"),
        ];
        let chosen = |documents: &[&String], namespace: &str| {
            let set = compiled(&documents.iter().map(|text| text.as_str()).collect::<String>());
            let workload = Workload {
                gvk: GroupVersionKind::of("v1", "Pod"),
                namespace: namespace.to_owned(),
                name: "p".to_owned(),
            };
            let object = r#"{"metadata":{"annotations":{"reviser.io/targetpodtransformation":" gpu ,"}}}"#;
            let object = Text::parse(object.as_bytes()).unwrap();
            let chosen = set.selection(&workload, &object.root().into());
            chosen
                .map(|chosen| chosen.transformations.iter().map(|one| one.scope.clone()).collect::<Vec<_>>())
                .ok()
        };
        let [cluster, any, home] = &all;
        let shop = TransformationScope::Namespace("shop".to_owned());
        for (documents, namespace, expected) in [
            (vec![cluster, any, home], "shop", Some(vec![shop.clone()])),
            (vec![home, any, cluster], "shop", Some(vec![shop])),
            (vec![cluster, any, home], "bank", Some(vec![TransformationScope::AnyNamespace])),
            (vec![cluster, home], "bank", Some(vec![TransformationScope::Cluster])),
            (vec![any, home], "", None),
            (vec![home], "bank", None),
        ] {
            assert_eq!(chosen(&documents, namespace), expected, "{namespace:?}");
        }
    }
}
