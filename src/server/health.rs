//! `/livez` and `/readyz`: whether the process serves, and whether it should be sent requests.

use std::fmt::{self, Write as _};

use http::StatusCode;

type Probe = Box<dyn Fn() -> Result<(), String> + Send + Sync>;

/// Something that has to hold for the server to be ready.
pub struct Check {
    name: &'static str,
    probe: Probe,
}

impl Check {
    /// A check that passes if `probe` is fine, and otherwise fails for the reason that it gives. It is asked
    /// at each request for readiness, so it must not wait.
    pub fn new(name: &'static str, probe: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self { name, probe: Box::new(probe) }
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All checks.
#[derive(Debug)]
pub(super) struct Health {
    checks: Vec<Check>,
}

impl Health {
    pub(super) fn new(checks: Vec<Check>) -> Self {
        Self { checks }
    }

    /// The answer to `/readyz`: `ok`, or a line for each check that fails. With `verbose`, a line for each.
    pub(super) fn readiness(&self, verbose: bool) -> (StatusCode, String) {
        let mut lines = String::new();
        let mut ready = true;
        for Check { name, probe } in &self.checks {
            let line = match probe() {
                Ok(()) if verbose => writeln!(lines, "[+]{name} ok"),
                Ok(()) => Ok(()),
                Err(reason) => {
                    ready = false;
                    writeln!(lines, "[-]{name} failed: {reason}")
                }
            };
            line.unwrap_or_else(|fmt::Error| unreachable!("a String takes it"));
        }
        match (ready, verbose) {
            (true, false) => (StatusCode::OK, "ok".to_owned()),
            (true, true) => (StatusCode::OK, lines + "readyz check passed\n"),
            (false, _) => (StatusCode::SERVICE_UNAVAILABLE, lines + "readyz check failed\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readiness_names_what_fails_and_with_verbose_everything() {
        let good = || Check::new("policy", || Ok(()));
        let health = Health::new(vec![good(), Check::new("listers", || Err("not synced".to_owned()))]);
        let failed = StatusCode::SERVICE_UNAVAILABLE;
        assert_eq!(
            health.readiness(false),
            (failed, "[-]listers failed: not synced\nreadyz check failed\n".to_owned())
        );
        assert_eq!(
            health.readiness(true),
            (failed, "[+]policy ok\n[-]listers failed: not synced\nreadyz check failed\n".to_owned())
        );
        let health = Health::new(vec![good()]);
        assert_eq!(health.readiness(false), (StatusCode::OK, "ok".to_owned()));
        assert_eq!(
            health.readiness(true),
            (StatusCode::OK, "[+]policy ok\nreadyz check passed\n".to_owned())
        );
    }
}
