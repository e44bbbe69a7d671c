//! The messages of the API server for documents that the definitions refuse.

use super::Defined;
use super::places::read;

const DOCUMENTS: &str = include_str!("../../data/definitions/refused.yaml");
const ANSWERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/definitions/refused.txt");

/// The API server adds this if a validation rule can't be evaluated.
const UNCHECKED: &str = ", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

#[test]
fn the_message_names_the_place_and_the_error() {
    let Some(defined) = Defined::shared() else { return };
    let mut said = String::new();
    for document in read(DOCUMENTS) {
        let name = document["metadata"]["name"].as_str().unwrap();
        let reply = defined.try_out(&document);
        assert!(matches!(reply.code, 400 | 422), "{name}: {}: {}", reply.code, reply.text);
        let message = reply.message().replace(UNCHECKED, "");
        let message = message.split_once(" is invalid: ").map_or(message.as_str(), |(_, rest)| rest);
        said.extend([name, ": ", message, "\n"]);
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(ANSWERS, &said).unwrap();
    }
    assert_eq!(said, std::fs::read_to_string(ANSWERS).unwrap());
}
