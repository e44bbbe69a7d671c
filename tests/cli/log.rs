//! The log of `serve`: one line a request, and never what is in an object.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::files::Directory;
use crate::https::{self, Client, Protocol, config};
use crate::process::{PATIENCE, Server, address, reviser};

const SECRET: &str = "c2VjcmV0LXZhbHVl";

/// A request about a Rollout with a secret.
fn request(uid: &str, cluster: &str, steps: &Value) -> Value {
    let object = json!({
        "apiVersion": "deploy.example.com/v1alpha1",
        "kind": "Rollout",
        "metadata": {"namespace": "shop", "name": "checkout", "annotations": {"token": SECRET}},
        "data": {"password": SECRET, SECRET: SECRET},
        "spec": {"strategy": {"canary": {"steps": steps}}},
    });
    json!({"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext", "request": {
        "uid": uid,
        "kind": {"group": "deploy.example.com", "version": "v1alpha1", "kind": "Rollout"},
        "namespace": "shop",
        "name": "checkout",
        "operation": "ReviseObject",
        "object": object,
        "originalObject": object,
        "clusterName": cluster,
        "targetClusters": [{"name": "x", "replicas": 3}, {"name": "z", "replicas": 1}],
    }})
}

/// Sends bodies one after the other to a server with this log, and gives the log.
fn logged(arguments: &[&str], bodies: &[String]) -> Vec<String> {
    let directory = Directory::new();
    let authority = std::fs::read(directory.certificates("certs").join("ca.crt")).unwrap();
    let certificates = directory.at("certs");
    let server = Server::start([&["--cert-dir", &certificates, "--drain-seconds", "0"], arguments].concat());
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let config = config(&authority, Protocol::Http2, None);
        let client = Client::connect(server.secure, "localhost", config).await.unwrap();
        for body in bodies {
            let reply = client.send(https::post("/interpret", https::full(body.clone()))).await.unwrap();
            assert_eq!(reply.headers["content-type"], "application/json");
            assert!(!reply.body.is_empty());
        }
    });
    let done = server.end(Signal::TERM);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""));
    assert!(!done.stderr.contains(SECRET), "{}", done.stderr);
    done.stderr.lines().map(str::to_owned).collect()
}

fn bodies() -> Vec<String> {
    let steps = json!([{"type": "Fort", "properties": {"pull": "true", "env": SECRET}}]);
    let bad = json!([{"type": "Fort", "properties": [SECRET]}]);
    let mut unknown = request("5", "x", &steps);
    unknown["request"]["operation"] = "Explode".into();
    [
        request("1", "x", &steps),
        request("2", "z", &steps),
        request("3", "z", &bad),
        request("4", "", &steps),
        unknown,
    ]
    .iter()
    .map(Value::to_string)
    .chain([format!("{{\"request\": {{\"object\": {{\"data\": \"{SECRET}\"}}}}}}"), SECRET.to_owned()])
    .collect()
}

#[test]
fn a_request_is_one_line_with_everything_that_is_known_of_it() {
    let lines = logged(&["--log-format", "json"], &bodies());
    let lines: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answered: Vec<&Value> = lines.iter().filter(|line| line["message"] == "answered").collect();
    let fields = ["uid", "operation", "kind", "namespace", "name", "cluster", "rules", "outcome", "level"];
    let rule = "ClusterRevisionPolicy/rollout-fort/canary-steps";
    let expected = [
        ["1", "ReviseObject", "Rollout", "shop", "checkout", "x", "", "ok", "INFO"],
        ["2", "ReviseObject", "Rollout", "shop", "checkout", "z", rule, "ok", "INFO"],
        ["3", "ReviseObject", "Rollout", "shop", "checkout", "z", "", "Invalid", "WARN"],
        ["4", "ReviseObject", "Rollout", "shop", "checkout", "", "", "BadRequest", "WARN"],
        ["5", "unknown", "Rollout", "shop", "checkout", "x", "", "BadRequest", "WARN"],
    ];
    assert_eq!(answered.len(), expected.len());
    for (line, expected) in answered.iter().zip(expected) {
        assert_eq!(fields.map(|field| line[field].as_str().unwrap()), expected, "{line}");
        assert!(line["duration_us"].as_u64().is_some_and(|duration| duration > 0), "{line}");
        assert_eq!(line["error"].is_string(), line["outcome"] != "ok", "{line}");
    }
    let problem = "rule \"canary-steps\" cluster \"z\": /spec/strategy/canary/steps/0/properties: must be a map, is a list";
    assert!(answered[2]["error"].as_str().unwrap().contains(problem), "{}", answered[2]);

    let refused: Vec<&Value> =
        lines.iter().filter(|line| line["message"] == "refused a request without a uid").collect();
    assert_eq!(refused.len(), 2);
    assert!(
        refused
            .iter()
            .all(|line| line["level"] == "WARN" && line["bytes"].is_u64() && line["error"].is_string())
    );
    let allocated: Vec<&Value> = lines.iter().filter(|line| line["message"] == "allocated").collect();
    assert_eq!(allocated.len(), 1, "it was there already for the second request");
    assert_eq!((&allocated[0]["cluster"], &allocated[0]["why"]), (&json!("x"), &json!("HighestWeight")));
}

#[test]
fn a_line_of_text_has_the_same() {
    let lines = logged(&[], &bodies());
    let answered: Vec<&String> = lines.iter().filter(|line| line.contains(" answered ")).collect();
    assert_eq!(answered.len(), 5);
    let begins = "INFO answered uid=2 operation=ReviseObject kind=Rollout namespace=shop name=checkout cluster=z \
                  rules=ClusterRevisionPolicy/rollout-fort/canary-steps outcome=ok duration_us=";
    assert!(answered[1].contains(begins), "{}", answered[1]);
}

#[test]
fn a_request_that_reaches_no_door_has_a_line_too() {
    let directory = Directory::new();
    let authority = std::fs::read(directory.certificates("certs").join("ca.crt")).unwrap();
    let certificates = directory.at("certs");
    let server = Server::start(["--cert-dir", &certificates, "--drain-seconds", "0"]);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let client = Client::connect(server.secure, "localhost", config(&authority, Protocol::Http1, None))
            .await
            .unwrap();
        let reply = client.send(https::post("/INTERPRET", https::full("{}".to_owned()))).await.unwrap();
        assert_eq!(reply.status.as_u16(), 404);
    });
    let done = server.end(Signal::TERM);
    assert!(done.stderr.contains("INFO refused method=POST path=/INTERPRET status=404\n"), "{}", done.stderr);
}

#[test]
fn with_the_level_warn_only_what_went_wrong_is_there() {
    let lines = logged(&["--log-level", "warn,reviser::server=info"], &bodies());
    let answered: Vec<&str> =
        lines.iter().filter_map(|line| line.split_once("answered uid=")?.1.get(..1)).collect();
    assert_eq!(answered, ["3", "4", "5"]);
    assert!(!lines.iter().any(|line| line.contains("allocated")));
}

#[test]
fn no_level_shows_what_is_in_an_object() {
    let lines = logged(&["--log-level", "trace"], &bodies());
    assert!(lines.iter().any(|line| line.contains("TRACE") || line.contains("DEBUG")), "{lines:?}");
}

/// A process whose stderr is not read. Killed with this, if it has not ended by then.
struct Unread(Child);

impl Unread {
    fn start(mut command: Command) -> Self {
        Self(command.spawn().unwrap())
    }

    /// Sends SIGTERM, and gives the exit code and how long the end took.
    fn end(&mut self) -> (Option<i32>, Duration) {
        let started = Instant::now();
        kill_process(Pid::from_raw(self.0.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return (status.code(), started.elapsed());
            }
            assert!(started.elapsed() < PATIENCE, "it never ended");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        // Both fail if it has ended already, which is as well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_log_that_nobody_reads_holds_up_neither_requests_nor_the_end() {
    let directory = Directory::new();
    let authority = std::fs::read(directory.certificates("certs").join("ca.crt")).unwrap();
    let mut command = reviser(["serve", "--bind-address", "127.0.0.1", "--secure-port", "0"]);
    command.args(["--admin-bind-address", "127.0.0.1:0", "--drain-seconds", "0"]);
    command.args(["--cert-dir", &directory.at("certs")]);
    let mut server = Unread::start(command);
    let mut stderr = BufReader::new(server.0.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("secure_address") {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "it ended before it served");
    }

    // Lines are as long as the uid at least, so these are many times what a pipe holds.
    let uid = "u".repeat(200);
    let bodies: Vec<String> =
        bodies().iter().map(|body| body.replace(r#""uid":""#, &format!(r#""uid":"{uid}"#))).collect();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let config = config(&authority, Protocol::Http2, None);
        let client = Client::connect(address(&line, "secure_address"), "localhost", config).await.unwrap();
        for body in bodies.iter().cycle().take(2000) {
            let reply = client.send(https::post("/interpret", https::full(body.clone())));
            let reply = tokio::time::timeout(PATIENCE, reply).await.expect("an answer").unwrap();
            assert_eq!(reply.headers["content-type"], "application/json");
        }
    });
    let (code, took) = server.end();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(5), "{took:?}");
    drop(stderr);
}
