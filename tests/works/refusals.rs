//! Denied Works leave the ledger unchanged.

use std::sync::Arc;

use futures_util::FutureExt as _;
use reviser::domain::{AllocationKey, GroupVersionKind, Workload};
use reviser::json::Value as Json;
use reviser::policy;
use reviser::service::Service;
use reviser::state::Ledger as _;
use reviser::state::memory::MemoryLedger;
use serde_json::{Value, json};

use crate::api::{Api, State, Written};

fn rollout(name: &str, steps: &Value) -> Value {
    json!({"apiVersion": "deploy.example.com/v1alpha1", "kind": "Rollout", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"strategy": {"canary": {"steps": steps}}}})
}

fn work(manifests: &[Value]) -> Value {
    json!({"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"name": "w", "annotations": {
        "resourcebinding.karmada.io/name": "b", "resourcebinding.karmada.io/namespace": "shop",
    }}, "spec": {"workload": {"manifests": manifests}}})
}

#[test]
fn a_denied_work_claims_nothing() {
    let documents = reviser::yaml::documents(policy::BUILT_IN).unwrap();
    let documents: Vec<Json<'static>> = documents.into_iter().map(|document| document.value).collect();
    let (state, ledger) = (State::default(), Arc::new(MemoryLedger::default()));
    state.lock().binding = Some(vec![("a".to_owned(), 1), ("b".to_owned(), 1)]);
    let lister = Arc::new(state.clone());
    let service =
        Service::new(policy::compile(&documents).unwrap(), ledger.clone()).with_state(lister.clone(), lister);
    let api = Api::new(state, service);
    let workload = |name: &str| Workload {
        gvk: GroupVersionKind::of("deploy.example.com/v1alpha1", "Rollout"),
        namespace: "shop".into(),
        name: name.into(),
    };
    let claimed = |name: &str| {
        let key = AllocationKey::new("fort", &workload(name));
        ledger.read(&key, None).now_or_never().unwrap().unwrap()
    };
    let fort = json!([{"type": "Fort", "properties": {"pull": "false"}}]);
    // The second manifest is invalid.
    let Written::Refused(refusal) = api.put("a", work(&[rollout("one", &fort), rollout("two", &json!({}))]))
    else {
        panic!("steps that are a map are refused");
    };
    assert!(
        refusal.contains("/spec/workload/manifests/1/spec/strategy/canary/steps: must be a list"),
        "{refusal}"
    );
    assert_eq!(claimed("one"), None);
    // The record is too large.
    let long: Vec<Value> = (0..3000)
        .map(|number| json!({"type": "Fort", "properties": {"pull": format!("{number:0100}")}}))
        .collect();
    let Written::Refused(refusal) = api.put("b", work(&[rollout("one", &long.into())])) else {
        panic!("an undo of more than 256 KiB is refused");
    };
    assert!(refusal.contains("than the 262144 that an object may have"), "{refusal}");
    assert_eq!(claimed("one"), None);
    assert_eq!(api.put("a", work(&[rollout("one", &fort)])), Written::Stored);
    assert_eq!(claimed("one").unwrap().as_str(), "a");
}

#[test]
fn works_that_an_invalid_policy_selects_or_has_revised_are_refused() {
    let policy = |value: &str| {
        let text = format!(
            r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicy","metadata":{{"name":"p"}},"spec":{{
            "resourceSelectors":[{{"apiVersion":"deploy.example.com/v1alpha1","kind":"Rollout"}}],
            "rules":[{{"name":"r","patch":{{"type":"Merge","value":{{"spec":{{"seen":"${{{value}}}"}}}}}}}}]}}}}"#
        );
        policy::admit(&[Json::parse(text.as_bytes()).unwrap().into_owned()]).policies
    };
    let state = State::default();
    state.lock().binding = Some(vec![("a".to_owned(), 1)]);
    let api = |value: &str| {
        let lister = Arc::new(state.clone());
        let service = Service::new(policy(value), Arc::new(MemoryLedger::default()));
        Api::new(state.clone(), service.with_state(lister.clone(), lister))
    };
    let mut new = rollout("one", &json!([]));
    new["metadata"]["annotations"] = json!({"a": "b"});
    let new = work(&[new]);
    let stored = || state.lock().works.get("a").cloned();
    let refused = Written::Refused(
        "ClusterRevisionPolicy/p: selects this workload, and is invalid: spec.rules[0].patch.value.spec.seen: \
         line 1, column 3 of the text: unknown variable `clusters`; did you mean `binding.clusters`?; `${...}` is an expression; write `$${` for a literal one; fix or delete it"
            .to_owned(),
    );
    assert_eq!(api("clusters").put("a", new.clone()), refused);
    assert_eq!(stored(), None);
    assert_eq!(api("cluster.name").put("a", new), Written::Stored);
    let revised = stored().unwrap();
    assert!(revised.to_string().contains(r#""seen":"a""#), "{revised}");
    // A revised Work: to undo the revision would change what runs.
    assert_eq!(api("clusters").put("a", revised.clone()), refused);
    assert_eq!(api("cluster.name").put("a", revised), Written::Dropped);
}
