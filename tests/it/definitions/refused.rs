//! What an API server refuses by the definitions, reviser refuses too. That the API server does is seen in
//! `tests/cluster`.

use std::collections::BTreeSet;

use super::places::{findings, read};

const DOCUMENTS: &str = include_str!("../../data/definitions/refused.yaml");
const ANSWERS: &str = include_str!("../../data/definitions/refused.txt");

#[test]
fn reviser_refuses_what_an_api_server_refuses() {
    let documents = read(DOCUMENTS);
    let taken: Vec<&str> = documents
        .iter()
        .filter(|document| findings(document).is_empty())
        .map(|document| document["metadata"]["name"].as_str().unwrap())
        .collect();
    assert!(taken.is_empty(), "{taken:?}");
}

#[test]
fn of_each_it_is_known_what_the_api_server_says() {
    let documents = read(DOCUMENTS);
    let names: BTreeSet<&str> =
        documents.iter().map(|document| document["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), documents.len(), "a name is there twice");
    let answered: BTreeSet<&str> =
        ANSWERS.lines().filter_map(|line| line.split_once(": ").map(|(name, _)| name)).collect();
    assert_eq!(answered, names);
}
