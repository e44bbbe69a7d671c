//! Documents with every field, made wrong in every place: what the API server refuses, reviser refuses, and what it stores means what the
//! document meant.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Defined;
use super::places::{Place, UNUSED, documents, inner, meaning};

/// What stands in a place instead of what belongs there.
fn others() -> Vec<Option<Value>> {
    let values = [
        Value::Null,
        json!(""),
        json!("x"),
        json!("/x"),
        json!("${cluster.name}"),
        json!("10m"),
        json!(0),
        json!(-1),
        json!(true),
        json!(false),
        json!([]),
        json!({}),
    ];
    [None].into_iter().chain(values.map(Some)).collect()
}

/// The places to make wrong: of those that are alike, one.
fn targets() -> Vec<Place> {
    // The two kinds of policies have one schema but for its head.
    let mut seen = HashSet::new();
    let mut is_new = |place: &Place| {
        let path = place.path.replace("ClusterRevisionPolicy", "RevisionPolicy");
        let path = path.replace("ClusterTargetPodTransformation", "TargetPodTransformation");
        seen.insert((path, std::mem::discriminant(&place.value)))
    };
    // Below what is free, the API server looks at nothing.
    inner().filter(|place| !place.schema.is_null() && is_new(place)).collect()
}

/// The documents that come of making this place wrong, each with what was done.
fn mutants(place: &Place) -> Vec<(String, Value)> {
    let mut mutants: Vec<(String, Value)> = others()
        .into_iter()
        .map(|other| {
            let done = other.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
            (format!("{}: {done}", place.path), place.with(other))
        })
        .collect();
    if place.value.is_object() {
        let unknown = Place { pointer: place.pointer.join(UNUSED), ..place.clone() };
        mutants.push((format!("{}: an unknown field", place.path), unknown.with(Some("x".into()))));
    }
    if let Some(first) = place.value.as_array().and_then(|items| items.first()) {
        let twice = [place.value.as_array().unwrap().clone(), vec![first.clone()]].concat();
        mutants.push((format!("{}: an item twice", place.path), place.with(Some(twice.into()))));
    }
    mutants
}

#[test]
fn what_the_api_server_takes_means_what_it_meant_and_what_it_refuses_reviser_refuses() {
    let Some(defined) = Defined::shared() else { return };
    for document in documents() {
        defined.make_namespace_of(&document);
    }
    let (mut refused, mut both, mut differ) = (0, 0, Vec::new());
    for place in targets() {
        for (done, document) in mutants(&place) {
            let (reply, meant) = (defined.try_out(&document), meaning(&document));
            refused += usize::from(meant.is_err());
            if !reply.is_ok() {
                assert!(matches!(reply.code, 400 | 422), "{done}: {}", reply.text);
                both += usize::from(meant.is_err());
                if meant.is_ok() {
                    differ.push(format!("{done}: {}", reply.message()));
                }
                continue;
            }
            let stored = meaning(&reply.body);
            if stored.is_ok() != meant.is_ok() || (meant.is_ok() && stored != meant) {
                differ.push(format!("{done}: it means something else now: {meant:?}, {stored:?}"));
            }
        }
    }
    assert!(differ.is_empty(), "{} differ: {differ:#?}", differ.len());
    assert!(both * 10 > refused * 8, "of {refused} that reviser refuses the API server refuses {both}");
}
