//! Everything at once: changes that do not wait for one another, while programs and members go and come back.
//!
//! At no time two clusters host the fort; in the end one does. Karmada looks into its cache for what it is to
//! delete in a member. A Work that is made and deleted within a moment can so leave its object behind there,
//! for good: seen here, and no Work shows it. It is reported and removed by hand, and what members hold
//! meanwhile is no failure of ours.
//!
//! No pins: they move a fort out of a cluster that has not released it, which is an overlap.

use serde_json::json;

use crate::apply::path;
use crate::objects::{X, Z, binding_path, rollout};
use crate::patience::{soon, until};
use crate::random::Random;
use crate::stage::Stage;

/// How many changes there are before it has to settle.
const CHANGES: u64 = 8;

/// How often that goes on, and how to have more of it.
const SPELLS: u64 = 5;
const MORE: &str = "REVISER_KARMADA_SPELLS";

/// The seed of another run, to see that one again. It is the same order of changes; what they meet may be
/// another.
const SEED: &str = "REVISER_KARMADA_SEED";

pub(crate) fn rough(stage: &mut Stage) {
    let given = |name: &str| std::env::var(name).ok().map(|number| number.parse().unwrap());
    let (seed, spells) = (given(SEED).unwrap_or_else(seed_of_now), given(MORE).unwrap_or(SPELLS));
    let mut weather = Weather {
        random: Random::new(seed),
        weights: vec![(X, 3), (Z, 1)],
        replicas: 4,
        released: 0,
        away: None,
    };
    stage.say(&format!("\n            {SEED}={seed}"));
    stage.is_rough = true;
    for spell in 1..=spells {
        stage.step(&format!("Rough weather, {spell} of {spells}"));
        for _ in 0..CHANGES {
            weather.change(stage);
        }
        weather.settle(stage);
    }
    stage.change(&json!({"metadata": {"annotations": {"shop/touched": null}}}));
    stage.divide(&[(X, 3), (Z, 1)]);
    stage.release(4, "shop/checkout:calm");
    stage.comes_to_one_host(&[(X, 3), (Z, 1)]);
}

/// What is so now, and what comes next.
struct Weather {
    random: Random,
    weights: Vec<(&'static str, i64)>,
    replicas: i64,
    released: u64,
    away: Option<&'static str>,
}

impl Weather {
    /// Changes something, and waits for no more than that some Work is written; not even for that, at times.
    fn change(&mut self, stage: &mut Stage) {
        stage.tell_news();
        let event = match self.random.below(12) {
            0..=4 => self.divide(stage),
            5 | 6 => self.release(stage),
            7 => self.make_again(stage),
            8 => {
                // It may not be there.
                drop(stage.admin.delete(&binding_path()));
                "the binding is deleted".to_owned()
            }
            9 => self.lose_or_find(stage),
            10 => {
                stage.reviser().kill();
                stage.reviser().start();
                "reviser is killed, and started".to_owned()
            }
            _ => {
                stage.karmada.restart_manager();
                "karmada-controller-manager is restarted".to_owned()
            }
        };
        stage.say(&format!("{:>7} ms  {event}", stage.began.elapsed().as_millis()));
        for _ in 0..self.random.below(3) {
            stage.wait_for_news();
        }
        stage.tell_news();
        stage.check_overlaps();
    }

    fn divide(&mut self, stage: &Stage) -> String {
        let all: [&[(&str, i64)]; 5] =
            [&[(X, 3), (Z, 1)], &[(X, 1), (Z, 3)], &[(X, 2), (Z, 2)], &[(X, 4)], &[(Z, 4)]];
        self.weights = self.random.pick(&all).to_vec();
        stage.divide(&self.weights);
        format!("divided {:?}", self.weights)
    }

    fn release(&mut self, stage: &mut Stage) -> String {
        self.released += 1;
        self.replicas = if self.random.once_in(3) { 0 } else { 4 };
        stage.release(self.replicas, &format!("shop/checkout:rough-{}", self.released));
        format!("release {} with {} replicas", self.released, self.replicas)
    }

    fn make_again(&mut self, stage: &mut Stage) -> String {
        stage.delete_template();
        format!("the Rollout is deleted, and made again: {}", self.release(stage))
    }

    fn lose_or_find(&mut self, stage: &Stage) -> String {
        if let Some(away) = self.away.take() {
            stage.karmada.member(away).find_again();
            return format!("{away} is back");
        }
        let name = self.random.pick(&[X, Z]);
        stage.karmada.member(name).lose();
        self.away = Some(name);
        format!("{name} is away")
    }

    /// Everything is there again, and nothing more changes.
    fn settle(&mut self, stage: &mut Stage) {
        if let Some(away) = self.away.take() {
            stage.karmada.member(away).find_again();
        }
        stage.karmada.wait_for_members();
        let event = self.release(stage);
        stage.say(&format!("{:>7} ms  it calms down: {event}", stage.began.elapsed().as_millis()));
        // Karmada does not make a binding again that was deleted, unless the template changes after that.
        let mut touches = 0;
        until("there is a binding that stays", || {
            let binding = stage.binding();
            let stays = binding.is_some_and(|binding| binding["metadata"]["deletionTimestamp"].is_null());
            if !stays {
                touches += 1;
                stage.change(&json!({"metadata": {"annotations": {"shop/touched": touches.to_string()}}}));
            }
            stays
        });
        let replicas = self.replicas;
        let each: Vec<_> = self.weights.iter().map(|(name, weight)| (*name, weight * replicas / 4)).collect();
        sweep(stage, &each);
        stage.comes_to_one_host(&each);
    }
}

/// Takes away what Karmada has left behind in a member that is to have nothing.
fn sweep(stage: &mut Stage, each: &[(&'static str, i64)]) {
    until("there are the Works that are to be, and no others", || {
        let held = stage.held();
        let is_there =
            |name: &str| held.get(name).is_some_and(|held| held.image == stage.image && !held.deleting);
        held.len() == each.len() && each.iter().all(|(name, _)| is_there(name))
    });
    for name in [X, Z].into_iter().filter(|name| each.iter().all(|(other, _)| other != name)) {
        let left = |stage: &Stage| stage.karmada.member(name).holds();
        if !soon(|| left(stage).is_none()) {
            stage.say(&format!("            {name}  LEFT BEHIND without a Work: {}", left(stage).unwrap()));
            stage.karmada.member(name).admin().delete(&path(&rollout(0, ""))).ok();
        }
    }
}

fn seed_of_now() -> u64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    since.as_secs() ^ u64::from(since.subsec_nanos())
}
