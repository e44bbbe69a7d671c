//! What `preview` prints.

use similar::{ChangeTag, TextDiff};

use super::{Shown, table};
use crate::json::{Object, Value};
use crate::yaml;

/// The revised objects, for programs: `{"clusters": [{"name", "replicas", "object" | "error"}]}`.
pub(super) fn json(shown: &[Shown<'_>]) -> String {
    let clusters = Value::array(shown.iter().map(entry).collect());
    pretty(&Value::Object([("clusters", clusters)].into_iter().collect()))
}

fn entry<'v>(shown: &Shown<'v>) -> Value<'v> {
    let (name, value) = match &shown.revised {
        Ok(version) => ("object", version.object.clone()),
        Err(failure) => ("error", failure.message().into()),
    };
    let mut entry = Object::new();
    entry.insert("name", shown.cluster.to_string().into());
    entry.insert("replicas", shown.replicas.into());
    entry.insert(name, value);
    Value::Object(entry)
}

/// One object, for programs.
pub(super) fn json_object(shown: &Shown<'_>) -> String {
    shown.revised.as_ref().map(|version| pretty(&version.object)).unwrap_or_default()
}

fn pretty(value: &Value<'_>) -> String {
    let mut text = String::new();
    value.write_pretty_to(&mut text);
    text.push('\n');
    text
}

/// One document a cluster. A refused one has none.
pub(super) fn yaml(shown: &[Shown<'_>]) -> String {
    documents(shown, yaml_object)
}

/// One document.
pub(super) fn yaml_object(shown: &Shown<'_>) -> String {
    let mut text = String::new();
    if let Ok(revised) = &shown.revised {
        yaml::write(&revised.object, &mut text);
    }
    text
}

/// The patch of each cluster, headed by its name.
pub(super) fn patches(shown: &[Shown<'_>]) -> String {
    let headed = |shown: &Shown<'_>| format!("# cluster: {}\n{}\n", shown.cluster, patch(shown));
    shown.iter().filter(|shown| shown.revised.is_ok()).map(headed).collect()
}

/// The bytes that a decoded reply of the webhook would hold: no line break at the end.
pub(super) fn patch(shown: &Shown<'_>) -> String {
    shown.revised.as_ref().map(|revised| revised.patch.clone()).unwrap_or_default()
}

fn documents(shown: &[Shown<'_>], document: impl Fn(&Shown<'_>) -> String) -> String {
    let headed = |shown: &Shown<'_>| format!("# cluster: {}\n{}", shown.cluster, document(shown));
    let documents: Vec<String> = shown.iter().filter(|shown| shown.revised.is_ok()).map(headed).collect();
    documents.join("---\n")
}

/// A table of all clusters, and what changes in each, line by line.
pub(super) fn diff(shown: &[Shown<'_>], colour: bool) -> String {
    let mut text = table::clusters(shown);
    for shown in shown {
        let Ok(revised) = &shown.revised else { continue };
        let nothing = if revised.patch == "[]" { ": nothing changes" } else { "" };
        heading(&mut text, &format!("# cluster: {}{nothing}", shown.cluster), colour);
        let (mut before, mut after) = (String::new(), String::new());
        yaml::write(shown.before, &mut before);
        yaml::write(&revised.object, &mut after);
        for hunk in TextDiff::from_lines(&before, &after).unified_diff().iter_hunks() {
            painted(&mut text, if colour { CYAN } else { "" }, &hunk.header());
            for change in hunk.iter_changes() {
                let (sign, start) = match change.tag() {
                    ChangeTag::Equal => (' ', ""),
                    ChangeTag::Delete => ('-', RED),
                    ChangeTag::Insert => ('+', GREEN),
                };
                let line = change.value().trim_end_matches('\n');
                painted(&mut text, if colour { start } else { "" }, &format_args!("{sign}{line}"));
            }
        }
    }
    text
}

const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const CYAN: &str = "\u{1b}[36m";
const BOLD: &str = "\u{1b}[1m";

/// An empty line and the first line of what is said about a cluster.
pub(super) fn heading(text: &mut String, content: &str, colour: bool) {
    text.push('\n');
    painted(text, if colour { BOLD } else { "" }, &content);
}

/// A line, in a colour if there is one.
fn painted(text: &mut String, colour: &str, content: &dyn std::fmt::Display) {
    let end = if colour.is_empty() { "" } else { "\u{1b}[0m" };
    line(text, &format_args!("{colour}{content}{end}"));
}

fn line(text: &mut String, content: &dyn std::fmt::Display) {
    text.push_str(&content.to_string());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::Version;
    use super::*;
    use crate::domain::ClusterName;

    #[test]
    fn colour_is_around_lines_and_changes_no_text() {
        let (cluster, before) = (ClusterName::new("x").unwrap(), Value::parse(br#"{"a":1,"b":2}"#).unwrap());
        let object = Value::parse(br#"{"a":1,"b":3}"#).unwrap();
        let (patch, applied) = ("[...]".to_owned(), vec!["r".to_owned()]);
        let version =
            Version { object, patch, applied, hosts: Vec::new(), warnings: Vec::new(), trace: None };
        let shown = [Shown { cluster: &cluster, replicas: 1, before: &before, revised: Ok(version) }];
        let coloured = diff(&shown, true);
        assert!(coloured.contains("\n\u{1b}[1m# cluster: x\u{1b}[0m\n"), "{coloured:?}");
        assert!(coloured.contains("\u{1b}[31m-b: 2\u{1b}[0m\n\u{1b}[32m+b: 3\u{1b}[0m\n"), "{coloured:?}");
        let mut plain = coloured;
        for code in [RED, GREEN, CYAN, BOLD, "\u{1b}[0m"] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, diff(&shown, false));
        assert_eq!(
            plain,
            "CLUSTER  REPLICAS  HOSTS  RULES\nx        1         -      r\n\n# cluster: x\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n+b: 3\n"
        );
    }
}
