//! Documents with every field, with an invalid value in each place: reviser refuses what the API server
//! refuses, and a stored document keeps its meaning.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Defined;
use super::places::{Place, UNUSED, documents, inner, meaning};

/// Replacement values.
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

/// The places to change, one of each schema path.
fn targets() -> Vec<Place> {
    // Both policy kinds share one schema apart from its head.
    let mut seen = HashSet::new();
    let mut is_new = |place: &Place| {
        let path = place.path.replace("ClusterRevisionPolicy", "RevisionPolicy");
        let path = path.replace("ClusterTargetPodTransformation", "TargetPodTransformation");
        seen.insert((path, std::mem::discriminant(&place.value)))
    };
    // The API server does not check below values without a schema.
    inner().filter(|place| !place.schema.is_null() && is_new(place)).collect()
}

/// The documents with this place changed, each with a description of the change.
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
fn stored_documents_keep_their_meaning_and_reviser_refuses_what_the_api_server_refuses() {
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
