//! The story of a fort on a real Karmada: its own programs, and two member clusters that are API servers of
//! their own.
//!
//! The environment says where Karmada is; `README.md` beside this says how. Where it is not, this says so and
//! passes. The story is printed, and kept as `karmada-story.log` in cargo's target folder: what each
//! cluster's Work and each member held after each step, and each change of a Work on the way.
//!
//! All through the story an [`observer`] looks for two Works, or two members, that start a fort pod.

#![expect(
    clippy::panic,
    clippy::unwrap_in_result,
    clippy::unwrap_used,
    reason = "clippy lets tests do so, but does not take the helpers of a test for one"
)]

mod apply;
mod chapters;
mod control;
mod given;
mod held;
mod member;
mod objects;
mod observer;
mod patience;
#[expect(dead_code, reason = "it also runs what ends by itself")]
#[path = "../support/process.rs"]
mod process;
#[expect(dead_code, reason = "it also shuffles")]
#[path = "../running/random.rs"]
mod random;
mod service;
mod stage;
#[expect(dead_code, reason = "it also has what stands in for Karmada")]
#[path = "../cluster/support/mod.rs"]
mod support;

#[test]
fn the_story_of_a_fort_on_a_real_karmada() {
    let Some(given) = given::given() else { return };
    let Some(karmada) = control::Karmada::start(given) else { return };
    chapters::play(&mut stage::Stage::new(karmada));
}
