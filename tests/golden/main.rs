//! Golden cases: each request has the same outcome, byte for byte, by three ways.
//!
//! A case is a folder in `cases`: `request.json` is a request, or a list of requests to one server in this
//! order (a text in the list names a file of the repository that holds one); `policy.yaml` is the policy of
//! the server; without it the built-in policy applies. `expected.json` has a line for each request: the
//! decoded patch byte for byte, or replicas, or code and message of a refusal.
//!
//! The three ways are the library, `reviser preview` and HTTPS; replies over HTTPS must also keep the rules
//! of `tests/conformance`. `UPDATE_GOLDEN=1` rewrites `expected.json`, if the three ways agree.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy lets tests do so, but does not take the helpers of a test for one"
)]

mod case;
mod https;
#[path = "../conformance/karmada.rs"]
mod karmada;
mod library;
mod line;
mod preview;
#[path = "../conformance/reply.rs"]
#[expect(dead_code, reason = "it also has the rules for admission, which has no cases here")]
mod reply;
#[path = "../support/spawned/mod.rs"]
mod spawned;

use case::Case;

#[test]
fn every_case_has_its_expected_outcome_by_three_ways() {
    let certificates = spawned::wire::Certificates::issue();
    let mut wrong = Vec::new();
    for case in Case::all() {
        let outcomes = library::outcomes(&case);
        for (at, (outcome, over_https)) in outcomes.iter().zip(https::lines(&case, &certificates)).enumerate()
        {
            let mut differ = |way: &str, line: &str| {
                if line != outcome.line {
                    wrong.push(format!(
                        "{} request {at}, by {way}:\n  {line}\nby the library:\n  {}",
                        case.name, outcome.line
                    ));
                }
            };
            differ("HTTPS", &over_https);
            if let Some(input) = &outcome.preview {
                differ("preview", &preview::line(&case, input, &outcome.line));
            }
        }
        let found = case.document(outcomes.iter().map(|outcome| outcome.line.as_str()));
        if wrong.is_empty() && std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
            std::fs::write(case.expected(), &found).unwrap();
        }
        let expected = std::fs::read_to_string(case.expected()).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{}, found:\n{found}in expected.json:\n{expected}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn preview_shows_most_cases() {
    let outcomes: Vec<_> = Case::all().iter().flat_map(library::outcomes).collect();
    let shown = outcomes.iter().filter(|outcome| outcome.preview.is_some()).count();
    assert!(shown > 40 && shown * 10 > outcomes.len() * 7, "{shown} of {}", outcomes.len());
}
