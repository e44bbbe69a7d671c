//! Services.

use std::collections::HashSet;

use super::container::protocol;
use super::field::{Field, Report};
use super::metadata;
use super::probes;
use super::syntax::{CIDR, DNS_LABEL, DNS_SUBDOMAIN, IP, LABEL_KEY};

pub(super) fn service(object: &Field<'_>, report: &mut Report) {
    let spec = object.get("spec");
    let (kind, list) = (spec.get("type"), spec.get("ports"));
    report.one_of(&kind, &["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]);
    let is_headless = spec.get("clusterIP").text() == "None";
    let kind = if kind.is_blank() { "ClusterIP" } else { kind.text() };
    if kind == "ExternalName" {
        external_name(&spec, report);
    } else {
        if list.is_empty() && !is_headless {
            report.not_empty(&list, "port");
        }
        if is_headless && kind != "ClusterIP" {
            report.add(
                &spec.get("clusterIP"),
                format!("is None, which is not possible for the type {kind}; remove it"),
            );
        }
    }
    ports(&list, kind, report);
    metadata::labels(&spec.get("selector"), report);
    let affinity = spec.get("sessionAffinity");
    report.one_of(&affinity, &["None", "ClientIP"]);
    if affinity.text() == "ClientIP" {
        report.range(&spec.at(&["sessionAffinityConfig", "clientIP", "timeoutSeconds"]), 1, 86400);
    }
    for ip in spec.get("externalIPs").items() {
        report.required_as(&ip, &IP);
    }
    families(&spec, report);
    only_for_load_balancers(&spec, kind, report);
    traffic(&spec, kind, report);
}

fn external_name(spec: &Field<'_>, report: &mut Report) {
    let name = spec.get("externalName");
    report.required(&name);
    let text = name.text();
    let text = text.strip_suffix('.').unwrap_or(text);
    if !name.is_blank() && !(DNS_SUBDOMAIN.holds)(text) {
        report.misspelt(&name, text, &DNS_SUBDOMAIN);
    }
    for other in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        let other = spec.get(other);
        if !other.is_blank() && !other.is_empty() {
            report.forbidden(&other, "with the type ExternalName");
        }
    }
}

fn ports(list: &Field<'_>, kind: &str, report: &mut Report) {
    let (mut names, mut numbers, mut on_nodes) = (HashSet::new(), HashSet::new(), HashSet::new());
    let are_several = list.items().count() > 1;
    for port in list.items() {
        let (name, number, target) = (port.get("name"), port.get("port"), port.get("targetPort"));
        if are_several {
            report.required(&name);
        }
        report.spelled(&name, &DNS_LABEL);
        report.unique(&name, &mut names, "name");
        report.required_range(&number, 1, 65535);
        protocol(&port, report);
        // 0 and the empty string stand for the port itself.
        if !target.is_blank() && target.integer() != Some(0) {
            probes::port(&target, report);
        }
        report.spelled_if_set(&port.get("appProtocol"), &LABEL_KEY);
        let protocol = port.get("protocol");
        let protocol = if protocol.is_blank() { "TCP" } else { protocol.text() }.to_owned();
        if let Some(number) = number.integer()
            && !numbers.insert((protocol.clone(), number))
        {
            report.add(
                &port,
                format!("has {number}/{protocol}, and so has another port; change or remove one of the two"),
            );
        }
        let on_node = port.get("nodePort");
        let Some(used) = on_node.integer().filter(|number| *number != 0) else { continue };
        if kind == "ClusterIP" {
            report.forbidden(&on_node, "with the type ClusterIP");
        }
        if !on_nodes.insert((protocol.clone(), used)) {
            report.add(&on_node, format!("{used}/{protocol} is taken by another port; use another one"));
        }
    }
}

fn families(spec: &Field<'_>, report: &mut Report) {
    let families = spec.get("ipFamilies");
    for family in families.items() {
        report.one_of_these(&family, &["IPv4", "IPv6"]);
    }
    let given: Vec<&str> = families.items().map(|family| family.text()).collect();
    if given.len() > 2 || given.len() == 2 && given[0] == given[1] {
        report.add(&families, "has a family twice; remove one of the two");
    }
    report.one_of_these(&spec.get("ipFamilyPolicy"), &["SingleStack", "PreferDualStack", "RequireDualStack"]);
}

fn only_for_load_balancers(spec: &Field<'_>, kind: &str, report: &mut Report) {
    let ranges = spec.get("loadBalancerSourceRanges");
    if kind != "LoadBalancer" {
        if !ranges.is_empty() {
            report.forbidden(&ranges, "unless the type is LoadBalancer");
        }
        for name in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            report.forbidden(&spec.get(name), "unless the type is LoadBalancer");
        }
    }
    report.spelled_if_set(&spec.get("loadBalancerClass"), &LABEL_KEY);
    for range in ranges.items() {
        let text = range.text().trim();
        if !(CIDR.holds)(text) {
            report.misspelt(&range, text, &CIDR);
        }
    }
}

fn traffic(spec: &Field<'_>, kind: &str, report: &mut Report) {
    let (external, check) = (spec.get("externalTrafficPolicy"), spec.get("healthCheckNodePort"));
    let is_reachable = matches!(kind, "NodePort" | "LoadBalancer")
        || kind == "ClusterIP" && !spec.get("externalIPs").is_empty();
    if is_reachable {
        report.one_of(&external, &["Cluster", "Local"]);
    } else if !external.is_blank() {
        report.forbidden(&external, "for a Service that is not reached from outside");
    }
    let needs_check = kind == "LoadBalancer" && external.text() == "Local";
    if !needs_check && check.integer().is_some_and(|number| number != 0) {
        report.forbidden(&check, "unless the type is LoadBalancer and `externalTrafficPolicy` is Local");
    }
    report.one_of_these(&spec.get("internalTrafficPolicy"), &["Cluster", "Local"]);
    report
        .one_of_these(&spec.get("trafficDistribution"), &["PreferClose", "PreferSameZone", "PreferSameNode"]);
}
