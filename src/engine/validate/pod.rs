//! Pods and pod templates.

use std::collections::HashSet;

use super::container;
use super::field::{Field, Report};
use super::metadata;
use super::resources::{self, Bearer};
use super::scheduling;
use super::security;
use super::syntax::{DNS_LABEL, DNS_SUBDOMAIN, IP, LABEL_KEY};
use super::volumes::{self, Volumes};

/// The context of a pod or a pod template.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Host<'h> {
    pub(super) is_pod: bool,
    /// Claims that become volumes of each pod.
    pub(super) claims: Option<&'h Field<'h>>,
    /// Whether hostname and subdomain are replaced later, and so not checked.
    pub(super) keeps_hostname: bool,
}

/// Checks a `Pod`, or what is like one.
pub(super) fn pod(object: &Field<'_>, report: &mut Report) {
    deletion_cost(&object.get("metadata"), report);
    let own = object.get("spec");
    spec(&own, Host { is_pod: true, ..Host::default() }, report);
    report.forbidden(&own.get("ephemeralContainers"), "when a pod is created");
    if !own.get("schedulingGates").is_empty() {
        report.forbidden(&own.get("nodeName"), "while there are `schedulingGates`");
    }
}

/// Checks a pod template.
pub(super) fn template(template: &Field<'_>, host: Host<'_>, report: &mut Report) {
    let own = template.get("metadata");
    metadata::metadata(&own, report);
    deletion_cost(&own, report);
    let own = template.get("spec");
    spec(&own, host, report);
    report.forbidden(&own.get("ephemeralContainers"), "in a pod template");
}

/// Checks the annotation that orders pods when some of them are deleted.
fn deletion_cost(metadata: &Field<'_>, report: &mut Report) {
    let cost = metadata.at(&["annotations", "controller.kubernetes.io/pod-deletion-cost"]);
    let text = cost.text();
    let is_canonical = text == "0" || !text.starts_with(['0', '+']);
    if cost.value.is_some_and(|value| value.as_str().is_some())
        && !(is_canonical && text.parse::<i32>().is_ok())
    {
        report.add(&cost, format!("is {text:?}; give an integer of 32 bits"));
    }
}

fn spec(spec: &Field<'_>, host: Host<'_>, report: &mut Report) {
    let volumes = Volumes::of(spec, host.claims);
    volumes::volumes(&spec.get("volumes"), host, report);
    container::containers(spec, &volumes, host, report);
    resources::resources(&spec.get("resources"), Bearer::Pod, report);
    report.one_of(&spec.get("restartPolicy"), &["Always", "OnFailure", "Never"]);
    report.one_of(&spec.get("dnsPolicy"), &["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]);
    report.one_of_these(&spec.get("preemptionPolicy"), &["PreemptLowerPriority", "Never"]);
    let os = spec.get("os");
    if os.is_set() {
        report.required(&os.get("name"));
        report.one_of(&os.get("name"), &["linux", "windows"]);
    }
    for name in ["serviceAccountName", "nodeName", "priorityClassName"] {
        report.spelled(&spec.get(name), &DNS_SUBDOMAIN);
    }
    for name in ["runtimeClassName", "hostnameOverride"] {
        report.spelled_if_set(&spec.get(name), &DNS_SUBDOMAIN);
    }
    if !host.keeps_hostname {
        report.spelled(&spec.get("hostname"), &DNS_LABEL);
        report.spelled(&spec.get("subdomain"), &DNS_LABEL);
    }
    report.range(&spec.get("activeDeadlineSeconds"), 1, i64::from(i32::MAX));
    metadata::labels(&spec.get("nodeSelector"), report);
    scheduling::affinity(&spec.get("affinity"), report);
    scheduling::tolerations(&spec.get("tolerations"), report);
    scheduling::spread(&spec.get("topologySpreadConstraints"), report);
    security::pod(spec, report);
    dns(spec, report);
    for alias in spec.get("hostAliases").items() {
        report.required_as(&alias.get("ip"), &IP);
        for name in alias.get("hostnames").items() {
            report.required_as(&name, &DNS_SUBDOMAIN);
        }
    }
    for gate in spec.get("readinessGates").items() {
        report.required_as(&gate.get("conditionType"), &LABEL_KEY);
    }
    let mut gates = HashSet::new();
    for gate in spec.get("schedulingGates").items() {
        report.required_as(&gate.get("name"), &LABEL_KEY);
        report.unique(&gate.get("name"), &mut gates, "name");
    }
}

fn dns(spec: &Field<'_>, report: &mut Report) {
    let config = spec.get("dnsConfig");
    let (servers, searches) = (config.get("nameservers"), config.get("searches"));
    if spec.get("dnsPolicy").text() == "None" && servers.is_empty() {
        report.add(&servers, "is missing or empty; with the `dnsPolicy` None, give at least one");
    }
    if servers.items().count() > 3 {
        report.add(&servers, "has more than 3 name servers; remove some");
    }
    for server in servers.items() {
        report.required_as(&server, &IP);
    }
    let lengths: Vec<usize> = searches.items().map(|domain| domain.text().len()).collect();
    if lengths.len() > 32 || lengths.iter().sum::<usize>() + lengths.len().saturating_sub(1) > 2048 {
        report.add(&searches, "has more than 32 domains or 2048 characters; remove some");
    }
    for domain in searches.items().filter(|domain| domain.text() != ".") {
        let text = domain.text();
        if !(DNS_SUBDOMAIN.holds)(&text.strip_suffix('.').unwrap_or(text).replace('_', "a")) {
            report.misspelt(&domain, text, &DNS_SUBDOMAIN);
        }
    }
    for option in config.get("options").items() {
        report.required(&option.get("name"));
    }
}
