//! The elected replica: policies as custom resources, two replicas, and Works that are older than both.
//!
//! `REVISER_TEST_WORKS` sets the number of Works; the default is small, so the test takes a minute.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::connected::{install, until_ready};
use crate::process::Server;
use crate::support::client::{Client, MERGE};
use crate::support::hook::Hook;
use crate::support::plane::{ControlPlane, apply_definitions};
use crate::support::world::World;
use crate::support::{tell, until};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const POLICIES: &str = "/apis/reviser.io/v1alpha1/clusterrevisionpolicies";
const POLICY: &str = "/apis/reviser.io/v1alpha1/clusterrevisionpolicies/rollout-fort";

/// The deadline of each wait.
const PATIENCE: Duration = Duration::from_mins(4);

/// How often a replica stands for election here, and how long it is waited for.
const ELECTION: [&str; 6] = [
    "--leader-elect-lease-duration",
    "4s",
    "--leader-elect-renew-deadline",
    "3s",
    "--leader-elect-retry-period",
    "1s",
];

/// Workloads scheduled to two clusters, with a Work in each, as Karmada wrote them.
struct Fleet<'w, 'p> {
    world: &'w World<'p>,
    workloads: usize,
}

impl<'w, 'p> Fleet<'w, 'p> {
    fn make(world: &'w World<'p>) -> Self {
        let works = std::env::var("REVISER_TEST_WORKS").ok().and_then(|text| text.parse().ok());
        let fleet = Self { world, workloads: works.unwrap_or(240usize).div_ceil(2) };
        let bindings =
            format!("/apis/work.karmada.io/v1alpha2/namespaces/{}/resourcebindings", world.namespace());
        let (binding, [x, z]) = (world.captured("rb-w31.json"), fleet.captured());
        let (to_x, to_z, workloads) = (fleet.collection("x"), fleet.collection("z"), fleet.workloads);
        std::thread::scope(|scope| {
            for part in 0..4 {
                let (binding, x, z, bindings, to_x, to_z) = (&binding, &x, &z, &bindings, &to_x, &to_z);
                let karmada = world.karmada().clone();
                scope.spawn(move || {
                    for number in (part..workloads).step_by(4) {
                        karmada.create(bindings, &numbered(binding, number)).ok();
                        karmada.create(to_x, &numbered(x, number)).ok();
                        karmada.create(to_z, &numbered(z, number)).ok();
                    }
                });
            }
        });
        fleet
    }

    fn captured(&self) -> [Value; 2] {
        ["x", "z"].map(|letter| self.world.captured(&format!("work-create-cluster-{letter}-w31.json")))
    }

    fn collection(&self, letter: &str) -> String {
        World::works(&self.world.cluster(letter))
    }

    fn len(&self) -> usize {
        2 * self.workloads
    }

    fn stored(&self, letter: &str) -> Vec<Value> {
        let mut list = self.world.karmada().get(&self.collection(letter)).ok();
        let items = list["items"].as_array_mut().unwrap();
        assert_eq!(items.len(), self.workloads);
        std::mem::take(items)
    }

    /// All Works, each with Karmada's original.
    fn both(&self) -> Vec<(Value, Value)> {
        let captured = self.captured();
        let mut both = Vec::new();
        for (letter, captured) in ["x", "z"].into_iter().zip(&captured) {
            let written: std::collections::HashMap<String, Value> = (0..self.workloads)
                .map(|number| numbered(captured, number))
                .map(|work| (name(&work), work))
                .collect();
            both.extend(self.stored(letter).into_iter().map(|work| (written[&name(&work)].clone(), work)));
        }
        both
    }
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap().to_owned()
}

/// The object renamed for another workload.
fn numbered(object: &Value, number: usize) -> Value {
    serde_json::from_str(&object.to_string().replace("checkout", &format!("w{number}"))).unwrap()
}

fn replica(world: &World<'_>, kubeconfig: &Path) -> Server {
    let server = world.server(&[&["--kubeconfig", kubeconfig.to_str().unwrap()], &ELECTION[..]].concat());
    until_ready(&server);
    server
}

/// The sum of a counter or gauge over all series whose labels begin with `labels`.
fn metric(server: &Server, name: &str, labels: &str) -> u64 {
    let mut stream = TcpStream::connect(server.admin).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let prefix = if labels.is_empty() { format!("{name} ") } else { format!("{name}{{{labels}") };
    let lines = text.lines().filter(|line| line.starts_with(&prefix));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

fn touches(server: &Server) -> u64 {
    metric(server, "reviser_work_touches_total", "result=\"done\"")
}

fn reviews(server: &Server) -> u64 {
    metric(server, "reviser_requests_total", "door=\"works\"")
}

fn leads(server: &Server) -> bool {
    metric(server, "reviser_leader", "") == 1
}

/// The log lines of a server about touches without effect.
fn failures(server: &Server) -> Vec<String> {
    let lines = server.process.said().into_iter();
    lines.filter(|line| line.contains("could not be revised again")).take(3).collect()
}

/// Waits until the status of the policy reports all Works up to date.
fn until_current(admin: &Client, generation: i64, total: usize) -> Duration {
    let start = Instant::now();
    loop {
        let status = admin.get(POLICY).ok()["status"].clone();
        if status["observedGeneration"] == generation
            && status["works"] == json!({"total": total, "current": total})
        {
            return start.elapsed();
        }
        assert!(start.elapsed() < PATIENCE, "{status}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn until_long(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "it never came about that {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Needs its own control plane: policies apply to all Works there.
fn with_policies() -> Option<ControlPlane> {
    let plane = ControlPlane::start()?;
    let definitions = Path::new(ROOT).join("manifests/crds");
    let files = std::fs::read_dir(definitions).unwrap().map(|file| file.unwrap().path());
    let files = files.filter(|path| !path.ends_with("kustomization.yaml"));
    let documents: Vec<String> = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    apply_definitions(&plane.admin(), &documents);
    Some(plane)
}

fn example() -> String {
    std::fs::read_to_string(Path::new(ROOT).join("manifests/examples/rollout-fort.yaml")).unwrap()
}

#[test]
fn a_policy_reaches_every_work_once_also_when_the_leader_is_killed_and_is_undone_when_it_goes() {
    let Some(plane) = with_policies() else { return };
    let world = World::new(&plane, "elected");
    let fleet = Fleet::make(&world);
    let (admin, total, all) = (plane.admin(), fleet.len(), fleet.len() as u64);
    let kubeconfig = install(&plane, &world);
    let first = replica(&world, &kubeconfig);
    until("the first replica is elected", || leads(&first));
    let second = replica(&world, &kubeconfig);
    world.hook(Hook::Works, &second, &[]);
    let before = reviews(&second);

    // A policy is created.
    admin.create_yaml(POLICIES, &example()).ok();
    let took = until_current(&admin, 1, total);
    tell(&format!("a policy has reached {total} Works in {took:?}, by {} touches", touches(&first)));
    assert_eq!((reviews(&second) - before, touches(&first), leads(&second)), (all, all, false));
    for (_, work) in fleet.both() {
        assert!(work["metadata"]["annotations"]["reviser.io/revision"].is_string(), "{work}");
        assert!(work["metadata"]["generation"].as_i64().unwrap() <= 2, "{work}");
    }
    let status = admin.get(POLICY).ok()["status"].clone();
    assert_eq!(status["conditions"][0]["status"], "True", "{status}");

    // The policy changes, and the leader is killed during the rollout.
    let before = reviews(&second);
    let rule = json!([{"op": "replace", "path": "/spec/rules/0/fort/elsewhere", "value": "Remove"}]);
    admin.patch(POLICY, crate::support::client::JSON_PATCH, &rule).ok();
    until_long("half of the Works are revised again", || reviews(&second) - before > all / 2);
    drop(first.end(Signal::KILL));
    let killed = Instant::now();
    until("the second replica is elected", || leads(&second));
    let elected = killed.elapsed();
    until_current(&admin, 2, total);
    let called = reviews(&second) - before;
    tell(&format!(
        "another leader after {elected:?}; {called} calls for {total} Works; all done {:?} after the kill",
        killed.elapsed()
    ));
    assert!((all..=all + 8).contains(&called), "{called}");
    assert!(fleet.both().iter().all(|(_, work)| work["metadata"]["generation"].as_i64().unwrap() <= 3));

    assert_eq!(failures(&second), Vec::<String>::new());

    // The policy is deleted.
    let (before, touched) = (reviews(&second), touches(&second));
    admin.delete(POLICY).ok();
    until_long("everything is undone", || touches(&second) - touched >= all);
    until_long("no Work is stale", || metric(&second, "reviser_works_stale", "") == 0);
    assert_eq!(reviews(&second) - before, all);
    for (written, work) in fleet.both() {
        assert_eq!(work["spec"]["workload"], written["spec"]["workload"]);
        assert!(!work.to_string().contains("reviser.io/revi"), "{work}");
    }
    let bindings =
        format!("/apis/work.karmada.io/v1alpha2/namespaces/{}/resourcebindings", world.namespace());
    until_long("the ledger is cleared", || !admin.get(&bindings).text.contains("reviser.io/fort-cluster"));
    assert_eq!(metric(&second, "reviser_work_touches_total", "result=\"refused\""), 0);
}

#[test]
fn a_leader_that_ends_gives_its_lease_to_the_next_at_once() {
    let Some(plane) = with_policies() else { return };
    let world = World::new(&plane, "released");
    let kubeconfig = install(&plane, &world);
    let long = ["--kubeconfig", kubeconfig.to_str().unwrap(), "--leader-elect-retry-period", "1s"];
    let (first, lease) =
        (world.server(&long), "/apis/coordination.k8s.io/v1/namespaces/reviser-system/leases/reviser");
    until("the first replica is elected", || leads(&first));
    let second = world.server(&long);
    until("the second replica serves", || !leads(&second));
    let held = plane.admin().get(lease).ok()["spec"].clone();
    assert_eq!((&held["leaseDurationSeconds"], &held["leaseTransitions"]), (&json!(15), &json!(0)));
    let start = Instant::now();
    assert_eq!(first.end(Signal::TERM).code, Some(0));
    until("the second replica is elected", || leads(&second));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let next = plane.admin().get(lease).ok()["spec"].clone();
    assert_ne!(next["holderIdentity"], held["holderIdentity"]);
    // Another client takes the lease: the leader stops, and no replica leads before it has expired.
    let thief =
        json!({"spec": {"holderIdentity": "another holder", "renewTime": "2030-01-01T00:00:00.000000Z"}});
    plane.admin().patch(lease, MERGE, &thief).ok();
    until("the second replica does not lead any more", || !leads(&second));
}
