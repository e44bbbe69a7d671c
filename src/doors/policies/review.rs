//! Whether a custom resource can become active beside the stored ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::dropped_nulls;
use crate::domain::{Failure, shorten};
use crate::json::{Raw, Value};
use crate::patch::Patch;
use crate::policy::{self, DocumentReport, Finding, Seniority};
use crate::service::Outcome;

/// Longest message of a denial, in bytes. Longer than other failures, because it lists all findings.
const MAX_DENIAL_BYTES: usize = 4096;

/// Longest finding in a denial, in bytes.
const MAX_FINDING_BYTES: usize = 512;

/// Room for the line that counts the findings left out, in bytes.
const TAIL_BYTES: usize = 64;

/// Most warnings of one kind. API servers cut off warnings beyond 4 KiB in total.
const MAX_WARNINGS: usize = 5;

/// Reviews `object`, which replaces `old`, beside all `stored` documents.
///
/// It is denied for faults that only a change of this document can fix. Faults that another document can fix
/// are warnings, because the files of one `kubectl apply` arrive in any order. All faults are warnings if the
/// update changes nothing that reviser reads: otherwise a finalizer of an invalid document could not be
/// removed.
pub(super) fn review(
    object: Raw<'_>,
    old: Option<Raw<'_>>,
    stored: &[Value<'static>],
) -> Result<Outcome<Patch<'static>>, Failure> {
    let object = object
        .to_value()
        .map_err(|error| Failure::unprocessable(format!("{error}; fix the document")))?
        .into_owned();
    if is_being_deleted(&object) {
        return Ok(Outcome::unchanged());
    }
    let old = old.and_then(|old| old.to_value().ok());
    let is_unchanged = old.is_some_and(|old| has_same_content(&old, &object));
    let (mut report, displaced) = beside_others(&object, stored);
    report.findings.extend(dropped_nulls::find(&object));
    if !report.findings.is_empty() && !is_unchanged {
        return Err(denial(&object, &report.findings));
    }
    let mut warnings = Vec::new();
    warn(&mut warnings, "it is invalid and not active: ", &report.findings);
    warn(&mut warnings, "it is not active until this is fixed: ", &report.lacking);
    warn(&mut warnings, "this deactivates another document: ", &displaced);
    warn(&mut warnings, "", &report.warnings);
    Ok(Outcome { warnings, ..Outcome::unchanged() })
}

fn is_being_deleted(object: &Value<'_>) -> bool {
    let at = object.get("metadata").and_then(|metadata| metadata.get("deletionTimestamp"));
    at.is_some_and(|at| !at.is_null())
}

/// Whether two versions of a document are the same apart from `metadata` and `status`.
fn has_same_content(old: &Value<'_>, new: &Value<'_>) -> bool {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return false };
    let read = |name: &str| !matches!(name, "metadata" | "status");
    let names = old.iter().chain(new.iter()).map(|(name, _)| name);
    names.filter(|name| read(name)).all(|name| old.get(name) == new.get(name))
}

/// The report on `object`, which replaces the stored document of its name, and the first fault of each other
/// document that is active without it and not active with it.
fn beside_others(object: &Value<'static>, stored: &[Value<'static>]) -> (DocumentReport, Vec<String>) {
    let own = Seniority::of(object);
    let mut before: Vec<(Seniority, Value<'static>)> =
        stored.iter().map(|document| (Seniority::of(document), document.clone())).collect();
    before.sort_by(|a, b| a.0.cmp(&b.0));
    let mut after: Vec<(Seniority, Value<'static>)> =
        before.iter().filter(|(seniority, _)| !seniority.is_same_document(&own)).cloned().collect();
    let position = after.partition_point(|(seniority, _)| *seniority < own);
    let others = after.len();
    after.insert(position, (own, object.clone()));
    let mut reports = reports(&after);
    let report = reports.remove(position);
    after.remove(position);
    if others == 0 {
        return (report, Vec::new());
    }
    let was: BTreeMap<&Seniority, bool> = before
        .iter()
        .map(|(seniority, _)| seniority)
        .zip(self::reports(&before).iter().map(DocumentReport::is_active))
        .collect();
    let displaced = after.iter().zip(&reports).filter_map(|((seniority, document), report)| {
        let fault = report.errors().next().filter(|_| was.get(seniority) == Some(&true))?;
        let kind = document.get("kind").and_then(Value::as_str).unwrap_or_default();
        Some(format!("{kind}/{}: {fault}", seniority.name()))
    });
    let displaced = displaced.collect();
    (report, displaced)
}

fn reports(documents: &[(Seniority, Value<'static>)]) -> Vec<DocumentReport> {
    let documents: Vec<Value<'static>> = documents.iter().map(|(_, document)| document.clone()).collect();
    policy::admit(&documents).reports
}

/// The denial of `object`, with one line a finding as far as they fit.
fn denial(object: &Value<'_>, findings: &[Finding]) -> Failure {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    let name = object.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Value::as_str);
    let identity = shorten(format!("{kind}/{}", name.unwrap_or_default()), MAX_FINDING_BYTES);
    Failure::unprocessable(list(findings)).up_to(MAX_DENIAL_BYTES).context(identity)
}

fn list(findings: &[Finding]) -> String {
    let shortened = |finding: &Finding| shorten(finding.to_string(), MAX_FINDING_BYTES);
    if let [only] = findings {
        return shortened(only);
    }
    let mut text = format!("{} things are wrong:", findings.len());
    for (position, finding) in findings.iter().enumerate() {
        let line = shortened(finding);
        if text.len() + line.len() > MAX_DENIAL_BYTES - MAX_FINDING_BYTES - TAIL_BYTES {
            let left = findings.len() - position;
            let _ = write!(text, "\n- and {left} more; `reviser check` lists all of them");
            break;
        }
        text.push_str("\n- ");
        text.push_str(&line);
    }
    text
}

fn warn(warnings: &mut Vec<String>, before: &str, what: &[impl ToString]) {
    warnings.extend(what.iter().take(MAX_WARNINGS).map(|what| format!("{before}{}", what.to_string())));
    if what.len() > MAX_WARNINGS {
        warnings.push(format!(
            "{before}and {} more; `reviser check` lists all of them",
            what.len() - MAX_WARNINGS
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Text;

    /// A policy that defines and uses these allocations, made at a minute of some hour.
    fn policy(name: &str, minute: u8, defines: &[&str], uses: &[&str]) -> String {
        let defines: Vec<String> = defines.iter().map(|name| format!(r#"{{"name":"{name}"}}"#)).collect();
        let uses: Vec<String> = uses
            .iter()
            .map(|name| {
                format!(
                    r#"{{"name":"{name}","fort":{{"allocation":"{name}","steps":"/steps","field":"/go"}}}}"#
                )
            })
            .collect();
        format!(
            r#"{{"apiVersion":"reviser.io/v1alpha1","kind":"ClusterRevisionPolicy","metadata":{{"name":"{name}","creationTimestamp":"2026-01-01T00:{minute:02}:00Z"}},
            "spec":{{"resourceSelectors":[{{"apiVersion":"a/v1","kind":"Train"}}],"allocations":[{}],"rules":[{}]}}}}"#,
            defines.join(","),
            uses.join(",")
        )
    }

    /// The warnings, or the message of the denial.
    fn reviewed(object: &str, old: Option<&str>, stored: &[&String]) -> Result<Vec<String>, String> {
        let stored: Vec<Value<'static>> = stored
            .iter()
            .map(|text| Value::parse(text.as_bytes()).expect("it is JSON").into_owned())
            .collect();
        let text = |text: &'static str| Text::parse(text.as_bytes()).map_err(|error| error.to_string());
        // Leaked, so that the result can borrow from it.
        let leaked = |text: &str| -> &'static str { Box::leak(Box::new(text.to_owned())) };
        let object = text(leaked(object))?;
        let old = old.map(|old| text(leaked(old))).transpose()?;
        let old = old.as_ref().map(Text::root);
        review(object.root(), old, &stored)
            .map(|outcome| outcome.warnings)
            .map_err(|failure| failure.message())
    }

    #[test]
    fn a_document_is_validated_beside_the_stored_ones() {
        let first = policy("first", 1, &["x"], &["x"]);
        assert_eq!(reviewed(&policy("new", 9, &[], &["x"]), None, &[&first]), Ok(vec![]));
        assert_eq!(
            reviewed(&policy("new", 9, &["x"], &["x"]), None, &[&first]),
            Err("ClusterRevisionPolicy/new: spec.allocations[0].name: allocation \"x\" is already defined by ClusterRevisionPolicy/first; \
                 a name is defined once, over all policies"
                .to_owned())
        );
        // It is not held against itself.
        assert_eq!(reviewed(&first, Some(&first), &[&first]), Ok(vec![]));
    }

    #[test]
    fn a_change_that_deactivates_another_document_is_a_warning() {
        let (first, second) = (policy("first", 1, &["x"], &["x"]), policy("second", 2, &["y"], &["x", "y"]));
        let stored = [&second, &first];
        assert_eq!(
            reviewed(&policy("first", 1, &["z"], &["z"]), Some(&first), &stored),
            Ok(vec![
                "this deactivates another document: ClusterRevisionPolicy/second: spec.rules[0].fort.allocation: no policy defines the \
                 allocation \"x\"; define it under `spec.allocations`"
                    .to_owned()
            ])
        );
        assert_eq!(
            reviewed(&policy("first", 1, &["x", "y"], &["x", "y"]), Some(&first), &stored),
            Ok(vec![
                "this deactivates another document: ClusterRevisionPolicy/second: spec.allocations[0].name: allocation \"y\" is already \
                 defined by ClusterRevisionPolicy/first; a name is defined once, over all policies"
                    .to_owned()
            ])
        );
        // The younger document may not define what the elder one defines.
        assert!(reviewed(&policy("second", 2, &["x"], &["x"]), Some(&second), &stored).is_err());
    }
}
