//! What is odd about a `PodChaperon` or a pod is refused or warned of, never passed over.

use serde_json::{Value, json};

use crate::admiralty::FILLED;
use crate::admissions::{Answer, PODS, Served, allowed, assert_refused, chaperon};

#[test]
fn what_is_odd_in_the_annotation_is_refused_or_warned_of() {
    let served = Served::start(FILLED);
    let eu = r#"[{"op":"add","path":"/spec/nodeSelector","value":{"gpu":"V100"}}]"#;
    let about =
        "PodChaperon/train- cluster \"eu\": /metadata/annotations/reviser.io~1targetpodtransformation: ";
    for (names, patch, warning) in [
        ("use-v100-32G,,use-v100-32G", eu, "item 2 is empty and is left out"),
        (",use-v100-32G", eu, "item 1 is empty and is left out"),
        ("use-v100-32G,use-v100-32G", eu, "\"use-v100-32G\" is named more than once and applies each time"),
        (" , ", "", "holds commas and no name, so that no transformation applies"),
    ] {
        let Answer(answer, warnings) = served.chaperon("eu", &chaperon(names));
        assert_eq!(answer.as_deref(), Ok(patch), "{names}");
        let expected = format!("{about}{warning}");
        assert!(warnings.iter().any(|warning| warning.starts_with(&expected)), "{names}: {warnings:?}");
    }
    for (names, problem) in [
        (
            "use-v100-32G use-v100-32G",
            "can be chosen in namespace \"lab\": names hold no blanks; write a comma between two names",
        ),
        ("use-V100-32g", "the nearest names are \"use-v100-32G\"; "),
        (
            "frankfurt",
            "can be chosen in namespace \"lab\": the only one that can be chosen has a very different name; list them with `kubectl get tpt,ctpt`",
        ),
    ] {
        let Answer(answer, _) = served.chaperon("eu", &chaperon(names));
        let (code, message) = answer.unwrap_err();
        assert!(code == 422 && message.starts_with(about) && message.contains(problem), "{names}: {message}");
    }
}

#[test]
fn a_name_is_refused_where_there_is_no_transformation_at_all() {
    let served = Served::start(POLICY_FOR_CHAPERONS);
    assert_refused(
        &served.chaperon("eu", &chaperon("use-v100-32G")),
        422,
        "PodChaperon/train- cluster \"eu\": /metadata/annotations/reviser.io~1targetpodtransformation: no TargetPodTransformation or \
         ClusterTargetPodTransformation \"use-v100-32G\" can be chosen in namespace \"lab\": there is none to choose; ",
    );
}

/// A policy for what comes of one source, by the label that says which.
const POLICY_FOR_CHAPERONS: &str = "apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: pods}
spec:
  resourceSelectors:
  - apiVersion: multicluster.admiralty.io/v1alpha1
    kind: PodChaperon
    labelSelector: {matchLabels: {multicluster.admiralty.io/parent-cluster-name: berlin}}
  - apiVersion: multicluster.admiralty.io/v1alpha1
    kind: PodChaperon
    labelSelector: {matchLabels: {team: research}}
  rules:
  - {name: env, env: {name: SOURCE, value: berlin}}
";

#[test]
fn a_policy_that_selects_by_labels_that_admiralty_writes_otherwise_is_warned_of() {
    let served = Served::start(POLICY_FOR_CHAPERONS);
    let with = |labels: Value| {
        let mut object = chaperon("");
        object["metadata"]["labels"] = labels;
        let Answer(patch, warnings) = served.chaperon("eu", &object);
        (!patch.unwrap().is_empty(), warnings)
    };
    let about = "PodChaperon/train- cluster \"eu\": /metadata/labels/multicluster.admiralty.io~1";
    for (labels, is_revised, expected) in [
        (json!({"multicluster.admiralty.io/parent-cluster-name": "berlin"}), true, &[][..]),
        (
            json!({"multicluster.admiralty.io/parent-cluster-name": ""}),
            false,
            &[
                "parent-cluster-name: is empty, and ClusterRevisionPolicy/pods selects by it; install Admiralty in the source with the value clusterName",
            ],
        ),
        (
            json!({"multicluster.admiralty.io/parent-cluster-name": "bonn", "multicluster.admiralty.io/team": "research"}),
            false,
            &["team: ClusterRevisionPolicy/pods selects by \"team\", which Admiralty renames to this; "],
        ),
        (json!({"multicluster.admiralty.io/parent-cluster-name": "bonn", "team": "research"}), true, &[]),
    ] {
        let (revised, warnings) = with(labels);
        assert_eq!((revised, warnings.len()), (is_revised, expected.len()), "{warnings:?}");
        for (warning, expected) in warnings.iter().zip(expected) {
            assert!(warning.starts_with(&format!("{about}{expected}")), "{warning}");
        }
    }
}

#[test]
fn a_reference_to_the_target_as_another_kind_is_warned_of() {
    let transformation = |kind: &str| {
        format!(
            "kind: TargetPodTransformation
metadata: {{name: use-v100-32G}}
transformations:
- {{targetReference: {{kind: {kind}, name: eu}}, patch: {{spec: {{nodeSelector: {{gpu: V100}}}}}}}}
"
        )
    };
    for kind in ["ClusterTarget", "Cluster"] {
        let served = Served::start(&transformation(kind));
        let Answer(patch, warnings) = served.chaperon("eu", &chaperon("use-v100-32G"));
        assert_eq!(patch.as_deref(), Ok(""));
        let expected = format!(
            "TargetPodTransformation/use-v100-32G cluster \"eu\": transformations[0].targetReference: is for the {kind} \"eu\", and \"eu\" is \
             a Target here, so that nothing of it applies; change the kind"
        );
        assert_eq!(warnings, [expected]);
    }
    let served = Served::start(&transformation("Target"));
    let Answer(patch, warnings) = served.chaperon("eu", &chaperon("use-v100-32G"));
    assert!(patch.unwrap().contains("V100") && warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_pod_that_admiralty_has_saved_before_is_refused_in_the_source() {
    let served = Served::start(FILLED);
    let pod = |annotations: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train", "annotations": annotations}});
    let (elect, asks) =
        ("multicluster.admiralty.io/elect", "multicluster.admiralty.io/targetpodtransformation");
    let saved = "multicluster.admiralty.io/sourcepod-manifest";
    let admit = |annotations: Value| served.admit("/mutate/pods", PODS, "CREATE", &pod(annotations));
    assert_refused(
        &admit(json!({elect: "", asks: "a", saved: "kind: Pod"})),
        422,
        "Pod/train: /metadata/annotations/multicluster.admiralty.io~1sourcepod-manifest: Admiralty has saved the pod already",
    );
    // The names have been copied in time.
    for annotations in [
        json!({elect: "", asks: "a", saved: "kind: Pod", "reviser.io/targetpodtransformation": "a"}),
        json!({elect: "", saved: "kind: Pod"}),
        json!({asks: "a", saved: "kind: Pod"}),
    ] {
        assert_eq!(admit(annotations), allowed(""));
    }
    let Answer(patch, warnings) = admit(json!({elect: "", asks: "a,,b"}));
    assert!(patch.unwrap().contains("a,,b"));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("item 2 is empty and is left out"), "{warnings:?}");
}
