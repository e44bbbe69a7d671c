//! Clusters, watched.

use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use futures_util::{StreamExt as _, future};

use crate::apiserver::{ApiServer, Event, Kind, Stored, Watched};
use crate::domain::{Cluster, ClusterKind, ClusterName};
use crate::state::LookupError;
use crate::state::snapshot::{Clusters, Sort};

/// The kinds, in the order in which they are asked.
const KINDS: [(ClusterKind, Kind); 3] = [
    (ClusterKind::Cluster, Kind::CLUSTER),
    (ClusterKind::ClusterTarget, Kind::CLUSTER_TARGET),
    (ClusterKind::Target, Kind::TARGET),
];

/// What is known of the clusters of each kind.
#[derive(Debug, Default)]
pub(super) struct Watching([RwLock<Seen>; 3]);

/// What is known of the clusters of one kind.
#[derive(Debug, Default)]
struct Seen {
    clusters: Clusters,
    /// Those that have come since the watch began anew: what is not among them in the end is gone.
    coming: Option<BTreeSet<(Box<str>, Box<str>)>>,
    is_synced: bool,
}

impl Watching {
    pub(super) fn is_synced(&self) -> bool {
        self.0.iter().all(|seen| read(seen).is_synced)
    }

    /// Takes what the watch of a kind has seen.
    pub(super) fn take(&self, kind: &Kind, event: Event) {
        if let Some(((_, own), seen)) = KINDS.iter().zip(&self.0).find(|((_, own), _)| own == kind) {
            seen.write().unwrap_or_else(PoisonError::into_inner).take(own, event);
        }
    }

    /// Watches, for ever.
    pub(super) async fn follow(&self, server: &ApiServer) {
        future::join_all(KINDS.iter().map(|(_, kind)| self.follow_kind(server, kind))).await;
    }

    pub(super) fn find(&self, name: &ClusterName, namespace: &str) -> Result<Option<Cluster>, LookupError> {
        for ((_, kind), seen) in KINDS.iter().zip(&self.0) {
            if let Some(cluster) = usable(kind, &read(seen))?.find(name, namespace) {
                return Ok(Some(cluster));
            }
        }
        Ok(None)
    }

    pub(super) fn namesakes(
        &self,
        name: &ClusterName,
        namespace: &str,
    ) -> Result<Vec<(ClusterKind, Cluster)>, LookupError> {
        let mut all = Vec::new();
        for ((_, kind), seen) in KINDS.iter().zip(&self.0) {
            all.extend(usable(kind, &read(seen))?.namesakes(name, namespace));
        }
        Ok(all)
    }
}

/// Nothing panics between two changes that belong together.
fn read(seen: &RwLock<Seen>) -> std::sync::RwLockReadGuard<'_, Seen> {
    seen.read().unwrap_or_else(PoisonError::into_inner)
}

/// What has been seen of a kind, once that is all there is.
fn usable<'s>(kind: &Kind, seen: &'s Seen) -> Result<&'s Clusters, LookupError> {
    if seen.is_synced {
        return Ok(&seen.clusters);
    }
    Err(LookupError::Failed(format!("the {} have not been read yet; try again", kind.resource())))
}

impl Watching {
    async fn follow_kind(&self, server: &ApiServer, kind: &Kind) {
        loop {
            self.wait_until_served(server, kind).await;
            self.watch_while_served(server, kind).await;
        }
    }

    /// An API server of Karmada's has no Admiralty, and the other way round. Nobody has rights on what is not there, so a watch
    /// would only be refused.
    async fn wait_until_served(&self, server: &ApiServer, kind: &Kind) {
        let mut told = None;
        loop {
            let (problem, again) = match server.serves(kind).await {
                Ok(true) => return,
                Ok(false) => {
                    self.take(kind, Event::Restarted);
                    self.take(kind, Event::Synced);
                    ("the API server does not serve these: none are known".to_owned(), LATER)
                }
                Err(error) => (format!("{error}; it is tried again"), SOON),
            };
            if told.as_ref() != Some(&problem) {
                tracing::info!(kind = kind.resource(), "{problem}");
                told = Some(problem);
            }
            tokio::time::sleep(again).await;
        }
    }

    async fn watch_while_served(&self, server: &ApiServer, kind: &Kind) {
        let mut events = server.watch(kind, Watched::Whole);
        let mut is_failing = false;
        while let Some(event) = events.next().await {
            match event {
                Event::Failed { not_served: true, .. } => return,
                Event::Failed { forbidden: true, problem, .. } => {
                    // Who has no rights on Admiralty's kinds is not at work there. What is not known is never guessed: a rule
                    // that needs it says so.
                    if !std::mem::replace(&mut is_failing, true) {
                        tracing::warn!(
                            kind = kind.resource(),
                            error = problem,
                            "these may not be read: none are known"
                        );
                    }
                    self.take(kind, Event::Restarted);
                    self.take(kind, Event::Synced);
                }
                Event::Failed { problem, .. } => {
                    if !std::mem::replace(&mut is_failing, true) {
                        tracing::warn!(
                            kind = kind.resource(),
                            error = problem,
                            "clusters can't be watched; what was seen last is in force"
                        );
                    }
                }
                event => {
                    // To begin anew is not to have seen something.
                    if !matches!(event, Event::Restarted) && std::mem::take(&mut is_failing) {
                        tracing::info!(kind = kind.resource(), "clusters are watched again");
                    }
                    self.take(kind, event);
                }
            }
        }
    }
}

/// When to ask again whether a kind is served that was not.
const LATER: Duration = Duration::from_secs(30);

/// When to ask a server again that did not answer.
const SOON: Duration = Duration::from_secs(2);

impl Seen {
    fn take(&mut self, kind: &Kind, event: Event) {
        match event {
            Event::Restarted => self.coming = Some(BTreeSet::new()),
            Event::Applied(stored) => {
                if let Some(coming) = &mut self.coming {
                    coming.insert((stored.namespace().into(), stored.name().into()));
                }
                self.keep(kind, &stored);
            }
            Event::Deleted(stored) => self.clusters.remove(sort(kind, stored.namespace()), stored.name()),
            Event::Synced => {
                if let Some(coming) = self.coming.take() {
                    self.clusters.retain(|namespace, name| coming.contains(&(namespace.into(), name.into())));
                }
                self.is_synced = true;
            }
            Event::Failed { .. } => {}
        }
    }

    fn keep(&mut self, kind: &Kind, stored: &Stored) {
        let sort = sort(kind, stored.namespace());
        if let Err(problem) = self.clusters.put(sort, stored.name(), stored.text()) {
            // What it was before is as wrong as nothing.
            self.clusters.remove(sort, stored.name());
            tracing::warn!(
                kind = kind.resource(),
                name = stored.name(),
                error = problem,
                "a cluster can't be read; nothing is known about it"
            );
        }
    }
}

fn sort<'n>(kind: &Kind, namespace: &'n str) -> Sort<'n> {
    match kind.kind.as_ref() {
        "Target" => Sort::Target(namespace),
        "ClusterTarget" => Sort::ClusterTarget,
        _ => Sort::Cluster,
    }
}
