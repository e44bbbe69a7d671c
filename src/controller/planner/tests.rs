//! The planner in a simulation: Works, policies, replicas that answer touches, and a watch that is late and
//! loses events.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::*;
use crate::service::SyncStatus;

const fn ms(milliseconds: u64) -> Moment {
    Moment(Duration::from_millis(milliseconds))
}

/// A stored Work.
#[derive(Clone, Debug)]
struct Stored {
    uid: u64,
    version: u64,
    generation: i64,
    deleting: bool,
    /// The policies of its record. `None` without a record.
    record: Option<u64>,
}

#[derive(Clone, Debug)]
enum Told {
    Applied(WorkName, Stored),
    Synced,
    Deleted(WorkName),
}

/// A simulated API server with replicas and a watch.
struct World {
    planner: Planner,
    now: u64,
    works: BTreeMap<WorkName, Stored>,
    version: u64,
    /// The version of the policies. 0 means no policies.
    policies: u64,
    /// The policies of replicas that have not yet observed the new ones.
    old_policies: u64,
    stale_answers: bool,
    down: bool,
    /// Works that can't be written.
    denied: BTreeSet<WorkName>,
    told: VecDeque<Told>,
    /// The Works that the watch has reported.
    known: BTreeSet<WorkName>,
    calls: VecDeque<(u64, WorkName)>,
    /// Works without a record because old policies answered the last touch. Their state can't be observed.
    misled: BTreeSet<WorkName>,
    /// The time of each touch.
    touches: Vec<(u64, WorkName)>,
}

fn name(number: usize) -> WorkName {
    WorkName { namespace: format!("karmada-es-{}", number % 3), name: format!("w{}", number / 3) }
}

/// The rules change every second workload.
fn is_changed(name: &WorkName) -> bool {
    name.name.len().is_multiple_of(2) && !name.name.ends_with('1')
}

fn revised(name: &WorkName, policies: u64) -> Option<u64> {
    (policies != 0 && is_changed(name)).then_some(policies)
}

impl World {
    fn new() -> Self {
        let mut planner = Planner::new(RateLimits::default());
        for scope in [Scope::Namespace, Scope::Cluster] {
            planner.bindings_synced(ms(0), scope);
        }
        planner.begin_epoch(ms(0), Allocations::default());
        let mut world = Self {
            planner,
            now: 0,
            works: BTreeMap::new(),
            version: 0,
            policies: 0,
            old_policies: 0,
            stale_answers: false,
            down: false,
            denied: BTreeSet::new(),
            told: VecDeque::new(),
            known: BTreeSet::new(),
            calls: VecDeque::new(),
            misled: BTreeSet::new(),
            touches: Vec::new(),
        };
        world.list();
        world
    }

    fn sync(&self, name: &WorkName, stored: &Stored) -> Option<SyncState> {
        let selected = self.policies != 0;
        let status = match (selected, stored.record) {
            (false, None) => return None,
            (true, Some(record)) if record == self.policies => SyncStatus::Synced,
            (_, Some(_)) => SyncStatus::Outdated,
            (true, None) => SyncStatus::Unrecorded,
        };
        let owner = Owner::Cluster { name: "p".into() };
        // Some Works have no binding.
        let binding = BindingName { namespace: Some("shop".into()), name: name.name.clone() };
        Some(SyncState {
            binding: Some(binding).filter(|binding| !binding.name.ends_with(['2', '3'])),
            policies: selected.then_some(owner).into_iter().collect(),
            policy_digest: if selected { self.policies.to_string() } else { String::new() },
            status,
            hosts: BTreeSet::new(),
            asks: BTreeSet::new(),
            lacks: BTreeSet::new(),
        })
    }

    fn seen(&self, name: &WorkName, stored: &Stored) -> ObservedWork {
        ObservedWork {
            uid: stored.uid.to_string(),
            version: Some(stored.version),
            generation: stored.generation,
            deleting: stored.deleting,
            sync: self.sync(name, stored),
        }
    }

    /// A write by Karmada or a touch. It is stored only if it changes something.
    fn write(&mut self, name: &WorkName, touch: bool) {
        let policies = if self.stale_answers { self.old_policies } else { self.policies };
        let record = revised(name, policies);
        let version = self.version + 1;
        match self.works.get_mut(name) {
            None if touch => return,
            None => {
                let stored = Stored { uid: version, version, generation: 1, deleting: false, record };
                self.works.insert(name.clone(), stored);
            }
            Some(stored) if stored.deleting || touch && stored.record == record => return,
            Some(stored) => {
                (stored.version, stored.record) = (version, record);
                stored.generation += 1;
            }
        }
        self.version = version;
        self.tell(name);
    }

    fn tell(&mut self, name: &WorkName) {
        self.told.push_back(Told::Applied(name.clone(), self.works[name].clone()));
    }

    /// The watch lists again. Events that have not been reported are lost.
    fn list(&mut self) {
        self.told.clear();
        for name in self.works.keys().cloned().collect::<Vec<_>>() {
            self.tell(&name);
        }
        let gone = self.known.iter().filter(|name| !self.works.contains_key(*name));
        self.told.extend(gone.cloned().map(Told::Deleted));
        self.told.push_back(Told::Synced);
    }

    fn put_in_force(&mut self, policies: u64) {
        self.old_policies = std::mem::replace(&mut self.policies, policies);
        self.planner.begin_epoch(ms(self.now), Allocations::default());
        // A new watch has not reported any Work.
        self.known.clear();
        self.list();
    }

    fn hear(&mut self) {
        let now = ms(self.now);
        match self.told.pop_front() {
            None => {}
            Some(Told::Applied(name, stored)) => {
                self.known.insert(name.clone());
                let seen = self.seen(&name, &stored);
                self.planner.applied(now, &name, seen);
            }
            Some(Told::Synced) => self.planner.synced(now),
            Some(Told::Deleted(name)) => {
                self.known.remove(&name);
                self.planner.deleted(now, &name);
            }
        }
    }

    fn delete(&mut self, name: &WorkName) {
        self.version += 1;
        let version = self.version;
        match self.works.get_mut(name) {
            None => {}
            Some(stored) if stored.deleting => {
                self.works.remove(name);
                self.told.push_back(Told::Deleted(name.clone()));
            }
            Some(stored) => {
                (stored.deleting, stored.version) = (true, version);
                stored.generation += 1;
                self.tell(name);
            }
        }
    }

    /// Starts what the planner asks for. Returns when it is due again.
    fn act(&mut self) -> Option<u64> {
        loop {
            match self.planner.next(ms(self.now)) {
                Next::Touch(name) => {
                    assert!(!self.calls.iter().any(|(_, other)| *other == name), "{name} twice at a time");
                    self.calls.push_back((self.now + 20, name.clone()));
                    assert!(self.calls.len() <= RateLimits::default().in_flight);
                    self.touches.push((self.now, name));
                }
                Next::Clear { .. } => panic!("nothing to clear"),
                Next::Wait(at) => return at.map(|at| u64::try_from(at.0.as_millis()).unwrap() + 1),
            }
        }
    }

    fn answer(&mut self) {
        let Some((_, name)) = self.calls.pop_front() else { return };
        let outcome = if self.down {
            TouchOutcome::ServerError
        } else if self.denied.contains(&name) || !self.works.contains_key(&name) {
            TouchOutcome::Rejected
        } else {
            self.write(&name, true);
            if self.stale_answers && self.works[&name].record.is_none() {
                self.misled.insert(name.clone());
            } else {
                self.misled.remove(&name);
            }
            TouchOutcome::Revised(Box::new(self.seen(&name, &self.works[&name])))
        };
        self.planner.touched(ms(self.now), &name, outcome);
    }

    /// Advances the time to `until`, or until nothing is due. Events are reported at once.
    fn run(&mut self, until: u64) {
        loop {
            while !self.told.is_empty() {
                self.hear();
            }
            let wanted = self.act();
            let answer = self.calls.front().map(|(at, _)| *at);
            let Some(next) = [wanted, answer].into_iter().flatten().min().filter(|next| *next < until) else {
                break;
            };
            self.now = self.now.max(next);
            while self.calls.front().is_some_and(|(at, _)| *at <= self.now) {
                self.answer();
            }
        }
        self.now = until.max(self.now);
    }

    fn touches_since(&self, since: u64) -> BTreeMap<&WorkName, usize> {
        let mut counts = BTreeMap::new();
        for (_, name) in self.touches.iter().filter(|(at, _)| *at >= since) {
            *counts.entry(name).or_default() += 1;
        }
        counts
    }

    fn check_rate(&self) {
        let limits = RateLimits::default();
        for (position, (at, _)) in self.touches.iter().enumerate() {
            let within = self.touches[position..].iter().filter(|(other, _)| *other < at + 1000).count();
            assert!(
                within <= limits.per_second as usize + limits.in_flight + 1,
                "{within} touches in a second"
            );
        }
    }
}

fn minutes(count: u64) -> u64 {
    count * 60_000
}

#[test]
fn a_policy_change_touches_each_work_once() {
    let mut world = World::new();
    for number in 0..1000 {
        world.write(&name(number), false);
    }
    world.put_in_force(1);
    world.run(minutes(1));
    let counts = world.touches_since(0);
    assert_eq!((counts.len(), counts.values().max()), (1000, Some(&1)));
    let took = world.touches.last().unwrap().0;
    assert!((20_000..22_500).contains(&took), "1,000 Works at 50 a second took {took} ms");
    world.check_rate();
    assert_eq!(world.planner.stale(), 0);
    let counts = world.planner.work_counts().unwrap();
    assert_eq!(counts.values().collect::<Vec<_>>(), [&WorkCounts { total: 1000, current: 1000 }]);
    // The watch starts again, which must not cause any touch.
    world.list();
    world.run(minutes(10));
    assert_eq!(world.touches.len(), 1000);
    // Without policies, revised Works are undone, and no other Work is touched.
    let before = world.now;
    world.put_in_force(0);
    world.run(minutes(20));
    let counts = world.touches_since(before);
    let changed = (0..1000).map(name).filter(is_changed).count();
    assert_eq!((counts.len(), counts.values().max()), (changed, Some(&1)));
    assert!(world.works.values().all(|stored| stored.record.is_none()));
}

#[test]
fn a_write_of_a_work_without_a_record_is_followed_by_one_touch() {
    let mut world = World::new();
    let unchanged = (0..9).map(name).find(|name| !is_changed(name)).unwrap();
    world.write(&unchanged, false);
    world.put_in_force(1);
    world.run(minutes(1));
    for writes in 2..5 {
        world.write(&unchanged, false);
        world.run(world.now + minutes(5));
        assert_eq!(world.touches.len(), writes);
    }
}

#[test]
fn a_replica_that_answers_by_old_policies_is_asked_again_later_and_later() {
    let mut world = World::new();
    let changed = (0..9).map(name).find(is_changed).unwrap();
    world.write(&changed, false);
    world.put_in_force(1);
    world.run(minutes(1));
    world.stale_answers = true;
    world.put_in_force(2);
    let before = world.now;
    world.run(before + minutes(10));
    let at: Vec<u64> =
        world.touches.iter().filter(|(at, _)| *at >= before).map(|(at, _)| (at - before) / 1000).collect();
    assert_eq!(at, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
    world.stale_answers = false;
    world.run(world.now + minutes(6));
    assert_eq!(world.planner.stale(), 0);
    let touches = world.touches.len();
    world.run(world.now + minutes(60));
    assert_eq!(world.touches.len(), touches);
}

#[test]
fn works_that_are_denied_for_good_hold_up_no_other() {
    let mut world = World::new();
    for number in 0..400 {
        world.write(&name(number), false);
        if number % 2 == 0 {
            world.denied.insert(name(number));
        }
    }
    world.put_in_force(1);
    world.run(12_000);
    let others = world.works.iter().filter(|(name, _)| !world.denied.contains(name));
    assert!(others.into_iter().all(|(name, stored)| stored.record == revised(name, 1)));
    let touched = world.touches_since(0);
    assert!((0..400).map(name).all(|name| touched.contains_key(&name)));
    // In the long run each of them is retried every five minutes.
    let before = minutes(60);
    world.run(before);
    world.run(before + minutes(60));
    let counts = world.touches_since(before);
    assert!(counts.len() == 200 && counts.values().all(|count| (11..=13).contains(count)), "{counts:?}");
    assert_eq!(
        world.planner.work_counts().unwrap().values().next(),
        Some(&WorkCounts { total: 400, current: 200 })
    );
}

#[test]
fn a_server_that_is_away_is_asked_seldom_and_all_is_done_when_it_is_back() {
    let mut world = World::new();
    for number in 0..300 {
        world.write(&name(number), false);
    }
    world.down = true;
    world.put_in_force(1);
    world.run(minutes(10));
    assert!(world.touches.len() < 400, "{} touches in ten minutes", world.touches.len());
    world.down = false;
    world.run(minutes(16));
    assert_eq!(world.planner.stale(), 0);
}

#[test]
fn nothing_is_touched_before_all_works_have_been_listed() {
    let mut world = World::new();
    world.run(1);
    world.write(&name(1), false);
    world.put_in_force(1);
    world.told.pop_back();
    world.run(minutes(1));
    assert_eq!((world.touches.len(), world.planner.work_counts()), (0, None));
}

#[test]
fn an_older_sight_of_a_work_counts_for_nothing() {
    let mut world = World::new();
    let changed = (0..9).map(name).find(is_changed).unwrap();
    world.write(&changed, false);
    let old = world.works[&changed].clone();
    world.put_in_force(1);
    world.run(minutes(1));
    assert_eq!(world.touches.len(), 1);
    world.told.push_back(Told::Applied(changed, old));
    world.run(minutes(2));
    assert_eq!(world.touches.len(), 1);
}

#[derive(Clone, Debug)]
enum Event {
    Write(usize),
    Delete(usize),
    Policies(u64),
    StaleAnswers(bool),
    Down(bool),
    Deny(usize, bool),
    Restart,
    Hear(usize),
    Act,
    Answer,
    Pass(u64),
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0..24usize).prop_map(Event::Write),
        3 => (0..24usize).prop_map(Event::Delete),
        2 => (0..4u64).prop_map(Event::Policies),
        1 => any::<bool>().prop_map(Event::StaleAnswers),
        1 => any::<bool>().prop_map(Event::Down),
        1 => (0..24usize, any::<bool>()).prop_map(|(number, denied)| Event::Deny(number, denied)),
        1 => Just(Event::Restart),
        8 => (1..30usize).prop_map(Event::Hear),
        8 => Just(Event::Act),
        8 => Just(Event::Answer),
        4 => (0..5000u64).prop_map(Event::Pass),
    ]
}

fn happen(world: &mut World, event: &Event) {
    match event {
        Event::Write(number) => world.write(&name(*number), false),
        Event::Delete(number) => world.delete(&name(*number)),
        Event::Policies(policies) => world.put_in_force(*policies),
        Event::StaleAnswers(stale) => world.stale_answers = *stale,
        Event::Down(down) => world.down = *down,
        Event::Deny(number, true) => drop(world.denied.insert(name(*number))),
        Event::Deny(number, false) => drop(world.denied.remove(&name(*number))),
        Event::Restart => world.list(),
        Event::Hear(count) => (0..*count).for_each(|_| world.hear()),
        Event::Act => drop(world.act()),
        Event::Answer => world.answer(),
        Event::Pass(time) => world.now += time,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn whatever_happens_it_comes_to_rest_as_the_policies_say(
        events in prop::collection::vec(any_event(), 1..250),
    ) {
        let mut world = World::new();
        for event in &events {
            happen(&mut world, event);
        }
        (world.stale_answers, world.down) = (false, false);
        world.denied.clear();
        world.list();
        let before = world.now;
        world.run(before + minutes(12));
        let clear = |(name, stored): &(&WorkName, &Stored)| !stored.deleting && !world.misled.contains(*name);
        for (name, stored) in world.works.iter().filter(clear) {
            prop_assert_eq!(stored.record, revised(name, world.policies), "{}", name);
        }
        prop_assert_eq!(world.planner.stale(), 0);
        world.check_rate();
        let counts = world.touches_since(before);
        prop_assert!(counts.values().all(|count| *count <= 2), "{:?}", counts);
        let touches = world.touches.len();
        world.run(world.now + minutes(60));
        prop_assert_eq!(world.touches.len(), touches);
    }
}

/// A Work of cluster-`cluster` that asks for the fort.
fn asking(cluster: &str, version: u64, deleting: bool, hosts: bool) -> (WorkName, ObservedWork) {
    let fort = BTreeSet::from(["fort".to_owned()]);
    let none = BTreeSet::new();
    let sync = SyncState {
        binding: Some(BindingName { namespace: Some("shop".into()), name: "checkout".into() }),
        policies: BTreeSet::new(),
        policy_digest: "h".to_owned(),
        status: SyncStatus::Synced,
        hosts: if hosts { fort.clone() } else { none.clone() },
        asks: fort.clone(),
        lacks: if hosts { none } else { fort },
    };
    let name = WorkName { namespace: format!("karmada-es-cluster-{cluster}"), name: "checkout".into() };
    let seen = ObservedWork {
        uid: cluster.to_owned(),
        version: Some(version),
        generation: 1,
        deleting,
        sync: Some(sync),
    };
    (name, seen)
}

/// The Works that the planner touches until nothing is due for a while.
fn touched_until_quiet(
    planner: &mut Planner,
    now: &mut u64,
    works: &[(WorkName, ObservedWork)],
) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        match planner.next(ms(*now)) {
            Next::Touch(name) => {
                all.push(name.namespace.clone());
                // The answer is the same as before, so the Work is not written.
                let (_, seen) = works.iter().find(|(own, _)| *own == name).unwrap();
                planner.touched(ms(*now), &name, TouchOutcome::Revised(Box::new(seen.clone())));
            }
            Next::Clear { .. } => panic!("nothing to clear"),
            Next::Wait(Some(at)) if at < ms(*now + 20_000) => {
                *now = u64::try_from(at.0.as_millis()).unwrap() + 1;
            }
            Next::Wait(_) => return all,
        }
    }
}

/// Karmada updates the Work of a dropped cluster once more before it deletes it, so that the Work releases
/// the allocation. A finalizer keeps the Work.
#[test]
fn a_host_that_let_go_before_it_left_is_waited_for_until_it_is_gone() {
    let mut planner = Planner::new(RateLimits::default());
    for scope in [Scope::Namespace, Scope::Cluster] {
        planner.bindings_synced(ms(0), scope);
    }
    let allocations = Allocations { defined: Some(["fort".to_owned()].into()), ..Allocations::default() };
    planner.begin_epoch(ms(0), allocations);
    let z = asking("z", 2, false, false);
    let tell = |planner: &mut Planner, now: u64, works: &[(WorkName, ObservedWork)]| {
        for (name, seen) in works {
            planner.applied(ms(now), name, seen.clone());
        }
    };
    let hosting = [asking("x", 1, false, true), z.clone()];
    tell(&mut planner, 0, &hosting);
    planner.synced(ms(0));
    let binding = BindingName { namespace: Some("shop".into()), name: "checkout".into() };
    let ledger = BTreeMap::from([("fort".to_owned(), "cluster-x".to_owned())]);
    planner.binding(ms(0), &binding, "1".to_owned(), ledger);
    let mut now = 2_000;
    assert_eq!(touched_until_quiet(&mut planner, &mut now, &hosting), [""; 0]);

    for (version, deleting) in [(3, false), (4, true)] {
        let works = [asking("x", version, deleting, false), z.clone()];
        tell(&mut planner, now, &works[..1]);
        touched_until_quiet(&mut planner, &mut now, &works);
    }
    // The finalizer is removed.
    let (x, _) = asking("x", 5, true, false);
    now += 60_000;
    planner.deleted(ms(now), &x);
    assert_eq!(touched_until_quiet(&mut planner, &mut now, &[z]), ["karmada-es-cluster-z"]);
}
