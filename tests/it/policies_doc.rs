//! docs/policies.md: every example is run as it stands, and every policy in it is one.
//!
//! An example is a section of "Worked examples": YAML blocks, each with the name of its file in its first
//! line, and a `console` block with a command and what it prints. `UPDATE_GOLDEN=1` updates the output.

use std::fs;
use std::path::Path;

use reviser::{policy, yaml};

use crate::support::command::reviser;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/policies.md");

/// The demands that are to have an example.
const DEMANDS: [&str; 7] = ["3159", "4739", "4799", "5384", "6067", "3362", "2069"];

/// The text between two fences, in their order, each with what stands behind the first; and what is around
/// them.
fn pieces(text: &str) -> Vec<(Option<&str>, String)> {
    let mut pieces = vec![(None, String::new())];
    for line in text.split_inclusive('\n') {
        let fence = line.trim_end().strip_prefix("```");
        match (fence, pieces.last().unwrap().0) {
            (Some(info), None) => {
                pieces.last_mut().unwrap().1.push_str(line);
                pieces.push((Some(info), String::new()));
            }
            (Some(_), Some(_)) => pieces.push((None, line.to_owned())),
            (None, _) => pieces.last_mut().unwrap().1.push_str(line),
        }
    }
    pieces
}

/// What a command prints, in a directory with the files of its example.
fn printed(directory: &Path, command: &str) -> String {
    let words: Vec<String> = command
        .split(' ')
        .map(|word| match directory.join(word) {
            file if file.is_file() => file.to_str().unwrap().to_owned(),
            _ => word.to_owned(),
        })
        .collect();
    let done = reviser(&words);
    let refused = done.stderr.lines().any(|line| line.starts_with("error: "));
    assert_eq!(done.code, Some(i32::from(refused)), "{command}: {done:?}");
    done.stdout + &done.stderr
}

#[test]
fn every_worked_example_prints_what_the_document_says() {
    let text = fs::read_to_string(DOCUMENT).unwrap();
    let (reference, examples) = text.split_once("## Worked examples\n").unwrap();
    let mut found = format!("{reference}## Worked examples\n");
    let (mut directory, mut commands) = (tempfile::tempdir().unwrap(), 0);
    for (info, piece) in pieces(examples) {
        let first = piece.lines().next().unwrap_or_default();
        match info {
            Some("yaml") => {
                let name = first.strip_prefix("# ").unwrap_or_else(|| panic!("no name of a file: {piece}"));
                fs::write(directory.path().join(name), &piece).unwrap();
                found.push_str(&piece);
            }
            Some("console") => {
                let command =
                    first.strip_prefix("$ reviser ").unwrap_or_else(|| panic!("no command: {piece}"));
                found.extend([first, "\n", &printed(directory.path(), command)]);
                if !found.ends_with('\n') {
                    found.push('\n');
                }
                directory = tempfile::tempdir().unwrap();
                commands += 1;
            }
            Some(other) => panic!("{other:?} is no block of an example: {piece}"),
            None => found.push_str(&piece),
        }
    }
    assert!(commands > DEMANDS.len());
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(DOCUMENT, &found).unwrap();
    }
    let differing: Vec<_> =
        found.lines().zip(text.lines()).filter(|(found, said)| found != said).take(3).collect();
    assert!(found == text, "what is printed, and what the document says: {differing:#?}");
    for demand in DEMANDS {
        assert!(
            examples.contains(&format!(
                "[karmada#{demand}](https://github.com/karmada-io/karmada/issues/{demand})"
            ))
        );
    }
}

#[test]
fn every_policy_in_the_document_is_one() {
    let text = fs::read_to_string(DOCUMENT).unwrap();
    let is_ours =
        |piece: &&(Option<&str>, String)| piece.0 == Some("yaml") && piece.1.contains("reviser.io/v1alpha1");
    let pieces = pieces(&text);
    let policies: Vec<_> = pieces.iter().filter(is_ours).collect();
    assert!(policies.len() > DEMANDS.len());
    for (_, piece) in policies {
        let documents: Vec<_> =
            yaml::documents(piece).unwrap().into_iter().map(|document| document.value).collect();
        policy::compile(&documents).unwrap_or_else(|findings| panic!("{piece}: {findings:#?}"));
    }
}
