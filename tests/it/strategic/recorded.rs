//! Every recorded case: the object, the patch, kubectl's answer, and how ours relates to it.

use std::sync::LazyLock;

use reviser::json::Value;
use reviser::patch::strategic::{apply, check};

use super::{schema_of, seen, without_directives, without_empty_items};

/// The contents of the file, after the line with its origin.
static CASES: LazyLock<Vec<Value<'static>>> = LazyLock::new(|| {
    let text = include_str!("../../data/strategic.jsonl");
    text.lines().skip(1).map(|line| Value::parse(line.as_bytes()).unwrap()).collect()
});

/// A case: what kubectl was given, and how our answer is to relate to its.
fn case<'c>(case: &'c Value<'static>) -> (&'c Value<'static>, &'c Value<'static>, &'c str) {
    let field = |name| case.get(name).unwrap();
    (field("object"), field("patch"), field("ours").as_str().unwrap())
}

/// What is wrong with our answer to a case.
fn fault(recorded: &Value<'static>) -> Option<String> {
    let (object, patch, relation) = case(recorded);
    let ours = apply(object, patch, &schema_of(object));
    let theirs = recorded.get("kubectl");
    let as_it_should = match (relation, &ours, theirs) {
        ("same" | "load", Ok(ours), Some(theirs)) => seen(ours, false) == seen(theirs, false),
        ("same", Err(_), None) | ("refused", Err(_), Some(_)) | ("works", Ok(_), None) => true,
        ("directives", Ok(ours), Some(theirs)) => {
            let theirs = seen(theirs, false);
            let without = without_directives(theirs.clone());
            seen(ours, false) == without && without != theirs
        }
        ("keys", Ok(ours), Some(theirs)) => seen(ours, true) != seen(theirs, true),
        ("replaced", Ok(ours), Some(theirs)) => {
            let theirs = without_directives(seen(theirs, false));
            seen(ours, false) != theirs && seen(ours, false) == without_empty_items(theirs)
        }
        ("order", Ok(ours), Some(theirs)) => {
            seen(ours, true) == seen(theirs, true) && seen(ours, false) != seen(theirs, false)
        }
        _ => false,
    };
    let shown = match &ours {
        Ok(value) => value.to_string(),
        Err(error) => format!("{error}: {}", error.problem),
    };
    (!as_it_should).then(|| format!("{recorded}\n  ours {shown}"))
}

#[test]
fn every_recorded_answer_of_kubectl_is_ours() {
    let cases = &*CASES;
    assert!(cases.len() >= 300, "only {} cases", cases.len());
    let faults: Vec<String> = cases.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{} of {} cases:\n{}", faults.len(), cases.len(), faults.join("\n"));
}

#[test]
fn no_directive_is_left_in_any_answer() {
    for recorded in CASES.iter() {
        let (object, patch, _) = case(recorded);
        if let Ok(ours) = apply(object, patch, &schema_of(object)) {
            let ours = seen(&ours, false);
            assert_eq!(without_directives(ours.clone()), ours, "{patch}");
        }
    }
}

/// What kubectl can do is not refused at load, but where that is said.
#[test]
fn what_kubectl_does_is_not_refused_at_load() {
    for recorded in CASES.iter() {
        let (_, patch, relation) = case(recorded);
        if recorded.get("kubectl").is_some() && relation != "refused" {
            assert_eq!(check(patch).is_empty(), relation != "load", "{patch}: {:?}", check(patch));
        }
    }
}
