//! The policies that are in force: put there in one place, which then tells the elected replica.

use std::sync::Arc;

use tokio::sync::watch;

use crate::controller::{Policies, PolicyResource};
use crate::engine::PolicySet;
use crate::service::Service;

/// Puts policies in force.
#[derive(Clone, Debug)]
pub(super) struct InForce {
    service: Arc<Service>,
    told: watch::Sender<Arc<Policies>>,
    is_known: watch::Sender<bool>,
}

impl InForce {
    /// Nothing is told before something has been put in force.
    pub(super) fn new(service: Arc<Service>) -> Self {
        Self { service, told: watch::Sender::default(), is_known: watch::Sender::default() }
    }

    /// Where they are in force.
    pub(super) fn service(&self) -> Arc<Service> {
        Arc::clone(&self.service)
    }

    /// Puts a set in force, with what there is to say about the documents that it comes from.
    pub(super) fn put(&self, set: PolicySet, resources: Vec<PolicyResource>) {
        let set = Arc::new(set);
        self.service.replace_policies(Arc::clone(&set));
        self.tell(set, resources);
    }

    /// Tells of a set that is in force already.
    pub(super) fn tell(&self, set: Arc<PolicySet>, resources: Vec<PolicyResource>) {
        self.told.send_replace(Arc::new(Policies { set, resources }));
        self.is_known.send_replace(true);
    }

    /// What is in force, and whatever is put there from now on; once something is, if only a set without a policy.
    pub(super) async fn subscribe(&self) -> watch::Receiver<Arc<Policies>> {
        // Cannot fail: the sender lives in `self`.
        let _ = self.is_known.subscribe().wait_for(|is_known| *is_known).await;
        self.told.subscribe()
    }
}
