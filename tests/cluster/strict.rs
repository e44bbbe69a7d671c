//! Random policies on every built-in workload kind: a real API server accepts what `preview` accepts.
//!
//! The server validates fields strictly and writes nothing. Rules that `preview` refuses or warns about are
//! skipped; the test checks that enough remain.

use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::process::reviser;
use crate::support::plane::ControlPlane;
use crate::support::world::World;

/// The default of `REVISER_TEST_POLICIES`.
const POLICIES: usize = 200;

/// The API group, the kind, the path of its collection, and the place of its pod template.
const KINDS: [(&str, &str, &str, &[&str]); 8] = [
    ("v1", "Pod", "pods", &[]),
    ("v1", "ReplicationController", "replicationcontrollers", &["spec", "template"]),
    ("apps/v1", "Deployment", "deployments", &["spec", "template"]),
    ("apps/v1", "ReplicaSet", "replicasets", &["spec", "template"]),
    ("apps/v1", "StatefulSet", "statefulsets", &["spec", "template"]),
    ("apps/v1", "DaemonSet", "daemonsets", &["spec", "template"]),
    ("batch/v1", "Job", "jobs", &["spec", "template"]),
    ("batch/v1", "CronJob", "cronjobs", &["spec", "jobTemplate", "spec", "template"]),
];

/// Strategic merge patches of a pod, or of a pod template. Some are refused by every API server.
const POD_PATCHES: &[&str] = &[
    "{metadata: {labels: {share: '${replicas}'}}}",
    "{metadata: {labels: {app: other}}}",
    "{metadata: {annotations: {example.com/of: '${binding.replicas}', example.com/first: '${cluster.name == \"a\"}'}}}",
    "{metadata: {annotations: '${{\"example.com/n\": replicas}}'}}",
    "{metadata: {labels: {'not a key': x}}}",
    "{metadata: {labels: {bad: 'not a value!'}}}",
    "{spec: {nodeSelector: {zone: 'z-${replicas}', count: '${replicas}'}}}",
    "{spec: {tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]}}",
    "{spec: {tolerations: [{key: gpu, operator: Exists, value: x}]}}",
    "{spec: {terminationGracePeriodSeconds: '${replicas * 10}'}}",
    "{spec: {terminationGracePeriodSeconds: '${replicas - 20}'}}",
    "{spec: {volumes: [{name: data, configMap: {name: 'c-${cluster.name}'}}]}}",
    "{spec: {volumes: [{name: more, configMap: {name: 'c-${cluster.name}', defaultMode: 420}}]}}",
    "{spec: {volumes: [{name: data, $patch: delete}]}}",
    "{spec: {containers: [{name: main, env: [{name: N, value: '${replicas}'}]}]}}",
    "{spec: {containers: [{name: main, env: [{name: HOST, value: x, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]}]}}",
    "{spec: {containers: [{name: main, resources: {limits: {cpu: '${replicas}', memory: 64Mi}}}]}}",
    "{spec: {containers: [{name: main, resources: {requests: {cpu: '4'}}}]}}",
    "{spec: {containers: [{name: main, ports: [{containerPort: '${8080 + replicas}', name: extra}]}]}}",
    "{spec: {containers: [{name: main, ports: [{containerPort: 80, protocol: UDP}]}]}}",
    "{spec: {containers: [{name: main, ports: [{containerPort: 70000}]}]}}",
    "{spec: {containers: [{name: main, volumeMounts: [{name: data, mountPath: /data/more}]}]}}",
    "{spec: {containers: [{name: main, volumeMounts: [{name: none, mountPath: /none}]}]}}",
    "{spec: {containers: [{name: side, image: 'side:${replicas}'}]}}",
    "{spec: {containers: [{name: side}]}}",
    "{spec: {containers: [{name: Main_2, image: a}]}}",
    "{spec: {containers: [{name: main, imagePullPolicy: '${replicas > 2 ? \"Always\" : \"Sometimes\"}'}]}}",
    "{spec: {containers: [{name: main, livenessProbe: {httpGet: {port: http, path: /}, exec: {command: [x]}}}]}}",
    "{spec: {containers: [{name: main, args: ['--replicas=${replicas}']}]}}",
    "{spec: {hostNetwork: true}}",
    "{spec: {dnsPolicy: '${cluster.name == \"a\" ? \"Default\" : \"Any\"}'}}",
    "{spec: {priorityClassName: ''}}",
    "{spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: ['${cluster.name}']}]}]}}}}}",
    "{spec: {topologySpreadConstraints: [{maxSkew: '${replicas}', topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]}}",
    "{spec: {topologySpreadConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}}",
];

/// Patches of whole objects, by kind. Some are refused by every API server.
const OBJECT_PATCHES: &[(&str, &str)] = &[
    ("", "{metadata: {labels: {cluster: '${cluster.name}', share: '${replicas}'}}}"),
    ("", "{metadata: {annotations: {example.com/of: '${binding.replicas}'}}}"),
    ("", "{metadata: {labels: {'${cluster.name}/x/y': z}}}"),
    ("Deployment", "{spec: {replicas: '${replicas}', minReadySeconds: '${replicas}'}}"),
    ("Deployment", "{spec: {strategy: {rollingUpdate: {maxSurge: '${replicas - 1}', maxUnavailable: 0}}}}"),
    ("Deployment", "{spec: {strategy: {type: Recreate}}}"),
    (
        "Deployment",
        "{spec: {progressDeadlineSeconds: '${replicas * 200}', minReadySeconds: '${replicas * 100}'}}",
    ),
    ("Deployment", "{spec: {selector: {matchLabels: {app: other}}}}"),
    ("StatefulSet", "{spec: {updateStrategy: {rollingUpdate: {partition: '${replicas - 1}'}}}}"),
    ("StatefulSet", "{spec: {podManagementPolicy: '${replicas > 1 ? \"Parallel\" : \"Serial\"}'}}"),
    ("StatefulSet", "{spec: {ordinals: {start: '${replicas - 2}'}}}"),
    (
        "DaemonSet",
        "{spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: '${replicas - 1}'}}}}",
    ),
    ("DaemonSet", "{spec: {revisionHistoryLimit: '${replicas - 2}'}}"),
    ("ReplicaSet", "{spec: {replicas: '${replicas - 2}'}}"),
    ("ReplicationController", "{spec: {replicas: '${replicas}', minReadySeconds: 3}}"),
    ("Job", "{spec: {parallelism: '${replicas}', completions: '${binding.replicas}'}}"),
    ("Job", "{spec: {backoffLimit: '${replicas - 2}'}}"),
    ("Job", "{spec: {template: {spec: {restartPolicy: Always}}}}"),
    ("CronJob", "{spec: {suspend: '${cluster.name != \"a\"}'}}"),
    ("CronJob", "{spec: {schedule: '${replicas} * * * *'}}"),
    ("CronJob", "{spec: {schedule: ''}}"),
    ("CronJob", "{spec: {concurrencyPolicy: '${replicas > 1 ? \"Forbid\" : \"Never\"}'}}"),
];

const OTHER_ACTIONS: &[&str] = &[
    "env: {name: CLUSTER, value: '${cluster.name}'}",
    "env: {name: COUNT, value: '${replicas}', initContainers: true}",
    "env: {name: HOST, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}, containers: [main]}",
    "env: {name: MODE, remove: true}",
    "env: {name: '1 2', value: x}",
    "image: {registry: '${cluster.name}.example.com:5000'}",
    "image: {tag: 'v${replicas}', containers: [main]}",
];

/// The action of a rule, by kind.
#[derive(Clone, Debug)]
enum RandomRule {
    Pod(&'static str),
    Object(&'static str, &'static str),
    Other(&'static str),
}

impl RandomRule {
    /// The action in a policy for a kind; `None` if the rule does not apply to it.
    fn action(&self, kind: &str, template: &[&str]) -> Option<String> {
        match self {
            Self::Pod(patch) => {
                let mut value = (*patch).to_owned();
                for step in template.iter().rev() {
                    value = format!("{{{step}: {value}}}");
                }
                Some(format!("patch: {{type: Strategic, value: {value}}}"))
            }
            Self::Object(of, _) if !of.is_empty() && *of != kind => None,
            Self::Object(_, patch) => Some(format!("patch: {{type: Strategic, value: {patch}}}")),
            Self::Other(action) => Some((*action).to_owned()),
        }
    }
}

fn any_rules() -> impl Strategy<Value = Vec<RandomRule>> {
    let rule = prop_oneof![
        3 => select(POD_PATCHES).prop_map(RandomRule::Pod),
        3 => select(OBJECT_PATCHES).prop_map(|(kind, patch)| RandomRule::Object(kind, patch)),
        2 => select(OTHER_ACTIONS).prop_map(RandomRule::Other),
    ];
    proptest::collection::vec(rule, 1..4)
}

/// A policy for one kind with these rules; `None` if no rule applies.
fn policy(rules: &[RandomRule], api_version: &str, kind: &str, template: &[&str]) -> Option<String> {
    let actions = rules.iter().filter_map(|rule| rule.action(kind, template)).enumerate();
    let rules: Vec<String> = actions.map(|(at, action)| format!("{{name: r{at}, {action}}}")).collect();
    (!rules.is_empty()).then(|| {
        format!(
            "{{apiVersion: reviser.io/v1alpha1, kind: ClusterRevisionPolicy, metadata: {{name: p}}, spec: {{resourceSelectors: [{{apiVersion: {api_version}, kind: {kind}}}], rules: [{}]}}}}",
            rules.join(", ")
        )
    })
}

/// A valid object of a kind.
fn object(api_version: &str, kind: &str, namespace: &str, template: &[&str]) -> Value {
    let mut pod = json!({
        "metadata": {"labels": {"app": "web"}, "annotations": {"example.com/own": "1"}},
        "spec": {
            "initContainers": [{"name": "init", "image": "init:1"}],
            "containers": [{
                "name": "main", "image": "web:1", "env": [{"name": "MODE", "value": "ro"}],
                "ports": [{"name": "http", "containerPort": 80}],
                "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "2"}},
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
            }],
            "volumes": [{"name": "data", "emptyDir": {}}],
        },
    });
    let selector = json!({"matchLabels": {"app": "web"}});
    let mut object = match kind {
        "Pod" => pod.clone(),
        "ReplicationController" => json!({"spec": {"replicas": 2, "selector": {"app": "web"}}}),
        "Deployment" | "ReplicaSet" => json!({"spec": {"replicas": 2, "selector": selector}}),
        "StatefulSet" => json!({"spec": {"replicas": 2, "serviceName": "web", "selector": selector}}),
        "DaemonSet" => json!({"spec": {"selector": selector}}),
        "Job" => json!({"spec": {"parallelism": 1}}),
        _ => json!({"spec": {"schedule": "0 2 * * *", "jobTemplate": {"spec": {}}}}),
    };
    if kind.ends_with("Job") {
        pod["spec"]["restartPolicy"] = "Never".into();
    }
    if !template.is_empty() {
        *template.iter().fold(&mut object, |at, step| &mut at[*step]) = pod;
    }
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    let metadata = json!({"name": "web", "namespace": namespace, "labels": {"app": "web", "team": "a"},
        "annotations": {"example.com/own": "1"}});
    object["metadata"] = metadata;
    object
}

/// The output of `preview` for two clusters; empty if it refuses or warns.
fn fine(directory: &Path, policy: &str, object: &Value) -> Vec<Value> {
    let write = |file: &str, text: &str| {
        let path = directory.join(file);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (policy, object) = (write("policy.yaml", policy), write("object.json", &object.to_string()));
    let done = reviser(["preview", "-p", &policy, "-f", &object, "--clusters", "a=3,b=1", "-o", "json"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr);
    let Ok(printed) = serde_json::from_slice::<Value>(&done.stdout) else { return Vec::new() };
    let clusters = printed["clusters"].as_array().unwrap().iter();
    let warned = |name: &str| {
        stderr
            .lines()
            .any(|line| line.starts_with("warning: ") && line.contains(&format!("cluster {name:?}")))
    };
    clusters
        .filter(|cluster| !warned(cluster["name"].as_str().unwrap()))
        .filter_map(|cluster| cluster.get("object").cloned())
        .collect()
}

/// The keys of a map of strings, in the metadata of an object.
fn keys(object: &Value, map: &str) -> Vec<String> {
    let members = object["metadata"][map].as_object().unwrap();
    members
        .iter()
        .map(|(key, value)| {
            assert!(value.is_string(), "{object}");
            key.clone()
        })
        .collect()
}

#[test]
fn an_api_server_accepts_what_preview_accepts() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "strict");
    let policies = std::env::var("REVISER_TEST_POLICIES").ok().and_then(|text| text.parse().ok());
    let policies: usize = policies.unwrap_or(POLICIES);
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (mut tried, mut taken, mut failures) = (0, 0, String::new());
    for number in 0..policies {
        let rules = any_rules().new_tree(&mut runner).unwrap().current();
        // Each policy on one kind, so all kinds have an equal share.
        for (api_version, kind, collection, template) in
            [KINDS[number % KINDS.len()], KINDS[(number / 8) % KINDS.len()]]
        {
            let Some(policy) = policy(&rules, api_version, kind, template) else { continue };
            let object = object(api_version, kind, world.namespace(), template);
            let prefix = if api_version.contains('/') { "apis" } else { "api" };
            let path = format!(
                "/{prefix}/{api_version}/namespaces/{}/{collection}?dryRun=All&fieldValidation=Strict",
                world.namespace()
            );
            tried += 2;
            for revised in fine(world.directory(), &policy, &object) {
                taken += 1;
                for map in ["labels", "annotations"] {
                    let after = keys(&revised, map);
                    assert!(keys(&object, map).iter().all(|key| after.contains(key)), "{policy}: {revised}");
                }
                let reply = plane.admin().create(&path, &revised);
                if !reply.is_ok() {
                    writeln!(failures, "{policy}\n  {kind}: {} {}", reply.code, reply.message()).unwrap();
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(taken * 4 > tried && taken < tried, "{taken} of {tried} were fine");
}
