//! Ingresses.

use super::field::{Field, Report};
use super::syntax::{ABSOLUTE_PATH, DNS_SUBDOMAIN, HOST, PATH_PART, PORT_NAME, SERVICE_NAME, Syntax};

const NORMAL_PATH: Syntax = Syntax {
    holds: |path| {
        !["//", "/./", "/../", "%2f", "%2F"].iter().any(|part| path.contains(part))
            && !path.ends_with("/..")
            && !path.ends_with("/.")
    },
    name: "path that can be compared",
    advice: "one without `//`, `/./`, `/../` and `%2F`",
};

pub(super) fn ingress(object: &Field<'_>, report: &mut Report) {
    let spec = object.get("spec");
    let (default, rules) = (spec.get("defaultBackend"), spec.get("rules"));
    if !default.is_set() && rules.is_empty() {
        report.add(&spec, "has neither `defaultBackend` nor `rules`; give one of them");
    }
    if default.is_set() {
        backend(&default, report);
    }
    for rule in rules.items() {
        report.spelled(&rule.get("host"), &HOST);
        let http = rule.get("http");
        if http.is_set() {
            report.not_empty(&http.get("paths"), "path");
        }
        for path in http.get("paths").items() {
            self::path(&path, report);
        }
    }
    for tls in spec.get("tls").items() {
        report.spelled(&tls.get("secretName"), &DNS_SUBDOMAIN);
        for host in tls.get("hosts").items() {
            let text = host.text();
            let rest = text.strip_prefix("*.").unwrap_or(text);
            if !(DNS_SUBDOMAIN.holds)(rest) {
                report.misspelt(&host, text, &HOST);
            }
        }
    }
    let class = spec.get("ingressClassName");
    report.spelled_if_set(&class, &DNS_SUBDOMAIN);
    let annotated = object.at(&["metadata", "annotations", "kubernetes.io/ingress.class"]);
    if annotated.is_set() && class.is_set() && annotated.text() != class.text() {
        report.add(&annotated, "is not what `ingressClassName` is; remove it");
    }
}

fn path(path: &Field<'_>, report: &mut Report) {
    let (kind, text) = (path.get("pathType"), path.get("path"));
    report.required(&kind);
    report.one_of(&kind, &["Exact", "Prefix", "ImplementationSpecific"]);
    match kind.text() {
        "Exact" | "Prefix" => {
            report.required_as(&text, &ABSOLUTE_PATH);
            report.spelled(&text, &NORMAL_PATH);
        }
        _ => report.spelled(&text, &ABSOLUTE_PATH),
    }
    backend(&path.get("backend"), report);
}

fn backend(backend: &Field<'_>, report: &mut Report) {
    let Some(name) = report.at_most_one(backend, &["service", "resource"], "a backend") else {
        return report.add(backend, "has neither `service` nor `resource`; give one of them");
    };
    let chosen = backend.get(name);
    if name == "resource" {
        report.spelled_if_set(&chosen.get("apiGroup"), &DNS_SUBDOMAIN);
        report.required_as(&chosen.get("kind"), &PATH_PART);
        report.required_as(&chosen.get("name"), &PATH_PART);
        return;
    }
    report.required_as(&chosen.get("name"), &SERVICE_NAME);
    let port = chosen.get("port");
    let (name, number) = (port.get("name"), port.get("number"));
    match (name.is_blank(), number.integer().unwrap_or_default()) {
        (true, 0) if !number.is_set() || number.integer().is_some() => {
            report.add(&port, "has neither `name` nor `number`; give one of them");
        }
        (true, _) => report.range(&number, 1, 65535),
        (false, 0) => report.spelled(&name, &PORT_NAME),
        (false, _) => report.add(&port, "has both `name` and `number`; remove one of the two"),
    }
}
