//! Policy documents: read, compiled, and applied to an object.

use std::sync::Arc;

use reviser::domain::{ClusterName, GroupVersionKind, Schedule, Target, TargetCluster, Workload};
use reviser::json::{Text, Value};
use reviser::service::Service;
use reviser::state::memory::MemoryLedger;
use reviser::{policy, yaml};

use crate::fuzz;
use crate::mutate::mutated;
use crate::random::Random;

const DOCUMENTS: &[&str] = &[
    policy::BUILT_IN,
    "apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: all}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  allocations: [{name: fort}]
  variables:
  - {name: a, expression: 'object.spec.replicas + replicas'}
  rules:
  - {name: env, when: 'replicas >= 0', env: {name: CLUSTER, value: 'c-${cluster.name}-${variables.a}'}}
  - {name: image, onError: Skip, image: {registry: r.example.com, tag: 'v${replicas}'}}
  - {name: divide, divide: {path: /spec/replicas, weights: Replicas, minimum: 1}}
  - name: strategic
    patch: {type: Strategic, value: {spec: {template: {spec: {containers: [{name: app, env: [{name: B, value: '${string(size(binding.clusters))}'}]}]}}}}}
  - {name: merge, patch: {type: Merge, value: '{spec: {paused: null, x: ${object.metadata.labels}}}'}}
  - name: json
    onError: Skip
    patch: {type: JSON, missingPath: Create, value: [{op: add, path: /spec/new/deep, value: '${allocations.fort}'}, {op: move, from: /spec/new, path: /spec/old}]}
",
    "apiVersion: reviser.io/v1alpha1
kind: ResourceInterpretation
metadata: {name: d}
spec: {target: {apiVersion: apps/v1, kind: Deployment}, replicaResource: {replicas: /spec/replicas, podTemplate: /spec/template}}
",
];

const OBJECT: &str = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"}},"spec":{"replicas":5,"paused":true,"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"app","image":"nginx:1.27","env":[{"name":"B","value":"1"}]},{"name":"side","image":"ubuntu/nginx"}],"initContainers":null}}}}"#;

fn make(random: &mut Random) -> String {
    let mut documents: Vec<String> = DOCUMENTS.iter().map(|text| (*text).to_owned()).collect();
    let wrong = random.below(documents.len());
    documents[wrong] = mutated(&documents[wrong], random);
    documents.join("\n---\n")
}

fn run(input: &str) -> String {
    let documents = match yaml::documents(input) {
        Ok(documents) => documents,
        Err(error) => return error.to_string(),
    };
    let values: Vec<Value<'static>> = documents.into_iter().map(|document| document.value).collect();
    let compiled = policy::compile(&values);
    // Custom resources are accepted exactly if the same files are.
    let reports = policy::admit(&values).reports;
    assert_eq!(reports.iter().all(policy::DocumentReport::is_active), compiled.is_ok(), "{reports:?}");
    let set = match compiled {
        Ok(set) => set,
        Err(findings) => {
            assert!(!findings.is_empty());
            return format!("{findings:?}");
        }
    };
    let service = Service::new(set, Arc::new(MemoryLedger::default()));
    let text = Text::parse(OBJECT.as_bytes()).unwrap();
    let workload = Workload {
        gvk: GroupVersionKind::of("apps/v1", "Deployment"),
        namespace: "shop".into(),
        name: "web".into(),
    };
    let name = |name: &str| ClusterName::new(name).unwrap();
    let clusters =
        [("x", 3), ("z", 1)].map(|(cluster, replicas)| TargetCluster { name: name(cluster), replicas });
    let schedule = Schedule::new(clusters.to_vec()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut outcome = String::new();
    for cluster in ["x", "z"] {
        let replicas = schedule.replicas_of(&name(cluster));
        let target =
            Target { cluster: name(cluster), replicas, schedule: Some(schedule.clone()), original: None };
        let revised = runtime.block_on(service.revise(&workload, &text.root().into(), &target));
        outcome.push_str(&match revised {
            // A debug build compares the patch with another implementation.
            Ok(revised) => revised.object.patch().to_text(),
            Err(failure) => failure.message(),
        });
    }
    assert!(outcome.len() < 4 << 20, "it grew to {} bytes", outcome.len());
    outcome
}

#[test]
fn documents_are_refused_or_applied() {
    fuzz(make, run);
}
