//! What the tests have in common: a server on ports of its own, clients for it, and waiting for things.

pub(crate) mod client;
pub(crate) mod command;
pub(crate) mod door;
pub(crate) mod karmada;
pub(crate) mod kustomize;
pub(crate) mod objects;
pub(crate) mod server;

use std::time::{Duration, Instant};

/// Longer than anything takes, unless it never happens.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Asks `probe` again and again until it gives something, but not for ever.
pub(crate) async fn eventually<T, F>(what: &str, mut probe: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(Instant::now() < deadline, "it never came to this: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for `future`, but not for ever.
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let in_time = tokio::time::timeout(PATIENCE, future).await;
    in_time.unwrap_or_else(|_elapsed| panic!("it never came to this: {what}"))
}
