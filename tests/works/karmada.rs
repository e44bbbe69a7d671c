//! Simulates what Karmada's controllers do with a binding and its Works.
//! According to its source and recordings, every change of a template or a schedule causes two reconciles,
//! the first of which may still see the old clusters. A reconcile first deletes orphaned Works, then writes
//! the Work of each cluster with the manifest from the template. A finalizer keeps a Work until the member
//! has accepted the deletion of the object.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Value, json};

use crate::api::{Api, Written};

/// The workload as a user applied it.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) generation: i64,
    pub(crate) fort_steps: bool,
    pub(crate) pin: Option<&'static str>,
}

/// A running reconcile: what it has read and its remaining steps.
#[derive(Debug)]
struct Reconcile {
    template: Template,
    clusters: Vec<(String, i64)>,
    /// Clusters whose Works remain to be written; `None` until the orphans are deleted.
    left: Option<VecDeque<String>>,
}

#[derive(Debug)]
pub(crate) struct Karmada {
    pub(crate) template: Template,
    /// Unreachable clusters, where nothing can be deleted.
    pub(crate) unreachable: BTreeSet<&'static str>,
    /// The work queue of the binding controller.
    queue: VecDeque<Reconcile>,
}

impl Karmada {
    pub(crate) fn new() -> Self {
        let template = Template { generation: 1, fort_steps: true, pin: None };
        Self { template, unreachable: BTreeSet::new(), queue: VecDeque::new() }
    }

    /// Changes the schedule, and the template if `changed`. Two reconciles follow, the first with the old
    /// clusters if the template changed.
    pub(crate) fn schedule(&mut self, api: &Api, clusters: Vec<(String, i64)>, changed: bool) {
        let old = api.state.lock().binding.replace(clusters.clone());
        if changed {
            self.template.generation += 1;
            self.enqueue(old.unwrap_or_default());
        }
        self.enqueue(clusters);
    }

    /// Enqueues a reconcile: the template changed, the controller manager restarted, or a reconcile failed.
    pub(crate) fn reconcile_again(&mut self, api: &Api) {
        let clusters = api.state.lock().binding.clone();
        self.enqueue(clusters.unwrap_or_default());
    }

    fn enqueue(&mut self, clusters: Vec<(String, i64)>) {
        self.queue.push_back(Reconcile { template: self.template.clone(), clusters, left: None });
    }

    /// Deletes the binding and all its Works.
    pub(crate) fn delete_binding(&mut self, api: &Api, now: i64) {
        api.state.lock().binding = None;
        self.queue.clear();
        for cluster in names(api) {
            delete(api, &cluster, now);
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// Runs the next step of the first reconcile in the queue. With `lost` the write is not stored and is
    /// retried later.
    pub(crate) fn step(&mut self, api: &Api, now: i64, lost: bool) {
        let Some(reconcile) = self.queue.front_mut() else { return };
        let Some(left) = &mut reconcile.left else {
            let scheduled: Vec<String> = reconcile.clusters.iter().map(|(name, _)| name.clone()).collect();
            for orphan in names(api).into_iter().filter(|name| !scheduled.contains(name)) {
                delete(api, &orphan, now);
            }
            reconcile.left = Some(scheduled.into());
            return;
        };
        let Some(cluster) = left.pop_front() else {
            self.queue.pop_front();
            return;
        };
        let replicas =
            reconcile.clusters.iter().find(|(name, _)| *name == cluster).map_or(0, |(_, count)| *count);
        let manifest = manifest(&reconcile.template, replicas);
        let stored = api.state.lock().works.get(&cluster).cloned();
        let is_deleting =
            stored.as_ref().is_some_and(|work| work["metadata"].get("deletionTimestamp").is_some());
        let mut object = stored.unwrap_or_else(new_work);
        object["spec"]["workload"]["manifests"] = json!([manifest]);
        // A Work that is being deleted is not written; the reconcile is retried when it is gone.
        let failed = if is_deleting {
            true
        } else if lost {
            let old = api.state.lock().works.get(&cluster).cloned();
            let _ = api.admit(&cluster, object, old.as_ref(), false);
            true
        } else {
            matches!(api.put(&cluster, object), Written::Refused(_))
        };
        if failed {
            self.queue.pop_front();
            let current = api.state.lock().binding.clone();
            if let Some(current) = current {
                self.enqueue(current);
            }
        }
    }

    /// The execution controller finishes deletions in the reachable clusters.
    pub(crate) fn finish_deletions(&self, api: &Api) {
        for cluster in names(api).into_iter().filter(|name| !self.unreachable.contains(name.as_str())) {
            let work = api.state.lock().works.get(&cluster).cloned().unwrap();
            if work["metadata"].get("deletionTimestamp").is_none() {
                continue;
            }
            let mut without = work.clone();
            without["metadata"].as_object_mut().unwrap().remove("finalizers");
            let stored = api.admit(&cluster, without.clone(), Some(&work), false).unwrap();
            assert_eq!(stored["spec"], work["spec"], "a Work that is being deleted is unchanged");
            api.state.lock().works.remove(&cluster);
        }
    }
}

fn names(api: &Api) -> Vec<String> {
    api.state.lock().works.keys().cloned().collect()
}

fn delete(api: &Api, cluster: &str, now: i64) {
    let mut stored = api.state.lock();
    let metadata = &mut stored.works.get_mut(cluster).unwrap()["metadata"];
    if metadata.get("deletionTimestamp").is_none() {
        let time = jiff::Timestamp::from_second(now).unwrap();
        metadata["deletionTimestamp"] = time.to_string().into();
    }
}

fn new_work() -> Value {
    json!({"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {
        "name": "w", "finalizers": ["karmada.io/execution-controller"],
        "annotations": {"resourcebinding.karmada.io/name": "b", "resourcebinding.karmada.io/namespace": "shop"},
    }, "spec": {"workload": {}}})
}

fn manifest(template: &Template, replicas: i64) -> Value {
    let mut annotations = json!({"resourcetemplate.karmada.io/generation": template.generation.to_string()});
    if let Some(pin) = template.pin {
        annotations["reviser.io/fort-cluster"] = pin.into();
    }
    let fort = json!({"type": "Fort", "properties": {"pull": "false"}});
    let batch = json!({"type": "Batch", "properties": {"pull": "true"}});
    let steps = if template.fort_steps { json!([fort, batch]) } else { json!([batch]) };
    json!({"apiVersion": "deploy.example.com/v1alpha1", "kind": "Rollout",
        "metadata": {"name": "checkout", "namespace": "shop", "annotations": annotations},
        "spec": {"replicas": replicas, "strategy": {"canary": {"steps": steps}}}})
}
