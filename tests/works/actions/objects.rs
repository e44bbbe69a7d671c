//! Random manifests of a built-in and of a custom kind, with and without the fields that rules use.

use proptest::prelude::*;
use proptest::sample::select;

/// Karmada's manifests always have labels and annotations, as all recordings show.
const ANNOTATIONS: &[&str] = &[
    r#""labels":{"karmada.io/managed":"true"},"annotations":{"work.karmada.io/name":"w"},"#,
    r#""annotations":{"own":"1","work.karmada.io/name":"w","example.com/x":""},"labels":{"app":"a","karmada.io/managed":"true"},"#,
    r#""labels":{"app":"a","cluster":"old","karmada.io/managed":"true"},"annotations":{"work.karmada.io/name":"w"},"#,
];

const ENV: &[&str] = &[
    "",
    r#","env":null"#,
    r#","env":[]"#,
    r#","env":[{"name":"A","value":"1"}]"#,
    r#","env":[{"name":"B"},{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"x"}}},{"name":"C","value":""}]"#,
    r#","env":[{"name":"A"},{"name":"A","value":"again"}]"#,
];

const IMAGES: &[&str] = &[
    "",
    r#","image":"nginx""#,
    r#","image":"docker.io/library/nginx:1.27""#,
    r#","image":"r.example.com:5000/team/app:v1@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855""#,
    r#","image":"ubuntu/nginx","ports":[{"containerPort":80},{"containerPort":80,"protocol":"UDP"}]"#,
];

fn container(name: &'static str) -> impl Strategy<Value = String> {
    (select(ENV), select(IMAGES)).prop_map(move |(env, image)| format!(r#"{{"name":"{name}"{image}{env}}}"#))
}

fn template() -> impl Strategy<Value = String> {
    let containers = (container("a"), container("b"), 0..3usize).prop_map(|(a, b, count)| {
        let containers = [a, b];
        format!(r#""containers":[{}]"#, containers[..count].join(","))
    });
    let init = prop_oneof![
        2 => Just(String::new()),
        1 => container("i").prop_map(|init| format!(r#""initContainers":[{init}],"#)),
    ];
    let rest = select(vec![
        "",
        r#""nodeSelector":{"zone":"old","disk":"ssd"},"#,
        r#""tolerations":[{"key":"x"}],"nodeSelector":null,"#,
        r#""volumes":[{"name":"config","configMap":{"name":"c"}}],"#,
    ]);
    (init, rest, containers)
        .prop_map(|(init, rest, containers)| format!(r#"{{"spec":{{{init}{rest}{containers}}}}}"#))
}

pub(crate) fn any_manifest() -> impl Strategy<Value = String> {
    let partition = select(vec![
        "",
        r#""partition":null,"#,
        r#""partition":7,"#,
        r#""partition":0,"maxSurge":"25%","#,
        r#""partition":"30%","maxSurge":3,"#,
        r#""partition":true,"#,
    ]);
    let rest = select(vec![
        "",
        r#","list":[1,2.50,"x"],"count":3"#,
        r#","map":{"a":1e2,"b":{},"c":null},"count":1"#,
        r#","list":[],"map":{"b":[{"g":-0.0}]}"#,
        r#","steps":[{"type":"Fort","properties":{"pull":"false"}},{"type":"Batch"},{"type":"Fort","properties":null}]"#,
        r#","steps":null,"list":{}"#,
    ]);
    let kind = select(vec![("apps/v1", "Deployment"), ("a.example.com/v1", "Train")]);
    (kind, select(ANNOTATIONS), partition, template(), rest, 0..4i64).prop_map(
        |((api_version, kind), annotations, partition, template, rest, replicas)| {
            format!(
                r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{{annotations}"name":"n","namespace":"shop"}},"spec":{{"replicas":{replicas},{partition}"template":{template}{rest}}}}}"#
            )
        },
    )
}
