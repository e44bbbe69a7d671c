//! Three servers, each called for a different cluster, agree on one allocation for each workload.

use serde_json::{Value, json};

use super::{connected, fort, hosts, install, until_ready};
use crate::support::hook::Hook;
use crate::support::plane::ControlPlane;
use crate::support::until_some;
use crate::support::world::World;

/// Workloads scheduled to all clusters at one time.
const WORKLOADS: usize = 12;

/// The captured Work for another workload and cluster.
pub(super) fn work(world: &World<'_>, cluster: &str, workload: &str) -> Value {
    let work = world.captured("work-create-cluster-z-w31.json");
    let mut manifest = work["spec"]["workload"]["manifests"][0].clone();
    manifest["metadata"]["name"] = workload.into();
    let annotations = manifest["metadata"]["annotations"].as_object_mut().unwrap();
    annotations.insert("resourcebinding.karmada.io/name".into(), format!("{workload}-rollout").into());
    world.work(cluster, workload, &[manifest])
}

#[test]
fn three_servers_agree_on_one_cluster_for_each_workload() {
    let Some(plane) = ControlPlane::start() else { return };
    // Each world has its own webhook configuration, so there is one for each server. The workloads are those
    // of the first world.
    let worlds = ["first", "second", "third"].map(|name| World::new(&plane, name));
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
    let servers = worlds.each_ref().map(|world| {
        let server = connected(world, &kubeconfig);
        until_ready(&server);
        world.hook(Hook::Works, &server, &[]);
        server
    });

    let stored: Vec<Vec<Value>> = std::thread::scope(|scope| {
        let writers = clusters.each_ref().map(|cluster| {
            let workloads = &workloads;
            scope.spawn(move || {
                let create = |workload: &String| {
                    let object = work(first, cluster, workload);
                    // Karmada retries after an internal error.
                    until_some("the Work is stored", || {
                        let reply = first.karmada().create(&World::works(cluster), &object);
                        assert!(reply.is_ok() || reply.code == 500, "{}", reply.text);
                        reply.is_ok().then_some(reply.body)
                    })
                };
                workloads.iter().map(create).collect()
            })
        });
        writers.map(|writer| writer.join().unwrap()).into()
    });
    drop(servers);
    for (number, workload) in workloads.iter().enumerate() {
        let hosts: Vec<&String> = clusters
            .iter()
            .zip(&stored)
            .filter(|(_, works)| hosts(&works[number]))
            .map(|(name, _)| name)
            .collect();
        let [host] = hosts[..] else { panic!("{workload} is hosted by {hosts:?}") };
        assert_eq!(fort(first, &format!("{workload}-rollout")), host.as_str());
    }
}
