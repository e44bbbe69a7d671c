//! What is printed: one table of costs, one of sizes, and whether each bar is met.

#![expect(clippy::print_stdout, reason = "stdout is what a bench reports on")]

use crate::measure::{Comparison, Figures, percentile};
use crate::process::Memory;
use crate::scenario::Scenario;

/// Whether all bars so far are met.
#[derive(Debug)]
pub(crate) struct Report {
    missed: bool,
}

impl Report {
    /// Prints what is compared, and the head of the table of costs.
    pub(crate) fn begin(heading: &str) -> Self {
        println!("{heading}");
        println!();
        println!(
            "{:22} {:8} {:>6} {:>8} {:>8} {:>6} {:>11} {:>5}",
            "CPU time per request", "protocol", "body", "floor", "reviser", "ratio", "half within", "bar",
        );
        Self { missed: false }
    }

    /// Whether a bar is missed.
    pub(crate) fn missed(&self) -> bool {
        self.missed
    }

    /// Prints the cost of one scenario.
    pub(crate) fn cost(&mut self, scenario: &Scenario, body: usize, seen: &Comparison) {
        let Comparison { floor, subject, ratios } = seen;
        let ratio = percentile(ratios, 50);
        let spread = |low, high| format!("{:.2}..{:.2}", percentile(ratios, low), percentile(ratios, high));
        println!(
            "{:22} {:8} {:>6} {:>5.1} us {:>5.1} us {:>6.2} {:>11} {:>5} {}",
            scenario.name,
            scenario.protocol.name(),
            body,
            percentile(&floor.cost, 50),
            percentile(&subject.cost, 50),
            ratio,
            spread(25, 75),
            scenario.bar.map_or_else(|| "-".to_owned(), |bar| format!("{bar:.1}")),
            self.verdict(scenario.bar.map(|bar| ratio <= bar)),
        );
        let both = |of: fn(&Figures) -> &[f64], percent| {
            format!("{:.0} and {:.0}", percentile(of(floor), percent), percentile(of(subject), percent))
        };
        println!(
            "    all within {}; p50 {} us, p99 {} us, {} requests/s",
            spread(0, 100),
            both(|figures| &figures.latency, 50),
            both(|figures| &figures.latency, 99),
            both(|figures| &figures.throughput, 50),
        );
    }

    /// Prints the resident memory against its bars, all in KiB.
    pub(crate) fn memory(&mut self, idle: (u64, u64), loaded: (u64, u64), floor: Memory) {
        println!();
        let rows = [("resident memory, idle", idle), ("resident memory, most under load", loaded)];
        for (what, (used, bar)) in rows {
            let verdict = self.verdict(Some(used <= bar));
            println!("{what:34} {:>8} MiB  bar {:>4} MiB  {verdict}", mebi(used), mebi(bar));
        }
        println!("{:34} {:>8} MiB  most {} MiB", "that of the floor now", mebi(floor.now), mebi(floor.peak));
    }

    /// Prints the time from start to ready against its bar, in milliseconds.
    pub(crate) fn start(&mut self, starts: &[f64], bar: f64) {
        let median = percentile(starts, 50);
        let verdict = self.verdict(Some(median <= bar));
        let (least, most) = (percentile(starts, 0), percentile(starts, 100));
        println!(
            "{:34} {median:>8.1} ms   bar {bar:>4.0} ms   {verdict:6} (of {}: {least:.1}..{most:.1})",
            "start to ready",
            starts.len(),
        );
    }

    /// Prints the size of the binary against its bar, in bytes. `ships` says whether it is built as the one
    /// in the image.
    pub(crate) fn binary(&mut self, size: u64, bar: u64, ships: bool) {
        let verdict = self.verdict(ships.then_some(size <= bar));
        let remark = if ships { "" } else { "(not the profile of the image: not judged)" };
        println!("{:34} {:>8} MB   bar {:>4} MB   {verdict:6} {remark}", "binary", mega(size), mega(bar));
    }

    fn verdict(&mut self, met: Option<bool>) -> &'static str {
        self.missed |= met == Some(false);
        match met {
            Some(true) => "ok",
            Some(false) => "MISSED",
            None => "",
        }
    }
}

/// KiB as MiB, to one decimal, rounded up: a bar is not met by rounding.
fn mebi(kibi: u64) -> String {
    tenths((kibi * 10).div_ceil(1024))
}

/// Bytes as MB, likewise.
fn mega(bytes: u64) -> String {
    tenths(bytes.div_ceil(100_000))
}

fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}
