//! Autoscalers and disruption budgets.

use super::field::{Field, Report};
use super::metadata;
use super::resources::OF_CONTAINER;
use super::syntax::{DNS_LABEL, PATH_PART};
use super::workloads::{at_most_all, int_or_percentage};
use crate::domain::Quantity;

/// The sources of metrics, with their types.
const METRICS: [(&str, &str); 5] = [
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];

pub(super) fn autoscaler(object: &Field<'_>, report: &mut Report) {
    let spec = object.get("spec");
    let (least, most) = (spec.get("minReplicas"), spec.get("maxReplicas"));
    for limit in [&least, &most] {
        if let Some(number) = limit.integer().filter(|number| *number < 1) {
            report.add(limit, format!("is {number}; give 1 or more, where it is divided with `floor: 1`"));
        }
    }
    if !most.is_set() {
        report.required(&most);
    }
    let (low, high) = (least.integer().unwrap_or(1), most.integer());
    if let Some(high) = high.filter(|high| *high >= 1 && *high < low) {
        report
            .add(&most, format!("is {high}, less than `minReplicas`, which is {low}; change one of the two"));
    }
    target(&spec.get("scaleTargetRef"), report);
    report.range(&spec.get("targetCPUUtilizationPercentage"), 1, i64::MAX);
    for metric in spec.get("metrics").items() {
        self::metric(&metric, report);
    }
    for name in ["scaleUp", "scaleDown"] {
        behaviour(&spec.at(&["behavior", name]), report);
    }
}

fn target(target: &Field<'_>, report: &mut Report) {
    for name in ["kind", "name"] {
        report.required_as(&target.get(name), &PATH_PART);
    }
}

fn metric(metric: &Field<'_>, report: &mut Report) {
    let kind = metric.get("type");
    report.required(&kind);
    report.one_of(&kind, &METRICS.map(|(kind, _)| kind));
    let Some((_, expected)) = METRICS.iter().find(|(name, _)| *name == kind.text()) else { return };
    for (_, name) in METRICS {
        let source = metric.get(name);
        if name == *expected && !source.is_set() {
            report.required(&source);
        } else if name != *expected {
            report.forbidden(&source, format_args!("with the type {}", kind.text()));
        }
    }
    let source = metric.get(expected);
    let goal = source.get("target");
    if !source.is_set() {
        return;
    }
    report.required(&goal.get("type"));
    report.one_of(&goal.get("type"), &["Utilization", "Value", "AverageValue"]);
    for name in ["value", "averageValue"] {
        let amount = goal.get(name);
        if amount.quantity().is_some_and(|amount| amount <= Quantity::ZERO) {
            report.add(&amount, "must be more than 0; give such an amount");
        }
    }
    report.range(&goal.get("averageUtilization"), 1, i64::MAX);
    if matches!(kind.text(), "Resource" | "ContainerResource") {
        report.required(&source.get("name"));
        one_goal(&goal, ["averageUtilization", "averageValue"], report);
    } else {
        report.required_as(&source.at(&["metric", "name"]), &PATH_PART);
    }
    match kind.text() {
        "ContainerResource" => {
            report.required_as(&source.get("container"), &DNS_LABEL);
            report.spelled(&source.get("name"), &OF_CONTAINER);
        }
        "External" => one_goal(&goal, ["value", "averageValue"], report),
        "Pods" if !goal.get("averageValue").is_set() => report.required(&goal.get("averageValue")),
        "Object" => {
            target(&source.get("describedObject"), report);
            if !goal.get("value").is_set() && !goal.get("averageValue").is_set() {
                report.add(&goal, "has neither `value` nor `averageValue`; give one of them");
            }
        }
        _ => {}
    }
}

/// Notes that a goal has none or both of these.
fn one_goal(goal: &Field<'_>, names: [&str; 2], report: &mut Report) {
    if report.at_most_one(goal, &names, "a target").is_none() {
        report.add(goal, format!("has neither `{}` nor `{}`; give one of them", names[0], names[1]));
    }
}

fn behaviour(rules: &Field<'_>, report: &mut Report) {
    report.range(&rules.get("stabilizationWindowSeconds"), 0, 3600);
    report.one_of_these(&rules.get("selectPolicy"), &["Max", "Min", "Disabled"]);
    let policies = rules.get("policies");
    if policies.is_set() {
        report.not_empty(&policies, "policy");
    }
    for policy in policies.items() {
        report.required(&policy.get("type"));
        report.one_of(&policy.get("type"), &["Pods", "Percent"]);
        for (name, most) in [("value", i64::MAX), ("periodSeconds", 1800)] {
            let number = policy.get(name);
            report.required_range(&number, 1, most);
        }
    }
}

pub(super) fn disruption_budget(object: &Field<'_>, report: &mut Report) {
    let spec = object.get("spec");
    report.at_most_one(&spec, &["minAvailable", "maxUnavailable"], "a budget");
    for name in ["minAvailable", "maxUnavailable"] {
        let limit = spec.get(name);
        int_or_percentage(&limit, report);
        at_most_all(&limit, report);
    }
    metadata::selector(&spec.get("selector"), report);
    report.one_of_these(&spec.get("unhealthyPodEvictionPolicy"), &["IfHealthyBudget", "AlwaysAllow"]);
}
