//! Roles and role bindings.

use super::field::{Field, Report};
use super::metadata;
use super::syntax::{DNS_SUBDOMAIN, PATH_PART};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn role(object: &Field<'_>, report: &mut Report) {
    for rule in object.get("rules").items() {
        let urls = rule.get("nonResourceURLs");
        if !urls.is_empty() {
            report.forbidden(&urls, "in a Role, which is for one namespace");
        }
        self::rule(&rule, report);
    }
}

pub(super) fn cluster_role(object: &Field<'_>, report: &mut Report) {
    object.get("rules").items().for_each(|rule| self::rule(&rule, report));
    let aggregation = object.get("aggregationRule");
    let selectors = aggregation.get("clusterRoleSelectors");
    if aggregation.is_set() {
        report.not_empty(&selectors, "selector");
    }
    for selector in selectors.items() {
        metadata::selector(&selector, report);
    }
}

fn rule(rule: &Field<'_>, report: &mut Report) {
    report.not_empty(&rule.get("verbs"), "verb");
    let names = ["apiGroups", "resources", "resourceNames"];
    if rule.get("nonResourceURLs").is_empty() {
        report.not_empty(&rule.get("apiGroups"), "API group, which may be the empty string");
        report.not_empty(&rule.get("resources"), "resource");
    } else if names.iter().any(|name| !rule.get(name).is_empty()) {
        report.add(&rule.get("nonResourceURLs"), "is set together with resources; use two rules");
    }
}

pub(super) fn role_binding(object: &Field<'_>, report: &mut Report) {
    let role = object.get("roleRef");
    report.one_of(&role.get("apiGroup"), &[GROUP]);
    report.required(&role.get("kind"));
    report.one_of(&role.get("kind"), &["Role", "ClusterRole"]);
    report.required_as(&role.get("name"), &PATH_PART);
    for subject in object.get("subjects").items() {
        let (kind, name, group) = (subject.get("kind"), subject.get("name"), subject.get("apiGroup"));
        report.required(&name);
        report.required(&kind);
        report.one_of(&kind, &["ServiceAccount", "User", "Group"]);
        if kind.text() == "ServiceAccount" {
            report.spelled(&name, &DNS_SUBDOMAIN);
            if !group.is_blank() {
                report.forbidden(&group, "for a ServiceAccount");
            }
        } else {
            report.one_of(&group, &[GROUP]);
        }
    }
}
