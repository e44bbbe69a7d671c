//! The bodies that a real Karmada sent, and the bindings between them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::splice;

/// A review of a Work.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// Its number in the recording, or the name of its file, for messages.
    pub(crate) name: String,
    /// The body, byte for byte.
    pub(crate) text: String,
    /// The Work: `CLUSTER/NAME`.
    pub(crate) key: String,
    pub(crate) what: What,
    pub(crate) dry_run: bool,
}

/// The cause of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The binding controller writes a manifest made from the template.
    Write,
    /// A user labels the stored Work.
    Label,
    /// A Work is deleted.
    Delete,
    /// The execution controller removes the finalizer of a deleted Work.
    Finalizer,
}

impl Body {
    pub(crate) fn read(name: &str, text: String) -> Self {
        let review: Value = serde_json::from_str(&text).unwrap();
        let request = &review["request"];
        let namespace = request["namespace"].as_str().unwrap();
        let cluster = namespace.strip_prefix("karmada-es-").unwrap();
        let what = if request["object"].is_null() {
            What::Delete
        } else if request["object"]["metadata"].get("deletionTimestamp").is_some() {
            What::Finalizer
        } else if request["options"]["fieldManager"] == "kubectl-label" {
            What::Label
        } else {
            What::Write
        };
        Self {
            name: name.to_owned(),
            key: format!("{cluster}/{}", request["name"].as_str().unwrap()),
            what,
            dry_run: request["dryRun"] == true,
            text,
        }
    }

    pub(crate) fn captured(name: &str) -> Self {
        Self::read(name, capture(name))
    }

    /// The text of a part of the request; `None` if it is absent or null.
    pub(crate) fn part(&self, path: &[&str]) -> Option<&str> {
        splice::at(&self.text, &[&["request"], path].concat()).filter(|text| *text != "null")
    }

    /// The kind of the only manifest.
    pub(crate) fn kind(&self) -> String {
        let of = |part| {
            let work: Value = serde_json::from_str(self.part(&[part])?).unwrap();
            Some(work["spec"]["workload"]["manifests"][0]["kind"].as_str()?.to_owned())
        };
        of("object").or_else(|| of("oldObject")).unwrap()
    }
}

fn captures() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "data", "captures"].iter().collect()
}

pub(crate) fn capture(name: &str) -> String {
    std::fs::read_to_string(captures().join(name).with_extension("json")).unwrap()
}

/// The names of all captured reviews of Works.
pub(crate) fn all_reviews() -> Vec<String> {
    let names = std::fs::read_dir(captures()).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.filter_map(|name| Some(name.to_str()?.strip_suffix(".json")?.to_owned()));
    let mut names: Vec<String> =
        names.filter(|name| name.starts_with("work-") && !name.starts_with("work-stored-")).collect();
    names.sort();
    names
}

/// The text of bindings by name.
pub(crate) type Bindings = BTreeMap<String, String>;

/// These captures of bindings.
pub(crate) fn bindings(names: &[&str]) -> Bindings {
    let binding = |name: &&str| {
        let text = capture(name);
        let object: Value = serde_json::from_str(&text).unwrap();
        (object["metadata"]["name"].as_str().unwrap().to_owned(), text)
    };
    names.iter().map(binding).collect()
}

/// The clusters of the binding of the Rollout, and whether it is being deleted; `None` without a binding.
pub(crate) fn schedule(bindings: &Bindings) -> Option<(Vec<String>, bool)> {
    let binding: Value = serde_json::from_str(bindings.get("checkout-rollout")?).unwrap();
    let clusters = binding["spec"]["clusters"].as_array().cloned().unwrap_or_default();
    // With their replicas, as in the schedule.
    let clusters = clusters.iter().map(|cluster| {
        format!("{}={}", cluster["name"].as_str().unwrap(), cluster["replicas"].as_i64().unwrap_or(0))
    });
    Some((clusters.collect(), binding["metadata"].get("deletionTimestamp").is_some()))
}

/// A recorded call, with the bindings at that time.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its number in the recording, from 1.
    pub(crate) number: usize,
    pub(crate) step: String,
    /// The path of the request.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) bindings: Bindings,
}

impl Call {
    /// The review, if the call is a review of a Work.
    pub(crate) fn review(&self) -> Option<Body> {
        (self.path == "/mutate/works").then(|| Body::read(&self.number.to_string(), self.text.clone()))
    }
}

/// The recorded run.
/// Bodies and binding events were recorded on different connections, in the order of arrival. The binding
/// that was read while a body waited is recorded with the body, and overrides that order.
pub(crate) fn sequence() -> Vec<Call> {
    let read = |name: &str| std::fs::read_to_string(captures().join(name)).unwrap();
    let bodies: Vec<String> =
        read("sequence-requests.jsonl").split_inclusive('\n').map(str::to_owned).collect();
    let events: BTreeMap<(String, u64), (bool, String)> = read("rb-watch.jsonl").lines().map(event).collect();
    let mut bindings = Bindings::new();
    let mut versions: BTreeMap<String, u64> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in read("sequence.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if let Some(binding) = line.get("rb").filter(|binding| !binding.is_null()) {
            let name = binding["name"].as_str().unwrap().to_owned();
            let version: u64 = binding["resourceVersion"].as_str().unwrap().parse().unwrap();
            if versions.get(&name).is_none_or(|seen| *seen < version) {
                versions.insert(name.clone(), version);
                match &events[&(name.clone(), version)] {
                    (true, _) => bindings.remove(&name),
                    (false, object) => bindings.insert(name, object.clone()),
                };
            }
        }
        let Some(number) = line["request"].as_u64() else { continue };
        let number = usize::try_from(number).unwrap();
        calls.push(Call {
            number,
            step: line["step"].as_str().unwrap().to_owned(),
            path: line["from"].as_str().unwrap().to_owned(),
            text: bodies[number - 1].clone(),
            bindings: bindings.clone(),
        });
    }
    assert_eq!(calls.len(), bodies.len());
    calls
}

/// A watch event: name and version of the binding, whether it is deleted, and the object.
fn event(line: &str) -> ((String, u64), (bool, String)) {
    let object = splice::at(line, &["object"]).unwrap();
    let event: Value = serde_json::from_str(line).unwrap();
    let metadata = &event["object"]["metadata"];
    let version = metadata["resourceVersion"].as_str().unwrap().parse().unwrap();
    let name = metadata["name"].as_str().unwrap().to_owned();
    ((name, version), (event["type"] == "DELETED", object.to_owned()))
}
