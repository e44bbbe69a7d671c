//! Pods on their way from a source of Admiralty to its targets, past a real server: the example of the
//! proposal (admiralty#96), and what can go wrong.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::admissions::{Answer, CHAPERONS, PODS, Served, allowed, assert_refused, chaperon, decoded};
use crate::files::Directory;

/// The document of the proposal, word by word, but for the word that is misspelt there.
const PROPOSED: &str = r##"kind: TargetPodTransformation
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

/// The same, with something in place of the comments.
pub(crate) const FILLED: &str = r"kind: TargetPodTransformation
metadata: {name: use-v100-32G}
transformations:
- targetReference: {kind: Target, name: eu}
  patch: |
    spec: {nodeSelector: {gpu: V100}}
- targetReference: {kind: ClusterTarget, name: oregon}
  patch: {spec: {nodeSelector: {gpu: p3dn}}}
- targetReference: {kind: ClusterTarget, name: eu}
  patch: {spec: {nodeSelector: {gpu: nowhere}}}
- targetSelector: {matchExpressions: [{key: region, operator: In, values: [us]}]}
  patch: {spec: {tolerations: [{key: spot}]}}
";

#[test]
fn the_example_of_the_proposal_works_as_it_stands() {
    let served = Served::start(PROPOSED);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train", "namespace": "lab", "annotations": {
        "multicluster.admiralty.io/elect": "",
        "multicluster.admiralty.io/targetpodtransformation": "use-v100-32G",
    }}});
    let copied = r#"[{"op":"add","path":"/metadata/annotations/reviser.io~1targetpodtransformation","value":"use-v100-32G"}]"#;
    assert_eq!(served.admit("/mutate/pods", PODS, "CREATE", &pod), allowed(copied));
    // A patch of comments changes nothing.
    for target in ["eu", "oregon"] {
        assert_eq!(served.chaperon(target, &chaperon("use-v100-32G")), allowed(""));
    }
}

#[test]
fn each_target_gets_what_is_for_it() {
    let served = Served::start(FILLED);
    let eu = r#"[{"op":"add","path":"/spec/nodeSelector","value":{"gpu":"V100"}}]"#;
    let oregon = r#"[{"op":"add","path":"/spec/nodeSelector","value":{"gpu":"p3dn"}},{"op":"add","path":"/spec/tolerations","value":[{"key":"spot"}]}]"#;
    for names in ["use-v100-32G", " use-v100-32G ,"] {
        assert_eq!(served.chaperon("eu", &chaperon(names)), allowed(eu));
        assert_eq!(served.chaperon("oregon", &chaperon(names)), allowed(oregon));
    }
    assert_eq!(served.chaperon("eu", &chaperon("")), allowed(""));
    assert_refused(
        &served.chaperon("nowhere", &chaperon("use-v100-32G")),
        503,
        "TargetPodTransformation/use-v100-32G cluster \"nowhere\": a targetSelector goes by labels",
    );
    assert_refused(
        &served.chaperon("eu", &chaperon("use-v100-32G, use-v1000")),
        422,
        "PodChaperon/train- cluster \"eu\": /metadata/annotations/reviser.io~1targetpodtransformation: no TargetPodTransformation or \
         ClusterTargetPodTransformation \"use-v1000\" can be chosen in namespace \"lab\": the nearest names are \"use-v100-32G\"; ",
    );
    let done = served.server.end(Signal::TERM);
    let lines = done.stderr.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answered: Vec<Value> = lines.filter(|line| line["message"] == "answered").collect();
    let first = &answered[0];
    for (field, expected) in [
        ("operation", "CREATE"),
        ("kind", "PodChaperon"),
        ("namespace", "lab"),
        ("name", "train-"),
        ("cluster", "eu"),
        ("rules", "TargetPodTransformation/use-v100-32G"),
        ("outcome", "ok"),
    ] {
        assert_eq!(first[field], expected, "{first}");
    }
}

#[test]
fn only_what_is_created_is_revised() {
    let served = Served::start(FILLED);
    let mut deleted = chaperon("use-v100-32G");
    deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    assert_eq!(served.chaperon("eu", &deleted), allowed(""));
    let door = "/mutate/podchaperons/eu";
    for operation in ["UPDATE", "DELETE", "CONNECT"] {
        assert_eq!(served.admit(door, CHAPERONS, operation, &chaperon("use-v100-32G")), allowed(""));
    }
    for (door, resource) in [(door, PODS), ("/mutate/pods", CHAPERONS)] {
        let Answer(patch, warnings) = served.admit(door, resource, "CREATE", &chaperon("use-v100-32G"));
        assert_eq!(patch, Ok(String::new()));
        assert!(warnings[0].contains("fix the rules of the MutatingWebhookConfiguration"), "{warnings:?}");
    }
    let pod = |annotations: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": annotations}});
    let proposed = "multicluster.admiralty.io/targetpodtransformation";
    for annotations in [
        json!(null),
        json!({}),
        json!({proposed: "a"}),
        json!({"multicluster.admiralty.io/elect": ""}),
        json!({"multicluster.admiralty.io/elect": "", proposed: "a", "reviser.io/targetpodtransformation": "a"}),
    ] {
        assert_eq!(served.admit("/mutate/pods", PODS, "CREATE", &pod(annotations)), allowed(""));
    }
}

#[test]
fn what_admiralty_did_to_the_pod_stays_done() {
    let policies = FILLED.replace("{nodeSelector: {gpu: V100}}", "{schedulerName: default-scheduler}");
    let served = Served::start(&policies);
    assert_refused(
        &served.chaperon("eu", &chaperon("use-v100-32G")),
        422,
        "TargetPodTransformation/use-v100-32G cluster \"eu\": /spec/schedulerName: names the scheduler",
    );
}

#[test]
fn policies_come_first_and_find_the_pod_at_the_root() {
    let policies = format!(
        "{FILLED}---
apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {{name: pods}}
spec:
  resourceSelectors: [{{apiVersion: multicluster.admiralty.io/v1alpha1, kind: PodChaperon}}]
  rules:
  - {{name: env, env: {{name: CLUSTER, value: '${{cluster.name}}'}}}}
  - {{name: image, image: {{tag: '2'}}}}
  - {{name: gpu, patch: {{type: Strategic, value: {{spec: {{nodeSelector: {{gpu: none}}}}}}}}}}
"
    );
    let served = Served::start(&policies);
    let containers = r#"{"op":"add","path":"/spec/containers/0/env","value":[{"name":"CLUSTER","value":"eu"}]},{"op":"replace","path":"/spec/containers/0/image","value":"i:2"}"#;
    for (names, gpu) in [("", "none"), ("use-v100-32G", "V100")] {
        let Answer(patch, warnings) = served.chaperon("eu", &chaperon(names));
        let patch: Vec<Value> = serde_json::from_str(&patch.unwrap()).unwrap();
        let mut expected: Vec<Value> = serde_json::from_str(&format!("[{containers}]")).unwrap();
        expected.push(json!({"op": "add", "path": "/spec/nodeSelector", "value": {"gpu": gpu}}));
        for operation in &expected {
            assert!(patch.contains(operation), "{operation} {patch:?}");
        }
        assert_eq!((patch.len(), warnings.len()), (expected.len(), 0), "{patch:?}");
    }
}

#[test]
fn karmadas_interpreter_and_preview_apply_the_same() {
    let served = Served::start(FILLED);
    let mut object = chaperon("use-v100-32G");
    object["metadata"]["name"] = "train".into();
    let body = json!({"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext", "request": {
        "uid": "u",
        "kind": {"group": "multicluster.admiralty.io", "version": "v1alpha1", "kind": "PodChaperon"},
        "namespace": "lab",
        "name": "train",
        "operation": "ReviseObject",
        "object": object,
        "clusterName": "eu",
    }});
    let reply = served.send("/interpret", &body);
    let eu = r#"[{"op":"add","path":"/spec/nodeSelector","value":{"gpu":"V100"}}]"#;
    assert_eq!(decoded(&reply["response"]["patch"]), eu, "{reply}");

    // Where nothing is known of the targets, a reference goes by the name.
    let directory = Directory::new();
    let (head, _) = FILLED.split_once("- targetReference: {kind: ClusterTarget, name: eu}").unwrap();
    directory.file("policies.yaml", head);
    directory.file("pod.json", &chaperon("use-v100-32G").to_string());
    let arguments = [
        "preview",
        "-f",
        "pod.json",
        "-p",
        "policies.yaml",
        "--clusters",
        "eu=1",
        "--cluster",
        "eu",
        "-o",
        "patch",
    ];
    let shown = directory.run(&arguments);
    assert_eq!((shown.code, shown.stdout.trim_end(), shown.stderr.as_str()), (Some(0), eu, ""));
}

/// A Work for `eu` of a Deployment that no policy selects, with these annotations.
fn work(annotations: &Value) -> Value {
    json!({
        "apiVersion": "work.karmada.io/v1alpha1",
        "kind": "Work",
        "metadata": {"name": "train-1", "namespace": "karmada-es-eu", "annotations": {
            "resourcebinding.karmada.io/name": "train-deployment",
            "resourcebinding.karmada.io/namespace": "lab",
        }},
        "spec": {"workload": {"manifests": [{
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "train", "namespace": "lab", "annotations": annotations},
            "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "c"}]}}},
        }]}},
    })
}

#[test]
fn a_work_is_revised_for_its_annotation_alone_and_revised_once() {
    const WORKS: [&str; 3] = ["work.karmada.io", "v1alpha1", "works"];
    let policies = FILLED.replace("{nodeSelector: {gpu: V100}}", "{template: {spec: {hostNetwork: true}}}");
    let served = Served::start(&policies);
    let admit = |work: &Value| {
        let mut work = work.clone();
        let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "u",
            "kind": {"group": "work.karmada.io", "version": "v1alpha1", "kind": "Work"},
            "resource": {"group": WORKS[0], "version": WORKS[1], "resource": WORKS[2]},
            "namespace": "karmada-es-eu",
            "name": "train-1",
            "operation": "CREATE",
            "object": work,
        }});
        let reply = served.send("/mutate/works", &body);
        assert_eq!(reply["response"]["allowed"], true, "{reply}");
        let patch = decoded(&reply["response"]["patch"]);
        if !patch.is_empty() {
            let patch: json_patch::Patch = serde_json::from_str(&patch).unwrap();
            json_patch::patch(&mut work, &patch).unwrap();
        }
        work
    };
    let manifest = |work: &Value| work["spec"]["workload"]["manifests"][0].clone();
    let asks = work(&json!({"multicluster.admiralty.io/targetpodtransformation": "use-v100-32G"}));
    let revised = admit(&asks);
    assert_eq!(manifest(&revised)["spec"]["template"]["spec"]["hostNetwork"], true, "{revised}");
    let record = revised["metadata"]["annotations"]["reviser.io/revision"].as_str().unwrap();
    assert!(record.contains(r#""rules":["TargetPodTransformation/use-v100-32G"]"#), "{record}");
    assert_eq!(admit(&revised), revised);

    // Removing the annotation restores the original.
    let mut without = revised.clone();
    let annotations = &mut without["spec"]["workload"]["manifests"][0]["metadata"]["annotations"];
    annotations.as_object_mut().unwrap().remove("multicluster.admiralty.io/targetpodtransformation");
    assert_eq!(admit(&without), work(&json!({})));
    let plain = work(&json!({}));
    assert_eq!(admit(&plain), plain);
}

/// The warnings for a Work that is allowed unchanged.
fn warnings_of_unchanged(served: &Served, work: &Value) -> Vec<String> {
    let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u",
        "kind": {"group": "work.karmada.io", "version": "v1alpha1", "kind": "Work"},
        "resource": {"group": "work.karmada.io", "version": "v1alpha1", "resource": "works"},
        "namespace": "karmada-es-eu",
        "name": "train-1",
        "operation": "CREATE",
        "object": work,
    }});
    let response = &served.send("/mutate/works", &body)["response"];
    assert_eq!((&response["allowed"], response.get("patch")), (&json!(true), None), "{response}");
    let warnings = response["warnings"].as_array().into_iter().flatten();
    warnings.map(|warning| warning.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_work_that_names_a_transformation_where_there_is_none_is_warned_of() {
    let named = work(&json!({"reviser.io/targetpodtransformation": "use-v100-32G"}));
    let policy = |kind: &str| {
        format!(
            "apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {{name: p}}
spec:
  resourceSelectors: [{{apiVersion: apps/v1, kind: {kind}}}]
  rules: [{{name: r, when: object.metadata.name == \"other\", env: {{name: COUNT, value: x}}}}]
"
        )
    };
    for kind in ["Deployment", "StatefulSet"] {
        let served = Served::start(&policy(kind));
        let expected = "Deployment/train: names transformations, and there is none; it is delivered without";
        assert_eq!(warnings_of_unchanged(&served, &named), [expected], "{kind}");
        assert!(warnings_of_unchanged(&served, &work(&json!({}))).is_empty(), "{kind}");
    }
}
