//! Environment variables of containers.

use super::field::{Field, Report};
use super::syntax::{
    ANNOTATION_KEY, CONFIG_KEY, DNS_LABEL, DNS_SUBDOMAIN, LABEL_KEY, NO_BACKSTEPS, VARIABLE,
};

const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

/// Fields of a pod that a variable can take its value from.
const FIELDS: [&str; 10] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.host",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

pub(super) fn variables(variables: &Field<'_>, report: &mut Report) {
    for variable in variables.items() {
        report.required_as(&variable.get("name"), &VARIABLE);
        let from = variable.get("valueFrom");
        if !from.is_set() {
            continue;
        }
        let Some(source) = report.at_most_one(&from, &SOURCES, "a variable") else {
            report.add(&from, format!("has no source; give one of {}", SOURCES.join(", ")));
            continue;
        };
        if !variable.get("value").is_blank() {
            report.add(&from, "is set together with a `value`; remove one of the two");
        }
        let chosen = from.get(source);
        match source {
            "fieldRef" => field(&chosen, &FIELDS, report),
            "resourceFieldRef" => resource(&chosen, report),
            "fileKeyRef" => {
                report.required_as(&chosen.get("key"), &VARIABLE);
                report.required_as(&chosen.get("volumeName"), &DNS_LABEL);
                report.required_as(&chosen.get("path"), &NO_BACKSTEPS);
            }
            _ => {
                report.required_as(&chosen.get("name"), &DNS_SUBDOMAIN);
                report.required_as(&chosen.get("key"), &CONFIG_KEY);
            }
        }
    }
}

pub(super) fn sources(sources: &Field<'_>, report: &mut Report) {
    for source in sources.items() {
        report.spelled(&source.get("prefix"), &VARIABLE);
        match report.at_most_one(&source, &["configMapRef", "secretRef"], "a source") {
            None => report.add(&source, "has no source; give `configMapRef` or `secretRef`"),
            Some(name) => {
                let chosen = source.get(name);
                let name = chosen.get("name");
                report.required(&name);
                // A dash at the end is allowed here.
                let text = name.text();
                if !text.is_empty() && !(DNS_SUBDOMAIN.holds)(text.strip_suffix('-').unwrap_or(text)) {
                    report.misspelt(&name, text, &DNS_SUBDOMAIN);
                }
            }
        }
    }
}

/// Checks a `fieldRef`. Labels and annotations can be given one by one.
pub(super) fn field(field: &Field<'_>, allowed: &[&str], report: &mut Report) {
    let (version, path) = (field.get("apiVersion"), field.get("fieldPath"));
    report.one_of(&version, &["v1"]);
    report.required(&path);
    let text = path.text();
    let subscript = text.strip_suffix("']").and_then(|rest| rest.split_once("['"));
    match subscript {
        Some(("metadata.labels", key)) if !(LABEL_KEY.holds)(key) => report.misspelt(&path, key, &LABEL_KEY),
        Some(("metadata.annotations", key)) if !(ANNOTATION_KEY.holds)(key) => {
            report.misspelt(&path, key, &ANNOTATION_KEY);
        }
        Some(("metadata.labels" | "metadata.annotations", _)) => {}
        _ => {
            if !text.is_empty() && !allowed.contains(&text) {
                let keyed = "metadata.labels['KEY'], metadata.annotations['KEY']";
                let allowed = allowed.join(", ");
                report.add(
                    &path,
                    format!("is {text:?}, which cannot be used here; use one of {allowed}, {keyed}"),
                );
            }
        }
    }
}

pub(super) fn resource(field: &Field<'_>, report: &mut Report) {
    let resource = field.get("resource");
    report.required(&resource);
    let text = resource.text();
    let name = text.strip_prefix("limits.").or_else(|| text.strip_prefix("requests."));
    let is_known = name.is_some_and(|name| {
        matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-")
    });
    if !text.is_empty() && !is_known {
        let problem = format!(
            "is {text:?}, which cannot be used here; use cpu, memory, ephemeral-storage or hugepages-SIZE behind `limits.` or `requests.`"
        );
        report.add(&resource, problem);
    }
}
