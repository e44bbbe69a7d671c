//! Quotas and ranges of resources.

use std::collections::{BTreeMap, HashSet};

use super::field::{Field, Report};
use super::resources::{RESOURCE, amount, can_overcommit};
use super::syntax::LABEL_KEY;
use crate::domain::{Format, Quantity};

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

pub(super) fn resource_quota(object: &Field<'_>, report: &mut Report) {
    let spec = object.get("spec");
    for (name, field) in spec.get("hard").entries() {
        // The API server knows all standard resources here but for this one.
        if !(RESOURCE.holds)(name) || name == "storage" {
            report.misspelt(&field, name, &RESOURCE);
        }
        amount(&field, name, report);
    }
    let scopes = spec.get("scopes");
    for scope in scopes.items() {
        report.one_of_these(&scope, &SCOPES);
    }
    let has = |wanted: &str| scopes.items().any(|scope| scope.text() == wanted);
    for (one, other) in [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")] {
        if has(one) && has(other) {
            report.add(&scopes, format!("has both {one} and {other}; remove one of the two"));
        }
    }
    for requirement in spec.at(&["scopeSelector", "matchExpressions"]).items() {
        let (operator, values) = (requirement.get("operator"), requirement.get("values"));
        report.required(&requirement.get("scopeName"));
        report.one_of(&requirement.get("scopeName"), &SCOPES);
        report.required(&operator);
        report.one_of(&operator, &["In", "NotIn", "Exists", "DoesNotExist"]);
        match operator.text() {
            "In" | "NotIn" => report.not_empty(&values, "value for the operator"),
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                report.forbidden(&values, "with this operator");
            }
            _ => {}
        }
    }
}

/// The columns of a `LimitRange`, in the order in which none may be above the next.
const COLUMNS: [&str; 4] = ["min", "defaultRequest", "default", "max"];

pub(super) fn limit_range(object: &Field<'_>, report: &mut Report) {
    let mut kinds = HashSet::new();
    for limit in object.at(&["spec", "limits"]).items() {
        let kind = limit.get("type");
        report.required_as(&kind, &LABEL_KEY);
        if !kind.text().contains('/') {
            report.one_of(&kind, &["Pod", "Container", "PersistentVolumeClaim"]);
        }
        report.unique(&kind, &mut kinds, "type");
        if kind.text() == "Pod" {
            for name in ["default", "defaultRequest"] {
                if !limit.get(name).is_empty() {
                    report.forbidden(&limit.get(name), "with the type Pod");
                }
            }
        }
        let has_storage = |name| limit.get(name).get("storage").is_set();
        if kind.text() == "PersistentVolumeClaim" && !has_storage("min") && !has_storage("max") {
            report.add(&limit, "has neither `min` nor `max` for storage; give one of them");
        }
        amounts(&limit, report);
        for (name, ratio) in limit.get("maxLimitRequestRatio").entries() {
            named(&ratio, name, report);
            let (Some(most), one) = (ratio.quantity(), Quantity::of_units(1, Format::DecimalSi)) else {
                continue;
            };
            if most < one {
                report.add(&ratio, "is less than 1; give 1 or more");
            }
            let bound =
                |column: &str| limit.get(column).get(name).quantity().map(Quantity::approximate_value);
            let whole = bound("max").zip(bound("min")).map(|(max, min)| max / min);
            if whole.is_some_and(|whole| most.approximate_value() > whole) {
                report.add(&ratio, "is more than `max` / `min`; change one of the three");
            }
        }
    }
}

fn named(field: &Field<'_>, name: &str, report: &mut Report) {
    if !(RESOURCE.holds)(name) {
        report.misspelt(field, name, &RESOURCE);
    }
}

/// Refuses amounts that are above those of a later column.
fn amounts(limit: &Field<'_>, report: &mut Report) {
    let mut known: BTreeMap<String, [Option<Quantity>; 4]> = BTreeMap::new();
    for (position, column) in COLUMNS.into_iter().enumerate() {
        let column = limit.get(column);
        for (name, field) in column.entries() {
            named(&field, name, report);
            known.entry(name.to_owned()).or_default()[position] = field.quantity();
        }
    }
    for (name, amounts) in &known {
        for low in 0..COLUMNS.len() {
            let above = (low + 1..COLUMNS.len())
                .find(|&high| amounts[low].zip(amounts[high]).is_some_and(|(low, high)| low > high));
            if let Some(high) = above {
                let problem = format!("is above `{}` of {name}; change one of the two", COLUMNS[high]);
                report.add(&limit.at(&[COLUMNS[low], name]), problem);
            }
        }
        if !can_overcommit(name) && amounts[1].is_some() && amounts[2].is_some() && amounts[1] != amounts[2] {
            report.add(&limit.at(&["defaultRequest", name]), "must be what `default` is; make both the same");
        }
    }
}
