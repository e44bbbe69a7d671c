//! The method: the two servers in turn, round by round, and the median of the ratios of the rounds.
//!
//! CPU time per request is no constant of a server. First, it hangs on where the kernel puts the threads: a
//! wake-up of another core costs more than the rest of a request may be worth, and one and the same server
//! needs half as much again for seconds on end if its threads sit apart. So everything runs on one core, see
//! [`pin`]; the floor is at its lowest then, which makes the ratio the strictest. Second, it goes up and down
//! with the caches on a busy machine. Two batches that follow each other closely see the same machine, so
//! their ratio is steadier than either figure, and many short rounds do better than few long ones. Which
//! server goes first changes every round, so that a drift does not favour one.

use std::time::Duration;

use anyhow::Context as _;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::load::{Client, Timing};
use crate::process::Server;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Requests to each server before anything counts.
    pub(crate) warm_up: usize,
    /// Rounds, each with a batch for either server.
    pub(crate) rounds: usize,
    /// Requests in a batch.
    pub(crate) batch: usize,
}

/// A server under load.
pub(crate) struct Side<'a> {
    /// The process.
    pub(crate) server: &'a Server,
    /// The connections to it.
    pub(crate) client: Client,
}

/// What was seen of one server over all rounds.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// CPU time per request of each round, in microseconds.
    pub(crate) cost: Vec<f64>,
    /// Latency of each request, in microseconds.
    pub(crate) latency: Vec<f64>,
    /// Requests per second of each round.
    pub(crate) throughput: Vec<f64>,
}

/// What was seen of both.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// The floor.
    pub(crate) floor: Figures,
    /// The server under test.
    pub(crate) subject: Figures,
    /// Cost of the second over cost of the first, by round.
    pub(crate) ratios: Vec<f64>,
}

/// Sends the load to both in turn.
pub(crate) async fn compare(
    effort: Effort,
    mut floor: Side<'_>,
    mut subject: Side<'_>,
) -> anyhow::Result<Comparison> {
    floor.client.send(effort.warm_up).await?;
    subject.client.send(effort.warm_up).await?;
    let (mut of_floor, mut of_subject) = (Figures::default(), Figures::default());
    for round in 0..effort.rounds {
        if round % 2 == 0 {
            floor.batch(effort.batch, &mut of_floor).await?;
            subject.batch(effort.batch, &mut of_subject).await?;
        } else {
            subject.batch(effort.batch, &mut of_subject).await?;
            floor.batch(effort.batch, &mut of_floor).await?;
        }
    }
    let ratios = of_subject.cost.iter().zip(&of_floor.cost).map(|(subject, floor)| subject / floor).collect();
    Ok(Comparison { floor: of_floor, subject: of_subject, ratios })
}

impl Side<'_> {
    async fn batch(&mut self, count: usize, figures: &mut Figures) -> anyhow::Result<()> {
        let before = self.server.cpu_time()?;
        let Timing { elapsed, latencies } = self.client.send(count).await?;
        let used = self.server.cpu_time()?.since(&before);
        let count = u32::try_from(latencies.len()).map_or(f64::INFINITY, f64::from);
        figures.cost.push(micros(used) / count);
        figures.throughput.push(count / elapsed.as_secs_f64());
        figures.latency.extend(latencies.into_iter().map(micros));
        Ok(())
    }
}

/// Keeps this thread on one core, and with it all threads and processes that it starts.
///
/// A server that counts its cores sees one, as it does in a small container.
pub(crate) fn pin() -> anyhow::Result<()> {
    let allowed = sched_getaffinity(None).context("failed to read which cores may be used")?;
    let core =
        (0..CpuSet::MAX_CPU).rev().find(|core| allowed.is_set(*core)).context("no core may be used")?;
    let mut only = CpuSet::new();
    only.set(core);
    sched_setaffinity(None, &only).with_context(|| format!("failed to stay on core {core}"))
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// The value below which `percent` of the `values` lie.
pub(crate) fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last * percent + 50) / 100).copied().unwrap_or(f64::NAN)
}
