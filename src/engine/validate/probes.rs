//! Probes and lifecycle hooks of containers.

use super::field::{Field, Report};
use super::syntax::{HEADER, PORT_NAME};
use crate::json::Value;

const HANDLERS: [&str; 4] = ["exec", "httpGet", "tcpSocket", "grpc"];
const HOOKS: [&str; 4] = ["exec", "httpGet", "tcpSocket", "sleep"];

/// Checks probes and hooks of a container that keeps running.
pub(super) fn all(container: &Field<'_>, spec: &Field<'_>, report: &mut Report) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.get(name);
        if !probe.is_set() {
            continue;
        }
        handler(&probe, &HANDLERS, spec, report);
        for number in
            ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
        {
            report.not_negative(&probe.get(number));
        }
        let (threshold, grace) = (probe.get("successThreshold"), probe.get("terminationGracePeriodSeconds"));
        if name == "readinessProbe" {
            report.forbidden(&grace, "for a readiness probe");
            continue;
        }
        report.range(&grace, 1, i64::MAX);
        // 0 stands for the default, which is 1.
        if threshold.integer().is_some_and(|number| number > 1) {
            report.add(&threshold, "must be 1 for this probe; set it to 1, or remove it");
        }
    }
    for name in ["postStart", "preStop"] {
        let path = ["lifecycle", name];
        let hook = container.at(&path);
        if hook.is_set() {
            handler(&hook, &HOOKS, spec, report);
        }
    }
}

fn handler(handler: &Field<'_>, known: &[&str], spec: &Field<'_>, report: &mut Report) {
    let Some(name) = report.at_most_one(handler, known, "a probe or hook") else {
        return report.add(handler, format!("does nothing; give one of {}", known.join(", ")));
    };
    let action = handler.get(name);
    match name {
        "exec" => report.not_empty(&action.get("command"), "word"),
        "httpGet" => {
            port(&action.get("port"), report);
            report.one_of(&action.get("scheme"), &["HTTP", "HTTPS"]);
            for header in action.get("httpHeaders").items() {
                report.required_as(&header.get("name"), &HEADER);
            }
        }
        "tcpSocket" => port(&action.get("port"), report),
        "grpc" => report.required_range(&action.get("port"), 1, 65535),
        _ => {
            let most = spec.get("terminationGracePeriodSeconds").integer().unwrap_or(30);
            report.range(&action.get("seconds"), 0, most.max(0));
        }
    }
}

/// Checks the number or the name of a port.
pub(super) fn port(port: &Field<'_>, report: &mut Report) {
    match port.value {
        None => report.required(port),
        Some(Value::String(text)) => {
            if text.is_empty() || !(PORT_NAME.holds)(text) {
                report.misspelt(port, text, &PORT_NAME);
            }
        }
        Some(_) => report.range(port, 1, 65535),
    }
}
