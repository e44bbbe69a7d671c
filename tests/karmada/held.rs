//! What a Work, or a member cluster, holds of the Rollout.

use std::fmt;

use serde_json::Value;

/// A stored Rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) replicas: Option<i64>,
    pub(crate) image: String,
    /// `pull` of each Fort step.
    pub(crate) pulls: Vec<Value>,
    /// The environment of the first container, as `NAME=VALUE`.
    pub(crate) environment: Vec<String>,
    /// Those of the object that holds it.
    pub(crate) uid: String,
    pub(crate) generation: i64,
    pub(crate) resource_version: String,
    pub(crate) deleting: bool,
    /// Whether the object or the manifest says that reviser has been there.
    pub(crate) revised: bool,
}

impl Held {
    /// What a Work holds; `None` if that is no Rollout.
    pub(crate) fn of_work(work: &Value) -> Option<Self> {
        let manifest = &work["spec"]["workload"]["manifests"][0];
        (manifest["kind"] == "Rollout").then(|| Self::of(work, manifest))
    }

    /// What a member has.
    pub(crate) fn of_member(rollout: &Value) -> Self {
        Self::of(rollout, rollout)
    }

    fn of(object: &Value, rollout: &Value) -> Self {
        let spec = &rollout["spec"];
        let container = &spec["template"]["spec"]["containers"][0];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let forts = list(&spec["strategy"]["canary"]["steps"]);
        let forts = forts.iter().filter(|step| step["type"] == "Fort");
        let variable = |entry: &Value| format!("{}={}", text(&entry["name"]), text(&entry["value"]));
        let metadata = &object["metadata"];
        let marked = |metadata: &Value| {
            let annotations = metadata["annotations"].as_object();
            annotations.is_some_and(|all| all.keys().any(|name| name.starts_with("reviser.io/revis")))
        };
        Self {
            replicas: spec["replicas"].as_i64(),
            image: text(&container["image"]),
            pulls: forts.map(|step| step["properties"]["pull"].clone()).collect(),
            environment: list(&container["env"]).iter().map(variable).collect(),
            uid: text(&metadata["uid"]),
            generation: metadata["generation"].as_i64().unwrap_or_default(),
            resource_version: text(&metadata["resourceVersion"]),
            deleting: !metadata["deletionTimestamp"].is_null(),
            revised: marked(metadata) || marked(&rollout["metadata"]),
        }
    }

    /// Whether a controller that gets this starts the fort pod.
    pub(crate) fn hosts(&self) -> bool {
        self.pulls.iter().any(|pull| !pull.is_null())
    }

    /// Whether both are the same but for the objects that hold them.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        let what =
            |held: &Self| (held.replicas, held.image.clone(), held.pulls.clone(), held.environment.clone());
        what(self) == what(other)
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fort = if self.hosts() { "FORT" } else { "    " };
        let pulls: Vec<_> = self.pulls.iter().map(Value::to_string).collect();
        let replicas = self.replicas.map_or_else(|| "?".to_owned(), |replicas| replicas.to_string());
        write!(f, "{fort} replicas {replicas} pull [{}] image {}", pulls.join(", "), self.image)?;
        write!(f, " env {}", self.environment.join(","))?;
        write!(f, " generation {} version {}", self.generation, self.resource_version)?;
        if self.revised {
            write!(f, " revised")?;
        }
        if self.deleting {
            write!(f, " ON ITS WAY OUT")?;
        }
        Ok(())
    }
}
