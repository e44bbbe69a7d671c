//! Deployments and other kinds that keep a number of pods.

use super::field::{Field, Report};
use super::metadata;
use super::pod::{self, Host};
use super::storage;
use super::syntax::{DNS_LABEL, PERCENTAGE, percentage};
use crate::json::Value;

const SPEC: &[&str] = &["spec"];

pub(super) fn deployment(object: &Field<'_>, report: &mut Report) {
    let spec = object.at(SPEC);
    numbers(
        &spec,
        &["replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"],
        report,
    );
    selected(&spec, report);
    long_running(&spec.get("template"), Host::default(), report);
    let strategy = spec.get("strategy");
    report.one_of(&strategy.get("type"), &["RollingUpdate", "Recreate"]);
    let rolling = strategy.get("rollingUpdate");
    if strategy.get("type").text() == "Recreate" {
        report.forbidden(&rolling, "with the type Recreate");
    } else {
        let (surge, unavailable) = (rolling.get("maxSurge"), rolling.get("maxUnavailable"));
        int_or_percentage(&surge, report);
        int_or_percentage(&unavailable, report);
        at_most_all(&unavailable, report);
        if amount(&surge) == Some(0) && amount(&unavailable) == Some(0) {
            report.add(&unavailable, ROLLS_NOTHING);
        }
    }
    let (deadline, ready) = (spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds"));
    let (seconds, least) = (deadline.integer().unwrap_or(600), ready.integer().unwrap_or(0));
    if seconds <= least {
        let problem = format!(
            "is {seconds}, and must be more than `minReadySeconds`, which is {least}; change one of the two"
        );
        report.add(&deadline, problem);
    }
}

const ROLLS_NOTHING: &str = "is 0, and so is `maxSurge`, so that no pod could ever be replaced; \
                             make one of the two 1 or more, where it is divided with `floor: 1`";

pub(super) fn replica_set(object: &Field<'_>, report: &mut Report) {
    let spec = object.at(SPEC);
    numbers(&spec, &["replicas", "minReadySeconds"], report);
    selected(&spec, report);
    long_running(&spec.get("template"), Host::default(), report);
}

pub(super) fn daemon_set(object: &Field<'_>, report: &mut Report) {
    let spec = object.at(SPEC);
    numbers(&spec, &["minReadySeconds", "revisionHistoryLimit"], report);
    selected(&spec, report);
    long_running(&spec.get("template"), Host::default(), report);
    let strategy = spec.get("updateStrategy");
    report.one_of(&strategy.get("type"), &["RollingUpdate", "OnDelete"]);
    if strategy.get("type").text() == "OnDelete" {
        return;
    }
    let rolling = strategy.get("rollingUpdate");
    let (surge, unavailable) = (rolling.get("maxSurge"), rolling.get("maxUnavailable"));
    for limit in [&surge, &unavailable] {
        int_or_percentage(limit, report);
        at_most_all(limit, report);
    }
    let of = |limit: &Field<'_>, default: i64| if limit.is_set() { amount(limit) } else { Some(default) };
    match (of(&surge, 0), of(&unavailable, 1)) {
        (Some(0), Some(0)) => report.add(&unavailable, ROLLS_NOTHING),
        (Some(more), Some(less)) if more != 0 && less != 0 => report.add(
            &surge,
            "is not 0, and neither is `maxUnavailable`, which is 1 where it is not set; set one of the two to 0",
        ),
        _ => {}
    }
}

pub(super) fn stateful_set(object: &Field<'_>, report: &mut Report) {
    let spec = object.at(SPEC);
    numbers(&spec, &["replicas", "minReadySeconds"], report);
    report.not_negative(&spec.at(&["ordinals", "start"]));
    report.one_of(&spec.get("podManagementPolicy"), &["OrderedReady", "Parallel"]);
    report.spelled(&spec.get("serviceName"), &DNS_LABEL);
    let strategy = spec.get("updateStrategy");
    report.one_of(&strategy.get("type"), &["RollingUpdate", "OnDelete"]);
    let rolling = strategy.get("rollingUpdate");
    if strategy.get("type").text() == "OnDelete" {
        report.forbidden(&rolling, "with the type OnDelete");
    } else {
        report.not_negative(&rolling.get("partition"));
        // `maxUnavailable` depends on a feature gate.
    }
    for name in ["whenDeleted", "whenScaled"] {
        report.one_of(&spec.at(&["persistentVolumeClaimRetentionPolicy", name]), &["Retain", "Delete"]);
    }
    selected(&spec, report);
    let claims = spec.get("volumeClaimTemplates");
    for claim in claims.items() {
        metadata::metadata(&claim.get("metadata"), report);
        storage::claim_spec(&claim.get("spec"), report);
    }
    let host = Host { claims: Some(&claims), keeps_hostname: true, ..Host::default() };
    long_running(&spec.get("template"), host, report);
}

pub(super) fn replication_controller(object: &Field<'_>, report: &mut Report) {
    let spec = object.at(SPEC);
    numbers(&spec, &["replicas", "minReadySeconds"], report);
    let (selector, template) = (spec.get("selector"), spec.get("template"));
    let labels = template.at(&["metadata", "labels"]);
    // The default of the selector is the labels of the template.
    if selector.is_empty() && labels.is_empty() {
        report.required(&selector);
    }
    let has = labels.map().map(crate::json::Object::index);
    let differs = selector.entries().find(|(key, wanted)| {
        let label = has.as_ref().and_then(|labels| labels.get(key)).and_then(Value::as_str);
        wanted.value.is_some_and(|value| value.as_str().is_some()) && label != Some(wanted.text())
    });
    if let Some((key, _)) = differs {
        report.add(&labels, unselected(key));
    }
    if template.is_set() {
        long_running(&template, Host::default(), report);
    } else {
        report.required(&template);
    }
}

pub(super) fn pod_template(object: &Field<'_>, report: &mut Report) {
    pod::template(&object.get("template"), Host::default(), report);
}

pub(super) fn numbers(spec: &Field<'_>, names: &[&str], report: &mut Report) {
    for name in names {
        report.not_negative(&spec.get(name));
    }
}

/// Checks the selector, and that it selects the template.
fn selected(spec: &Field<'_>, report: &mut Report) {
    let selector = spec.get("selector");
    if !selector.is_set() {
        return report.required(&selector);
    }
    metadata::selector(&selector, report);
    if selector.get("matchLabels").is_empty() && selector.get("matchExpressions").is_empty() {
        report.add(&selector, "selects everything, and must not; select labels of the template");
    }
    matched(spec, report);
}

/// Refuses labels of the template that the selector does not select.
pub(super) fn matched(spec: &Field<'_>, report: &mut Report) {
    if let Some(key) =
        metadata::unmatched(&spec.get("selector"), &spec.at(&["template", "metadata", "labels"]))
    {
        report.add(&spec.at(&["template", "metadata", "labels"]), unselected(key));
    }
}

fn unselected(key: &str) -> String {
    format!("do not have the label {key:?} as the selector has it; change it in both, or in neither of them")
}

/// Checks a template of pods that run until they are stopped.
fn long_running(template: &Field<'_>, host: Host<'_>, report: &mut Report) {
    pod::template(template, host, report);
    let spec = template.get("spec");
    let policy = spec.get("restartPolicy");
    if matches!(policy.text(), "OnFailure" | "Never") {
        report.add(&policy, format!("is {:?}, and this kind takes only Always; use it", policy.text()));
    }
    report.forbidden(&spec.get("activeDeadlineSeconds"), "in a template of this kind");
}

/// Refuses an integer below 0, and a string that is no percentage.
pub(super) fn int_or_percentage(field: &Field<'_>, report: &mut Report) {
    report.not_negative(field);
    if let Some(Value::String(text)) = field.value
        && percentage(text).is_none()
    {
        report.misspelt(field, text, &PERCENTAGE);
    }
}

/// Refuses more than 100%.
pub(super) fn at_most_all(field: &Field<'_>, report: &mut Report) {
    if percentage(field.text()).is_some_and(|number| number > 100) {
        report.add(field, format!("is {:?}; give 100% at most", field.text()));
    }
}

/// The integer, or the number of a percentage.
fn amount(field: &Field<'_>) -> Option<i64> {
    field.integer().or_else(|| percentage(field.text()))
}
