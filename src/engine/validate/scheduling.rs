//! Affinity, tolerations and topology spread of pods.

use std::collections::HashSet;

use super::field::{Field, Report};
use super::metadata::{selector, unknown_operator};
use super::syntax::{DNS_LABEL, DNS_SUBDOMAIN, LABEL_KEY, LABEL_VALUE};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub(super) fn affinity(affinity: &Field<'_>, report: &mut Report) {
    let nodes = affinity.get("nodeAffinity");
    let required = nodes.get(REQUIRED);
    if required.is_set() {
        let terms = required.get("nodeSelectorTerms");
        report.not_empty(&terms, "term");
        for term in terms.items() {
            node_term(&term, true, report);
        }
    }
    for preferred in nodes.get(PREFERRED).items() {
        weight(&preferred, report);
        node_term(&preferred.get("preference"), false, report);
    }
    for name in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.get(name);
        for term in pods.get(REQUIRED).items() {
            pod_term(&term, report);
        }
        for preferred in pods.get(PREFERRED).items() {
            weight(&preferred, report);
            pod_term(&preferred.get("podAffinityTerm"), report);
        }
    }
}

fn weight(preferred: &Field<'_>, report: &mut Report) {
    let weight = preferred.get("weight");
    report.required_range(&weight, 1, 100);
}

/// Values of a preference are not checked: they may be no labels.
fn node_term(term: &Field<'_>, is_required: bool, report: &mut Report) {
    for requirement in term.get("matchExpressions").items() {
        let (operator, values) = (requirement.get("operator"), requirement.get("values"));
        match operator.text() {
            "In" | "NotIn" => report.not_empty(&values, "value for the operator"),
            "Exists" | "DoesNotExist" if values.is_empty() => {}
            "Exists" | "DoesNotExist" => report.forbidden(&values, "with this operator"),
            "Gt" | "Lt" => {
                if values.items().count() != 1 {
                    report.add(&values, "must be one value for this operator; give one");
                }
            }
            _ => unknown_operator(&operator, &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"], report),
        }
        report.required_as(&requirement.get("key"), &LABEL_KEY);
        for value in values.items().filter(|_| is_required) {
            report.spelled(&value, &LABEL_VALUE);
        }
    }
    for requirement in term.get("matchFields").items() {
        let (key, operator, values) =
            (requirement.get("key"), requirement.get("operator"), requirement.get("values"));
        report.required(&key);
        report.one_of(&key, &["metadata.name"]);
        if matches!(operator.text(), "In" | "NotIn") {
            if values.items().count() != 1 {
                report.add(&values, "must be one value for this operator; give one");
            }
        } else {
            unknown_operator(&operator, &["In", "NotIn"], report);
        }
        for value in values.items() {
            report.required_as(&value, &DNS_SUBDOMAIN);
        }
    }
}

fn pod_term(term: &Field<'_>, report: &mut Report) {
    let labels = term.get("labelSelector");
    selector(&labels, report);
    selector(&term.get("namespaceSelector"), report);
    for namespace in term.get("namespaces").items() {
        report.required_as(&namespace, &DNS_LABEL);
    }
    report.required_as(&term.get("topologyKey"), &LABEL_KEY);
    for name in ["matchLabelKeys", "mismatchLabelKeys"] {
        label_keys(&term.get(name), &labels, report);
    }
}

fn label_keys(keys: &Field<'_>, selector: &Field<'_>, report: &mut Report) {
    if !keys.is_empty() && !selector.is_set() {
        report.forbidden(keys, "without a `labelSelector`");
    }
    for key in keys.items() {
        report.required_as(&key, &LABEL_KEY);
    }
}

pub(super) fn tolerations(tolerations: &Field<'_>, report: &mut Report) {
    for toleration in tolerations.items() {
        let (key, operator) = (toleration.get("key"), toleration.get("operator"));
        let (value, effect) = (toleration.get("value"), toleration.get("effect"));
        report.spelled(&key, &LABEL_KEY);
        if key.is_blank() && operator.text() != "Exists" {
            report.add(&operator, "must be Exists where there is no `key`; make it that, or give a key");
        }
        match operator.text() {
            "Exists" if !value.is_blank() => report.forbidden(&value, "with the operator Exists"),
            // Which versions know the other two depends on a feature gate.
            "Exists" | "Lt" | "Gt" => {}
            "Equal" | "" => report.spelled(&value, &LABEL_VALUE),
            _ => unknown_operator(&operator, &["Equal", "Exists"], report),
        }
        report.one_of(&effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        if toleration.get("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
            report.add(&effect, "must be NoExecute where `tolerationSeconds` is set; make it that");
        }
    }
}

pub(super) fn spread(constraints: &Field<'_>, report: &mut Report) {
    let mut kinds = HashSet::new();
    for constraint in constraints.items() {
        let (skew, key, action) =
            (constraint.get("maxSkew"), constraint.get("topologyKey"), constraint.get("whenUnsatisfiable"));
        report.required_range(&skew, 1, i64::MAX);
        report.required(&key);
        report.required(&action);
        report.one_of(&action, &["DoNotSchedule", "ScheduleAnyway"]);
        if !kinds.insert((key.text().to_owned(), action.text().to_owned())) {
            report.add(&constraint, "has the `topologyKey` and `whenUnsatisfiable` of another constraint; change or remove one of the two");
        }
        let domains = constraint.get("minDomains");
        report.range(&domains, 1, i64::MAX);
        if action.text() == "ScheduleAnyway" {
            report.forbidden(&domains, "unless `whenUnsatisfiable` is DoNotSchedule");
        }
        for name in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            report.one_of_these(&constraint.get(name), &["Honor", "Ignore"]);
        }
        let labels = constraint.get("labelSelector");
        selector(&labels, report);
        label_keys(&constraint.get("matchLabelKeys"), &labels, report);
    }
}
