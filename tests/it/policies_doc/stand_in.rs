//! What `preview -o patch` would print, for flags that it does not have yet: the library, told what the flags would tell it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use reviser::domain::{Cluster, ClusterName, GroupVersionKind, Schedule, Target, TargetCluster, Workload};
use reviser::json::{Text, Value};
use reviser::service::Service;
use reviser::state::memory::MemoryLedger;
use reviser::state::{ClusterLister, LookupError};
use reviser::{app, documents};

/// The clusters that the flags are about.
#[derive(Debug, Default)]
struct Clusters(BTreeMap<String, Cluster>);

impl ClusterLister for Clusters {
    fn known<'a>(
        &'a self,
        name: &'a ClusterName,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Cluster>, LookupError>> {
        ready(Ok(self.0.get(name.as_str()).cloned())).boxed()
    }
}

impl Clusters {
    fn named(&mut self, name: &str) -> &mut Cluster {
        let unknown = Cluster {
            name: ClusterName::new(name).unwrap(),
            labels: BTreeMap::new(),
            provider: None,
            region: None,
            zones: Vec::new(),
        };
        self.0.entry(name.to_owned()).or_insert(unknown)
    }
}

fn text_at(value: &Value<'_>, names: &[&str]) -> Option<String> {
    let value = names.iter().try_fold(value, |value, name| value.get(name));
    value.and_then(Value::as_str).map(str::to_owned)
}

/// What it would print.
pub(super) fn printed(words: &[String]) -> String {
    let flag = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        Some(words[at + 1].as_str())
    };
    assert_eq!(flag("-o"), Some("patch"));
    let policies = app::load(&[flag("-p").unwrap().into()]).unwrap().policies;
    let target = |entry: &str| {
        let (name, replicas) = entry.split_once('=').unwrap();
        TargetCluster { name: ClusterName::new(name).unwrap(), replicas: replicas.parse().unwrap() }
    };
    let schedule = Schedule::new(flag("--clusters").unwrap().split(',').map(target).collect()).unwrap();
    let mut clusters = Clusters::default();
    for label in flag("--cluster-labels").into_iter().flat_map(|labels| labels.split(',')) {
        let (cluster, label) = label.split_once(':').unwrap();
        let (key, value) = label.split_once('=').unwrap();
        clusters.named(cluster).labels.insert(key.to_owned(), value.to_owned());
    }
    for document in
        flag("--state").into_iter().flat_map(|file| documents::parse(&std::fs::read(file).unwrap()).unwrap())
    {
        let cluster = clusters.named(&text_at(&document.value, &["metadata", "name"]).unwrap());
        cluster.region = text_at(&document.value, &["spec", "region"]);
        let zones = document.value.get("spec").and_then(|spec| spec.get("zones")?.as_array());
        cluster.zones =
            zones.unwrap_or_default().iter().map(|zone| zone.as_str().unwrap().to_owned()).collect();
    }
    let object = documents::read_one(flag("-f").unwrap().as_ref()).unwrap().value;
    let text = |names: &[&str]| text_at(&object, names).unwrap_or_default();
    let workload = Workload {
        gvk: GroupVersionKind::of(&text(&["apiVersion"]), &text(&["kind"])),
        namespace: text(&["metadata", "namespace"]),
        name: text(&["metadata", "name"]),
    };
    let service = Service::new(policies, Arc::new(MemoryLedger::default())).with_clusters(Arc::new(clusters));
    let json = object.to_string();
    let parsed = Text::parse(json.as_bytes()).unwrap();
    let mut printed = String::new();
    for TargetCluster { name, replicas } in schedule.clusters() {
        let target = Target {
            cluster: name.clone(),
            replicas: Some(*replicas),
            schedule: Some(schedule.clone()),
            original: None,
        };
        let revised = service.revise(&workload, parsed.root(), &target).now_or_never().unwrap().unwrap();
        writeln!(printed, "# cluster: {name}\n{}", revised.object.patch().unwrap().to_text()).unwrap();
    }
    printed
}
