//! The elected replica in histories of Karmada: what it touches, and that it brings all Works up to date by
//! itself. The door, the engine and the records are real. The planner receives the events of a watch,
//! delayed, and sometimes a relist.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use reviser::controller::planner::{
    Allocations, Moment, Next, ObservedWork, Planner, RateLimits, Scope, TouchOutcome, WorkName,
};
use reviser::domain::BindingName;
use reviser::engine::PolicySet;
use reviser::json::Text;
use reviser::service::{Service, SyncState};
use reviser::state::Ledger;
use reviser::state::memory::MemoryLedger;
use serde_json::Value;

use crate::api::{Api, State, Written};
use crate::checker::{Excuses, check, hosts};
use crate::histories::{key, policies, service};
use crate::karmada::Karmada;

const CLUSTERS: &[&str] = &["a", "b", "c", "d"];

/// A Work in its last watch event.
struct Observed {
    work: Value,
    uid: u64,
    version: u64,
    generation: i64,
}

struct World {
    api: Api,
    karmada: Karmada,
    set: PolicySet,
    ledger: Arc<dyn Ledger>,
    clock: Arc<AtomicI64>,
    planner: Planner,
    observed: BTreeMap<String, Observed>,
    version: u64,
    /// Milliseconds.
    now: u64,
    timed: bool,
    /// Whether the ledger is in the annotations of bindings.
    shows_ledger: bool,
    excuses: Excuses,
    touches: Vec<String>,
}

fn nothing() -> PolicySet {
    PolicySet::default()
}

impl World {
    fn new(handover: &str, shows_ledger: bool) -> Self {
        let (set, state) = (policies(handover), State::default());
        let (ledger, clock): (Arc<dyn Ledger>, _) =
            (Arc::new(MemoryLedger::default()), Arc::new(AtomicI64::new(1_000_000)));
        let api = Api::new(state.clone(), service(&set, &ledger, &state, &clock));
        let mut world = Self {
            api,
            karmada: Karmada::new(),
            set,
            ledger,
            clock,
            planner: Planner::new(RateLimits::default()),
            observed: BTreeMap::new(),
            version: 0,
            now: 0,
            timed: handover.contains("timeout"),
            shows_ledger,
            excuses: Excuses::default(),
            touches: Vec::new(),
        };
        world.elect();
        world
    }

    fn moment(&self) -> Moment {
        Moment(Duration::from_millis(self.now))
    }

    fn time(&self) -> i64 {
        self.clock.load(Ordering::Relaxed)
    }

    fn pass(&mut self, milliseconds: u64) {
        let before = self.now / 1000;
        self.now += milliseconds;
        let seconds = i64::try_from(self.now / 1000 - before).unwrap();
        self.clock.fetch_add(seconds, Ordering::Relaxed);
    }

    fn allocations(&self) -> Allocations {
        let defined: BTreeSet<String> = self.set.allocations.keys().cloned().collect();
        Allocations {
            timed: if self.timed { defined.clone() } else { BTreeSet::new() },
            defined: Some(defined),
        }
    }

    /// Another replica is elected and starts without state.
    fn elect(&mut self) {
        self.planner = Planner::new(RateLimits::default());
        self.activate(self.set.clone());
        let now = self.moment();
        for scope in [Scope::Namespace, Scope::Cluster] {
            self.deliver_ledger();
            self.planner.bindings_synced(now, scope);
        }
    }

    fn activate(&mut self, set: PolicySet) {
        self.set = set;
        self.restart_service();
        let (now, allocations) = (self.moment(), self.allocations());
        self.planner.begin_epoch(now, allocations);
        self.list();
    }

    fn restart_service(&mut self) {
        let service: Service = service(&self.set, &self.ledger, &self.api.state, &self.clock);
        self.api.restart_reviser(service);
    }

    fn list(&mut self) {
        let changed = self.notice();
        for cluster in changed.iter().filter(|cluster| !self.observed.contains_key(*cluster)) {
            self.planner.deleted(self.moment(), &name(cluster));
        }
        for cluster in self.observed.keys().cloned().collect::<Vec<_>>() {
            self.deliver(&cluster);
        }
        self.planner.synced(self.moment());
    }

    fn seen(&self, cluster: &str) -> ObservedWork {
        let Observed { work, uid, version, generation } = &self.observed[cluster];
        let text = work.to_string();
        let text = Text::parse(text.as_bytes()).unwrap();
        ObservedWork {
            uid: uid.to_string(),
            version: Some(*version),
            generation: *generation,
            deleting: work["metadata"].get("deletionTimestamp").is_some(),
            sync: SyncState::of(&self.set, &name(cluster).namespace, text.root()),
        }
    }

    fn deliver(&mut self, cluster: &str) {
        let (now, seen) = (self.moment(), self.seen(cluster));
        self.planner.applied(now, &name(cluster), seen);
    }

    /// Gives each Work written since the last call a new version. Returns their clusters.
    fn notice(&mut self) -> Vec<String> {
        let stored = self.api.state.lock().works.clone();
        let mut changed: Vec<String> =
            self.observed.keys().filter(|cluster| !stored.contains_key(*cluster)).cloned().collect();
        self.observed.retain(|cluster, _| stored.contains_key(cluster));
        changed.extend(
            stored.into_iter().filter_map(|(cluster, work)| self.note(&cluster, work).then_some(cluster)),
        );
        changed
    }

    /// Gives a Work a new version if it has changed.
    fn note(&mut self, cluster: &str, work: Value) -> bool {
        let before = self.observed.get(cluster);
        if before.is_some_and(|observed| observed.work == work) {
            return false;
        }
        self.version += 1;
        let (uid, generation) =
            before.map_or((self.version, 1), |observed| (observed.uid, observed.generation + 1));
        self.observed.insert(cluster.to_owned(), Observed { work, uid, version: self.version, generation });
        true
    }

    /// Delivers the pending watch events.
    fn watch(&mut self) {
        for cluster in self.notice() {
            if self.observed.contains_key(&cluster) {
                self.deliver(&cluster);
            } else {
                self.planner.deleted(self.moment(), &name(&cluster));
            }
        }
        self.deliver_ledger();
    }

    fn deliver_ledger(&mut self) {
        let entry = self.ledger.read(&key(), None).now_or_never().unwrap().unwrap();
        let entry = entry.filter(|_| self.shows_ledger && self.api.state.lock().binding.is_some());
        let entries = entry.map(|cluster| ("fort".to_owned(), cluster.to_string())).into_iter().collect();
        let binding = BindingName { namespace: Some("shop".into()), name: "b".into() };
        self.planner.binding(self.moment(), &binding, "1".into(), entries);
    }

    /// Executes the planner's steps until none is due.
    fn act(&mut self) -> Result<Option<Moment>, String> {
        loop {
            match self.planner.next(self.moment()) {
                Next::Touch(work) => self.touch(&work)?,
                Next::Clear { binding, .. } => {
                    self.ledger = Arc::new(MemoryLedger::default());
                    self.restart_service();
                    self.planner.cleared(self.moment(), &binding, true);
                }
                Next::Wait(at) => return Ok(at),
            }
            self.check()?;
        }
    }

    fn touch(&mut self, work: &WorkName) -> Result<(), String> {
        let cluster = work.namespace.strip_prefix("karmada-es-").unwrap().to_owned();
        self.touches.push(cluster.clone());
        let stored = self.api.state.lock().works.get(&cluster).cloned();
        let outcome = match stored.map(|stored| self.api.put(&cluster, stored)) {
            None => TouchOutcome::Rejected,
            Some(Written::Refused(refusal)) => return Err(format!("a touch was refused: {refusal}")),
            Some(Written::Stored | Written::Dropped) => {
                let work = self.api.state.lock().works[&cluster].clone();
                self.note(&cluster, work);
                TouchOutcome::Revised(Box::new(self.seen(&cluster)))
            }
        };
        self.planner.touched(self.moment(), work, outcome);
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        if self.set.policies.is_empty() || self.excuses.pinned && self.excuses.timed_out {
            return Ok(());
        }
        check(&self.api.state.lock(), self.excuses)
    }

    /// Time passes; watch events arrive at once.
    fn run(&mut self, milliseconds: u64) -> Result<(), String> {
        let until = self.now + milliseconds;
        loop {
            self.watch();
            let Some(at) = self.act()? else { break };
            let at = u64::try_from(at.0.as_millis()).unwrap() + 1;
            if at >= until {
                break;
            }
            self.pass(at.saturating_sub(self.now));
        }
        self.pass(until.saturating_sub(self.now));
        Ok(())
    }

    /// Karmada finishes its writes and requests its deletions; no deletion has finished.
    fn karmada_writes(&mut self) {
        while !self.karmada.is_idle() {
            self.karmada.step(&self.api, self.time(), false);
            self.watch();
        }
    }

    fn karmada_rests(&mut self) -> Result<(), String> {
        self.karmada.unreachable.clear();
        for _ in 0..200 {
            self.karmada.finish_deletions(&self.api);
            if self.karmada.is_idle() {
                return Ok(());
            }
            self.karmada.step(&self.api, self.time(), false);
            self.watch();
        }
        Err("Karmada does not come to rest".to_owned())
    }

    /// Runs until nothing is touched, and checks the final state.
    fn rest(&mut self) -> Result<(), String> {
        self.karmada_rests()?;
        self.run(minutes(3))?;
        let touches = self.touches.len();
        self.run(minutes(120))?;
        if self.touches.len() > touches {
            return Err(format!("touches at rest: {:?}", &self.touches[touches..]));
        }
        if self.planner.stale() > 0 {
            return Err("stale Works at rest".to_owned());
        }
        let stored = self.api.state.lock();
        if self.set.policies.is_empty() {
            let carries = |work: &&Value| work.to_string().contains("reviser.io/revi");
            return match stored.works.values().find(carries) {
                Some(work) => Err(format!("not undone: {work}")),
                None => Ok(()),
            };
        }
        let (hosts, scheduled) = (hosts(&stored), stored.binding.clone().unwrap_or_default());
        let wanted = usize::from(!scheduled.is_empty() && self.karmada.template.fort_steps);
        if hosts.len() != wanted
            || hosts.iter().any(|(host, _)| scheduled.iter().all(|(name, _)| name != host))
        {
            return Err(format!("at rest {hosts:?} host the fort of {scheduled:?}"));
        }
        Ok(())
    }
}

fn name(cluster: &str) -> WorkName {
    WorkName { namespace: format!("karmada-es-{cluster}"), name: "w".into() }
}

const fn minutes(count: u64) -> u64 {
    count * 60_000
}

#[derive(Clone, Debug)]
enum Event {
    Schedule(Vec<(String, i64)>, bool),
    Release(bool),
    Steps(usize, bool),
    FinishDeletions,
    Unreachable(&'static str, bool),
    DeleteBinding,
    Pin(Option<&'static str>),
    Policies(bool),
    Elect,
    Relist,
    Watch,
    Act,
    Run(u64),
}

fn any_event(pins: bool, policies: bool) -> impl Strategy<Value = Event> {
    let cluster = || select(CLUSTERS);
    let schedule =
        (subsequence(CLUSTERS, 0..=CLUSTERS.len()), prop::collection::vec(0i64..4, CLUSTERS.len()))
            .prop_map(|(names, weights)| names.into_iter().map(str::to_owned).zip(weights).collect());
    let or = |wanted: bool, strategy: BoxedStrategy<Event>| {
        if wanted { strategy } else { Just(Event::Watch).boxed() }
    };
    prop_oneof![
        6 => (schedule, any::<bool>()).prop_map(|(clusters, changed)| Event::Schedule(clusters, changed)),
        1 => any::<bool>().prop_map(Event::Release),
        12 => (1..6usize, prop::bool::weighted(0.2)).prop_map(|(steps, lost)| Event::Steps(steps, lost)),
        4 => Just(Event::FinishDeletions),
        1 => (cluster(), any::<bool>()).prop_map(|(cluster, gone)| Event::Unreachable(cluster, gone)),
        1 => Just(Event::DeleteBinding),
        2 => or(pins, prop::option::of(cluster()).prop_map(Event::Pin).boxed()),
        2 => or(policies, any::<bool>().prop_map(Event::Policies).boxed()),
        1 => Just(Event::Elect),
        1 => Just(Event::Relist),
        8 => Just(Event::Watch),
        6 => Just(Event::Act),
        4 => (0..20_000u64).prop_map(Event::Run),
    ]
}

impl World {
    fn happen(&mut self, event: &Event, handover: &str) -> Result<(), String> {
        match event {
            Event::Schedule(clusters, changed) => {
                self.karmada.schedule(&self.api, clusters.clone(), *changed);
            }
            Event::Release(fort_steps) => {
                self.karmada.template.generation += 1;
                self.karmada.template.fort_steps = *fort_steps;
                self.again();
            }
            Event::Steps(steps, lost) => {
                for step in 1..=*steps {
                    self.karmada.step(&self.api, self.time(), *lost && step == *steps);
                    self.check()?;
                }
            }
            Event::FinishDeletions => self.karmada.finish_deletions(&self.api),
            Event::Unreachable(cluster, true) => drop(self.karmada.unreachable.insert(cluster)),
            Event::Unreachable(cluster, false) => drop(self.karmada.unreachable.remove(cluster)),
            Event::DeleteBinding => {
                self.karmada.delete_binding(&self.api, self.time());
                self.ledger = Arc::new(MemoryLedger::default());
                self.restart_service();
            }
            Event::Pin(pin) => {
                self.karmada.template.pin = *pin;
                self.excuses.pinned = true;
                self.again();
            }
            Event::Policies(some) => {
                self.activate(if *some { policies(handover) } else { nothing() });
            }
            Event::Elect => self.elect(),
            Event::Relist => self.list(),
            Event::Watch => self.watch(),
            Event::Act => drop(self.act()?),
            Event::Run(time) => {
                self.excuses.timed_out |= self.timed;
                self.run(*time)?;
            }
        }
        self.check()
    }

    fn again(&mut self) {
        if self.api.state.lock().binding.is_some() {
            self.karmada.reconcile_again(&self.api);
        }
    }
}

fn histories(handover: &str, pins: bool, flapping: bool) {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) };
    let events = prop::collection::vec(any_event(pins, flapping), 4..40);
    proptest!(config, |(events in events, shows_ledger in any::<bool>())| {
        let mut world = World::new(handover, shows_ledger);
        // Without policies, Works are unrevised and every cluster has the fort.
        if flapping {
            world.excuses = Excuses { pinned: true, timed_out: true };
        }
        let first = Event::Schedule(vec![("a".to_owned(), 1), ("b".to_owned(), 3)], true);
        for event in [&first].into_iter().chain(&events) {
            world.happen(event, handover).map_err(|problem| TestCaseError::fail(format!("{event:?}: {problem}")))?;
        }
        world.excuses.timed_out |= world.timed;
        world.rest().map_err(TestCaseError::fail)?;
    });
}

#[test]
fn the_elected_replica_gives_every_fort_a_host() {
    histories(r#"{"mode":"AfterRelease"}"#, false, false);
}

#[test]
fn the_elected_replica_follows_pins() {
    histories(r#"{"mode":"AfterRelease"}"#, true, false);
}

#[test]
fn the_elected_replica_waits_for_a_timeout() {
    histories(r#"{"mode":"AfterRelease","timeout":"1m"}"#, false, false);
}

#[test]
fn policies_that_are_added_and_removed_leave_no_trace() {
    histories(r#"{"mode":"AfterRelease"}"#, false, true);
}

/// The usual case: the schedule drops the host, and of the other clusters only the new host is touched.
#[test]
fn a_handover_costs_two_touches() {
    for shows_ledger in [true, false] {
        let mut world = World::new(r#"{"mode":"AfterRelease"}"#, shows_ledger);
        let schedule = |names: &[(&str, i64)]| {
            names.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect::<Vec<_>>()
        };
        world.karmada.schedule(&world.api, schedule(&[("a", 3), ("b", 2), ("c", 1)]), true);
        world.karmada_rests().unwrap();
        world.run(minutes(5)).unwrap();
        assert_eq!(world.touches, Vec::<String>::new(), "Karmada's writes are already revised");
        world.karmada.schedule(&world.api, schedule(&[("b", 2), ("c", 1)]), false);
        world.karmada_writes();
        world.run(20).unwrap();
        world.karmada_rests().unwrap();
        world.run(minutes(5)).unwrap();
        assert!(world.touches.len() <= 2 && world.touches.contains(&"b".to_owned()), "{:?}", world.touches);
        assert_eq!(hosts(&world.api.state.lock()), [("b".to_owned(), false)]);
    }
}

/// An unreachable cluster keeps its Work. After the timeout of the allocation another cluster hosts.
#[test]
fn a_handover_ends_at_its_timeout() {
    for shows_ledger in [true, false] {
        let mut world = World::new(r#"{"mode":"AfterRelease","timeout":"10m"}"#, shows_ledger);
        let schedule = |names: &[(&str, i64)]| {
            names.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect::<Vec<_>>()
        };
        world.karmada.schedule(&world.api, schedule(&[("a", 3), ("b", 2), ("c", 1)]), true);
        world.karmada_rests().unwrap();
        world.karmada.unreachable.insert("a");
        world.karmada.schedule(&world.api, schedule(&[("b", 2), ("c", 1)]), false);
        world.karmada_writes();
        world.run(minutes(9)).unwrap();
        assert_eq!(hosts(&world.api.state.lock()), [("a".to_owned(), true)]);
        assert!((5..20).contains(&world.touches.len()), "{} touches in nine minutes", world.touches.len());
        world.excuses.timed_out = true;
        world.run(minutes(3)).unwrap();
        assert_eq!(hosts(&world.api.state.lock()), [("a".to_owned(), true), ("b".to_owned(), false)]);
    }
}

/// Concurrent writes can leave two hosts. The cluster that the ledger does not name releases the allocation.
#[test]
fn one_of_two_hosts_releases_the_allocation() {
    for shows_ledger in [true, false] {
        let mut world = World::new(r#"{"mode":"AfterRelease"}"#, shows_ledger);
        let both = || vec![("a".to_owned(), 3), ("b".to_owned(), 2)];
        world.karmada.schedule(&world.api, both(), true);
        world.karmada_rests().unwrap();
        let a = world.api.state.lock().works.remove("a").unwrap();
        let clusters = [(key(), reviser::domain::ClusterName::new("b").unwrap())];
        world.ledger = Arc::new(MemoryLedger::with_entries(clusters));
        world.restart_service();
        world.karmada.reconcile_again(&world.api);
        world.karmada.step(&world.api, world.time(), false);
        world.touch(&name("b")).unwrap();
        world.api.state.lock().works.insert("a".to_owned(), a);
        assert_eq!(hosts(&world.api.state.lock()).len(), 2);
        world.touches.clear();
        world.set = policies(r#"{"mode":"AfterRelease"}"#);
        let now = world.now;
        world.excuses = Excuses { pinned: true, timed_out: true };
        world.run(minutes(1)).unwrap();
        assert_eq!(hosts(&world.api.state.lock()), [("b".to_owned(), false)], "at {now}");
        assert!(world.touches.len() <= 2, "{:?}", world.touches);
    }
}
