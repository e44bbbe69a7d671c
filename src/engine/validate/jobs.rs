//! Jobs and `CronJobs`.

use std::collections::HashSet;

use super::field::{Field, Report};
use super::metadata;
use super::pod::{self, Host};
use super::schedule;
use super::syntax::{LABEL_KEY, Syntax};
use super::workloads;

/// Only the characters: which zones there are is for the member to know.
const ZONE: Syntax = Syntax {
    holds: |zone| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
        let is_part = |part: &str| {
            (1..=14).contains(&part.len()) && part.bytes().all(is_plain) && !matches!(part, "." | "..")
        };
        zone.split('/').all(|part| is_part(part) && !part.starts_with('-'))
            && !zone.eq_ignore_ascii_case("local")
    },
    name: "name of a time zone",
    advice: "one of the IANA database, as in Europe/Berlin",
};

pub(super) fn job(object: &Field<'_>, report: &mut Report) {
    let spec = object.get("spec");
    job_spec(&spec, report);
    metadata::selector(&spec.get("selector"), report);
    // Without `manualSelector`, the API server writes selector and labels itself.
    if spec.get("manualSelector").is_true() {
        let selector = spec.get("selector");
        if selector.is_set() {
            workloads::matched(&spec, report);
        } else {
            report.required(&selector);
        }
    }
}

pub(super) fn cron_job(object: &Field<'_>, report: &mut Report) {
    let spec = object.get("spec");
    let schedule = spec.get("schedule");
    report.required(&schedule);
    if let Some(problem) = schedule::problem(schedule.text()).filter(|_| !schedule.is_blank()) {
        report.add(&schedule, format!("{:?} is no schedule: {problem}; give minute, hour, day of the month, month and day of the week, or a name such as @daily", schedule.text()));
    }
    if schedule.text().contains("TZ") {
        report.add(&schedule, "names a time zone; use `timeZone`");
    }
    let zone = spec.get("timeZone");
    report.spelled_if_set(&zone, &ZONE);
    report.one_of(&spec.get("concurrencyPolicy"), &["Allow", "Forbid", "Replace"]);
    let numbers = ["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"];
    workloads::numbers(&spec, &numbers, report);
    let job = spec.at(&["jobTemplate", "spec"]);
    metadata::metadata(&spec.at(&["jobTemplate", "metadata"]), report);
    job_spec(&job, report);
    report.forbidden(&job.get("selector"), "in the template of a CronJob, whose selectors are made");
    if job.get("manualSelector").is_true() {
        report
            .forbidden(&job.get("manualSelector"), "in the template of a CronJob, whose selectors are made");
    }
}

fn job_spec(spec: &Field<'_>, report: &mut Report) {
    let numbers = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    workloads::numbers(spec, &numbers, report);
    let mode = spec.get("completionMode");
    report.one_of_these(&mode, &["NonIndexed", "Indexed"]);
    indexes(spec, mode.text() == "Indexed", report);
    let (template, failure) = (spec.get("template"), spec.get("podFailurePolicy"));
    pod::template(&template, Host::default(), report);
    let policy = template.at(&["spec", "restartPolicy"]);
    if matches!(policy.text(), "" | "Always") && (policy.is_blank() || policy.is_set()) {
        report.add(&policy, "must be OnFailure or Never in a Job; set one of them");
    } else if failure.is_set() && policy.text() == "OnFailure" {
        report.add(&policy, "must be Never where there is a `podFailurePolicy`; make it that");
    }
    let success = spec.get("successPolicy");
    if success.is_set() {
        report.not_empty(&success.get("rules"), "rule");
    }
    failure_policy(&failure, spec, report);
    let replacement = spec.get("podReplacementPolicy");
    report.one_of_these(
        &replacement,
        if failure.is_set() { &["Failed"] } else { &["Failed", "TerminatingOrFailed"] },
    );
}

/// Checks what depends on whether the pods of a job have numbers.
fn indexes(spec: &Field<'_>, is_indexed: bool, report: &mut Report) {
    let (completions, parallelism) = (spec.get("completions"), spec.get("parallelism"));
    let (per_index, failed) = (spec.get("backoffLimitPerIndex"), spec.get("maxFailedIndexes"));
    if failed.is_set() && !per_index.is_set() {
        report.add(&per_index, "is missing beside `maxFailedIndexes`; set it");
    }
    if !is_indexed {
        for name in ["backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"] {
            report.forbidden(&spec.get(name), "unless the `completionMode` is Indexed");
        }
        return;
    }
    // Where neither is set, both are 1.
    if !completions.is_set() && parallelism.is_set() {
        report.required(&completions);
    }
    report.range(&parallelism, i64::MIN, 100_000);
    if failed.integer() > completions.integer().or(Some(i64::MAX)) {
        report.add(&failed, "is more than `completions`; change one of the two");
    }
}

fn failure_policy(policy: &Field<'_>, spec: &Field<'_>, report: &mut Report) {
    let mut names = HashSet::new();
    for list in ["containers", "initContainers"] {
        let path = ["template", "spec", list];
        names.extend(spec.at(&path).items().map(|container| container.get("name").text().to_owned()));
    }
    for rule in policy.get("rules").items() {
        let action = rule.get("action");
        report.required(&action);
        report.one_of(&action, &["FailJob", "FailIndex", "Ignore", "Count"]);
        if action.text() == "FailIndex" && !spec.get("backoffLimitPerIndex").is_set() {
            report.add(&action, "is FailIndex, which needs `backoffLimitPerIndex`; set that");
        }
        let (codes, conditions) = (rule.get("onExitCodes"), rule.get("onPodConditions"));
        if codes.is_set() != conditions.is_empty() {
            report.add(&rule, "must have one of `onExitCodes` and `onPodConditions`; give one of them");
        }
        for condition in conditions.items() {
            report.required_as(&condition.get("type"), &LABEL_KEY);
            report.one_of(&condition.get("status"), &["True", "False", "Unknown"]);
        }
        if !codes.is_set() {
            continue;
        }
        let (container, operator) = (codes.get("containerName"), codes.get("operator"));
        if container.is_set() && !names.contains(container.text()) {
            report.add(
                &container,
                format!(
                    "there is no container {:?} in the pod; name a container of the pod",
                    container.text()
                ),
            );
        }
        report.required(&operator);
        report.one_of(&operator, &["In", "NotIn"]);
        report.not_empty(&codes.get("values"), "exit code");
        let mut seen = HashSet::new();
        for value in codes.get("values").items() {
            let code = value.integer();
            if code == Some(0) && operator.text() == "In" {
                report.add(&value, "is 0, which is no failure; remove it");
            }
            if code.is_some_and(|code| !seen.insert(code)) {
                report.add(&value, "is there twice; remove one of the two");
            }
        }
    }
}
