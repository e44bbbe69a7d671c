//! What reviser costs, as a multiple of what any HTTPS server of this build costs: `cargo bench --bench
//! cost`.
//!
//! One run starts a floor (see [`floor`]) and `reviser serve`, sends both the same requests in turn, and
//! prints the CPU time per request of each, their ratio, memory, time to start and size of the binary,
//! against the bars. Only ratios of one run mean anything: the same machine gives other microseconds the next
//! minute.
//!
//! It is no test. A missed bar is printed and the exit code is 0 all the same, unless `REVISER_BENCH_CHECK=1`
//! is set (then 1); a wrong reply, or a server that does not start, always is 1. Without `--bench`, which
//! `cargo bench` gives, it only makes sure that everything answers: the figures then mean nothing. It needs
//! Linux, for `/proc`.

mod floor;
mod load;
mod measure;
mod process;
mod report;
mod scenario;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

use crate::load::{Client, Expect, Load};
use crate::measure::{Effort, Side};
use crate::process::Server;
use crate::report::Report;
use crate::scenario::{SCENARIOS, Scenario};

/// Connections to each server, each with one request at a time.
const CONNECTIONS: usize = 4;

/// How often reviser is started to see how long that takes.
const STARTS: usize = 9;

// The bars that are no ratios: KiB, KiB, milliseconds, bytes.
const IDLE_BAR: u64 = 14 * 1024;
const LOADED_BAR: u64 = 24 * 1024;
const START_BAR: f64 = 50.0;
const BINARY_BAR: u64 = 20_000_000;

/// CPU time per request of reviser and of a bare server, and what else has a bar.
#[derive(Debug, Parser)]
struct Args {
    /// Only the scenarios whose name holds this.
    filter: Option<String>,
    /// How many rounds to measure.
    #[arg(long, default_value_t = 150)]
    rounds: usize,
    /// Measure another floor in place of reviser, made heavier by hashing each body so often: 0 must come out
    /// as a ratio of 1.
    #[arg(long, value_name = "TIMES")]
    against_floor: Option<u32>,
    /// Let the kernel choose the cores. The ratios are then far less steady.
    #[arg(long)]
    spread: bool,
    /// Measure in full, and do not only make sure that everything answers.
    #[arg(long, hide = true)]
    bench: bool,
    /// Be the floor.
    #[arg(long, hide = true)]
    floor: Option<u32>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if let Some(work) = args.floor {
        floor::run(work)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.spread {
        measure::pin()?;
    }
    let missed = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("failed to start the runtime of the bench")?
        .block_on(run(&args))?;
    let strict = std::env::var_os("REVISER_BENCH_CHECK").is_some_and(|value| value == "1");
    Ok(if missed && strict && args.bench { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Measures and prints everything, and says whether a bar is missed.
async fn run(args: &Args) -> anyhow::Result<bool> {
    let effort = if args.bench {
        Effort { warm_up: 2000, rounds: args.rounds, batch: 400 }
    } else {
        Effort { warm_up: 8, rounds: 1, batch: 8 }
    };
    let floor = Server::floor(0)?;
    let subject = match args.against_floor {
        Some(work) => Server::floor(work)?,
        None => reviser()?,
    };
    let idle = subject.memory()?.now;
    let mut report = Report::begin(&format!(
        "{} rounds of {} requests over {CONNECTIONS} connections to each server, {}; threads: floor {}, {} {}",
        effort.rounds,
        effort.batch,
        if args.spread { "on any core" } else { "all on one core" },
        floor.threads()?,
        if args.against_floor.is_some() { "another floor" } else { "reviser" },
        subject.threads()?,
    ));
    let wanted = |name: &str| args.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()));
    for scenario in SCENARIOS.iter().filter(|scenario| wanted(scenario.name)) {
        let body = (scenario.body)()?;
        let expect = if args.against_floor.is_some() { floor::EXPECT } else { scenario.expect };
        let floor = side(&floor, scenario, floor::EXPECT).await?;
        let subject = side(&subject, scenario, expect).await?;
        let seen = measure::compare(effort, floor, subject).await;
        let seen = seen.with_context(|| format!("failed to measure {}", scenario.name))?;
        report.cost(scenario, body.len(), &seen);
    }
    if args.against_floor.is_none() {
        let loaded = subject.memory()?.peak;
        report.memory((idle, IDLE_BAR), (loaded, LOADED_BAR), floor.memory()?);
        drop(subject);
        sizes(&mut report, if args.bench { STARTS } else { 1 })?;
    }
    Ok(report.missed())
}

async fn side<'a>(server: &'a Server, scenario: &Scenario, expect: Expect) -> anyhow::Result<Side<'a>> {
    let load = Load {
        address: server.address,
        protocol: scenario.protocol,
        path: scenario.path,
        body: (scenario.body)()?,
        expect,
        connections: CONNECTIONS,
    };
    Ok(Side { server, client: Client::connect(load).await? })
}

fn sizes(report: &mut Report, starts: usize) -> anyhow::Result<()> {
    let mut times = Vec::with_capacity(starts);
    for _ in 0..starts {
        times.push(reviser()?.start.as_secs_f64() * 1e3);
    }
    report.start(&times, START_BAR);
    let program = Path::new(REVISER);
    let size = program.metadata().with_context(|| format!("failed to look at {REVISER}"))?.len();
    // The profiles `bench` and `dist` are the same build.
    let folder = program.parent();
    let ships = folder.is_some_and(|folder| folder.ends_with("release") || folder.ends_with("dist"));
    report.binary(size, BINARY_BAR, ships);
    Ok(())
}

/// The program under test.
const REVISER: &str = env!("CARGO_BIN_EXE_reviser");

fn reviser() -> anyhow::Result<Server> {
    Server::reviser(Path::new(REVISER), &scenario::policy(), &scenario::state())
}
