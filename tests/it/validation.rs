//! `engine::validate` against what a real API server answered to the same objects; `tests/cluster` records
//! it.

use std::collections::HashSet;

use serde_json::json;

#[path = "../support/validation.rs"]
mod rows;

const ANSWERS: &str = include_str!("../data/validation/answers.txt");

#[test]
fn it_refuses_what_the_api_server_refused_and_nothing_else() {
    let rows = rows::rows();
    assert!(!rows[0].collection.is_empty());
    let mut differ = Vec::new();
    for (row, line) in rows.iter().zip(ANSWERS.lines()) {
        let (name, answer) = line.split_once(" -> ").unwrap();
        assert_eq!(name, row.name, "record the answers again: UPDATE_GOLDEN=1 cargo test --test cluster");
        differ.extend(row.difference(answer == "accepted", answer));
    }
    assert_eq!(rows.len(), ANSWERS.lines().count());
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}

#[test]
fn a_value_of_another_type_is_no_matter() {
    let (mut tried, mut places) = (0, HashSet::new());
    for row in rows::mutants() {
        let Some(place) = &row.changed else {
            assert_eq!(row.violations(), [""; 0], "{}", row.name);
            continue;
        };
        if !places.insert((row.collection.clone(), place.clone())) {
            continue;
        }
        for other in [json!(true), json!(-7), json!("x"), json!([[]]), json!({"x": {}})] {
            let mut row = row.clone();
            let Some(value) = row.object.pointer_mut(place) else { continue };
            *value = other;
            // It has to come to an end, whatever it says.
            tried += row.violations().len();
        }
    }
    assert!(tried > 500, "{tried}");
}
