//! Random policies of all actions.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use reviser::engine::PolicySet;
use reviser::json::Value;
use reviser::{policy, yaml};

/// Rules: each action with and without expressions, patches that grow at each application, and patches that
/// fail on some objects.
const ACTIONS: &[&str] = &[
    "env: {name: A, value: one}",
    "env: {name: B, value: '${cluster.name} of ${binding.replicas}', initContainers: true}",
    "env: {name: A, remove: true}",
    "env: {name: C, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}, containers: [a]}",
    "image: {registry: '${cluster.region}.example.com'}",
    "image: {tag: 'v${replicas}', containers: [a]}",
    "image: {repository: x/y, digest: ''}",
    "divide: {path: /spec/partition}",
    "divide: {path: /spec/maxSurge, percentages: Scale, weights: Equal}",
    "divide: {path: /spec/count, minimum: 1}",
    "patch: {type: Strategic, value: {spec: {template: {spec: {nodeSelector: {zone: '${cluster.zone}', disk: null}}}}}}",
    "patch: {type: Strategic, value: {metadata: {labels: {cluster: '${cluster.name}'}, annotations: {own: null}}}}",
    "patch: {type: Strategic, value: {spec: {template: {spec: {containers: [{name: a, resources: {limits: {cpu: '2'}}}, {$patch: delete, name: b}], $setElementOrder/containers: [{name: b}, {name: a}]}}}}}",
    "patch: {type: Strategic, value: {spec: {template: {spec: {tolerations: [{key: z}], volumes: [{name: config, configMap: {name: 'c-${cluster.name}'}}]}}}}}",
    "patch: {type: Strategic, value: {spec: {template: {spec: {nodeSelector: {$patch: replace, only: this}}}}}}",
    "patch: {type: Merge, value: {spec: {map: {a: 1, c: {d: []}, e: '${replicas}'}, list: null}}}",
    "patch: {type: Merge, value: {spec: {map: null, count: '${object.spec.?count.orValue(0) + 1}'}}}",
    "patch: {type: Merge, value: {spec: {list: '${object.spec.list + [replicas]}'}}}",
    "patch: {type: Merge, value: {spec: {seen: '${object.spec}'}}}",
    "patch: {type: Merge, value: \"${ {'spec': {'host': allocations.fort == cluster.name}} }\"}",
    "patch: {type: JSON, value: [{op: add, path: /spec/list/-, value: 9}]}",
    "patch: {type: JSON, missingPath: Skip, value: [{op: remove, path: /spec/list/0}, {op: remove, path: /spec/map/b}]}",
    "patch: {type: JSON, missingPath: Create, value: [{op: add, path: /spec/list/0, value: {g: 0.0}}, {op: replace, path: /spec/new/deep, value: 1}]}",
    "patch: {type: JSON, missingPath: Skip, value: [{op: move, from: /spec/count, path: /spec/moved}, {op: copy, from: /spec/map, path: /spec/copied}]}",
    "patch: {type: Merge, value: '# nothing'}",
];

const FORT: &str =
    "fort: {allocation: fort, steps: /spec/steps, match: {type: Fort}, field: /properties/pull}";

const REST: &[&str] = &[
    "",
    "",
    "onError: Skip, ",
    "when: replicas > 1, ",
    "when: has(object.spec.count) && object.spec.count > 2, ",
    "onError: Skip, when: object.spec.map.a == 1, ",
    "targetCluster: {clusterNames: ['x*']}, ",
    "targetCluster: {labelSelector: {matchLabels: {tier: silver}}}, ",
    "targetCluster: {fieldSelector: {matchExpressions: [{key: region, operator: In, values: [eu]}]}}, ",
];

const SELECTORS: &str =
    "[{apiVersion: apps/v1, kind: Deployment}, {apiVersion: a.example.com/v1, kind: Train}]";

fn any_rule() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => (select(REST), select(ACTIONS)).prop_map(|(rest, action)| format!("{rest}{action}")),
        1 => Just(FORT.to_owned()),
    ]
}

/// The rules of one policy.
fn any_rules() -> impl Strategy<Value = String> {
    proptest::collection::vec(any_rule(), 1..5).prop_map(|rules| {
        let rules: Vec<String> =
            rules.iter().enumerate().map(|(at, rule)| format!("{{name: r{at}, {rule}}}")).collect();
        rules.join(", ")
    })
}

/// Up to three policies, in YAML; one of them defines the allocation.
pub(crate) fn any_documents() -> impl Strategy<Value = Vec<String>> {
    let owners = vec![
        "kind: ClusterRevisionPolicy, metadata: {name: a}",
        "kind: ClusterRevisionPolicy, metadata: {name: b}",
        "kind: RevisionPolicy, metadata: {name: a, namespace: shop}",
    ];
    let owned = subsequence(owners, 1..=3);
    (owned, proptest::collection::vec((any_rules(), -1..2i64), 3)).prop_map(|(owners, policies)| {
        let document = |(at, (owner, (rules, priority))): (usize, (&str, (String, i64)))| {
            let allocations = if at == 0 { "allocations: [{name: fort}], " } else { "" };
            format!(
                "{{apiVersion: reviser.io/v1alpha1, {owner}, spec: {{priority: {priority}, resourceSelectors: {SELECTORS}, {allocations}rules: [{rules}]}}}}"
            )
        };
        owners.into_iter().zip(policies).enumerate().map(document).collect()
    })
}

/// Compiles these documents.
pub(crate) fn compiled(documents: &[String]) -> PolicySet {
    let documents: Vec<Value<'static>> = documents
        .iter()
        .flat_map(|text| yaml::documents(text).unwrap_or_else(|error| panic!("{error}: {text}")))
        .map(|document| document.value)
        .collect();
    policy::compile(&documents).unwrap_or_else(|findings| panic!("{findings:#?}"))
}
