//! Leader election with a `Lease`.

mod terms;

use std::hash::{BuildHasher as _, Hasher as _};
use std::pin::pin;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::planner::Moment;
use crate::apiserver::{ApiServer, CallError, Kind};
use terms::{Candidate, Lease, Move};

pub use terms::ElectionOptions;

/// How long the release of the lease may delay the end of the process.
const RELEASE_LIMIT: Duration = Duration::from_secs(2);

/// A unique name for this process: the host name and a random number.
pub fn identity() -> String {
    let named = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = named.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let mut random = std::hash::RandomState::new().build_hasher();
    random.write_u32(std::process::id());
    format!("{}_{:016x}", host.as_deref().unwrap_or("reviser"), random.finish())
}

/// Takes part in the election for one lease.
struct Elector<'o> {
    server: &'o ApiServer,
    options: &'o ElectionOptions,
    candidate: Candidate,
    start: Instant,
    /// The last error. An error is logged only once.
    problem: Option<String>,
}

/// Takes part in the election until `shutdown`, and runs `work` while elected. The future is dropped before
/// another replica can be elected. `tell` is called on each change.
pub(super) async fn stand<W: Future<Output = ()>>(
    server: &ApiServer,
    options: &ElectionOptions,
    shutdown: impl Future<Output = ()>,
    tell: impl Fn(bool),
    work: impl Fn() -> W,
) {
    let (candidate, start) = (Candidate::default(), Instant::now());
    let mut elector = Elector { server, options, candidate, start, problem: None };
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            () = elector.acquire() => {}
        }
        tracing::info!(identity = %options.identity, lease = %options.name, "elected");
        tell(true);
        let ended = tokio::select! {
            () = &mut shutdown => true,
            () = elector.keep() => false,
            () = work() => false,
        };
        tell(false);
        if ended {
            break;
        }
        tracing::warn!(identity = %options.identity, "not elected any more");
    }
    elector.release().await;
}

impl Elector<'_> {
    fn now(&self) -> Moment {
        Moment(self.start.elapsed())
    }

    /// Returns once this replica holds the lease.
    async fn acquire(&mut self) {
        loop {
            self.attempt().await;
            if self.candidate.holds_until(self.options).is_some_and(|until| until > self.now()) {
                return;
            }
            // The jitter keeps the waiting replicas from retrying at the same time.
            let random = std::hash::RandomState::new().build_hasher().finish() % 200;
            let jitter = self.options.retry_period / 1000 * u32::try_from(random).unwrap_or_default();
            tokio::time::sleep(self.options.retry_period + jitter).await;
        }
    }

    /// Returns once this replica no longer holds the lease, or can't renew it in time.
    async fn keep(&mut self) {
        while let Some(until) = self.candidate.holds_until(self.options) {
            let until = self.start + until.0;
            let round = async {
                tokio::time::sleep(self.options.retry_period).await;
                self.attempt().await;
            };
            if tokio::time::timeout_at(until.into(), round).await.is_err() {
                return;
            }
        }
    }

    async fn attempt(&mut self) {
        match self.try_once().await {
            Ok(()) => self.problem = None,
            // Another replica was faster.
            Err(error) if error.is_conflict() => {}
            Err(error) => {
                let problem = error.to_string();
                if self.problem.as_ref() != Some(&problem) {
                    tracing::warn!(error = %problem, "the lease can't be used");
                    self.problem = Some(problem);
                }
            }
        }
    }

    async fn try_once(&mut self) -> Result<(), CallError> {
        let ElectionOptions { namespace, name, .. } = self.options;
        let stored = self.server.get(&Kind::LEASE, namespace, name).await?;
        let lease = stored.map(|stored| read(stored.text(), stored.resource_version()));
        let (began, time) = (self.now(), time());
        let stored = match self.candidate.see(self.options, began, &time, lease) {
            Move::Wait => return Ok(()),
            Move::Create(spec) => {
                let body = json!({"apiVersion": Kind::LEASE.api_version(), "kind": Kind::LEASE.kind,
                    "metadata": {"name": name}, "spec": spec});
                self.server.create(&Kind::LEASE, namespace, &body).await?
            }
            Move::Write(version, spec) => self.write(&version, &spec).await?,
        };
        self.candidate.written(began, read(stored.text(), stored.resource_version()));
        Ok(())
    }

    async fn write(&self, version: &str, spec: &Value) -> Result<crate::apiserver::Stored, CallError> {
        let body = json!({"metadata": {"resourceVersion": version}, "spec": spec});
        let ElectionOptions { namespace, name, .. } = self.options;
        self.server.merge_patch(&Kind::LEASE, namespace, name, None, &body).await
    }

    /// Gives the lease up, so that other replicas need not wait until it expires.
    async fn release(&self) {
        let Some((version, spec)) = self.candidate.release(self.options, &time()) else { return };
        match tokio::time::timeout(RELEASE_LIMIT, self.write(&version, &spec)).await {
            Ok(Ok(_)) => tracing::info!("the lease is given up"),
            // An earlier write may have been stored without an answer. Then the lease has to expire.
            Ok(Err(error)) => tracing::info!(%error, "the lease could not be given up"),
            Err(_) => tracing::info!("the lease could not be given up in time"),
        }
    }
}

fn read(text: &str, version: &str) -> Lease {
    Lease::read(&serde_json::from_str(text).unwrap_or_default(), version)
}

/// The time of the system clock, in the format of `MicroTime`.
fn time() -> String {
    let now = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX);
    format!("{now:.6}")
}
