//! The recorded bodies in random orders between two changes of the schedule: some are repeated, some are
//! retried because the write was lost, some are stored later than answered, and servers restart.
//!
//! `REVISER_TEST_ORDERS` sets the number of orders, `REVISER_TEST_SEED` the seed; a failure prints it.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use serde_json::Value;

use super::plane::Plane;
use super::recording::{Bindings, Body, What, schedule, sequence};
use super::sequence::AFTER_RELEASE;
use crate::api::Written;

const ORDERS: u32 = 24;

/// The bodies about the Rollout between two changes of its schedule, and the bindings at that time.
#[derive(Clone, Debug)]
struct Segment {
    bindings: Bindings,
    bodies: Vec<Body>,
}

fn segments() -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for call in sequence() {
        let Some(body) = call.review().filter(|body| body.kind() == "Rollout") else { continue };
        match segments.last_mut() {
            Some(last) if schedule(&last.bindings) == schedule(&call.bindings) => last.bodies.push(body),
            _ => segments.push(Segment { bindings: call.bindings, bodies: vec![body] }),
        }
    }
    segments
}

/// How a body is delivered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Delivery {
    Once,
    Twice,
    /// Answered but not stored; retried after the others.
    Lost,
    /// Answered, and stored after the others; retried if another write of that Work was faster.
    Late,
}

/// How a segment is delivered.
#[derive(Clone, Debug)]
struct Course {
    order: Vec<usize>,
    deliveries: Vec<Delivery>,
    /// The body before which the server restarts, and whether it keeps its ledger.
    restart: Option<(usize, bool)>,
}

fn any_course(bodies: usize) -> impl Strategy<Value = Course> {
    let order = Just((0..bodies).collect::<Vec<_>>()).prop_shuffle();
    let delivery = prop_oneof![
        3 => Just(Delivery::Once),
        1 => Just(Delivery::Twice),
        1 => Just(Delivery::Lost),
        1 => Just(Delivery::Late),
    ];
    let restart = proptest::option::weighted(0.3, (0..bodies, any::<bool>()));
    (order, proptest::collection::vec(delivery, bodies), restart)
        .prop_map(|(order, deliveries, restart)| Course { order, deliveries, restart })
}

/// The bodies in this order, except that a Work is deleted before its finalizer is removed.
fn ordered<'s>(segment: &'s Segment, order: &[usize]) -> Vec<&'s Body> {
    let is_deletion = |body: &Body| matches!(body.what, What::Delete | What::Finalizer);
    let mut deletions: BTreeMap<&str, Vec<&Body>> = BTreeMap::new();
    for body in segment.bodies.iter().rev().filter(|body| is_deletion(body)) {
        deletions.entry(&body.key).or_default().push(body);
    }
    let mut next = |body: &'s Body| match deletions.get_mut(body.key.as_str()).filter(|_| is_deletion(body)) {
        Some(left) => left.pop().unwrap(),
        None => body,
    };
    order.iter().map(|place| next(&segment.bodies[*place])).collect()
}

/// A step that remains after all bodies.
struct Rest<'s> {
    body: &'s Body,
    /// The stored Work at the time of the answer.
    old: Option<Value>,
    /// The Work to store; `None` if the write was lost.
    next: Option<Value>,
}

fn replay(policy: &str, segments: &[Segment], courses: &[Course]) -> Result<(), String> {
    let mut plane = Plane::new(Some(policy));
    for (segment, course) in segments.iter().zip(courses) {
        plane.bind(&segment.bindings);
        let mut rest: Vec<Rest<'_>> = Vec::new();
        for (place, body) in ordered(segment, &course.order).into_iter().enumerate() {
            if let Some((_, keeps_ledger)) = course.restart.filter(|(before, _)| *before == place) {
                plane.served.restart(keeps_ledger);
            }
            match course.deliveries[place] {
                how @ (Delivery::Lost | Delivery::Late) if body.what == What::Write => {
                    let old = plane.stored.works.get(&body.key).cloned();
                    let next = plane.ask(body).1;
                    rest.push(Rest { body, old, next: next.filter(|_| how == Delivery::Late) });
                }
                Delivery::Twice if body.what == What::Write => {
                    plane.deliver(body)?;
                    if plane.deliver(body)?.1 != Written::Dropped {
                        return Err(format!("{}: the same write changes something", body.name));
                    }
                }
                _ => drop(plane.deliver(body)?),
            }
        }
        for Rest { body, old, next } in rest {
            if next.is_some() && plane.stored.works.get(&body.key) == old.as_ref() {
                plane.store(body, next)?;
            } else {
                plane.deliver(body)?;
            }
        }
        plane.touch_all()?;
        plane.check_rest()?;
    }
    if plane.stored.works.is_empty() { Ok(()) } else { Err("something is left".to_owned()) }
}

/// The seed from the environment, or a random one.
fn seed() -> u64 {
    match std::env::var("REVISER_TEST_SEED") {
        Ok(text) => text.parse().unwrap(),
        // The random source of the standard library.
        Err(_) => RandomState::new().build_hasher().finish(),
    }
}

/// Tries the orders. The error has the violation and the seed.
fn run(policy: &str, max_shrink_iters: u32) -> Result<(), String> {
    let segments = segments();
    let orders = std::env::var("REVISER_TEST_ORDERS").ok().and_then(|text| text.parse().ok());
    let cases = orders.unwrap_or(ORDERS);
    let config = Config { failure_persistence: None, max_shrink_iters, ..Config::with_cases(cases) };
    let seed = seed();
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let courses: Vec<_> = segments.iter().map(|segment| any_course(segment.bodies.len()).boxed()).collect();
    let result =
        runner.run(&courses, |courses| replay(policy, &segments, &courses).map_err(TestCaseError::fail));
    result.map_err(|error| match error {
        TestError::Fail(problem, courses) => format!("REVISER_TEST_SEED={seed}: {problem}: {courses:#?}"),
        TestError::Abort(reason) => reason.to_string(),
    })
}

#[test]
fn every_order_has_at_most_one_fort_and_one_at_rest() {
    if let Err(problem) = run(AFTER_RELEASE, 64) {
        panic!("{problem}");
    }
}

/// Without handover the orders produce two forts, so they test the handover.
#[test]
fn orders_without_handover_have_two_forts() {
    let problem = run(&AFTER_RELEASE.replace("AfterRelease", "Immediate"), 0).unwrap_err();
    assert!(problem.contains("more than one fort"), "{problem}");
}

#[test]
fn the_segments_are_those_of_the_recording() {
    let segments = segments();
    let summaries: Vec<String> = segments
        .iter()
        .map(|segment| {
            let (clusters, leaving) = schedule(&segment.bindings).unwrap();
            let bodies: Vec<&str> = segment.bodies.iter().map(|body| body.name.as_str()).collect();
            let leaving = if leaving { " deleted" } else { "" };
            format!("{}{leaving}: {}", clusters.join(" "), bodies.join(" "))
        })
        .collect();
    assert_eq!(
        summaries,
        [
            "cluster-x=3 cluster-z=1: 5 8 31 34",
            "cluster-x=1 cluster-z=3: 48 50 53",
            "cluster-z=4: 66 70 75 77",
            "cluster-x=1 cluster-z=3: 88 94",
            "cluster-x=1 cluster-z=3 deleted: 102 104 105 107 110",
        ]
    );
    let segment = &segments[2];
    let ordered = ordered(segment, &[2, 0, 1, 3]);
    let names: Vec<&str> = ordered.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["70", "66", "75", "77"]);
}
