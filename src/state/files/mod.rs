//! Bindings, Works and clusters out of files: [`StateFiles`].
//!
//! The files are read at the start, and again when they have changed. Whether they have is looked at on *every* lookup,
//! by what the system says about them (`Look`), because a stale answer would make a wrong revision that nothing makes
//! anew. What holds:
//!
//! * a lookup is answered from one whole set of files, as it was on disk when the lookup began, or later;
//! * a set that can't be read, or that has a fault anywhere, changes nothing: the last good one stays in force until the
//!   files are mended, and [`is_stale`](StateFiles::is_stale) says so. Each such state of the files is logged once;
//! * one reads, the others wait; who began to wait after a reading has begun reads again.
//!
//! What can't be told: of a file that is written in place, what was written so far may be a whole set by itself. So files
//! are best replaced as a whole, by renaming. It relies on a file system that shows changes at once, as local ones do.

mod read;
mod reader;

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

use self::read::{Reading, read};
use self::reader::Reader;
use super::snapshot::{Counts, Match, Snapshot};
use super::{BindingLister, BindingLookup, ClusterLister, LookupError, WorkLister};
use crate::documents::Look;
use crate::domain::{Binding, BindingName, Cluster, ClusterKind, ClusterName, Delivery, Workload};

/// Bindings, Works and clusters, as files say that they are. All clones are one.
#[derive(Clone, Debug)]
pub struct StateFiles(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    paths: Vec<PathBuf>,
    held: ArcSwap<Held>,
    /// Whose turn it is to read.
    turn: Arc<Mutex<()>>,
    /// How many readings have begun.
    begun: AtomicU64,
    reader: Reader,
}

/// What is in force, and what was seen last.
#[derive(Debug)]
struct Held {
    /// The last good set.
    snapshot: Arc<Snapshot>,
    look: Look,
    /// A digest of what was read last, if it could be read.
    digest: Option<u64>,
    /// What was wrong with it. Then the set that is in force is an older one.
    faults: Vec<String>,
}

impl StateFiles {
    /// Reads the files, and those in the directories, that `paths` name. An empty directory is a set without documents.
    ///
    /// The error is every fault of every document, each in one line, for the user. This blocks while it reads.
    pub fn open(paths: Vec<PathBuf>) -> Result<Self, Vec<String>> {
        let reader = Reader::start().map_err(|error| vec![format!("no thread to read them: {error}")])?;
        let named = paths.clone();
        let Some(reading) = reader.run_here(move || read(&named, None)) else {
            return Err(vec!["they can't be read".to_owned()]);
        };
        let Reading { look, digest, result } = reading;
        let snapshot = Arc::new(result.unwrap_or_else(|| Ok(Snapshot::default()))?);
        say("state loaded", snapshot.counts());
        let held = ArcSwap::from_pointee(Held { snapshot, look, digest, faults: Vec::new() });
        let (turn, begun) = (Arc::default(), AtomicU64::default());
        Ok(Self(Arc::new(Inner { paths, held, turn, begun, reader })))
    }

    /// Looks at the files now. Lookups do so by themselves; this is for those who want to know without one.
    pub async fn look(&self) {
        // Whatever went wrong has been logged.
        let _ = self.current().await;
    }

    /// Whether, by the last look at them, the files are not what is in force, because something is wrong with them.
    pub fn is_stale(&self) -> bool {
        !self.0.held.load().faults.is_empty()
    }

    /// How much was read of what.
    pub fn counts(&self) -> Counts {
        self.0.held.load().snapshot.counts().clone()
    }

    /// The names of the clusters and targets that were read last.
    pub fn cluster_names(&self) -> BTreeSet<ClusterName> {
        self.0.held.load().snapshot.cluster_names().collect()
    }

    /// The set that is in force now.
    async fn current(&self) -> Result<Arc<Snapshot>, LookupError> {
        let inner = &self.0;
        let begun = inner.begun.load(Ordering::SeqCst);
        let held = inner.held.load();
        if held.look.is_current() {
            return Ok(Arc::clone(&held.snapshot));
        }
        drop(held);
        let turn = Arc::clone(&inner.turn).lock_owned().await;
        // All readings that have begun have ended, so one that began after this lookup did is as good as another.
        if inner.begun.load(Ordering::SeqCst) > begun {
            return Ok(Arc::clone(&inner.held.load().snapshot));
        }
        let this = Arc::clone(inner);
        let reading = inner.reader.run(move || {
            // Kept until the end, also if nobody waits for it any more.
            let _turn = turn;
            this.read_again()
        });
        reading.await.ok_or_else(|| {
            tracing::error!("the state files can't be read");
            LookupError::Failed("the state files can't be read; see the log of reviser".to_owned())
        })
    }

    /// The paths, as messages name them.
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
    /// Reads the files, and puts what they say in force. Called by one at a time.
    fn read_again(&self) -> Arc<Snapshot> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let before = self.held.load_full();
        let Reading { look, digest, result } = read(&self.paths, before.digest);
        let (snapshot, faults) = match result {
            None => (Arc::clone(&before.snapshot), before.faults.clone()),
            Some(Ok(snapshot)) => (Arc::new(snapshot), Vec::new()),
            Some(Err(faults)) => (Arc::clone(&before.snapshot), faults),
        };
        if faults.is_empty() {
            if !Arc::ptr_eq(&snapshot, &before.snapshot) {
                say("state read again", snapshot.counts());
            }
        } else if faults != before.faults {
            tracing::warn!(
                error = first_of(&faults),
                "the state files are refused: the last good ones stay in force until they are mended"
            );
        }
        self.held.store(Arc::new(Held { snapshot: Arc::clone(&snapshot), look, digest, faults }));
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

/// Logs what a set holds.
fn say(message: &str, counts: &Counts) {
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

/// As many faults as a line of the log takes.
fn first_of(faults: &[String]) -> String {
    const MOST: usize = 10;
    let more = faults.len().saturating_sub(MOST);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}", faults[..faults.len().min(MOST)].join("; "))
}

/// `Rollout.deploy.example.com shop/checkout`
fn whole_name(workload: &Workload) -> String {
    let Workload { gvk, namespace, name } = workload;
    let dot = if gvk.group.is_empty() { "" } else { "." };
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{}{dot}{} {namespace}{slash}{name}", gvk.kind, gvk.group)
}
