//! Ten thousand concurrent writes of Works through three servers that are killed repeatedly.
//!
//! The schedules do not change, so the host of the fort of a workload has to be the same cluster from the
//! first answer to the last, whichever server gave it, and whatever became of that one afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::replicas::work;
use super::{connected, fort, hosts, install, until_ready};
use crate::process::Server;
use crate::support::hook::Hook;
use crate::support::plane::ControlPlane;
use crate::support::world::World;
use crate::support::{tell, until_some};

const WORKLOADS: usize = 24;
/// Workloads of each writer, which writes for one cluster.
const OWN: usize = 3;
/// How often each Work is written.
const TIMES: usize = 140;
/// Writes between two kills.
const BETWEEN_KILLS: usize = 1_500;

/// The results of all writers.
#[derive(Default)]
struct Seen {
    writes: AtomicUsize,
    refused: AtomicUsize,
    /// The clusters that host the fort according to replies, by workload.
    hosts: Mutex<BTreeMap<String, BTreeSet<String>>>,
}

impl Seen {
    /// Writes a Work as Karmada does: unrevised, and with retries.
    fn write(&self, world: &World<'_>, cluster: &str, workload: &str, number: usize) {
        let path = format!("{}/{workload}", World::works(cluster));
        let stored = until_some("the Work is stored", || {
            let mut object = work(world, cluster, workload);
            object["spec"]["workload"]["manifests"][0]["spec"]["replicas"] = (number % 5).into();
            let there = world.karmada().get(&path);
            let reply = if there.is_ok() {
                object["metadata"]["resourceVersion"] = there.body["metadata"]["resourceVersion"].clone();
                world.karmada().put(&path, &object)
            } else {
                world.karmada().create(&World::works(cluster), &object)
            };
            // A server that has ended, or a conflict: Karmada sends it again.
            assert!(reply.is_ok() || matches!(reply.code, 409 | 500), "{}", reply.text);
            if !reply.is_ok() {
                self.refused.fetch_add(1, SeqCst);
            }
            reply.is_ok().then_some(reply.body)
        });
        self.writes.fetch_add(1, SeqCst);
        if hosts(&stored) {
            let mut all = self.hosts.lock().unwrap();
            let hosts = all.entry(workload.to_owned()).or_default();
            hosts.insert(cluster.to_owned());
            assert_eq!(hosts.len(), 1, "{workload} is hosted by {hosts:?}");
        }
    }
}

#[test]
fn ten_thousand_writes_through_servers_that_are_killed_make_one_host_for_each_workload() {
    let Some(plane) = ControlPlane::start() else { return };
    let worlds = ["one", "two", "three"].map(|name| World::new(&plane, name));
    let first = &worlds[0];
    let kubeconfig = install(&plane, first);
    let clusters = worlds.each_ref().map(|world| world.cluster("x"));
    let shares: Vec<Value> = clusters.iter().map(|name| json!({"name": name, "replicas": 2})).collect();
    let workloads: Vec<String> = (0..WORKLOADS).map(|number| format!("w{number}")).collect();
    for workload in &workloads {
        let mut binding = first.captured("rb-w31.json");
        binding["metadata"]["name"] = format!("{workload}-rollout").into();
        binding["spec"]["resource"]["name"] = workload.as_str().into();
        binding["spec"]["clusters"] = shares.clone().into();
        first.bind(&binding);
    }
    let start = |world: &World<'_>| -> Server {
        let server = connected(world, &kubeconfig);
        until_ready(&server);
        world.hook(Hook::Works, &server, &[]);
        server
    };
    let mut servers = worlds.each_ref().map(|world| Some(start(world)));

    let (seen, done) = (Seen::default(), AtomicBool::new(false));
    let mut kills = 0;
    std::thread::scope(|scope| {
        let mut writers = Vec::new();
        for cluster in &clusters {
            for own in workloads.chunks(OWN) {
                let (first, seen) = (&worlds[0], &seen);
                writers.push(scope.spawn(move || {
                    for number in 0..TIMES {
                        for workload in own {
                            seen.write(first, cluster, workload, number);
                        }
                    }
                }));
            }
        }
        // The bindings are written all the time, as by Karmada, so that claims meet conflicts.
        let (first, workloads, over) = (&worlds[0], &workloads, &done);
        scope.spawn(move || {
            let path =
                format!("/apis/work.karmada.io/v1alpha2/namespaces/{}/resourcebindings", first.namespace());
            for number in 0.. {
                if over.load(SeqCst) {
                    return;
                }
                let workload = &workloads[number % workloads.len()];
                let label = json!({"metadata": {"labels": {"touched": number.to_string()}}});
                let at = format!("{path}/{workload}-rollout");
                first.karmada().patch(&at, "application/merge-patch+json", &label).ok();
            }
        });
        while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            if seen.writes.load(SeqCst) < (kills + 1) * BETWEEN_KILLS {
                std::thread::yield_now();
                std::thread::park_timeout(std::time::Duration::from_millis(20));
                continue;
            }
            let next = kills % servers.len();
            if let Some(server) = servers[next].take() {
                server.end(Signal::KILL);
            }
            servers[next] = Some(start(&worlds[next]));
            kills += 1;
        }
        done.store(true, SeqCst);
        for writer in writers {
            writer.join().unwrap();
        }
    });
    drop(servers);

    let all = seen.hosts.into_inner().unwrap();
    assert_eq!(all.len(), WORKLOADS, "each has a host: {all:?}");
    for (workload, hosts) in &all {
        let host: Vec<&String> = hosts.iter().collect();
        assert_eq!(fort(first, &format!("{workload}-rollout")), *host[0].as_str(), "{workload}");
    }
    let (writes, refused) = (seen.writes.into_inner(), seen.refused.into_inner());
    assert_eq!(writes, WORKLOADS * clusters.len() * TIMES);
    assert!(kills >= 3, "each server has been killed: {kills}");
    tell(&format!(
        "{writes} writes, {refused} more were refused for a moment, {kills} servers killed, {WORKLOADS} allocations"
    ));
}
