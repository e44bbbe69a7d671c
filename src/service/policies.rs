//! Our own custom resources on their way into an API server.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{ReviewOutcome, nulls};
use crate::domain::{Failure, shorten};
use crate::json::{Raw, Value};
use crate::policy::{self, Finding, Seniority, Verdict};

/// Longest message of a denial, in bytes. Longer than that of any other failure: whoever wrote the document wants to mend all of it at once.
pub const MAX_DENIAL_BYTES: usize = 4096;

/// How much of one finding is told.
const MAX_FINDING_BYTES: usize = 512;

/// What is left for the end of a list that is not told to its end.
const TAIL_BYTES: usize = 64;

/// Most warnings of one kind. API servers cut off what is beyond 4 KiB in all.
const MOST_WARNINGS: usize = 5;

/// A custom resource that is to be created or updated.
#[derive(Clone, Copy, Debug)]
pub struct PolicyReview<'r, 'a> {
    /// It.
    pub object: Raw<'a>,
    /// It, as it is stored; `None` for a new one.
    pub old: Option<Raw<'a>>,
    /// All that are stored, in any order.
    pub stored: &'r [Value<'static>],
}

/// Whether a custom resource can be in force, beside all others that are stored.
///
/// Denied is what only a change of the document itself can mend. What another one could mend is a warning: the files of one
/// `kubectl apply` come in any order. So is all that is wrong with a document that is stored with the same fault, if the change is none
/// of what is read: else nobody could take a finalizer away.
pub fn review_policy(review: PolicyReview<'_, '_>) -> ReviewOutcome<'static> {
    let object = match review.object.to_value() {
        Ok(object) => object.into_owned(),
        Err(error) => {
            return ReviewOutcome::refused(Failure::unprocessable(format!("{error}; mend the document")));
        }
    };
    if is_being_deleted(&object) {
        return ReviewOutcome::untouched();
    }
    let is_unchanged =
        review.old.and_then(|old| old.to_value().ok()).is_some_and(|old| says_the_same(&old, &object));
    let (mut verdict, displaced) = beside_others(&object, review.stored);
    verdict.findings.extend(nulls::lost(&object));
    if !verdict.findings.is_empty() && !is_unchanged {
        let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = object.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Value::as_str);
        let problem = denial(&verdict.findings);
        let failure = Failure::unprocessable(problem).up_to(MAX_DENIAL_BYTES);
        let who = format!("{}/{}", text("kind"), name.unwrap_or_default());
        return ReviewOutcome::refused(failure.context(shorten(who, MAX_FINDING_BYTES)));
    }
    let mut warnings = Vec::new();
    warn(&mut warnings, "it is faulty and out of use: ", &verdict.findings);
    warn(&mut warnings, "it is out of use until this is mended: ", &verdict.lacking);
    warn(&mut warnings, "this puts another one out of use: ", &displaced);
    warn(&mut warnings, "", &verdict.warnings);
    ReviewOutcome { warnings, ..ReviewOutcome::untouched() }
}

fn is_being_deleted(object: &Value<'_>) -> bool {
    let at = object.get("metadata").and_then(|metadata| metadata.get("deletionTimestamp"));
    at.is_some_and(|at| !at.is_null())
}

/// Whether two versions of a document differ in nothing that we read: the rest of the metadata is the API server's business, and the
/// status ours.
fn says_the_same(old: &Value<'_>, new: &Value<'_>) -> bool {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return false };
    let read = |name: &str| !matches!(name, "metadata" | "status");
    let names = old.iter().chain(new.iter()).map(|(name, _)| name);
    names.filter(|name| read(name)).all(|name| old.get(name) == new.get(name))
}

/// The verdict on `object`, in the place of what is stored of that name, and the first fault of each other one that is out of use with
/// it and in force without.
fn beside_others(object: &Value<'static>, stored: &[Value<'static>]) -> (Verdict, Vec<String>) {
    let own = Seniority::of(object);
    let mut before: Vec<(Seniority, Value<'static>)> =
        stored.iter().map(|document| (Seniority::of(document), document.clone())).collect();
    before.sort_by(|a, b| a.0.cmp(&b.0));
    let mut after: Vec<(Seniority, Value<'static>)> =
        before.iter().filter(|(seniority, _)| !seniority.is_same_document(&own)).cloned().collect();
    let position = after.partition_point(|(seniority, _)| *seniority < own);
    let others = after.len();
    after.insert(position, (own, object.clone()));
    let mut verdicts = verdicts(&after);
    let verdict = verdicts.remove(position);
    after.remove(position);
    if others == 0 {
        return (verdict, Vec::new());
    }
    let was: BTreeMap<&Seniority, bool> = before
        .iter()
        .map(|(seniority, _)| seniority)
        .zip(self::verdicts(&before).iter().map(Verdict::is_in_force))
        .collect();
    let displaced = after.iter().zip(&verdicts).filter_map(|((seniority, document), verdict)| {
        let fault = verdict.faults().next().filter(|_| was.get(seniority) == Some(&true))?;
        let kind = document.get("kind").and_then(Value::as_str).unwrap_or_default();
        Some(format!("{kind}/{}: {fault}", seniority.name()))
    });
    let displaced = displaced.collect();
    (verdict, displaced)
}

fn verdicts(documents: &[(Seniority, Value<'static>)]) -> Vec<Verdict> {
    let documents: Vec<Value<'static>> = documents.iter().map(|(_, document)| document.clone()).collect();
    policy::admit(&documents).verdicts
}

/// All findings, one a line, as far as they fit.
fn denial(findings: &[Finding]) -> String {
    let told = |finding: &Finding| shorten(finding.to_string(), MAX_FINDING_BYTES);
    if let [only] = findings {
        return told(only);
    }
    let mut text = format!("{} things are wrong:", findings.len());
    for (position, finding) in findings.iter().enumerate() {
        let line = told(finding);
        if text.len() + line.len() > MAX_DENIAL_BYTES - MAX_FINDING_BYTES - TAIL_BYTES {
            let left = findings.len() - position;
            // Writing to a string does not fail.
            let _ = write!(text, "\n- and {left} more; `reviser check` tells them all");
            break;
        }
        text.push_str("\n- ");
        text.push_str(&line);
    }
    text
}

fn warn(warnings: &mut Vec<String>, before: &str, what: &[impl ToString]) {
    warnings.extend(what.iter().take(MOST_WARNINGS).map(|what| format!("{before}{}", what.to_string())));
    if what.len() > MOST_WARNINGS {
        warnings
            .push(format!("{before}and {} more; `reviser check` tells them all", what.len() - MOST_WARNINGS));
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

    /// The warnings, or the denial.
    fn asked(object: &str, old: Option<&str>, stored: &[&String]) -> Result<Vec<String>, String> {
        let stored: Vec<Value<'static>> = stored
            .iter()
            .map(|text| Value::parse(text.as_bytes()).expect("it is JSON").into_owned())
            .collect();
        let text = |text: &'static str| Text::parse(text.as_bytes()).map_err(|error| error.to_string());
        // Tests are short: nothing is given back.
        let leaked = |text: &str| -> &'static str { Box::leak(Box::new(text.to_owned())) };
        let object = text(leaked(object))?;
        let old = old.map(|old| text(leaked(old))).transpose()?;
        let old = old.as_ref().map(Text::root);
        let outcome = review_policy(PolicyReview { object: object.root(), old, stored: &stored });
        outcome.patch.map(|_| outcome.warnings).map_err(|failure| failure.message())
    }

    #[test]
    fn a_document_is_looked_at_beside_the_others_that_are_stored() {
        let first = policy("first", 1, &["x"], &["x"]);
        assert_eq!(asked(&policy("new", 9, &[], &["x"]), None, &[&first]), Ok(vec![]));
        assert_eq!(
            asked(&policy("new", 9, &["x"], &["x"]), None, &[&first]),
            Err("ClusterRevisionPolicy/new: spec.allocations[0].name: allocation \"x\" is already defined by ClusterRevisionPolicy/first; \
                 a name is defined once, over all policies"
                .to_owned())
        );
        // It is not held against itself.
        assert_eq!(asked(&first, Some(&first), &[&first]), Ok(vec![]));
    }

    #[test]
    fn whoever_puts_another_one_out_of_use_is_told() {
        let (first, second) = (policy("first", 1, &["x"], &["x"]), policy("second", 2, &["y"], &["x", "y"]));
        let stored = [&second, &first];
        assert_eq!(
            asked(&policy("first", 1, &["z"], &["z"]), Some(&first), &stored),
            Ok(vec![
                "this puts another one out of use: ClusterRevisionPolicy/second: spec.rules[0].fort.allocation: no policy defines the \
                 allocation \"x\"; define it under `spec.allocations`"
                    .to_owned()
            ])
        );
        assert_eq!(
            asked(&policy("first", 1, &["x", "y"], &["x", "y"]), Some(&first), &stored),
            Ok(vec![
                "this puts another one out of use: ClusterRevisionPolicy/second: spec.allocations[0].name: allocation \"y\" is already \
                 defined by ClusterRevisionPolicy/first; a name is defined once, over all policies"
                    .to_owned()
            ])
        );
        // The younger one is denied what the elder one has.
        assert!(asked(&policy("second", 2, &["x"], &["x"]), Some(&second), &stored).is_err());
    }
}
