//! Requests as Karmada sends them: workloads with changing schedules, and for each state of a schedule the
//! requests for all clusters, scheduled or not.

use serde_json::{Value, json};

use crate::random::Random;

/// All clusters. Each has requests in each state, also when it is not scheduled: Karmada sends such a request
/// for a Work that it has not deleted yet.
pub(crate) const CLUSTERS: [&str; 6] =
    ["cluster-a", "cluster-b", "cluster-c", "cluster-d", "cluster-e", "x.y"];

/// The allocation that the policy defines.
pub(crate) const POLICY: &str = r"
apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: fort}
spec:
  resourceSelectors:
  - {apiVersion: deploy.example.com/v1alpha1, kind: Rollout}
  - {apiVersion: deploy.example.com/v1alpha1, kind: Release}
  allocations:
  - {name: fort, strategy: HighestWeight}
  rules:
  - name: steps
    fort: {allocation: fort, steps: /spec/strategy/canary/steps, match: {type: Fort}, field: /properties/pull}
";

/// A state of the schedule of a workload. Consecutive states differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// The clusters in binding order, each with its replicas.
    pub(crate) clusters: Vec<(&'static str, i64)>,
    /// The value of the template's pin annotation.
    pub(crate) pin: Option<&'static str>,
}

impl State {
    pub(crate) fn lists(&self, cluster: &str) -> bool {
        self.clusters.iter().any(|(name, _)| *name == cluster)
    }

    /// The pin, if it names a scheduled cluster.
    pub(crate) fn pinned(&self) -> Option<&'static str> {
        self.pin.filter(|pin| self.lists(pin))
    }

    /// A random successor.
    fn next(&self, random: &mut Random) -> Self {
        loop {
            let mut next = self.clone();
            match random.below(12) {
                0 => next.clusters.clear(),
                1 => next.clusters = any_clusters(random),
                2 | 3 if !next.clusters.is_empty() => {
                    next.clusters.remove(random.below(self.clusters.len()));
                }
                4 | 5 => {
                    let cluster = random.pick(&CLUSTERS);
                    if !next.lists(cluster) {
                        next.clusters
                            .insert(random.below(self.clusters.len() + 1), (cluster, weight(random)));
                    }
                }
                6 => next.clusters.iter_mut().for_each(|(_, replicas)| *replicas = 0),
                7 => next.clusters.iter_mut().for_each(|(_, replicas)| *replicas = 2),
                8 => random.shuffle(&mut next.clusters),
                9 => next.pin = Some(random.pick(&CLUSTERS)),
                10 => next.pin = None,
                _ => next.clusters.iter_mut().for_each(|(_, replicas)| *replicas = weight(random)),
            }
            if next != *self {
                return next;
            }
        }
    }
}

fn weight(random: &mut Random) -> i64 {
    random.pick(&[0, 0, 1, 1, 2, 3, 5, 40])
}

fn any_clusters(random: &mut Random) -> Vec<(&'static str, i64)> {
    let mut names = CLUSTERS;
    random.shuffle(&mut names);
    let length = 1 + random.below(CLUSTERS.len());
    names[..length].iter().map(|name| (*name, weight(random))).collect()
}

/// A workload and the states of its schedule.
#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) kind: &'static str,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The object of every cluster before revision.
    pub(crate) object: Value,
    pub(crate) states: Vec<State>,
    /// The state in each round.
    rounds: Vec<usize>,
}

impl Workload {
    pub(crate) fn new(kind: &'static str, namespace: &str, name: &str, states: Vec<State>) -> Self {
        let object = json!({
            "apiVersion": "deploy.example.com/v1alpha1",
            "kind": kind,
            "metadata": {"namespace": namespace, "name": name, "annotations": {"a/b": "~1"}},
            "spec": {
                "replicas": 9_007_199_254_740_993_u64,
                "strategy": {"canary": {"steps": [
                    {"type": "Fort", "properties": {"pull": "false", "image": "v2"}},
                    {"type": "Batch", "properties": {"pull": "false", "percent": 25.0}},
                    {"type": "Fort", "properties": {"pull": "true"}},
                    {"type": "Fortress", "properties": {"pull": "true"}},
                ]}},
                "nothing": null,
            },
        });
        let rounds = (0..states.len()).collect();
        Self { kind, namespace: namespace.into(), name: name.into(), object, states, rounds }
    }

    fn any(number: usize, rounds: usize, random: &mut Random) -> Self {
        let mut states = vec![State { clusters: any_clusters(random), pin: None }];
        let mut of_round = Vec::new();
        for round in 0..rounds {
            // Some states last for several rounds.
            if round > 0 && !random.once_in(4) {
                let next = states[states.len() - 1].next(random);
                states.push(next);
            }
            of_round.push(states.len() - 1);
        }
        // The same names occur in several namespaces and kinds: reviser must not confuse them.
        let kind = ["Rollout", "Release"][number % 2];
        let (namespace, name) = (format!("ns-{}", number / 2 % 2), format!("app-{}", number / 4));
        Self { rounds: of_round, ..Self::new(kind, &namespace, &name, states) }
    }
}

/// Workloads, each with its own states, over a number of rounds.
/// All requests of a round are sent at once, and the next round begins when all have ended. So the states of
/// one workload never overlap; for overlapping states either order would be correct. Workloads change in
/// different rounds, so their states combine in many ways.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) workloads: Vec<Workload>,
}

#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) workload: usize,
    pub(crate) state: usize,
    pub(crate) cluster: &'static str,
}

impl History {
    pub(crate) fn any(workloads: usize, rounds: usize, seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let workloads = (0..workloads).map(|number| Workload::any(number, rounds, random)).collect();
        Self { workloads }
    }

    /// The requests of a round in random order: one or more for each workload and cluster.
    pub(crate) fn round(&self, round: usize) -> Vec<Ask> {
        let random = &mut Random::new(round as u64);
        let mut asks = Vec::new();
        for (workload, of) in self.workloads.iter().enumerate() {
            for cluster in CLUSTERS {
                let ask = Ask { workload, state: of.rounds[round], cluster };
                asks.extend(vec![ask; 5 + random.below(2)]);
            }
        }
        random.shuffle(&mut asks);
        asks
    }

    pub(crate) fn request(&self, ask: &Ask, uid: &str) -> String {
        let workload = &self.workloads[ask.workload];
        let state = &workload.states[ask.state];
        let targets: Vec<Value> = state
            .clusters
            .iter()
            .map(|(name, replicas)| match replicas {
                // Go's `omitempty` omits zeros.
                0 => json!({"name": name}),
                _ => json!({"name": name, "replicas": replicas}),
            })
            .collect();
        let mut request = json!({
            "uid": uid,
            "kind": {"group": "deploy.example.com", "version": "v1alpha1", "kind": workload.kind},
            "namespace": workload.namespace,
            "name": workload.name,
            "operation": "ReviseObject",
            "object": workload.object,
            "clusterName": ask.cluster,
            "targetClusters": targets,
        });
        if let Some(pin) = state.pin {
            let mut original = workload.object.clone();
            original["metadata"]["annotations"]["reviser.io/fort-cluster"] = pin.into();
            request["originalObject"] = original;
        }
        if let Some((_, replicas)) = state.clusters.iter().find(|(name, _)| *name == ask.cluster) {
            request["replicas"] = (*replicas).into();
        }
        json!({"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext", "request": request})
            .to_string()
    }
}

#[test]
fn a_seed_gives_one_history_with_all_transitions() {
    let history = History::any(12, 60, 1);
    assert_eq!(format!("{history:?}"), format!("{:?}", History::any(12, 60, 1)));
    assert_ne!(format!("{history:?}"), format!("{:?}", History::any(12, 60, 2)));
    let states: Vec<&State> = history.workloads.iter().flat_map(|workload| &workload.states).collect();
    let some = |holds: fn(&State) -> bool| states.iter().filter(|state| holds(state)).count() > 3;
    assert!(some(|state| state.clusters.is_empty()));
    assert!(some(
        |state| state.clusters.len() > 1 && state.clusters.iter().all(|(_, replicas)| *replicas == 0)
    ));
    assert!(some(|state| state.pinned().is_some()) && some(|state| state.pin != state.pinned()));
    assert!(history.workloads.iter().all(|workload| workload.states.len() < 60), "no state lasts");
    assert!(history.round(0).len() > 300);
}
