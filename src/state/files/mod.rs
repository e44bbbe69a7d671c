//! Bindings, Works and clusters in files: [`StateFiles`].
//!
//! The files are read at startup, and again when they have changed. *Every* lookup checks their metadata
//! ([`FileStamps`]), because a stale answer would cause a wrong revision that no later event corrects.
//!
//! * A lookup sees a consistent state of all files at some moment after the lookup started.
//! * If a file can't be read or is invalid, the last valid snapshot stays active until all files are fixed,
//!   and [`is_stale`](StateFiles::is_stale) is true. Each such state of the files is logged once.
//! * Only one lookup reads files at a time, and others wait for it. A lookup that started after a read had
//!   started reads again.
//!
//! A partially written file may be valid, so files should be replaced by renaming. The file system must show
//! changes immediately, as local file systems do.

mod read;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use self::read::{SnapshotRead, read};
use super::snapshot::{Counts, Match, Snapshot};
use super::{BindingLister, BindingLookup, ClusterLister, LookupError, WorkLister};
use crate::documents::FileStamps;
use crate::domain::{Binding, BindingName, Cluster, ClusterKind, ClusterName, Delivery, Workload};

/// Bindings, Works and clusters in files. Clones share one snapshot.
#[derive(Clone, Debug)]
pub struct StateFiles(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    paths: Vec<PathBuf>,
    active: ArcSwap<Active>,
    /// Held by the lookup that reads files.
    reading: Arc<Mutex<()>>,
    /// The number of reads that have started.
    begun: AtomicU64,
}

/// The active snapshot, and the state of the files at the last read.
#[derive(Debug)]
struct Active {
    /// The last valid snapshot.
    snapshot: Arc<Snapshot>,
    stamps: FileStamps,
    digest: Option<u64>,
    /// Errors of the last read. If there are any, the snapshot is from an earlier read.
    errors: Vec<String>,
}

impl StateFiles {
    /// Reads the files and directories at `paths`. An empty directory is valid.
    ///
    /// Fails with all errors of all documents, one per line. Blocks.
    pub fn open(paths: Vec<PathBuf>) -> Result<Self, Vec<String>> {
        let SnapshotRead { stamps, digest, result } = read(&paths, None);
        let snapshot = Arc::new(result.unwrap_or_else(|| Ok(Snapshot::default()))?);
        log_counts("state loaded", snapshot.counts());
        let active = ArcSwap::from_pointee(Active { snapshot, stamps, digest, errors: Vec::new() });
        let (reading, begun) = (Arc::default(), AtomicU64::default());
        Ok(Self(Arc::new(Inner { paths, active, reading, begun })))
    }

    /// Checks the files, and reads them again if they have changed. Lookups do this themselves.
    pub async fn refresh(&self) {
        // Errors have been logged.
        let _ = self.current().await;
    }

    /// Whether the files were invalid at the last check, so that an older snapshot is active.
    pub fn is_stale(&self) -> bool {
        !self.0.active.load().errors.is_empty()
    }

    /// The names of the clusters and targets in the active snapshot.
    pub fn cluster_names(&self) -> BTreeSet<ClusterName> {
        self.0.active.load().snapshot.cluster_names().collect()
    }

    async fn current(&self) -> Result<Arc<Snapshot>, LookupError> {
        let inner = &self.0;
        let begun = inner.begun.load(Ordering::SeqCst);
        let active = inner.active.load();
        if active.stamps.is_current() {
            return Ok(Arc::clone(&active.snapshot));
        }
        drop(active);
        let guard = Arc::clone(&inner.reading).lock_owned().await;
        // A read that started after this lookup has completed.
        if inner.begun.load(Ordering::SeqCst) > begun {
            return Ok(Arc::clone(&inner.active.load().snapshot));
        }
        let inner = Arc::clone(inner);
        let read = tokio::task::spawn_blocking(move || {
            // Held until the read ends, even if this lookup is dropped.
            let _guard = guard;
            inner.read_again()
        });
        read.await.map_err(|error| {
            tracing::error!(%error, "failed to read the state files");
            LookupError::Failed("the state files can't be read; see the log of reviser".to_owned())
        })
    }

    /// The paths as shown in messages.
    fn named(&self) -> String {
        const MOST: usize = 3;
        let paths = &self.0.paths;
        let mut named: Vec<String> = paths.iter().take(MOST).map(|path| path.display().to_string()).collect();
        if paths.len() > MOST {
            named.push(format!("{} more", paths.len() - MOST));
        }
        named.join(", ")
    }

    fn lacking(&self, workload: &Workload) -> LookupError {
        let kind =
            if workload.namespace.is_empty() { "clusterresourcebinding" } else { "resourcebinding -A" };
        LookupError::Lacking(format!(
            "no binding in the state files ({}) is of {}; add it, for instance with `kubectl get {kind} -o yaml > FILE`",
            self.named(),
            whole_name(workload)
        ))
    }

    fn ambiguous(
        &self,
        workload: &Workload,
        several: &[Binding],
        named: Option<&BindingName>,
    ) -> LookupError {
        let list: Vec<String> = several.iter().map(|binding| BindingName::of(binding).to_string()).collect();
        let meant = named.map_or_else(String::new, |named| format!(", none of them the {named}"));
        LookupError::Failed(format!(
            "{} bindings in the state files ({}) are of {}: {}{meant}; leave the one that counts",
            several.len(),
            self.named(),
            whole_name(workload),
            list.join(", ")
        ))
    }
}

impl Inner {
    /// Reads the files, and activates the snapshot if it is valid. Called by one thread at a time.
    fn read_again(&self) -> Arc<Snapshot> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let before = self.active.load_full();
        let SnapshotRead { stamps, digest, result } = read(&self.paths, before.digest);
        let (snapshot, errors) = match result {
            None => (Arc::clone(&before.snapshot), before.errors.clone()),
            Some(Ok(snapshot)) => {
                log_counts("state read again", snapshot.counts());
                (Arc::new(snapshot), Vec::new())
            }
            Some(Err(errors)) => {
                if errors != before.errors {
                    tracing::warn!(
                        error = join_some(&errors),
                        "the state files are refused: the last good ones stay active until they are fixed"
                    );
                }
                (Arc::clone(&before.snapshot), errors)
            }
        };
        self.active.store(Arc::new(Active { snapshot: Arc::clone(&snapshot), stamps, digest, errors }));
        snapshot
    }
}

impl BindingLister for StateFiles {
    fn find<'a>(
        &'a self,
        workload: &'a Workload,
        named: Option<&'a BindingName>,
    ) -> BoxFuture<'a, Result<BindingLookup, LookupError>> {
        async move {
            match self.current().await?.binding(workload, named) {
                Match::One(binding) => Ok(BindingLookup::Found(binding.clone())),
                Match::Nothing => Err(self.lacking(workload)),
                Match::Several(several) => Err(self.ambiguous(workload, several, named)),
            }
        }
        .boxed()
    }
}

impl WorkLister for StateFiles {
    fn delivering<'a>(
        &'a self,
        workload: &'a Workload,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<Delivery>, LookupError>> {
        async move { Ok(self.current().await?.deliveries(workload).to_vec()) }.boxed()
    }
}

impl ClusterLister for StateFiles {
    fn known<'a>(
        &'a self,
        name: &'a ClusterName,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Option<Cluster>, LookupError>> {
        async move { Ok(self.current().await?.cluster(name, namespace)) }.boxed()
    }

    fn namesakes<'a>(
        &'a self,
        name: &'a ClusterName,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(ClusterKind, Cluster)>, LookupError>> {
        async move { Ok(self.current().await?.namesakes(name, namespace)) }.boxed()
    }
}

fn log_counts(message: &str, counts: &Counts) {
    let Counts { bindings, works, clusters, targets, others } = counts;
    tracing::info!(bindings, works, clusters, targets, "{message}");
    if *bindings > 0 && *works == 0 {
        tracing::warn!(
            "there are no Works in the state files: nothing shows where an allocation still is, so that it moves at once"
        );
    }
    if !others.is_empty() {
        let kinds: Vec<String> = others.iter().map(|(kind, count)| format!("{kind} ({count})")).collect();
        tracing::warn!(kinds = kinds.join(", "), "objects in the state files that nothing is read of");
    }
}

/// The first errors, and the number of the others.
fn join_some(errors: &[String]) -> String {
    const MOST: usize = 10;
    let more = errors.len().saturating_sub(MOST);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}", errors[..errors.len().min(MOST)].join("; "))
}

/// `Rollout.deploy.example.com shop/checkout`
fn whole_name(workload: &Workload) -> String {
    let Workload { gvk, namespace, name } = workload;
    let dot = if gvk.group.is_empty() { "" } else { "." };
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{}{dot}{} {namespace}{slash}{name}", gvk.kind, gvk.group)
}
