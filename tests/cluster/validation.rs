//! Compares the findings of `engine::validate` with an API server that creates the same objects.

use http::Method;

use crate::support::plane::ControlPlane;
use crate::support::world::World;

#[path = "../support/validation.rs"]
mod rows;

const ANSWERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/validation/answers.txt");

/// Templates whose labels are accepted, and refused in each object that is made of them.
const FURTHER: [&str; 2] = ["/spec/jobTemplate/metadata/", "/spec/volumeClaimTemplates/0/metadata/"];

/// What is not checked: names of objects, a token of a service account without its name, which admission
/// fills in, indexes of jobs, names of time zones, and an API group that older API servers do not ask for.
const LEFT_OUT: [&str; 6] = [
    "/serviceAccountName",
    "{\"/metadata\":",
    "/successPolicy/",
    "/completions",
    "/timeZone",
    "/scaleTargetRef/apiVersion",
];

/// The longest recorded part of a message.
const MOST: usize = 160;

#[test]
fn the_findings_match_the_refusals_of_the_api_server() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "validation");
    let admin = plane.admin();
    let (mut answers, mut differ) = (String::new(), Vec::new());
    for row in rows::rows() {
        let collection = row.collection.replace("{namespace}", world.namespace());
        let reply = admin.create(&format!("{collection}?dryRun=All&fieldValidation=Strict"), &row.object);
        assert!(reply.is_ok() || matches!(reply.code, 400 | 422), "{}: {}", row.name, reply.text);
        let message = reply.message().replace('\n', " ");
        let message = message.split_once(" is invalid: ").map_or(message.as_str(), |(_, rest)| rest);
        let answer = if reply.is_ok() {
            "accepted".to_owned()
        } else {
            format!("refused: {}", message.chars().take(MOST).collect::<String>())
        };
        differ.extend(row.difference(reply.is_ok(), &answer));
        answers.extend([row.name.as_str(), " -> ", &answer, "\n"]);
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(ANSWERS, &answers).unwrap();
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
    let verdict = |line: &str| {
        line.split_once(" -> ").map(|(row, answer)| (row.to_owned(), answer.starts_with("accepted")))
    };
    let recorded = std::fs::read_to_string(ANSWERS).unwrap();
    assert!(answers.lines().map(verdict).eq(recorded.lines().map(verdict)), "run it with UPDATE_GOLDEN=1");
}

#[test]
fn it_is_right_about_every_field_that_is_made_wrong() {
    let Some(plane) = ControlPlane::shared() else { return };
    let world = World::new(plane, "mutated");
    let admin = plane.admin();
    let (mut refused, mut invented, mut missed) = (0, Vec::new(), Vec::new());
    for row in rows::mutants() {
        let collection = row.collection.replace("{namespace}", world.namespace());
        let path = format!("{collection}?dryRun=All&fieldValidation=Strict");
        let body = row.object.to_string().into_bytes();
        // It closes the connection where its own check panics, as for a Job with a success policy and without
        // completions.
        let Ok(reply) = admin.try_call(Method::POST, &path, "application/json", body) else { continue };
        assert!(reply.is_ok() || row.changed.is_some(), "{}: {}", row.name, reply.text);
        // Wrong types are not tested here.
        if reply.code == 400 {
            continue;
        }
        assert!(reply.is_ok() || matches!(reply.code, 403 | 422), "{}: {}", row.name, reply.text);
        refused += usize::from(!reply.is_ok());
        let found = row.violations();
        let is_further = FURTHER.iter().any(|place| row.name.contains(place));
        if reply.is_ok() && !found.is_empty() && !is_further {
            invented.push(format!("{}: {found:?}", row.name));
        }
        if !reply.is_ok() && found.is_empty() && !LEFT_OUT.iter().any(|place| row.name.contains(place)) {
            missed.push(format!("{}: {}", row.name, reply.message()));
        }
    }
    assert!(invented.is_empty(), "{} are accepted:\n{}", invented.len(), invented.join("\n"));
    assert!(missed.is_empty(), "of {refused}, {} are missed:\n{}", missed.len(), missed.join("\n"));
}
