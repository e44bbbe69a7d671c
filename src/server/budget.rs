//! The memory that all requests in flight may use together.
//!
//! A request reserves memory as its body arrives, and for the values that are made of the body before they
//! are made. If the budget is exhausted, a request waits for a moment and is then refused, so that no number
//! of clients can exhaust the memory of the process. The waiting requests are served in order.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The unit of a reservation, so that the budget fits into the permits of a semaphore.
const UNIT: usize = 1 << 10;

/// The longest time that a request waits for memory.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The bytes of memory for a list or a map in a body: its place in the index of the text and in two trees,
/// the object before and after its revision.
const CONTAINER_BYTES: usize = 200;

/// The bytes of memory for another member or item.
const ELEMENT_BYTES: usize = 72;

/// A budget of bytes.
#[derive(Clone, Debug)]
pub(super) struct MemoryBudget {
    units: Arc<Semaphore>,
    total: usize,
    /// The bytes in use.
    used: Gauge,
}

/// Why memory is not reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutOfMemory {
    /// Other requests use the budget. The client may try again.
    Exhausted,
    /// The request needs more than the whole budget.
    TooLarge { needed: usize, total: usize },
}

impl MemoryBudget {
    pub(super) fn new(bytes: usize, used: Gauge) -> Self {
        let total = (bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(total)), total, used }
    }

    /// A reservation of no bytes.
    pub(super) fn reservation(&self) -> Reservation {
        Reservation { budget: self.clone(), permit: None, bytes: 0 }
    }

    /// Whether more than half of the budget is in use.
    pub(super) fn is_under_pressure(&self) -> bool {
        self.units.available_permits() < self.total / 2
    }
}

/// Memory that one request holds. Released when it is dropped.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: MemoryBudget,
    permit: Option<OwnedSemaphorePermit>,
    bytes: usize,
}

impl Reservation {
    pub(super) fn is_under_pressure(&self) -> bool {
        self.budget.is_under_pressure()
    }

    /// Reserves `bytes` more, and waits for up to a second until they are released by other requests.
    pub(super) async fn grow(&mut self, bytes: usize) -> Result<(), OutOfMemory> {
        self.bytes += bytes;
        let held = self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let needed = self.bytes.div_ceil(UNIT);
        if needed > self.budget.total {
            return Err(OutOfMemory::TooLarge { needed: self.bytes, total: self.budget.total * UNIT });
        }
        let Some(missing) = needed.checked_sub(held).filter(|missing| *missing > 0) else { return Ok(()) };
        let missing = u32::try_from(missing).map_err(|_| OutOfMemory::Exhausted)?;
        let units = Arc::clone(&self.budget.units);
        let acquired = timeout(MAX_WAIT, units.acquire_many_owned(missing)).await;
        let Ok(Ok(more)) = acquired else { return Err(OutOfMemory::Exhausted) };
        self.budget.used.inc_by(bytes_of(&more));
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(permit) = &self.permit {
            self.budget.used.dec_by(bytes_of(permit));
        }
    }
}

fn bytes_of(permit: &OwnedSemaphorePermit) -> i64 {
    i64::try_from(permit.num_permits() * UNIT).unwrap_or(i64::MAX)
}

/// An estimate of the memory for the values of a JSON text, from its brackets and commas. Those in strings
/// count too, so it is never too low because of them.
pub(super) fn estimate(body: &[u8]) -> usize {
    let containers = body.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
    let elements = body.iter().filter(|byte| matches!(byte, b',')).count();
    body.len() + containers * CONTAINER_BYTES + elements * ELEMENT_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_waits_for_memory_and_is_refused_after_a_second() {
        let budget = MemoryBudget::new(8 << 10, Gauge::default());
        let mut first = budget.reservation();
        first.grow(6 << 10).await.unwrap();
        assert!(budget.is_under_pressure());
        let mut second = budget.reservation();
        second.grow(1000).await.unwrap();
        assert_eq!(second.grow(2 << 10).await, Err(OutOfMemory::Exhausted));
        drop(second);
        let mut third = budget.reservation();
        let (grown, ()) = tokio::join!(third.grow(4 << 10), async {
            tokio::task::yield_now().await;
            drop(first);
        });
        assert_eq!(grown, Ok(()));
        assert_eq!(budget.used.get(), 4 << 10);
        drop(third);
        assert_eq!(budget.used.get(), 0);
    }

    #[tokio::test]
    async fn a_request_that_can_never_fit_is_refused_at_once() {
        let budget = MemoryBudget::new(8 << 10, Gauge::default());
        let mut reservation = budget.reservation();
        reservation.grow(8 << 10).await.unwrap();
        assert_eq!(
            reservation.grow(1).await,
            Err(OutOfMemory::TooLarge { needed: (8 << 10) + 1, total: 8 << 10 })
        );
    }

    #[test]
    fn an_estimate_grows_with_containers_and_elements() {
        assert_eq!(estimate(b"{}"), 2 + CONTAINER_BYTES);
        assert_eq!(estimate(b"[1,2]"), 5 + CONTAINER_BYTES + ELEMENT_BYTES);
        let hostile = "{},".repeat(1000);
        assert!(estimate(hostile.as_bytes()) > 47 * hostile.len());
    }
}
