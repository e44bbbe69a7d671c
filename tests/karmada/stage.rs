//! The programs of the story, its steps, and their expected results.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::apply::{apply, path};
use crate::control::Karmada;
use crate::held::Held;
use crate::objects::{NAMESPACE, X, Z, binding_path, namespace, propagation, rollout};
use crate::observer::Observer;
use crate::patience::{until, until_ok};
use crate::service::Service;
use crate::support::client::{Client, MERGE};
use crate::support::tell;

/// What each cluster has to come to hold: its replicas, and whether it hosts the fort. A cluster that is not
/// named has nothing.
pub(crate) type Expected<'a> = &'a [(&'static str, i64, bool)];

pub(crate) struct Stage {
    // The service goes before what it asks.
    pub(crate) reviser: Option<Service>,
    pub(crate) observer: Option<Observer>,
    pub(crate) karmada: Karmada,
    pub(crate) admin: Client,
    pub(crate) began: Instant,
    /// The image that the template has now.
    pub(crate) image: String,
    /// Whether members may keep for a while what has no Work any more.
    pub(crate) is_rough: bool,
    log: String,
}

impl Stage {
    pub(crate) fn new(karmada: Karmada) -> Self {
        let admin = karmada.admin();
        apply(&admin, &namespace(NAMESPACE));
        let began = Instant::now();
        Self {
            reviser: None,
            observer: None,
            karmada,
            admin,
            began,
            image: String::new(),
            is_rough: false,
            log: String::new(),
        }
    }

    pub(crate) fn reviser(&mut self) -> &mut Service {
        self.reviser.as_mut().unwrap()
    }

    /// Begins to look for overlaps.
    pub(crate) fn observe(&mut self) {
        let members = self.karmada.members.iter().map(|member| (member.name, member.admin())).collect();
        let kubeconfig = self.karmada.plane().kubeconfig("admin");
        self.observer = Some(Observer::start(self.began, kubeconfig, members));
    }

    /// Stops the observer, and reports what it saw.
    pub(crate) fn stop_observing(&mut self) {
        self.tell_news();
        self.check_overlaps();
        let observer = self.observer.take().unwrap();
        let report = observer.seen().report();
        observer.stop();
        self.say(&report);
    }

    /// Reports the next step of the story.
    pub(crate) fn step(&mut self, what: &str) {
        let at = self.began.elapsed().as_millis();
        self.say(&format!("\n## {what}\n{at:>7} ms  begins"));
    }

    pub(crate) fn say(&mut self, line: &str) {
        tell(line);
        writeln!(self.log, "{line}").unwrap();
        std::fs::write(log_path(), &self.log).unwrap();
    }

    /// Writes the template: a release, if the image is another one.
    pub(crate) fn release(&mut self, replicas: i64, image: &str) {
        image.clone_into(&mut self.image);
        apply(&self.admin, &rollout(replicas, image));
    }

    /// Changes some of the template's metadata or spec.
    pub(crate) fn change(&self, change: &Value) {
        self.admin.patch(&path(&rollout(0, "")), MERGE, change).ok();
    }

    pub(crate) fn delete_template(&self) {
        self.admin.delete(&path(&rollout(0, ""))).ok();
    }

    /// Writes Karmada's policy for it.
    pub(crate) fn divide(&self, weights: &[(&str, i64)]) {
        apply(&self.admin, &propagation(weights));
    }

    /// The stored Works of the Rollout, by cluster.
    pub(crate) fn works(&self) -> BTreeMap<String, Value> {
        let list = self.admin.get("/apis/work.karmada.io/v1alpha1/works").ok();
        let works = list["items"].as_array().unwrap().iter();
        let works = works.filter(|work| Held::of_work(work).is_some());
        let cluster = |work: &Value| {
            let namespace = work["metadata"]["namespace"].as_str().unwrap();
            namespace.trim_start_matches("karmada-es-").to_owned()
        };
        works.map(|work| (cluster(work), work.clone())).collect()
    }

    /// What they hold.
    pub(crate) fn held(&self) -> BTreeMap<String, Held> {
        self.works().into_iter().map(|(cluster, work)| (cluster, Held::of_work(&work).unwrap())).collect()
    }

    /// The live binding, if there is one.
    pub(crate) fn binding(&self) -> Option<Value> {
        let reply = self.admin.get(&binding_path());
        (reply.code != 404).then(|| reply.ok())
    }

    /// The ledger: the cluster that the binding names as the host.
    pub(crate) fn ledger(&self) -> Option<String> {
        let binding = self.binding()?;
        binding["metadata"]["annotations"]["reviser.io/fort-cluster"].as_str().map(str::to_owned)
    }

    /// Waits until the Works and the members hold exactly this, with the image of the template; then reports
    /// it.
    #[track_caller]
    pub(crate) fn comes_to(&mut self, expected: Expected<'_>) {
        self.comes_to_with(expected, |_| true);
    }

    /// The same, and that each Work is as `holds` says.
    #[track_caller]
    pub(crate) fn comes_to_with(&mut self, expected: Expected<'_>, holds: impl Fn(&Held) -> bool) {
        until_ok(&format!("it is {expected:?}"), || {
            self.is_as(expected, &holds).map_err(|why| format!("{why}\n{}", self.table()))
        });
        if self.observer.is_some() {
            let host =
                expected.iter().find(|(_, _, hosts)| *hosts).map(|(cluster, _, _)| (*cluster).to_owned());
            assert_eq!(self.ledger(), host, "the ledger");
        }
        self.tell_news();
        let table = self.table();
        self.say(&table);
        self.check_overlaps();
    }

    /// The cluster whose Work hosts the fort.
    #[track_caller]
    pub(crate) fn host(&self) -> &'static str {
        let held = self.held();
        let hosts: Vec<_> =
            [X, Z].into_iter().filter(|name| held.get(*name).is_some_and(Held::hosts)).collect();
        assert_eq!(hosts.len(), 1, "{}", self.table());
        hosts[0]
    }

    /// What the Works hold now, to come to it again.
    pub(crate) fn expected_now(&self) -> Vec<(&'static str, i64, bool)> {
        let held = self.held();
        let both = [X, Z].into_iter().filter_map(|name| Some((name, held.get(name)?)));
        both.map(|(name, held)| (name, held.replicas.unwrap(), held.hosts())).collect()
    }

    /// Waits until these hold it and one of them, whichever, hosts the fort. Gives that one.
    #[track_caller]
    pub(crate) fn comes_to_one_host(&mut self, replicas: &[(&'static str, i64)]) -> &'static str {
        let with_host = |host: &str| -> Vec<_> {
            replicas.iter().map(|(name, replicas)| (*name, *replicas, *name == host)).collect()
        };
        let found = |stage: &Self| {
            replicas
                .iter()
                .map(|(name, _)| *name)
                .find(|name| stage.is_as(&with_host(name), &|_| true).is_ok())
        };
        let host = until_ok("one cluster hosts the fort", || found(self).ok_or_else(|| self.table()));
        self.comes_to(&with_host(host));
        host
    }

    fn is_as(&self, expected: Expected<'_>, holds: &impl Fn(&Held) -> bool) -> Result<(), String> {
        let works = self.held();
        for member in &self.karmada.members {
            let name = member.name;
            let (work, has) = (works.get(name), member.holds());
            let Some((_, replicas, hosts)) = expected.iter().find(|(cluster, _, _)| *cluster == name) else {
                if work.is_some() || has.is_some() {
                    return Err(format!("{name} still has it"));
                }
                continue;
            };
            let Some(work) = work else { return Err(format!("{name} has no Work")) };
            let as_expected = work.replicas == Some(*replicas) && work.hosts() == *hosts;
            if !as_expected || work.image != self.image || work.deleting || !holds(work) {
                return Err(format!("the Work of {name} is another one"));
            }
            if !has.is_some_and(|has| has.is_as(work)) {
                return Err(format!("{name} does not have what its Work holds"));
            }
        }
        Ok(())
    }

    /// Reports the changes of the Works since the last time.
    pub(crate) fn tell_news(&mut self) {
        let news = self.observer.as_ref().map(Observer::news).unwrap_or_default();
        for line in news {
            self.say(&line);
        }
    }

    /// Waits until a Work has changed that has not been reported yet, or for a second.
    pub(crate) fn wait_for_news(&mut self) {
        let Some(observer) = &self.observer else { return };
        observer.wait_for_change(Duration::from_secs(1));
    }

    /// Fails the test if two were ever seen to host the fort.
    #[track_caller]
    pub(crate) fn check_overlaps(&self) {
        let Some(observer) = &self.observer else { return };
        let seen = observer.seen();
        assert!(seen.overlaps.is_empty(), "more than one hosted the fort: {:#?}", seen.overlaps);
        let members = &seen.member_overlaps;
        assert!(self.is_rough || members.is_empty(), "more than one hosted the fort: {members:#?}");
    }

    /// What binding, Works and members hold now.
    pub(crate) fn table(&self) -> String {
        let at = self.began.elapsed().as_millis();
        let binding = self.binding();
        let clusters = binding.as_ref().map(|binding| binding["spec"]["clusters"].to_string());
        let clusters = clusters.unwrap_or_else(|| "none".to_owned());
        let ledger = self.ledger().unwrap_or_else(|| "nothing".to_owned());
        let mut table = format!("{at:>7} ms  binding {clusters}, its annotation says {ledger}");
        let works = self.held();
        for cluster in [X, Z] {
            let work = works.get(cluster).map_or_else(|| "none".to_owned(), Held::to_string);
            write!(table, "\n            {cluster}  Work    {work}").unwrap();
            let member = self.karmada.member(cluster).holds();
            let member = member.map_or_else(|| "none".to_owned(), |held| held.to_string());
            write!(table, "\n            {cluster}  member  {member}").unwrap();
        }
        table
    }

    /// Has a `ConfigMap` go through Karmada to both members. What was queued before it has been handled then.
    pub(crate) fn pass_through_karmada(&self, name: &str) {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NAMESPACE}});
        let policy = json!({
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": name}],
                "placement": {"clusterAffinity": {"clusterNames": [X, Z]}}},
        });
        apply(&self.admin, &policy);
        apply(&self.admin, &object);
        for member in &self.karmada.members {
            until(&format!("{name} is in {}", member.name), || member.admin().get(&path(&object)).is_ok());
        }
    }
}

/// Where the story is kept.
fn log_path() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("karmada-story.log")
}

impl Drop for Stage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.tell_news();
        }
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("karmada-logs");
        let mut logs = self.karmada.logs().to_vec();
        logs.extend(self.reviser.as_ref().map(|service| ("reviser", service.said())));
        for (name, lines) in logs {
            // Ignored if it fails: the test may be failing for another reason.
            drop(std::fs::create_dir_all(&directory));
            drop(std::fs::write(directory.join(format!("{name}.log")), lines.join("\n")));
        }
    }
}
