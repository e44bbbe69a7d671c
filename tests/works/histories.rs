//! Random histories of users, clusters, faults and restarts.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use futures_util::FutureExt as _;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, TestRunner};
use reviser::domain::{AllocationKey, ClusterName, GroupVersionKind, Workload};
use reviser::engine::PolicySet;
use reviser::json::Value as Json;
use reviser::policy;
use reviser::service::Service;
use reviser::state::Ledger;
use reviser::state::memory::MemoryLedger;

use crate::api::{Api, State, Written};
use crate::checker::{Excuses, check, hosts};
use crate::karmada::Karmada;

const CLUSTERS: &[&str] = &["a", "b", "c", "d"];

/// The default of `REVISER_TEST_HISTORIES`, the number of histories.
const HISTORIES: u32 = 250;

#[derive(Clone, Debug)]
enum Event {
    /// The schedule changes, with or without the template.
    Schedule(Vec<(String, i64)>, bool),
    /// A template with or without fort steps.
    Release {
        fort_steps: bool,
    },
    /// The next steps of the binding controller; the last write may be lost.
    Steps(usize, bool),
    FinishDeletions,
    /// The controller manager restarts and reconciles everything.
    RestartKarmada,
    /// reviser restarts, with or without its ledger.
    RestartReviser {
        keeps_ledger: bool,
    },
    /// A backup of the ledger is made.
    BackUpLedger,
    /// reviser restarts with the backup, which may be old.
    PutBackLedger,
    Label(&'static str),
    DryRun(&'static str),
    Unreachable(&'static str, bool),
    DeleteBinding,
    Pin(Option<&'static str>),
    Wait(i64),
}

fn any_schedule() -> impl Strategy<Value = Vec<(String, i64)>> {
    (subsequence(CLUSTERS, 0..=CLUSTERS.len()), proptest::collection::vec(0i64..4, CLUSTERS.len()))
        .prop_map(|(names, weights)| names.into_iter().map(str::to_owned).zip(weights).collect())
}

fn any_event(pins: bool) -> impl Strategy<Value = Event> {
    let cluster = || select(CLUSTERS);
    prop_oneof![
        6 => (any_schedule(), any::<bool>()).prop_map(|(clusters, changed)| Event::Schedule(clusters, changed)),
        1 => any::<bool>().prop_map(|fort_steps| Event::Release { fort_steps }),
        12 => (1..6usize, prop::bool::weighted(0.2)).prop_map(|(steps, lost)| Event::Steps(steps, lost)),
        4 => Just(Event::FinishDeletions),
        1 => Just(Event::RestartKarmada),
        2 => any::<bool>().prop_map(|keeps_ledger| Event::RestartReviser { keeps_ledger }),
        1 => Just(Event::BackUpLedger),
        1 => Just(Event::PutBackLedger),
        2 => cluster().prop_map(Event::Label),
        1 => cluster().prop_map(Event::DryRun),
        1 => (cluster(), any::<bool>()).prop_map(|(cluster, gone)| Event::Unreachable(cluster, gone)),
        1 => Just(Event::DeleteBinding),
        2 => if pins { proptest::option::of(cluster()).prop_map(Event::Pin).boxed() } else { Just(Event::RestartKarmada).boxed() },
        1 => (0..200i64).prop_map(Event::Wait),
    ]
}

pub(crate) fn policies(handover: &str) -> PolicySet {
    let text = format!(
        r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicy","metadata":{{"name":"p"}},"spec":{{
        "resourceSelectors":[{{"apiVersion":"deploy.example.com/v1alpha1","kind":"Rollout"}}],
        "allocations":[{{"name":"fort","handover":{handover}}}],
        "rules":[{{"name":"r","fort":{{"allocation":"fort","steps":"/spec/strategy/canary/steps","match":{{"type":"Fort"}},"field":"/properties/pull"}}}}]}}}}"#
    );
    policy::compile(&[Json::parse(text.as_bytes()).unwrap().into_owned()]).unwrap()
}

/// The simulated Karmada and reviser.
struct World {
    api: Api,
    karmada: Karmada,
    policies: PolicySet,
    ledger: Arc<dyn Ledger>,
    /// The backup of the ledger.
    backup: Option<ClusterName>,
    clock: Arc<AtomicI64>,
    excuses: Excuses,
    /// Whether a timeout is set.
    timeout: bool,
}

impl World {
    fn new(handover: &str) -> Self {
        let (policies, state) = (policies(handover), State::default());
        let (ledger, clock): (Arc<dyn Ledger>, _) =
            (Arc::new(MemoryLedger::default()), Arc::new(AtomicI64::new(1_000_000)));
        let service = service(&policies, &ledger, &state, &clock);
        let api = Api::new(state, service);
        let timeout = handover.contains("timeout");
        Self {
            api,
            karmada: Karmada::new(),
            policies,
            ledger,
            backup: None,
            clock,
            excuses: Excuses::default(),
            timeout,
        }
    }

    fn now(&self) -> i64 {
        self.clock.load(Ordering::Relaxed)
    }

    fn happen(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Schedule(clusters, changed) => {
                self.karmada.schedule(&self.api, clusters.clone(), *changed);
            }
            Event::Release { fort_steps } => {
                self.karmada.template.generation += 1;
                self.karmada.template.fort_steps = *fort_steps;
                self.again();
            }
            Event::Steps(steps, lost) => {
                for step in 1..=*steps {
                    self.karmada.step(&self.api, self.now(), *lost && step == *steps);
                    self.check()?;
                }
            }
            Event::FinishDeletions => self.karmada.finish_deletions(&self.api),
            Event::RestartKarmada => self.again(),
            Event::RestartReviser { keeps_ledger } => {
                if !keeps_ledger {
                    self.ledger = Arc::new(MemoryLedger::default());
                }
                let service = service(&self.policies, &self.ledger, &self.api.state, &self.clock);
                self.api.restart_reviser(service);
            }
            Event::BackUpLedger => {
                self.backup = self.ledger.read(&key(), None).now_or_never().unwrap().unwrap();
            }
            Event::PutBackLedger => {
                let entries = self.backup.iter().map(|cluster| (key(), cluster.clone()));
                self.ledger = Arc::new(MemoryLedger::with_entries(entries));
                let service = service(&self.policies, &self.ledger, &self.api.state, &self.clock);
                self.api.restart_reviser(service);
            }
            Event::Label(cluster) => drop(self.touch(cluster, true)?),
            Event::DryRun(cluster) => {
                let work = self.api.state.lock().works.get(*cluster).cloned();
                if let Some(work) = work {
                    drop(self.api.admit(cluster, work.clone(), Some(&work), true));
                }
            }
            Event::Unreachable(cluster, true) => drop(self.karmada.unreachable.insert(cluster)),
            Event::Unreachable(cluster, false) => drop(self.karmada.unreachable.remove(cluster)),
            Event::DeleteBinding => self.karmada.delete_binding(&self.api, self.now()),
            Event::Pin(pin) => {
                self.karmada.template.pin = *pin;
                self.excuses.pinned = true;
                self.again();
            }
            Event::Wait(seconds) => {
                self.clock.fetch_add(*seconds, Ordering::Relaxed);
                self.excuses.timed_out |= self.timeout;
            }
        }
        self.check()
    }

    fn again(&mut self) {
        if self.api.state.lock().binding.is_some() {
            self.karmada.reconcile_again(&self.api);
        }
    }

    /// Writes a Work back, unchanged or with another label.
    fn touch(&self, cluster: &str, label: bool) -> Result<Written, String> {
        let Some(mut work) = self.api.state.lock().works.get(cluster).cloned() else {
            return Ok(Written::Dropped);
        };
        if label {
            work["metadata"]["labels"]["touched"] = self.now().to_string().into();
        }
        match self.api.put(cluster, work) {
            Written::Refused(refusal) => Err(format!("a touch was refused: {refusal}")),
            written => Ok(written),
        }
    }

    fn check(&self) -> Result<(), String> {
        check(&self.api.state.lock(), self.excuses)
    }

    /// Runs until nothing changes: every cluster answers, every reconcile ends, and waiting Works are
    /// touched.
    fn settle(&mut self) -> Result<(), String> {
        self.karmada.unreachable.clear();
        self.karmada.finish_deletions(&self.api);
        self.again();
        for _ in 0..200 {
            if self.karmada.is_idle() {
                break;
            }
            self.karmada.step(&self.api, self.now(), false);
            self.karmada.finish_deletions(&self.api);
            self.check()?;
        }
        // The first round may release an allocation that the second gives to another cluster.
        for _ in 0..2 {
            self.touch_all()?;
        }
        if self.touch_all()? {
            return Err("it does not come to rest".to_owned());
        }
        let stored = self.api.state.lock();
        let hosts = hosts(&stored);
        let scheduled = stored.binding.clone().unwrap_or_default();
        let wanted = usize::from(!scheduled.is_empty() && self.karmada.template.fort_steps);
        if hosts.len() != wanted
            || hosts.iter().any(|(host, _)| scheduled.iter().all(|(name, _)| name != host))
        {
            return Err(format!("at rest {hosts:?} host the fort of {scheduled:?}"));
        }
        Ok(())
    }

    /// Touches every Work. Returns whether one changed.
    fn touch_all(&self) -> Result<bool, String> {
        let names: Vec<String> = self.api.state.lock().works.keys().cloned().collect();
        let mut changed = false;
        for name in names {
            changed |= self.touch(&name, false)? == Written::Stored;
            self.check()?;
        }
        Ok(changed)
    }
}

/// The ledger key of the fort.
pub(crate) fn key() -> AllocationKey {
    let gvk = GroupVersionKind::of("deploy.example.com/v1alpha1", "Rollout");
    AllocationKey::new("fort", &Workload { gvk, namespace: "shop".into(), name: "checkout".into() })
}

pub(crate) fn service(
    policies: &PolicySet,
    ledger: &Arc<dyn Ledger>,
    state: &State,
    clock: &Arc<AtomicI64>,
) -> Service {
    let (state, clock) = (Arc::new(state.clone()), Arc::clone(clock));
    Service::new(policies.clone(), Arc::clone(ledger))
        .with_state(state.clone(), state)
        .with_clock(move || jiff::Timestamp::from_second(clock.load(Ordering::Relaxed)).unwrap())
}

fn run(handover: &str, pins: bool) -> Result<(), String> {
    let histories = std::env::var("REVISER_TEST_HISTORIES").ok().and_then(|text| text.parse().ok());
    let config = Config { failure_persistence: None, ..Config::with_cases(histories.unwrap_or(HISTORIES)) };
    let mut runner = TestRunner::new(config);
    let first = Event::Schedule(vec![("a".to_owned(), 1), ("b".to_owned(), 3)], true);
    let strategy = proptest::collection::vec(any_event(pins), 4..40);
    runner
        .run(&strategy, |events| {
            let mut world = World::new(handover);
            world.happen(&first).map_err(TestCaseError::fail)?;
            for event in &events {
                world
                    .happen(event)
                    .map_err(|problem| TestCaseError::fail(format!("{event:?}: {problem}")))?;
            }
            world.settle().map_err(TestCaseError::fail)
        })
        .map_err(|error| error.to_string())
}

#[test]
fn at_most_one_fort_and_one_at_rest() {
    run(r#"{"mode":"AfterRelease"}"#, false).unwrap();
}

#[test]
fn pins_give_a_second_fort_only_in_a_deleted_work() {
    run(r#"{"mode":"AfterRelease"}"#, true).unwrap();
}

#[test]
fn a_timeout_gives_a_second_fort_only_in_a_deleted_work() {
    run(r#"{"mode":"AfterRelease","timeout":"1m"}"#, false).unwrap();
}

/// Without handover the histories produce two forts, so they test the handover.
#[test]
fn histories_without_handover_have_two_forts() {
    let found = run(r#"{"mode":"Immediate"}"#, false).unwrap_err();
    assert!(found.contains("more than one fort"), "{found}");
}
