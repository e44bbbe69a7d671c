//! The output formats of `preview`.

use similar::{ChangeTag, TextDiff};

use super::{Preview, Shown, explain, table};
use crate::cli::args::PreviewFormat;
use crate::cli::output::colour_on_stdout;
use crate::json::{Object, Value};
use crate::yaml;

/// `single`: `--cluster` is given, and the output is the plain object or patch.
pub(super) fn object(format: PreviewFormat, shown: &[Shown<'_>], single: bool) -> String {
    match (format, shown) {
        (PreviewFormat::Diff, _) => diff(shown, colour_on_stdout()),
        (PreviewFormat::Explain, _) => explain::explain(shown, colour_on_stdout()),
        (PreviewFormat::Yaml, [shown]) if single => yaml_object(shown),
        (PreviewFormat::Yaml, _) => documents(shown, ""),
        (PreviewFormat::Json, [shown]) if single => {
            shown.revised.as_ref().map(|it| pretty(&it.object)).unwrap_or_default()
        }
        (PreviewFormat::Json, _) => {
            pretty(&Value::Object([("clusters", clusters(shown))].into_iter().collect()))
        }
        (PreviewFormat::Patch, [shown]) if single => patch(shown),
        (PreviewFormat::Patch, _) => patches(shown),
    }
}

/// Several objects, each headed by its name. `single`: `--cluster` is given, and YAML and JSON are what
/// `kubectl` reads.
pub(super) fn objects(format: PreviewFormat, previews: &[Preview<'_>], single: bool) -> String {
    let name = |preview: &Preview<'_>| format!("# object: {}", preview.object.workload.qualified_name());
    let sections = |section: &dyn Fn(&[Shown<'_>]) -> String, colour: bool| {
        let section = |preview: &Preview<'_>| {
            let mut text = String::new();
            painted(&mut text, if colour { BOLD } else { "" }, &name(preview));
            text + &section(&preview.shown)
        };
        previews.iter().map(section).collect::<Vec<_>>()
    };
    let is_shown = |preview: &&Preview<'_>| preview.shown.iter().any(|shown| shown.revised.is_ok());
    match format {
        PreviewFormat::Diff => {
            let colour = colour_on_stdout();
            sections(&|shown| diff(shown, colour), colour).join("\n")
        }
        PreviewFormat::Explain => {
            let colour = colour_on_stdout();
            sections(&|shown| explain::explain(shown, colour), colour).join("\n")
        }
        PreviewFormat::Patch if single => {
            sections(&|shown| shown.iter().map(|shown| patch(shown) + "\n").collect(), false).concat()
        }
        PreviewFormat::Patch => sections(&patches, false).concat(),
        PreviewFormat::Yaml if single => {
            let objects = previews.iter().flat_map(|preview| &preview.shown).map(yaml_object);
            objects.collect::<Vec<_>>().join("---\n")
        }
        PreviewFormat::Yaml => {
            let objects = previews.iter().filter(is_shown);
            let objects = objects.map(|preview| documents(&preview.shown, &(name(preview) + "\n")));
            objects.collect::<Vec<_>>().join("---\n")
        }
        PreviewFormat::Json if single => {
            let objects = previews.iter().flat_map(|preview| &preview.shown);
            let objects = objects.filter_map(|shown| Some(shown.revised.as_ref().ok()?.object.clone()));
            let list: [(&str, Value<'_>); 3] = [
                ("apiVersion", "v1".into()),
                ("kind", "List".into()),
                ("items", Value::array(objects.collect())),
            ];
            pretty(&Value::Object(list.into_iter().collect()))
        }
        PreviewFormat::Json => {
            let objects = Value::array(previews.iter().map(json_object).collect());
            pretty(&Value::Object([("objects", objects)].into_iter().collect()))
        }
    }
}

fn json_object<'v>(preview: &Preview<'v>) -> Value<'v> {
    let workload = &preview.object.workload;
    let members: [(&str, Value<'_>); 5] = [
        ("apiVersion", workload.gvk.api_version().into()),
        ("kind", workload.gvk.kind.clone().into()),
        ("namespace", workload.namespace.clone().into()),
        ("name", workload.name.clone().into()),
        ("clusters", clusters(&preview.shown)),
    ];
    Value::Object(members.into_iter().collect())
}

/// `[{"name", "replicas", "object" | "error"}]`
fn clusters<'v>(shown: &[Shown<'v>]) -> Value<'v> {
    Value::array(shown.iter().map(json_cluster).collect())
}

fn json_cluster<'v>(shown: &Shown<'v>) -> Value<'v> {
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

fn pretty(value: &Value<'_>) -> String {
    let mut text = String::new();
    value.write_pretty_to(&mut text);
    text.push('\n');
    text
}

fn yaml_object(shown: &Shown<'_>) -> String {
    let mut text = String::new();
    if let Ok(revised) = &shown.revised {
        yaml::write(&revised.object, &mut text);
    }
    text
}

/// A document for each cluster that is not refused, headed by `head` and its name.
fn documents(shown: &[Shown<'_>], head: &str) -> String {
    let headed = |shown: &Shown<'_>| format!("{head}# cluster: {}\n{}", shown.cluster, yaml_object(shown));
    let documents: Vec<String> = shown.iter().filter(|shown| shown.revised.is_ok()).map(headed).collect();
    documents.join("---\n")
}

/// The patch of each cluster, headed by its name.
fn patches(shown: &[Shown<'_>]) -> String {
    let headed = |shown: &Shown<'_>| format!("# cluster: {}\n{}\n", shown.cluster, patch(shown));
    shown.iter().filter(|shown| shown.revised.is_ok()).map(headed).collect()
}

/// The bytes of the webhook's decoded patch, without a line break at the end.
fn patch(shown: &Shown<'_>) -> String {
    shown.revised.as_ref().map(|revised| revised.patch.clone()).unwrap_or_default()
}

/// A table of all clusters, and what changes in each, line by line.
fn diff(shown: &[Shown<'_>], colour: bool) -> String {
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

pub(super) fn heading(text: &mut String, content: &str, colour: bool) {
    text.push('\n');
    painted(text, if colour { BOLD } else { "" }, &content);
}

/// `colour` is an escape sequence or empty.
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
    fn colour_changes_no_text() {
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
