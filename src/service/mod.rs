//! The steps that doors, `preview` and `check` share, so that the same input gives the same revision
//! everywhere: read bindings, Works, clusters and templates, run the engine, commit the ledger changes.
//!
//! The service uses the ports of `state`, not their implementations. It knows no wire format.

mod concern;
mod lookup;
mod outcome;
mod revise;
mod sync;

use std::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use arc_swap::ArcSwapOption;
use jiff::Timestamp;

use crate::domain::{Code, Failure};
use crate::engine::PolicySet;
use crate::state::{BindingLister, ClusterLister, Ledger, TemplateLister, WorkLister};

pub use outcome::Outcome;
pub use sync::{SyncState, SyncStatus};

pub(crate) use concern::{has_revisable_manifest, select, transformation_warnings};
pub(crate) use revise::{MAX_ATTEMPTS, Mode, Origin, contended};

/// The policies, the ledger and the state that revisions are made from. Shared by all requests.
pub struct Service {
    /// Loaded once a request, so that a request uses one set throughout. `None` until the policies are read.
    policies: ArcSwapOption<PolicySet>,
    ledger: Arc<dyn Ledger>,
    bindings: Option<Arc<dyn BindingLister>>,
    works: Option<Arc<dyn WorkLister>>,
    clusters: Option<Arc<dyn ClusterLister>>,
    templates: Option<Arc<dyn TemplateLister>>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Service {
    /// A service without bindings, Works, clusters and templates.
    pub fn new(policies: impl Into<Arc<PolicySet>>, ledger: Arc<dyn Ledger>) -> Self {
        let service = Self::without_policies(ledger);
        service.replace_policies(policies);
        service
    }

    /// A service that refuses every request until [`Service::replace_policies`]: with an empty set it would
    /// take revisions back.
    pub fn without_policies(ledger: Arc<dyn Ledger>) -> Self {
        Self {
            policies: ArcSwapOption::empty(),
            ledger,
            bindings: None,
            works: None,
            clusters: None,
            templates: None,
            clock: Arc::new(system_time),
        }
    }

    #[must_use]
    pub fn with_state(self, bindings: Arc<dyn BindingLister>, works: Arc<dyn WorkLister>) -> Self {
        Self { bindings: Some(bindings), works: Some(works), ..self }
    }

    #[must_use]
    pub fn with_clusters(self, clusters: Arc<dyn ClusterLister>) -> Self {
        Self { clusters: Some(clusters), ..self }
    }

    #[must_use]
    pub fn with_templates(self, templates: Arc<dyn TemplateLister>) -> Self {
        Self { templates: Some(templates), ..self }
    }

    /// The same service with another clock than the system's.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Activates other policies for the requests that begin from now on.
    pub fn replace_policies(&self, policies: impl Into<Arc<PolicySet>>) {
        self.policies.store(Some(policies.into()));
    }

    /// The active policies.
    pub(crate) fn policies(&self) -> Result<Arc<PolicySet>, Failure> {
        self.policies.load_full().ok_or_else(|| {
            Failure::unavailable("the policies have not been read from the API server yet; try again")
        })
    }

    /// Whether this server reads the documents of clusters.
    pub(crate) fn reads_clusters(&self) -> bool {
        self.clusters.is_some()
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("policies", &self.policies).finish_non_exhaustive()
    }
}

/// The system time. A clock outside the range of timestamps gives the latest one, with which every timeout
/// has passed.
fn system_time() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX)
}

/// The output of `future`, or a failure after `deadline`.
pub(crate) async fn in_time<T>(
    future: impl Future<Output = T>,
    deadline: Option<Instant>,
) -> Result<T, Failure> {
    let Some(deadline) = deadline else { return Ok(future.await) };
    let has_passed = || Instant::now() >= deadline;
    // `timeout_at` polls the future first and never interrupts a poll, so the deadline is checked before and
    // after.
    if !has_passed()
        && let Ok(output) = tokio::time::timeout_at(deadline.into(), future).await
        && !has_passed()
    {
        return Ok(output);
    }
    Err(Failure::new(
        Code::DeadlineExceeded,
        "the deadline of the request has passed; raise timeoutSeconds or try again",
    ))
}
