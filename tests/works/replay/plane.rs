//! A simulated API server that sends the recorded bodies to the server.

use serde_json::{Value, json};

use super::recording::{Bindings, Body, What, schedule};
use super::served::{Decision, Served};
use super::splice;
use crate::api::{Stored, Written, mutating_config};
use crate::checker::{Excuses, check, hosts};

/// The time of all deletions. No timeout is set, so the value does not matter.
const DELETED: &str = "2026-11-30T03:36:46Z";

/// The control plane: its stored objects, and the server that reviews Works.
pub(crate) struct Plane {
    pub(crate) served: Served,
    /// The Works, by `CLUSTER/NAME`.
    pub(crate) stored: Stored,
    bindings: Bindings,
}

impl Plane {
    /// With nothing in it.
    pub(crate) fn new(policy: Option<&str>) -> Self {
        Self { served: Served::start(policy), stored: Stored::default(), bindings: Bindings::new() }
    }

    /// Replaces the bindings.
    pub(crate) fn bind(&mut self, bindings: &Bindings) {
        if self.bindings != *bindings {
            self.served.bindings(bindings);
            self.bindings.clone_from(bindings);
        }
    }

    pub(crate) fn work(&self, key: &str) -> &Value {
        &self.stored.works[key]
    }

    /// Delivers a body, stores the result, and checks that at most one Work has a fort.
    pub(crate) fn deliver(&mut self, body: &Body) -> Result<(Decision, Written), String> {
        let (decision, next) = self.ask(body);
        if !decision.allowed {
            return Err(format!("{}: {}", body.name, decision.message));
        }
        let written = self.store(body, next)?;
        Ok((decision, written))
    }

    /// Stores the result of a body, and checks the invariant.
    pub(crate) fn store(&mut self, body: &Body, next: Option<Value>) -> Result<Written, String> {
        if body.dry_run || next.as_ref() == self.stored.works.get(&body.key) {
            return Ok(Written::Dropped);
        }
        match next {
            Some(next) => drop(self.stored.works.insert(body.key.clone(), next)),
            None => drop(self.stored.works.remove(&body.key)),
        }
        self.save();
        check(&self.stored, Excuses::default()).map_err(|problem| format!("{}: {problem}", body.name))?;
        Ok(Written::Stored)
    }

    /// Sends a body without storing the result. Returns the decision and the object that would be stored.
    pub(crate) fn ask(&self, body: &Body) -> (Decision, Option<Value>) {
        let old = self.stored.works.get(&body.key);
        let (object, text) = substituted(body, old);
        let decision = self.served.review(&text);
        let next = match body.what {
            _ if !decision.allowed => None,
            What::Write => Some(admitted(&decision, &object)),
            What::Label => old.map(|_| admitted(&decision, &object)),
            What::Delete => {
                assert!(decision.is_untouched(), "{}: {decision:?}", body.name);
                old.map(|old| {
                    let mut old = old.clone();
                    old["metadata"]["deletionTimestamp"] = DELETED.into();
                    old
                })
            }
            What::Finalizer => {
                assert!(decision.is_untouched(), "{}: {decision:?}", body.name);
                None
            }
        };
        (decision, next)
    }

    /// Writes a Work back unchanged, as an API server with Karmada's webhook does it.
    pub(crate) fn touch(&mut self, key: &str) -> Result<(Decision, Written), String> {
        let work = &self.stored.works[key];
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "touch", "kind": {"group": "work.karmada.io", "version": "v1alpha1", "kind": "Work"},
            "resource": {"group": "work.karmada.io", "version": "v1alpha1", "resource": "works"},
            "name": key.split_once('/').unwrap().1, "namespace": format!("karmada-es-{}", cluster(key)),
            "operation": "UPDATE", "options": {"fieldManager": "kubectl-label"}, "object": work, "oldObject": work,
        }});
        self.deliver(&Body::read(&format!("a touch of {key}"), review.to_string()))
    }

    /// Touches every Work until nothing changes. Returns whether a Work changed.
    pub(crate) fn touch_all(&mut self) -> Result<bool, String> {
        let stays = |work: &Value| work["metadata"].get("deletionTimestamp").is_none();
        let works = self.stored.works.iter().filter(|(_, work)| stays(work));
        let keys: Vec<String> = works.map(|(key, _)| key.clone()).collect();
        // The first round may release an allocation that the second gives to another cluster.
        for round in 0..3 {
            let mut changed = false;
            for key in &keys {
                changed |= self.touch(key)?.1 == Written::Stored;
            }
            if !changed {
                return Ok(round > 0);
            }
        }
        Err("it does not come to rest".to_owned())
    }

    /// The clusters whose Works have a fort; in brackets if the Work is being deleted.
    pub(crate) fn hosts(&self) -> String {
        let hosts = hosts(&self.stored);
        let one = |(key, leaving): &(String, bool)| {
            if *leaving { format!("({})", cluster(key)) } else { cluster(key).to_owned() }
        };
        hosts.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    /// Checks that one cluster of the schedule hosts the fort, if there is a schedule.
    pub(crate) fn check_rest(&self) -> Result<(), String> {
        let hosts = self.hosts();
        let scheduled = match schedule(&self.bindings) {
            Some((clusters, false)) => clusters,
            _ => Vec::new(),
        };
        let is_one = scheduled.iter().any(|cluster| cluster.split_once('=').unwrap().0 == hosts);
        if is_one || (scheduled.is_empty() && hosts.is_empty()) {
            return Ok(());
        }
        Err(format!("at rest {hosts:?} host the fort of {scheduled:?}"))
    }

    /// Writes the Works to the state file of the server.
    fn save(&self) {
        self.served.works(&self.stored.works.values().collect::<Vec<_>>());
    }
}

fn cluster(key: &str) -> &str {
    key.split_once('/').unwrap().0
}

/// The stored object after admission.
fn admitted(decision: &Decision, object: &str) -> Value {
    let mut work = decision.apply(object);
    mutating_config(&mut work);
    work
}

/// The object and the whole body, with the substitutions described in the module docs.
fn substituted(body: &Body, old: Option<&Value>) -> (String, String) {
    let recorded = || body.part(&["object"]).unwrap_or("null").to_owned();
    let Some(old) = old else {
        let mut text = body.text.clone();
        if body.what == What::Write && body.part(&["oldObject"]).is_some() {
            text = splice::replace(&text, &["request", "oldObject"], "null");
            text = splice::replace(&text, &["request", "operation"], "\"CREATE\"");
        }
        // A review of a Work that is gone is sent unchanged.
        return (recorded(), text);
    };
    let object = match body.what {
        What::Delete => "null".to_owned(),
        What::Write => keeping_annotations(recorded(), old),
        What::Finalizer => {
            assert!(old["metadata"].get("deletionTimestamp").is_some(), "{}: it is not deleted", body.name);
            let mut work = old.clone();
            work["metadata"].as_object_mut().unwrap().remove("finalizers");
            work.to_string()
        }
        What::Label => {
            let recorded: Value = serde_json::from_str(&recorded()).unwrap();
            let mut work = old.clone();
            for (label, value) in recorded["metadata"]["labels"].as_object().unwrap() {
                if !label.contains("karmada.io/") {
                    work["metadata"]["labels"][label] = value.clone();
                }
            }
            work.to_string()
        }
    };
    let text = splice::replace(&body.text, &["request", "object"], &object);
    let text = splice::replace(&text, &["request", "oldObject"], &old.to_string());
    if body.what == What::Write {
        return (object, splice::replace(&text, &["request", "operation"], "\"UPDATE\""));
    }
    (object, text)
}

/// `object` with the annotations that only the stored Work has.
fn keeping_annotations(mut object: String, old: &Value) -> String {
    let path = ["metadata", "annotations"];
    let own: Value = serde_json::from_str(splice::at(&object, &path).unwrap()).unwrap();
    for (key, value) in old["metadata"]["annotations"].as_object().unwrap() {
        if own.get(key).is_none() {
            assert_eq!(key, "reviser.io/revision", "only reviser annotates these Works");
            object = splice::insert(&object, &path, key, &value.to_string());
        }
    }
    object
}
