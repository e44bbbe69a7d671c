//! Revisions with a ledger: claims, races, deadlines and failures.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;

use super::interpreter;
use crate::domain::{
    AllocationKey, Answer, Binding, ClusterName, Code, GroupVersionKind, Operation, Question, Schedule,
    Target, TargetCluster, Workload,
};
use crate::engine::PolicySet;
use crate::json::{Raw, Text, Value};
use crate::policy;
use crate::service::Service;
use crate::state::memory::MemoryLedger;
use crate::state::{Ledger, LedgerError, Swap};

/// Leaks its text, so that the value can borrow from it.
fn raw(text: &str) -> Raw<'static> {
    let text = Box::leak(Box::new(text.to_owned()));
    Box::leak(Box::new(Text::parse(text.as_bytes()).unwrap())).root()
}

fn document(text: &str) -> Value<'static> {
    Value::parse(text.as_bytes()).unwrap().into_owned()
}

/// A policy for kind `Train` with the allocation `lead` and these rules.
fn policies(rules: &str) -> PolicySet {
    let text = format!(
        r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicy","metadata":{{"name":"p"}},
        "spec":{{"resourceSelectors":[{{"apiVersion":"a/v1","kind":"Train"}}],"allocations":[{{"name":"lead"}}],"rules":[{rules}]}}}}"#
    );
    policy::compile(&[document(&text)]).unwrap()
}

const RULE: &str =
    r#"{"name":"r","fort":{"allocation":"lead","steps":"/steps","match":{"t":"first"},"field":"/go"}}"#;
const STEPS: &str = r#"{"apiVersion":"a/v1","kind":"Train","metadata":{"name":"n"},"steps":[{"t":"first","go":1},{"t":"other","go":1}]}"#;

fn cluster(name: &str) -> ClusterName {
    ClusterName::new(name).unwrap()
}

fn target(name: &str, schedule: Option<&[(&str, i64)]>) -> Target<'static> {
    let entry = |&(name, replicas): &(&str, i64)| TargetCluster { name: cluster(name), replicas };
    let schedule = schedule.map(|list| Schedule::new(list.iter().map(entry).collect()).unwrap());
    Target { cluster: cluster(name), replicas: Some(0), schedule, original: None }
}

fn workload() -> Workload {
    Workload { gvk: GroupVersionKind::of("a/v1", "Train"), namespace: "ns".into(), name: "n".into() }
}

fn question<'a>(object: &'a str, operation: Operation<'a>) -> Question<'a> {
    Question { workload: workload(), object: raw(object), operation }
}

async fn answer(service: &Service, object: &str, operation: Operation<'_>) -> Result<String, String> {
    match interpreter::answer(service, &question(object, operation), None).await.result {
        Ok(Answer::Revision(patch)) => Ok(patch.to_text()),
        Ok(Answer::Replicas { replicas, .. }) => Ok(replicas.to_string()),
        Err(failure) => Err(format!("{} {failure}", failure.code().status())),
    }
}

async fn revised(service: &Service, object: &str, target: Target<'_>) -> Result<String, String> {
    answer(service, object, Operation::ReviseObject(target)).await
}

const NULLED: &str = r#"[{"op":"replace","path":"/steps/0/go","value":null}]"#;
const BOTH: &[(&str, i64)] = &[("x", 3), ("z", 1)];

#[tokio::test]
async fn the_heaviest_keeps_the_allocation_until_it_is_not_scheduled() {
    let service = Service::new(policies(RULE), Arc::new(MemoryLedger::default()));
    let ask = |name: &'static str, schedule: &'static [(&'static str, i64)]| {
        revised(&service, STEPS, target(name, Some(schedule)))
    };
    assert_eq!(ask("z", BOTH).await.unwrap(), NULLED);
    assert_eq!(ask("x", BOTH).await.unwrap(), "[]");
    let reweighted = &[("x", 0), ("z", 5)];
    assert_eq!(ask("x", reweighted).await.unwrap(), "[]");
    assert_eq!(ask("z", reweighted).await.unwrap(), NULLED);
    let dropped = &[("z", 1)];
    assert_eq!(ask("x", dropped).await.unwrap(), NULLED);
    assert_eq!(ask("z", dropped).await.unwrap(), "[]");
    assert_eq!(ask("z", BOTH).await.unwrap(), "[]");
    assert_eq!(ask("x", &[]).await.unwrap(), NULLED);
}

#[tokio::test]
async fn a_pin_on_the_template_moves_it_and_is_remembered() {
    let service = Service::new(policies(RULE), Arc::new(MemoryLedger::default()));
    let ask = |name: &'static str, original: Option<&'static str>| {
        let original = original.map(raw);
        revised(&service, STEPS, Target { original, ..target(name, Some(BOTH)) })
    };
    let pin = r#"{"metadata":{"annotations":{"reviser.io/lead-cluster":"z"}}}"#;
    assert_eq!(ask("x", None).await.unwrap(), "[]");
    assert_eq!(ask("x", Some(pin)).await.unwrap(), NULLED);
    assert_eq!(ask("z", None).await.unwrap(), "[]");
    // A pin to a cluster that is not scheduled has no effect.
    let elsewhere = r#"{"metadata":{"annotations":{"reviser.io/lead-cluster":"y"}}}"#;
    assert_eq!(ask("z", Some(elsewhere)).await.unwrap(), "[]");
    // Without a template the pin of the object counts; a template without a pin takes precedence.
    let pinned_object =
        STEPS.replace(r#""name":"n""#, r#""name":"n","annotations":{"reviser.io/lead-cluster":"x"}"#);
    assert_eq!(
        revised(&service, &pinned_object, Target { original: Some(raw("{}")), ..target("z", Some(BOTH)) })
            .await
            .unwrap(),
        "[]"
    );
    assert_eq!(revised(&service, &pinned_object, target("x", Some(BOTH))).await.unwrap(), "[]");
    let wrong = r#"{"metadata":{"annotations":{"reviser.io/lead-cluster":3}}}"#;
    assert_eq!(
        ask("x", Some(wrong)).await.unwrap_err(),
        r#"422 ClusterRevisionPolicy/p rule "r" cluster "x": /metadata/annotations/reviser.io~1lead-cluster: must be a string, is a number; name a cluster, or remove the annotation"#
    );
}

#[tokio::test]
async fn nothing_is_claimed_unless_a_rule_needs_it() {
    let ledger = Arc::new(MemoryLedger::default());
    let service = Service::new(policies(RULE), ledger.clone());
    for object in [r#"{"steps":[]}"#, "{}", r#"{"steps":[{"t":"other"}]}"#] {
        // No rule needs the unknown schedule.
        assert_eq!(revised(&service, object, target("x", None)).await.unwrap(), "[]");
    }
    let key = AllocationKey::new("lead", &workload());
    assert_eq!(ledger.read(&key, None).await.unwrap(), None);
    assert_eq!(
        revised(&service, STEPS, target("x", None)).await.unwrap_err().split(';').next(),
        Some(
            r#"503 ClusterRevisionPolicy/p rule "r" cluster "x": allocation "lead": the schedule of the workload is not known"#
        )
    );
    revised(&service, STEPS, target("z", Some(BOTH))).await.unwrap();
    assert_eq!(ledger.read(&key, None).await.unwrap(), Some(cluster("x")));
}

#[tokio::test]
async fn rules_apply_in_order_to_their_clusters_and_are_named() {
    let rules = r#"{"name":"make","fort":{"allocation":"lead","steps":"/made","field":"/go","generate":{"fort":[{"go":true}]}}},
        {"name":"not-z","targetCluster":{"exclude":["z"]},"fort":{"allocation":"lead","steps":"/made","field":"/late","elsewhere":{"value":{"n":1.50}}}}"#;
    let service = Service::new(policies(rules), Arc::new(MemoryLedger::default()));
    let mut seen = Vec::new();
    for name in ["x", "y", "z"] {
        let schedule: &[(&str, i64)] = &[("x", 1), ("y", 1), ("z", 0)];
        let target = target(name, Some(schedule));
        let outcome =
            interpreter::answer(&service, &question("{}", Operation::ReviseObject(target)), None).await;
        let Ok(Answer::Revision(patch)) = outcome.result else { panic!("{outcome:?}") };
        seen.push((patch.to_text(), outcome.applied.join(" ")));
    }
    let added = |value: &str| format!(r#"[{{"op":"add","path":"/made","value":{value}}}]"#);
    let (make, not_z) = ("ClusterRevisionPolicy/p/make", "ClusterRevisionPolicy/p/not-z");
    assert_eq!(
        seen,
        [
            (added(r#"[{"go":true}]"#), make.to_owned()),
            (added(r#"[{"go":null,"late":{"n":1.50}}]"#), format!("{make} {not_z}")),
            (added(r#"[{"go":null}]"#), make.to_owned()),
        ]
    );
}

#[tokio::test]
async fn a_failure_names_the_object_and_the_path() {
    let service = Service::new(policies(RULE), Arc::new(MemoryLedger::default()));
    let failed = |object: &'static str| revised(&service, object, target("z", Some(BOTH)));
    assert_eq!(
        failed(r#"{"steps":{}}"#).await.unwrap_err(),
        r#"422 ClusterRevisionPolicy/p rule "r" cluster "z": /steps: must be a list of steps, is a map; change the object, or `steps` in the rule"#
    );
    assert_eq!(
        failed(r#"{"a":1,"a":2}"#).await.unwrap_err(),
        r#"422 Train/n cluster "z": request.object: the member "a" is there twice, the second time at byte 7; change the object"#
    );
    assert_eq!(
        answer(&service, "{}", Operation::InterpretReplica).await.unwrap_err().split(';').next(),
        Some("422 Train/n: /spec/replicas: the number of replicas is missing")
    );
}

#[tokio::test]
async fn a_deadline_that_has_passed_is_a_failure() {
    let service = Service::new(policies(RULE), Arc::new(MemoryLedger::default()));
    let question = question(STEPS, Operation::ReviseReplica { replicas: 1 });
    let past = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
    assert_eq!(
        interpreter::answer(&service, &question, Some(past)).await.result.unwrap_err().code(),
        Code::DeadlineExceeded
    );
    let future = Instant::now() + Duration::from_mins(10);
    assert!(interpreter::answer(&service, &question, Some(future)).await.result.is_ok());
}

#[tokio::test]
async fn an_invalid_resource_refuses_only_what_it_selects() {
    let policy = |name: &str, selector: &str, rule: &str| {
        document(&format!(
            r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"RevisionPolicy","metadata":{{"name":"{name}","namespace":"ns"}},
            "spec":{{"resourceSelectors":[{{"apiVersion":"a/v1","kind":"Train"{selector}}}],"rules":[{{"name":"r",{rule}}}]}}}}"#
        ))
    };
    let interpretation = |replicas: &str| {
        document(&format!(
            r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"ResourceInterpretation","metadata":{{"name":"i"}},
            "spec":{{"target":{{"apiVersion":"a/v1","kind":"Train"}},"replicaResource":{{"replicas":"{replicas}"}}}}}}"#
        ))
    };
    let patch = r#""patch":{"type":"Merge","value":{"size":5}}"#;
    let well = [policy("p", "", patch), policy("q", r#","name":"n""#, patch), interpretation("/size")];
    let service = Service::new(policy::admit(&well).policies, Arc::new(MemoryLedger::default()));
    let object = r#"{"apiVersion":"a/v1","kind":"Train","metadata":{"name":"n","namespace":"ns"},"size":4}"#;
    let replicas = || answer(&service, object, Operation::InterpretReplica);
    let revised = || revised(&service, object, target("x", Some(BOTH)));
    let patched = r#"[{"op":"replace","path":"/size","value":5}]"#;
    assert_eq!((replicas().await, revised().await), (Ok("4".to_owned()), Ok(patched.to_owned())));

    let faulty = policy("q", r#","name":"n""#, r#""patches":{}"#);
    service.replace_policies(policy::admit(&[well[0].clone(), faulty, well[2].clone()]).policies);
    assert_eq!(
        revised().await.unwrap_err(),
        "503 RevisionPolicy/q: selects this workload, and is invalid: spec.rules[0]: a rule has exactly one of fort, \
         patch, env, image, divide, and this one has none; fix or delete it"
    );
    assert_eq!(replicas().await.unwrap(), "4");
    let other = object.replace(r#""n""#, r#""other""#);
    let asked = Question {
        workload: Workload { name: "other".into(), ..workload() },
        ..question(&other, Operation::ReviseObject(target("x", Some(BOTH))))
    };
    assert!(interpreter::answer(&service, &asked, None).await.result.is_ok());

    service.replace_policies(policy::admit(&[well[0].clone(), interpretation("size")]).policies);
    for answer in [
        replicas().await,
        revised().await,
        answer(&service, object, Operation::ReviseReplica { replicas: 1 }).await,
    ] {
        let message = answer.unwrap_err();
        assert!(
            message.starts_with("503 ResourceInterpretation/i: interprets this kind, and is invalid: "),
            "{message}"
        );
    }
    // An object that nothing selects needs no interpretation.
    service.replace_policies(policy::admit(&[interpretation("size")]).policies);
    assert_eq!(revised().await.unwrap(), "[]");
}

/// A ledger that fails, or never answers.
#[derive(Debug)]
enum Broken {
    Fails,
    Hangs,
}

impl Broken {
    fn answer<T: Send + 'static>(&self) -> BoxFuture<'_, Result<T, LedgerError>> {
        match self {
            Self::Fails => Box::pin(async {
                Err(LedgerError { action: "write the ledger".into(), source: "disk full".into() })
            }),
            Self::Hangs => Box::pin(std::future::pending()),
        }
    }
}

impl Ledger for Broken {
    fn read<'a>(
        &'a self,
        _: &'a AllocationKey,
        _: Option<&'a Binding>,
    ) -> BoxFuture<'a, Result<Option<ClusterName>, LedgerError>> {
        Box::pin(async { Ok(None) })
    }

    fn compare_and_swap<'a>(
        &'a self,
        _: &'a AllocationKey,
        _: Option<&'a Binding>,
        _: Option<&'a ClusterName>,
        _: &'a ClusterName,
    ) -> BoxFuture<'a, Result<Swap, LedgerError>> {
        self.answer()
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_with_an_allocation_fails_without_the_ledger() {
    let service = Service::new(policies(RULE), Arc::new(Broken::Fails));
    assert_eq!(
        revised(&service, STEPS, target("x", Some(BOTH))).await.unwrap_err(),
        r#"503 Train/n cluster "x": failed to write the ledger: disk full; the answer needs the ledger, see the log of reviser"#
    );
    let service = Service::new(policies(RULE), Arc::new(Broken::Hangs));
    let question = question(STEPS, Operation::ReviseObject(target("x", Some(BOTH))));
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    let outcome = interpreter::answer(&service, &question, Some(deadline.into_std())).await;
    assert_eq!(outcome.result.unwrap_err().code(), Code::DeadlineExceeded);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_requests_get_the_same_host() {
    for _ in 0..50 {
        let service = Arc::new(Service::new(policies(RULE), Arc::new(MemoryLedger::default())));
        // Each task has another schedule, so that without the ledger they would disagree.
        let names = ["a", "b", "c", "d"];
        let tasks = (0..16).map(|task| {
            let service = service.clone();
            tokio::spawn(async move {
                let schedule: Vec<(&str, i64)> =
                    names.iter().enumerate().map(|(at, name)| (*name, i64::from(at == task % 4))).collect();
                let mut hosts = Vec::new();
                for name in names {
                    if revised(&service, STEPS, target(name, Some(&schedule))).await.unwrap() == "[]" {
                        hosts.push(name);
                    }
                }
                hosts
            })
        });
        let answers = futures_util::future::join_all(tasks).await;
        let hosts: Vec<Vec<&str>> = answers.into_iter().map(Result::unwrap).collect();
        assert!(hosts.iter().all(|seen| seen.len() == 1 && *seen == hosts[0]), "{hosts:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_sees_one_set_of_policies_from_beginning_to_end() {
    // Each set writes its name in two places, by two policies, with a ledger call in between.
    let set = |name: &str| {
        let policy = |policy: &str, allocation: &str, place: &str| {
            document(&format!(
                r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicy","metadata":{{"name":"{policy}"}},
                "spec":{{"resourceSelectors":[{{"apiVersion":"a/v1","kind":"Train"}}],"allocations":[{{"name":"{allocation}"}}],
                "rules":[{{"name":"r","patch":{{"type":"Merge","value":{{"{place}":"{name}${{allocations.{allocation}}}"}}}}}}]}}}}"#
            ))
        };
        policy::compile(&[policy("p", "one", "first"), policy("q", "two", "second")]).unwrap()
    };
    let sets = [set("red"), set("blue")];
    let service = Arc::new(Service::new(sets[0].clone(), Arc::new(MemoryLedger::default())));
    let asking = (0..4).map(|_| {
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..500 {
                let operation = Operation::ReviseObject(target("c", Some(&[("c", 1)])));
                seen.insert(answer(&service, STEPS, operation).await.unwrap());
                tokio::task::yield_now().await;
            }
            seen
        })
    });
    let asking: Vec<_> = asking.collect();
    let mut turns = 0;
    while !asking.iter().all(tokio::task::JoinHandle::is_finished) {
        turns += 1;
        service.replace_policies(sets[turns % 2].clone());
        tokio::task::yield_now().await;
    }
    let whole = |name: &str| {
        format!(
            r#"[{{"op":"add","path":"/first","value":"{name}c"}},{{"op":"add","path":"/second","value":"{name}c"}}]"#
        )
    };
    let mut seen = std::collections::BTreeSet::new();
    for asked in asking {
        seen.extend(asked.await.unwrap());
    }
    assert_eq!(seen, [whole("blue"), whole("red")].into_iter().collect());
}
