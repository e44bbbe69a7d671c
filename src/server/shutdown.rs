//! The phases of a shutdown, in which no caller loses an answer.

use std::{io, sync::Arc};

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use tracing::info;

use super::Check;

/// The phase of a server. Phases only advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Serving,
    /// Not ready, but new connections and requests are served. Callers are asked to open another connection:
    /// `Connection: close` in HTTP/1.1, GOAWAY in HTTP/2. After this phase no caller uses a connection that
    /// is closed.
    Draining,
    /// No new connections. Requests in flight finish.
    Stopping,
    Ended,
}

/// The phase of a server. Each clone can read and advance it.
#[derive(Clone, Debug)]
pub struct Lifecycle {
    phase: Arc<watch::Sender<Phase>>,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self { phase: Arc::new(watch::Sender::new(Phase::Serving)) }
    }
}

impl Lifecycle {
    /// Stops being ready, serves on for a while, then [finishes](Self::finish).
    pub fn drain(&self) {
        self.advance(Phase::Draining);
    }

    /// Stops accepting connections, and lets requests finish.
    pub fn finish(&self) {
        self.advance(Phase::Stopping);
    }

    /// Ends at once.
    pub fn abort(&self) {
        self.advance(Phase::Ended);
    }

    pub fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Waits until the server is in `phase`, or past it.
    pub async fn reached(&self, phase: Phase) {
        let mut phases = self.subscribe();
        // Cannot fail: the sender lives in `self`.
        let _ = phases.wait_for(|current| *current >= phase).await;
    }

    /// Advances the phase at SIGTERM, SIGHUP and SIGINT.
    ///
    /// The first SIGTERM or SIGHUP drains. The first SIGINT, of a person at a terminal, skips that phase. A
    /// second signal ends the server at once. The future must be spawned.
    pub fn follow_signals(&self) -> io::Result<impl Future<Output = ()> + Send + 'static> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let lifecycle = self.clone();
        Ok(async move {
            let mut asked = false;
            loop {
                // Cancellation safe: a signal is kept until the next `recv`.
                let name = tokio::select! {
                    Some(()) = terminate.recv() => "SIGTERM",
                    Some(()) = hang_up.recv() => "SIGHUP",
                    Some(()) = interrupt.recv() => "SIGINT",
                    else => return,
                };
                info!(signal = name, "asked to end");
                match (asked, name) {
                    (true, _) => lifecycle.abort(),
                    (false, "SIGTERM" | "SIGHUP") => lifecycle.drain(),
                    (false, _) => lifecycle.finish(),
                }
                asked = true;
            }
        })
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// The readiness check, which fails once the shutdown begins.
    pub(super) fn check(&self) -> Check {
        let lifecycle = self.clone();
        Check::new("draining", move || match lifecycle.phase() {
            Phase::Serving => Ok(()),
            _ => Err("the server is about to end".to_owned()),
        })
    }

    fn advance(&self, to: Phase) {
        self.phase.send_if_modified(|phase| {
            let forward = to > *phase;
            if forward {
                *phase = to;
            }
            forward
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_never_go_back() {
        let lifecycle = Lifecycle::default();
        lifecycle.finish();
        lifecycle.drain();
        assert_eq!(lifecycle.phase(), Phase::Stopping);
        assert!(super::super::Health::new(vec![lifecycle.check()]).readiness(false).1.contains("draining"));
    }
}
