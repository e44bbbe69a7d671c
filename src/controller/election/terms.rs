//! Decides who holds the lease, from the observed lease and the time of observation.
//!
//! The rules are those of client-go. The clocks of other replicas do not matter: a lease expires when it has
//! not changed for its duration by the local clock. The holder gives up at the renew deadline, counted from
//! the start of its last successful write. That is before another replica may take the lease.

use std::time::Duration;

use serde_json::{Value, json};

use crate::controller::planner::Moment;

/// Options of the election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElectionOptions {
    /// The namespace that the lease is in.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The identity of this replica. It must be unique.
    pub identity: String,
    /// `leaseDuration`: how long other replicas wait after the last renewal.
    pub lease_duration: Duration,
    /// `renewDeadline`: how long the holder goes on without a renewal. Less than `lease_duration`.
    pub renew_deadline: Duration,
    /// `retryPeriod`: the time between two attempts. Less than `renew_deadline`.
    pub retry_period: Duration,
}

/// A stored lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lease {
    /// The identity of the holder. Empty if the lease was released.
    pub(super) holder: String,
    pub(super) duration: Duration,
    /// `acquireTime`, unparsed.
    pub(super) acquired: String,
    /// `renewTime`, unparsed.
    pub(super) renewed: String,
    pub(super) transitions: i64,
    pub(super) version: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Move {
    /// Create the lease with this `spec`.
    Create(Value),
    /// Write this `spec`, provided that the `resourceVersion` is unchanged.
    Write(String, Value),
    /// Another replica holds the lease.
    Wait,
}

/// What a replica has observed of the lease.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    seen: Option<(Lease, Moment)>,
    /// The start of the last write that made this replica the holder.
    held_since: Option<Moment>,
}

impl Lease {
    /// Reads the lease in an object. A lease without a holder counts as released.
    pub(super) fn read(object: &Value, version: &str) -> Self {
        let spec = &object["spec"];
        let text = |name: &str| spec[name].as_str().unwrap_or_default().to_owned();
        Self {
            holder: text("holderIdentity"),
            duration: Duration::from_secs(spec["leaseDurationSeconds"].as_u64().unwrap_or_default()),
            acquired: text("acquireTime"),
            renewed: text("renewTime"),
            transitions: spec["leaseTransitions"].as_i64().unwrap_or_default(),
            version: version.to_owned(),
        }
    }
}

impl Candidate {
    /// Decides what to do about the observed lease. `time` is the time of the system clock, which is only
    /// written.
    pub(super) fn see(
        &mut self,
        options: &ElectionOptions,
        now: Moment,
        time: &str,
        lease: Option<Lease>,
    ) -> Move {
        let seconds = options.lease_duration.as_secs();
        let spec = |acquired: &str, transitions: i64| {
            json!({
                "holderIdentity": options.identity,
                "leaseDurationSeconds": seconds,
                "acquireTime": acquired,
                "renewTime": time,
                "leaseTransitions": transitions,
            })
        };
        let Some(lease) = lease else {
            self.seen = None;
            self.held_since = None;
            return Move::Create(spec(time, 0));
        };
        let since = match &self.seen {
            Some((seen, since)) if *seen == lease => *since,
            _ => now,
        };
        self.seen = Some((lease.clone(), since));
        if lease.holder == options.identity {
            let acquired = if lease.acquired.is_empty() { time } else { &lease.acquired };
            return Move::Write(lease.version, spec(acquired, lease.transitions));
        }
        self.held_since = None;
        if !lease.holder.is_empty() && since.after(lease.duration) > now {
            return Move::Wait;
        }
        Move::Write(lease.version, spec(time, lease.transitions.saturating_add(1)))
    }

    /// The write that started at `began` succeeded and stored this lease.
    pub(super) fn written(&mut self, began: Moment, lease: Lease) {
        self.seen = Some((lease, began));
        self.held_since = Some(began);
    }

    /// Until when this replica holds the lease, if it does.
    pub(super) fn holds_until(&self, options: &ElectionOptions) -> Option<Moment> {
        self.held_since.map(|since| since.after(options.renew_deadline))
    }

    /// The `resourceVersion` and the `spec` that release the lease, if this replica was the last known
    /// holder.
    pub(super) fn release(&self, options: &ElectionOptions, time: &str) -> Option<(String, Value)> {
        let (lease, _) = self.seen.as_ref()?;
        (lease.holder == options.identity).then(|| {
            let spec = json!({
                "holderIdentity": "",
                "leaseDurationSeconds": 1,
                "acquireTime": time,
                "renewTime": time,
                "leaseTransitions": lease.transitions,
            });
            (lease.version.clone(), spec)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Moment {
        Moment(Duration::from_secs(seconds))
    }

    fn options(identity: &str) -> ElectionOptions {
        ElectionOptions {
            namespace: "reviser-system".into(),
            name: "reviser".into(),
            identity: identity.into(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }

    fn lease(holder: &str, renewed: &str, version: &str) -> Lease {
        let duration = Duration::from_secs(15);
        let acquired = "t0".to_owned();
        Lease {
            holder: holder.into(),
            duration,
            acquired,
            renewed: renewed.into(),
            transitions: 3,
            version: version.into(),
        }
    }

    #[test]
    fn who_finds_none_makes_one() {
        let mut candidate = Candidate::default();
        let Move::Create(spec) = candidate.see(&options("a"), s(0), "t", None) else { panic!() };
        assert_eq!(
            spec,
            json!({"holderIdentity": "a", "leaseDurationSeconds": 15, "acquireTime": "t", "renewTime": "t",
                "leaseTransitions": 0})
        );
        assert_eq!(candidate.holds_until(&options("a")), None);
        candidate.written(s(1), Lease { holder: "a".into(), ..lease("a", "t", "1") });
        assert_eq!(candidate.holds_until(&options("a")), Some(s(11)));
    }

    #[test]
    fn a_lease_runs_out_by_our_own_clock_since_it_changed() {
        let (mut candidate, options) = (Candidate::default(), options("a"));
        let mut see = |now, lease| candidate.see(&options, now, "t", Some(lease));
        assert_eq!(see(s(100), lease("b", "long ago", "1")), Move::Wait);
        assert_eq!(see(s(114), lease("b", "long ago", "1")), Move::Wait);
        assert_eq!(see(s(114), lease("b", "a bit later", "2")), Move::Wait);
        assert_eq!(see(s(128), lease("b", "a bit later", "2")), Move::Wait);
        let Move::Write(version, spec) = see(s(129), lease("b", "a bit later", "2")) else { panic!() };
        assert_eq!(
            (version.as_str(), &spec["leaseTransitions"], &spec["acquireTime"]),
            ("2", &4.into(), &"t".into())
        );
    }

    #[test]
    fn one_that_is_given_up_is_taken_at_once() {
        let (mut candidate, options) = (Candidate::default(), options("a"));
        candidate.written(s(0), lease("a", "t0", "7"));
        let (version, spec) = candidate.release(&options, "t1").unwrap();
        assert_eq!((version.as_str(), &spec["holderIdentity"]), ("7", &"".into()));
        let mut next = Candidate::default();
        let given_up = Lease::read(&json!({"spec": spec}), "8");
        assert!(matches!(next.see(&super::tests::options("b"), s(0), "t2", Some(given_up)), Move::Write(..)));
        assert_eq!(next.release(&super::tests::options("b"), "t3"), None);
    }

    #[test]
    fn who_holds_it_keeps_the_times_of_its_beginning() {
        let (mut candidate, options) = (Candidate::default(), options("a"));
        let Move::Write(_, spec) = candidate.see(&options, s(5), "t5", Some(lease("a", "t3", "9"))) else {
            panic!()
        };
        assert_eq!(
            (&spec["acquireTime"], &spec["renewTime"], &spec["leaseTransitions"]),
            (&"t0".into(), &"t5".into(), &3.into())
        );
    }

    #[test]
    fn who_sees_another_holder_has_lost_it() {
        let (mut candidate, options) = (Candidate::default(), options("a"));
        candidate.written(s(0), lease("a", "t0", "7"));
        assert!(candidate.holds_until(&options).is_some());
        assert_eq!(candidate.see(&options, s(1), "t", Some(lease("b", "t1", "8"))), Move::Wait);
        assert_eq!(candidate.holds_until(&options), None);
    }

    /// Several candidates, with calls that take any time and get lost. No two of them ever hold the lease at
    /// once.
    #[test]
    fn never_two_at_once() {
        use proptest::prelude::*;
        let step = (0..3usize, 0..4u64, prop::bool::weighted(0.2), 0..12u64);
        proptest!(ProptestConfig::with_cases(400), |(steps in prop::collection::vec(step, 1..200))| {
            let names = ["a", "b", "c"];
            let (mut stored, mut version, mut now): (Option<Lease>, u64, u64) = (None, 0, 0);
            let mut candidates: Vec<Candidate> = names.iter().map(|_| Candidate::default()).collect();
            for (who, wait, lost, took) in steps {
                now += wait;
                let options = options(names[who]);
                let began = s(now);
                let seen = stored.clone();
                let action = candidates[who].see(&options, began, &format!("t{now}"), seen);
                now += took;
                let (expected, spec) = match action {
                    Move::Wait => continue,
                    Move::Create(spec) => (None, spec),
                    Move::Write(expected, spec) => (Some(expected), spec),
                };
                if stored.as_ref().map(|lease| lease.version.clone()) != expected {
                    continue;
                }
                version += 1;
                let lease = Lease::read(&json!({"spec": spec}), &version.to_string());
                stored = Some(lease.clone());
                if !lost {
                    candidates[who].written(began, lease);
                }
                let holding = candidates.iter().enumerate().filter(|(who, candidate)| {
                    candidate.holds_until(&super::tests::options(names[*who])).is_some_and(|until| until > s(now))
                });
                prop_assert!(holding.count() <= 1);
            }
        });
    }
}
