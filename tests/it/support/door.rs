//! A door whose behaviour the request chooses.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Instant,
};

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::StatusCode;
use reviser::server::{Call, Door, DoorReply};
use tokio::sync::Semaphore;

/// Answers with what it got; its body can ask for something else:
/// `"panic"`, `"wait"` until the gate opens, or `"deadline"`, the time that is left in milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct TestDoor {
    /// Each permit lets one waiting request go on.
    pub(crate) gate: Arc<Semaphore>,
    entered: Arc<AtomicUsize>,
}

impl TestDoor {
    pub(crate) fn new() -> Self {
        Self { gate: Arc::new(Semaphore::new(0)), entered: Arc::default() }
    }

    /// How many requests have come so far.
    pub(crate) fn entered(&self) -> usize {
        self.entered.load(SeqCst)
    }
}

impl Door for TestDoor {
    fn handle(&self, call: Call) -> BoxFuture<'_, DoorReply> {
        self.answer(call).boxed()
    }
}

impl TestDoor {
    async fn answer(&self, call: Call) -> DoorReply {
        self.entered.fetch_add(1, SeqCst);
        let body = match call.body.as_ref() {
            b"\"panic\"" => panic!("requested by the body"),
            b"\"wait\"" => {
                self.gate.acquire().await.expect("the gate is never closed").forget();
                call.body
            }
            b"\"deadline\"" => {
                let left = call.deadline.map(|deadline| deadline.duration_since(Instant::now()));
                Bytes::from(left.map_or_else(|| "null".to_owned(), |left| left.as_millis().to_string()))
            }
            b"\"target\"" => Bytes::from(format!("{:?}", call.target.unwrap_or_default())),
            _ => call.body,
        };
        DoorReply { status: StatusCode::OK, body, operation: "Echo", outcome: "ok" }
    }
}
