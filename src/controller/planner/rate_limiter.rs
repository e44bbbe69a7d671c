//! Limits the rate of calls and their number in flight, and computes the wait after failures.

use std::time::Duration;

/// A moment, as the time since the driver started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Duration);

impl Moment {
    /// The moment `time` later.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }
}

/// `first`, doubled for each attempt after the first, up to `most`.
pub(super) fn backoff(first: Duration, most: Duration, attempt: u32) -> Duration {
    let factor = 2u32.checked_pow(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
    first.saturating_mul(factor).min(most)
}

/// Limits on calls.
#[derive(Clone, Copy, Debug)]
pub struct RateLimits {
    /// The number of calls in flight.
    pub in_flight: usize,
    /// The average number of calls per second. A burst may have [`in_flight`](Self::in_flight) calls.
    pub per_second: u32,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self { in_flight: 8, per_second: 50 }
    }
}

/// This number of consecutive failures, none of them the fault of one Work, means that the API server has a
/// problem.
const TROUBLE: u32 = 8;

/// How long no calls are made when the API server has a problem, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// Whether a call may be made now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permit {
    Now,
    /// Not before this moment.
    NotBefore(Moment),
    /// Not before a call in flight has ended.
    Full,
}

#[derive(Debug)]
pub(super) struct RateLimiter {
    limits: RateLimits,
    in_flight: usize,
    /// When all calls so far would have been made at the average rate.
    spent: Moment,
    failures: u32,
    paused_until: Moment,
}

impl RateLimiter {
    pub(super) fn new(limits: RateLimits) -> Self {
        let (spent, paused_until) = Default::default();
        Self { limits, in_flight: 0, spent, failures: 0, paused_until }
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(1) / self.limits.per_second.max(1)
    }

    pub(super) fn permit(&self, now: Moment) -> Permit {
        if self.in_flight >= self.limits.in_flight {
            return Permit::Full;
        }
        let burst = self.interval() * u32::try_from(self.limits.in_flight).unwrap_or(u32::MAX);
        let earliest = Moment(self.spent.0.saturating_sub(burst)).max(self.paused_until);
        if earliest > now { Permit::NotBefore(earliest) } else { Permit::Now }
    }

    pub(super) fn begin(&mut self, now: Moment) {
        self.in_flight += 1;
        self.spent = self.spent.max(now).after(self.interval());
    }

    /// A call has ended. `trouble` is `true` for a failure that need not be the fault of one Work.
    pub(super) fn end(&mut self, now: Moment, trouble: bool) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if !trouble {
            self.failures = 0;
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if self.failures >= TROUBLE {
            let (first, most) = PAUSE;
            self.paused_until = now.after(backoff(first, most, self.failures - TROUBLE + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Moment {
        Moment(Duration::from_millis(milliseconds))
    }

    #[test]
    fn calls_come_at_an_even_pace_after_a_burst() {
        let mut rate_limiter = RateLimiter::new(RateLimits { in_flight: 2, per_second: 10 });
        let (mut now, mut made) = (ms(0), Vec::new());
        while made.len() < 6 {
            match rate_limiter.permit(now) {
                Permit::Now => {
                    rate_limiter.begin(now);
                    rate_limiter.end(now, false);
                    made.push(now);
                }
                Permit::NotBefore(later) => now = later,
                Permit::Full => panic!("each call ends at once"),
            }
        }
        assert_eq!(made, [0, 0, 0, 100, 200, 300].map(ms));
        rate_limiter.begin(ms(1000));
        rate_limiter.begin(ms(1000));
        assert_eq!(rate_limiter.permit(ms(9000)), Permit::Full);
    }

    #[test]
    fn a_server_that_always_fails_is_left_alone_for_a_while() {
        let mut rate_limiter = RateLimiter::new(RateLimits { in_flight: 100, per_second: 1_000_000 });
        for _ in 0..TROUBLE - 1 {
            rate_limiter.begin(ms(0));
            rate_limiter.end(ms(0), true);
        }
        assert_eq!(rate_limiter.permit(ms(1)), Permit::Now);
        for pause in [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000] {
            rate_limiter.begin(ms(1));
            rate_limiter.end(ms(1), true);
            assert_eq!(rate_limiter.permit(ms(1)), Permit::NotBefore(ms(1 + pause)));
        }
        rate_limiter.end(ms(1), false);
        rate_limiter.end(ms(1), true);
        assert_eq!(rate_limiter.permit(ms(30_001)), Permit::Now);
    }

    #[test]
    fn waiting_doubles_up_to_a_bound() {
        let wait = |attempt| backoff(Duration::from_secs(5), Duration::from_mins(1), attempt).as_secs();
        assert_eq!([1, 2, 3, 4, 5, 200].map(wait), [5, 10, 20, 40, 60, 60]);
    }
}
