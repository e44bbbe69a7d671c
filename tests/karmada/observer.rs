//! Watches all through the story: never two Works that start a fort pod.
//!
//! The Works are watched, so that each state that was stored is seen, in the order in which they were. Those
//! of the members are asked for, since what two API servers hold at one moment can't be watched: a member had
//! it before and after another was seen to have it too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::GroupVersionKind;
use serde_json::Value;

use crate::held::Held;
use crate::support::client::Client;

/// What was seen, and how to stop looking.
pub(crate) struct Observer {
    seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
pub(crate) struct Seen {
    /// What each cluster's Work holds.
    works: BTreeMap<String, Held>,
    /// One line for each change of a Work, and for each time at which the fort lost its host or got one.
    pub(crate) changes: Vec<String>,
    /// Each moment at which more than one did.
    pub(crate) overlaps: Vec<String>,
    /// The same of the members.
    pub(crate) member_overlaps: Vec<String>,
    /// How many states of Works were seen, and how often a member was looked at.
    states: u64,
    looks: u64,
    /// The longest time without a host.
    longest: Duration,
    /// Since when no Work has hosted it.
    gap: Option<Instant>,
}

impl Seen {
    /// A Work is stored as `held`, or gone.
    fn change(&mut self, since: Instant, cluster: &str, held: Option<Held>) {
        self.states += 1;
        let at = since.elapsed().as_millis();
        let state = held.as_ref().map_or_else(|| "gone".to_owned(), Held::to_string);
        self.changes.push(format!("{at:>7} ms  {cluster}  {state}"));
        match held {
            Some(held) => self.works.insert(cluster.to_owned(), held),
            None => self.works.remove(cluster),
        };
        let hosts: Vec<_> =
            self.works.iter().filter(|(_, held)| held.hosts()).map(|(name, _)| name).collect();
        if hosts.len() > 1 {
            self.overlaps.push(format!("Works of {hosts:?} at {at} ms"));
            self.changes.push(format!("{at:>7} ms  OVERLAP: {hosts:?}"));
        }
        let is_free = hosts.is_empty();
        match self.gap {
            None if is_free => self.gap = Some(Instant::now()),
            Some(gap) if !is_free => {
                self.changes.push(format!("{at:>7} ms  no host for {} ms", gap.elapsed().as_millis()));
                self.longest = self.longest.max(gap.elapsed());
                self.gap = None;
            }
            _ => {}
        }
    }

    /// What there was to see, in one line.
    pub(crate) fn report(&self) -> String {
        let Self { states, looks, longest, .. } = self;
        let (overlaps, longest) = (self.overlaps.len(), longest.as_millis());
        format!(
            "            seen: {states} states of Works, {looks} looks at members, {overlaps} overlaps, the longest gap {longest} ms"
        )
    }
}

impl Observer {
    /// Looks at the Works of the API server of a kubeconfig file from now on, and at the members.
    pub(crate) fn start(since: Instant, kubeconfig: PathBuf, members: Vec<(&'static str, Client)>) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let works = {
            let (seen, stop) = (Arc::clone(&seen), Arc::clone(&stop));
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(watch(since, &kubeconfig, &seen, &stop));
            })
        };
        let objects = {
            let (seen, stop) = (Arc::clone(&seen), Arc::clone(&stop));
            std::thread::spawn(move || look(since, &members, &seen, &stop))
        };
        Self { seen, stop, threads: vec![works, objects] }
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The changes since this was asked last.
    pub(crate) fn news(&self) -> Vec<String> {
        std::mem::take(&mut self.seen().changes)
    }

    /// Waits until another state of a Work is seen, for so long at the most.
    pub(crate) fn wait_for_change(&self, longest: Duration) {
        let deadline = Instant::now() + longest;
        let before = self.seen().states;
        while self.seen().states == before && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops looking. It fails the test if it was not able to look all the time.
    pub(crate) fn stop(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Follows the Works, each change of them, without a gap.
async fn watch(since: Instant, kubeconfig: &Path, seen: &Mutex<Seen>, stop: &AtomicBool) {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let config =
        kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let client = kube::Client::try_from(config).unwrap();
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("work.karmada.io", "v1alpha1", "Work"));
    let api: Api<DynamicObject> = Api::all_with(client, &kind);
    let tell = |work: &DynamicObject, gone: bool| {
        let work: Value = serde_json::to_value(work).unwrap();
        let Some(held) = Held::of_work(&work) else { return };
        let cluster =
            work["metadata"]["namespace"].as_str().unwrap().trim_start_matches("karmada-es-").to_owned();
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.change(since, &cluster, (!gone).then_some(held));
    };
    let list = api.list(&ListParams::default()).await.unwrap();
    list.items.iter().for_each(|work| tell(work, false));
    let mut version = list.metadata.resource_version.unwrap();
    let followed = WatchParams::default().timeout(200);
    while !stop.load(Ordering::Relaxed) {
        let mut events = pin!(api.watch(&followed, &version).await.unwrap());
        loop {
            let next = tokio::time::timeout(Duration::from_millis(100), events.next()).await;
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let event = match next {
                Ok(Some(event)) => event.unwrap(),
                Ok(None) => break,
                Err(_nothing_yet) => continue,
            };
            let (work, gone) = match event {
                WatchEvent::Added(work) | WatchEvent::Modified(work) => (work, false),
                WatchEvent::Deleted(work) => (work, true),
                WatchEvent::Bookmark(mark) => {
                    version = mark.metadata.resource_version;
                    continue;
                }
                WatchEvent::Error(error) => panic!("the watch of the Works ended: {error:?}"),
            };
            version = work.metadata.resource_version.clone().unwrap();
            tell(&work, gone);
        }
    }
}

/// Asks the members in turn. A member that does not answer is taken to be unchanged.
fn look(since: Instant, members: &[(&'static str, Client)], seen: &Mutex<Seen>, stop: &AtomicBool) {
    let path = crate::apply::path(&crate::objects::rollout(0, ""));
    // Who was seen with it last, and as which object.
    let mut held: BTreeMap<&'static str, Option<(String, i64)>> = BTreeMap::new();
    let look_at = |client: &Client| {
        let reply = client.try_call(http::Method::GET, &path, "application/json", Vec::new()).ok()?;
        if reply.code == 404 {
            return Some(None);
        }
        let held = reply.is_ok().then(|| Held::of_member(&reply.body))?;
        Some(held.hosts().then_some((held.uid, held.generation)))
    };
    while !stop.load(Ordering::Relaxed) {
        for (name, client) in members {
            let Some(now) = look_at(client) else { continue };
            let before = held.insert(name, now.clone());
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.looks += 1;
            // It has had it since it was looked at last, and another one was seen with it in between.
            let all_along = now.is_some() && before == Some(now);
            let other = held.iter().find(|(other, held)| *other != name && held.is_some());
            if let (true, Some((other, _))) = (all_along, other) {
                let at = since.elapsed().as_millis();
                seen.member_overlaps.push(format!("members {name} and {other} at {at} ms"));
                seen.changes.push(format!("{at:>7} ms  OVERLAP in the members {name} and {other}"));
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
