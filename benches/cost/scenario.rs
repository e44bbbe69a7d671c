//! What is sent, as data: the captures of a real Karmada, made compact as they travel, and the bars.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::load::{Body, Expect, Protocol};

/// One kind of request and what it may cost.
pub(crate) struct Scenario {
    /// What is asked.
    pub(crate) name: &'static str,
    /// HTTP/1.1 or HTTP/2.
    pub(crate) protocol: Protocol,
    /// Where the request goes.
    pub(crate) path: &'static str,
    /// Builds the body.
    pub(crate) body: fn() -> anyhow::Result<Body>,
    /// What the reply of reviser must be like.
    pub(crate) expect: Expect,
    /// The most that reviser may cost, as a multiple of the floor. `None`: for information.
    pub(crate) bar: Option<f64>,
}

/// A changed object: a patch that is not the empty one (`[]` in base64).
const PATCHED: Expect = Expect {
    echo: true,
    holds: &[r#""successful":true"#, r#""patchType":"JSONPatch""#],
    lacks: Some(r#""patch":"W10=""#),
};

/// A Work that is changed on its way in.
const ADMITTED: Expect = Expect {
    echo: true,
    holds: &[r#""allowed":true"#, r#""patchType":"JSONPatch""#],
    lacks: Some("warnings"),
};

/// All of them, in the order in which they are measured.
pub(crate) const SCENARIOS: [Scenario; 5] = [
    Scenario {
        name: "ReviseReplica",
        protocol: Protocol::Http1,
        path: "/interpret",
        body: revise_replica,
        expect: PATCHED,
        bar: Some(2.3),
    },
    Scenario {
        name: "ReviseReplica",
        protocol: Protocol::Http2,
        path: "/interpret",
        body: revise_replica,
        expect: PATCHED,
        bar: Some(2.3),
    },
    Scenario {
        name: "ReviseObject, 3 rules",
        protocol: Protocol::Http1,
        path: "/interpret",
        body: revise_object,
        expect: PATCHED,
        bar: Some(4.5),
    },
    Scenario {
        name: "InterpretReplica",
        protocol: Protocol::Http1,
        path: "/interpret",
        body: interpret_replica,
        expect: Expect { echo: true, holds: &[r#""successful":true"#, r#""replicas":4"#], lacks: None },
        bar: None,
    },
    Scenario {
        name: "Work admission, 3 rules",
        protocol: Protocol::Http1,
        path: "/mutate/works",
        body: work_update,
        expect: ADMITTED,
        bar: Some(6.5),
    },
];

/// The binding of the captures.
pub(crate) fn state() -> PathBuf {
    root().join("tests/data/captures/rb-w31.json")
}

/// The policy with the three rules.
pub(crate) fn policy() -> PathBuf {
    root().join("benches/cost/policy.yaml")
}

fn revise_replica() -> anyhow::Result<Body> {
    body(capture("revise-replica-cluster-z-w31.json")?)
}

fn interpret_replica() -> anyhow::Result<Body> {
    body(capture("interpret-replica-4.json")?)
}

/// No Karmada asks for this yet, so it is made from the nearest thing that one sent. The fort is in
/// `cluster-x`: in `cluster-z` all three rules have something to change.
fn revise_object() -> anyhow::Result<Body> {
    let mut context = capture("revise-replica-cluster-z-w31.json")?;
    let request = &mut context["request"];
    request["operation"] = json!("ReviseObject");
    request["originalObject"] = request["object"].clone();
    request["clusterName"] = json!("cluster-z");
    request["replicas"] = json!(1);
    request["targetClusters"] =
        json!([{"name": "cluster-x", "replicas": 3}, {"name": "cluster-z", "replicas": 1}]);
    body(context)
}

/// Karmada writes a Work of `cluster-z`, which does not host the fort.
fn work_update() -> anyhow::Result<Body> {
    body(capture("work-update-cluster-z-w31.json")?)
}

fn body(mut context: Value) -> anyhow::Result<Body> {
    const UID: &str = "the uid goes here";
    context["request"]["uid"] = json!(UID);
    Body::new(&context.to_string(), UID)
}

fn capture(name: &str) -> anyhow::Result<Value> {
    let file = root().join("tests/data/captures").join(name);
    let text = std::fs::read(&file).with_context(|| format!("failed to read {}", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("failed to parse {}", file.display()))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
