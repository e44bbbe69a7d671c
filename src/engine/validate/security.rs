//! Security contexts of pods and containers.

use std::collections::HashSet;

use super::field::{Field, Report};
use super::syntax::{RELATIVE_PATH, SYSCTL};

const MOST_ID: i64 = i32::MAX as i64;

/// Checks what a pod says about security.
pub(super) fn pod(spec: &Field<'_>, report: &mut Report) {
    let context = spec.get("securityContext");
    for name in ["fsGroup", "runAsUser", "runAsGroup"] {
        report.range(&context.get(name), 0, MOST_ID);
    }
    for group in context.get("supplementalGroups").items() {
        report.range(&group, 0, MOST_ID);
    }
    report.one_of_these(&context.get("supplementalGroupsPolicy"), &["Merge", "Strict"]);
    report.one_of_these(&context.get("fsGroupChangePolicy"), &["OnRootMismatch", "Always"]);
    profiles(&context, report);
    let mut names = HashSet::new();
    for sysctl in context.get("sysctls").items() {
        let name = sysctl.get("name");
        report.required_as(&name, &SYSCTL);
        report.unique(&name, &mut names, "name");
    }
    if spec.get("hostPID").is_true() && spec.get("shareProcessNamespace").is_true() {
        report.add(&spec.get("shareProcessNamespace"), "is true, and so is `hostPID`; remove one of the two");
    }
    if spec.get("hostUsers").value.is_some_and(|users| users.as_bool() == Some(false)) {
        for name in ["hostPID", "hostIPC"] {
            let other = spec.get(name);
            if other.is_true() {
                report.add(&other, "is true where `hostUsers` is false; change one of the two");
            }
        }
    }
}

/// Checks the security context of a container.
pub(super) fn container(context: &Field<'_>, spec: &Field<'_>, report: &mut Report) {
    for name in ["runAsUser", "runAsGroup"] {
        report.range(&context.get(name), 0, MOST_ID);
    }
    let mount = context.get("procMount");
    report.one_of_these(&mount, &["Default", "Unmasked"]);
    let has_own_users = spec.get("hostUsers").value.is_some_and(|users| users.as_bool() == Some(false));
    if mount.text() == "Unmasked" && !has_own_users {
        report
            .add(&mount, "is Unmasked, which needs `hostUsers: false` in the pod; set that, or remove this");
    }
    profiles(context, report);
    let escalation = context.get("allowPrivilegeEscalation");
    if escalation.value.and_then(crate::json::Value::as_bool) != Some(false) {
        return;
    }
    if context.get("privileged").is_true() {
        report.add(&escalation, "is false, and `privileged` is true; change one of the two");
    }
    if context.at(&["capabilities", "add"]).items().any(|added| added.text() == "CAP_SYS_ADMIN") {
        report.add(&escalation, "is false, and CAP_SYS_ADMIN is added; change one of the two");
    }
}

/// Checks the profiles for seccomp and `AppArmor`.
fn profiles(context: &Field<'_>, report: &mut Report) {
    for name in ["seccompProfile", "appArmorProfile"] {
        let profile = context.get(name);
        if !profile.is_set() {
            continue;
        }
        let (kind, path) = (profile.get("type"), profile.get("localhostProfile"));
        report.required(&kind);
        report.one_of(&kind, &["Localhost", "RuntimeDefault", "Unconfined"]);
        if kind.text() != "Localhost" {
            report.forbidden(&path, "unless the type is Localhost");
        } else if name == "appArmorProfile" {
            report.required(&path);
            if path.text() != path.text().trim() {
                report.add(&path, "has space at an end; remove it");
            }
        } else if path.is_set() {
            report.spelled(&path, &RELATIVE_PATH);
        } else {
            report.required(&path);
        }
    }
}
