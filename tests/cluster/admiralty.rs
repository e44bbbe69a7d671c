//! Pods and `PodChaperon`s written to a real API server, with the configurations printed by `reviser
//! manifests`.

use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::process::Server;
use crate::support::hook::Hook;
use crate::support::kubectl::kubectl;
use crate::support::plane::ControlPlane;
use crate::support::until;
use crate::support::world::{WORLD, World};

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/admiralty");
const ELECT: &str = "multicluster.admiralty.io/elect";
const ASKS: &str = "multicluster.admiralty.io/targetpodtransformation";
const OURS: &str = "reviser.io/targetpodtransformation";

/// A server with the transformations of the samples; `targets` are its targets.
fn serve(world: &World<'_>, targets: &Value) -> Server {
    let transformations = Path::new(SAMPLES).join("policies");
    std::fs::write(world.directory().join("state").join("targets.json"), targets.to_string()).unwrap();
    world.server_with_state(&["-p", transformations.to_str().unwrap()])
}

/// The targets of the samples: `eu` is in the namespace of the world, `oregon` is for all.
fn targets(world: &World<'_>) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "multicluster.admiralty.io/v1alpha1", "kind": "Target",
            "metadata": {"namespace": world.namespace(), "name": "eu", "labels": {"provider": "own"}}},
        {"apiVersion": "multicluster.admiralty.io/v1alpha1", "kind": "ClusterTarget",
            "metadata": {"name": "oregon", "labels": {"provider": "aws"}}},
    ]})
}

/// The `object` of a sample, in the namespace of the world.
fn sample(world: &World<'_>, file: &str) -> Value {
    let text = std::fs::read_to_string(Path::new(SAMPLES).join(file)).unwrap();
    let mut review: Value = serde_json::from_str(&text).unwrap();
    let mut object = review["request"]["object"].take();
    object["metadata"]["namespace"] = world.namespace().into();
    object
}

fn pod(annotations: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "train-", "annotations": annotations},
        "spec": {"containers": [{"name": "train", "image": "train"}]}})
}

#[test]
fn a_pod_that_asks_arrives_with_the_annotation_that_admiralty_lets_through() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "pods");
    let server = serve(&world, &targets(&world));
    world.hook(Hook::Pods, &server, &[]);
    let admin = plane.admin();
    let create = |annotations: &Value| admin.create(&world.pods(), &pod(annotations));

    let asking = create(&json!({(ELECT): "", (ASKS): "use-v100-32G"})).ok();
    assert_eq!(
        asking["metadata"]["annotations"],
        json!({(ELECT): "", (ASKS): "use-v100-32G", (OURS): "use-v100-32G"})
    );
    // Objects that the configuration does not select are written while the server is gone.
    assert_eq!(server.end(Signal::TERM).code, Some(0));
    for annotations in [json!({}), json!({(ELECT): ""}), json!({(ASKS): "use-v100-32G"})] {
        let stored = create(&annotations).ok();
        assert!(stored["metadata"]["annotations"].get(OURS).is_none(), "{stored}");
    }
    let refused = create(&json!({(ELECT): "", (ASKS): "use-v100-32G"}));
    assert!(refused.refused(500).contains("failed calling webhook \"pods.reviser.io\""), "{}", refused.text);
}

/// The node selector of the sample's chaperon in a target named `target` by the source.
fn node_selector(plane: &ControlPlane, name: &'static str, target: &str, file: &str) -> Value {
    let world = World::new(plane, name);
    let server = serve(&world, &targets(&world));
    world.hook(Hook::Chaperons(target), &server, &[]);
    let created = plane.admin().create(&world.chaperons(), &sample(&world, file)).ok();
    assert!(created["metadata"]["name"].is_string(), "{created}");
    created["spec"]["nodeSelector"].clone()
}

#[test]
fn a_chaperon_is_transformed_for_the_target_of_the_path() {
    let Some(plane) = ControlPlane::shared() else { return };
    let eu = node_selector(plane, "chaperons-eu", "eu", "02-create-chaperon-eu.json");
    assert_eq!(eu, json!({"gpu-model": "V100", "gpu-memory": "32GB"}));
    let oregon = node_selector(plane, "chaperons-oregon", "oregon", "03-create-chaperon-oregon.json");
    assert_eq!(oregon, json!({"node.kubernetes.io/instance-type": "p3dn.24xlarge"}));
}

#[test]
fn the_refusal_of_a_chaperon_names_the_fix() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "misspelt");
    let server = serve(&world, &targets(&world));
    world.hook(Hook::Chaperons("eu"), &server, &[]);
    let misspelt = sample(&world, "04-create-chaperon-misspelt.json");
    let Some(ran) = kubectl(plane, "admin", &["create", "-f", "-"], &misspelt.to_string()) else { return };
    assert!(!ran.ok && ran.stdout.is_empty(), "{ran:?}");
    for part in ["admission webhook \"podchaperons.reviser.io\" denied the request", "use-v100-32G"] {
        assert!(ran.stderr.contains(part), "no {part:?} in {}", ran.stderr);
    }
}

#[test]
fn objects_without_a_transformation_need_no_server() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "plain");
    let server = serve(&world, &targets(&world));
    world.hook(Hook::Chaperons("eu"), &server, &[]);
    let admin = plane.admin();
    let transformed = admin.create(&world.chaperons(), &sample(&world, "02-create-chaperon-eu.json")).ok();
    drop(server);

    let plain = sample(&world, "05-create-chaperon-plain.json");
    assert_eq!(admin.create(&world.chaperons(), &plain).ok()["spec"], plain["spec"]);
    let refused = admin.create(&world.chaperons(), &sample(&world, "02-create-chaperon-eu.json"));
    assert!(refused.refused(500).contains("failed calling webhook \"podchaperons.reviser.io\""));
    // Existing objects can be updated and deleted without a server.
    let path = format!("{}/{}", world.chaperons(), transformed["metadata"]["name"].as_str().unwrap());
    let labelled = json!({"metadata": {"labels": {"team": "research"}}});
    admin.patch(&path, crate::support::client::MERGE, &labelled).ok();
    admin.delete(&path).ok();
    admin.get(&path).refused(404);
}

#[test]
fn a_selector_of_targets_is_an_error_of_ours_where_nothing_is_known_about_the_target() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "unknown-target");
    let server = serve(&world, &json!({"apiVersion": "v1", "kind": "List", "items": []}));
    world.hook(Hook::Chaperons("eu"), &server, &[]);
    let refused = plane.admin().create(&world.chaperons(), &sample(&world, "02-create-chaperon-eu.json"));
    assert!(
        refused.refused(500).contains("give its Target, ClusterTarget or Cluster document"),
        "{}",
        refused.text
    );
}

#[test]
fn labels_and_annotations_of_admiralty_stay_whatever_a_rule_does() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "kept-keys");
    let policies = world.policies(
        "policies.yaml",
        r#"apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: labels}
spec:
  resourceSelectors: [{apiVersion: multicluster.admiralty.io/v1alpha1, kind: PodChaperon}]
  rules:
  - name: replace
    when: has(object.metadata.annotations.replace)
    patch: {type: JSON, value: [{op: replace, path: '/metadata/${"labels"}', value: {team: research}}]}
  - name: add
    patch: {type: Merge, value: {metadata: {labels: "${ {'team': 'research'} }"}}}
---
kind: TargetPodTransformation
metadata: {name: retain}
transformations:
- {targetSelector: {}, patch: {metadata: {labels: {$retainKeys: [team], team: research}}}}
"#,
    );
    let policies = policies.to_str().unwrap();
    let server = world.server_with_state(&["-p", policies]);
    world.hook(Hook::Chaperons("eu"), &server, &["-p", policies]);
    let labels = json!({"app": "a", "multicluster.admiralty.io/parent-uid": "1", "multicluster.admiralty.io/app": "a"});
    let create = |annotations: &Value| {
        let mut object = sample(&world, "05-create-chaperon-plain.json");
        object["metadata"]["labels"] = labels.clone();
        object["metadata"]["annotations"] = annotations.clone();
        plane.admin().create(&world.chaperons(), &object)
    };
    let mut expected = labels.clone();
    expected["team"] = "research".into();
    let kept = json!({"multicluster.admiralty.io/parent-name": "train"});
    let stored = create(&kept).ok();
    assert_eq!(
        (&stored["metadata"]["labels"], &stored["metadata"]["annotations"]),
        (&expected, &kept),
        "{stored}"
    );
    for (annotations, problem) in [
        (
            json!({"replace": ""}),
            "ClusterRevisionPolicy/labels rule \"replace\" cluster \"eu\": /metadata/labels/multicluster.admiralty.io~1",
        ),
        (
            json!({(OURS): "retain"}),
            "TargetPodTransformation/retain cluster \"eu\": /metadata/labels/multicluster.admiralty.io~1",
        ),
    ] {
        let refused = create(&annotations);
        assert!(refused.refused(422).contains(problem), "{}", refused.text);
    }
}

#[test]
fn a_pod_that_admiralty_has_saved_before_is_refused() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "saved-pods");
    let server = serve(&world, &targets(&world));
    world.hook(Hook::Pods, &server, &[]);
    let saved = json!({(ELECT): "", (ASKS): "use-v100-32G", "multicluster.admiralty.io/sourcepod-manifest": "kind: Pod"});
    let refused = plane.admin().create(&world.pods(), &pod(&saved));
    assert!(refused.refused(422).contains("Admiralty has saved the pod already"), "{}", refused.text);
}

/// The `yaml` blocks of docs/admiralty.md with this kind.
fn documented(kind: &str) -> Vec<Value> {
    let document =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/admiralty.md")).unwrap();
    let blocks = document.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let block = blocks.into_iter().find(|block| block.contains(&format!("kind: {kind}\n"))).unwrap();
    let documents = ::reviser::yaml::documents(block).unwrap();
    documents.iter().map(|document| serde_json::from_str(&document.value.to_string()).unwrap()).collect()
}

#[test]
fn the_policy_of_the_documents_refuses_what_no_configuration_of_a_source_selects() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "sources");
    let admin = plane.admin();
    let [policy, binding] = &mut documented("ValidatingAdmissionPolicy")[..] else { panic!("two documents") };
    // For this world only, with one of its sources.
    policy["spec"]["matchConstraints"]["namespaceSelector"] = json!({"matchLabels": {(WORLD): world.name()}});
    let expression = policy["spec"]["validations"][0]["expression"].as_str().unwrap();
    policy["spec"]["validations"][0]["expression"] = expression.replace("SOURCE", "berlin").into();
    let collection = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    admin.create(collection, policy).ok();
    admin.create(&collection.replace("policies", "policybindings"), binding).ok();
    let create = |labels: &Value, annotations: &Value, form: &str| {
        let mut object = sample(&world, "05-create-chaperon-plain.json");
        object["metadata"]["labels"] = labels.clone();
        object["metadata"]["annotations"] = annotations.clone();
        admin.create(&format!("{}{form}", world.chaperons()), &object)
    };
    let (parent, names) = ("multicluster.admiralty.io/parent-cluster-name", json!({(OURS): "use-v100-32G"}));
    let empty = json!({(parent): ""});
    until("the API server applies the policy", || !create(&empty, &names, "?dryRun=All").is_ok());
    for labels in [empty.clone(), json!({(parent): "bonn"}), json!({})] {
        let refused = create(&labels, &names, "");
        assert!(
            refused.refused(422).contains("install Admiralty in the source with clusterName"),
            "{}",
            refused.text
        );
    }
    create(&json!({(parent): "berlin"}), &names, "").ok();
    create(&empty, &json!({}), "").ok();
}
