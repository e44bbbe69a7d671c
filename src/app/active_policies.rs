//! The active policies, in the service and for the elected replica.

use std::sync::Arc;

use tokio::sync::watch;

use crate::controller::{Policies, PolicyResource};
use crate::engine::PolicySet;
use crate::service::Service;

/// Replaces the policies of the service, and publishes them to the elected replica.
#[derive(Clone, Debug)]
pub(super) struct ActivePolicies {
    service: Arc<Service>,
    published: watch::Sender<Arc<Policies>>,
    is_published: watch::Sender<bool>,
}

impl ActivePolicies {
    pub(super) fn new(service: Arc<Service>) -> Self {
        Self { service, published: watch::Sender::default(), is_published: watch::Sender::default() }
    }

    pub(super) fn service(&self) -> Arc<Service> {
        Arc::clone(&self.service)
    }

    /// `resources` are the custom resources that the policies come from.
    pub(super) fn replace(&self, set: PolicySet, resources: Vec<PolicyResource>) {
        let set = Arc::new(set);
        self.service.replace_policies(Arc::clone(&set));
        self.publish(set, resources);
    }

    /// Publishes policies that the service has already.
    pub(super) fn publish(&self, set: Arc<PolicySet>, resources: Vec<PolicyResource>) {
        self.published.send_replace(Arc::new(Policies { set, resources }));
        self.is_published.send_replace(true);
    }

    /// Waits until there are policies, if only an empty set.
    pub(super) async fn subscribe(&self) -> watch::Receiver<Arc<Policies>> {
        // Cannot fail: the sender lives in `self`.
        let _ = self.is_published.subscribe().wait_for(|is_published| *is_published).await;
        self.published.subscribe()
    }
}
