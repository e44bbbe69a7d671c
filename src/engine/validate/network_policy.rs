//! Network policies.

use super::container::PROTOCOLS;
use super::field::{Field, Report};
use super::metadata;
use super::syntax::{CIDR, PORT_NAME, cidr, is_strict_subset};
use crate::json::Value;

pub(super) fn network_policy(object: &Field<'_>, report: &mut Report) {
    let spec = object.get("spec");
    metadata::selector(&spec.get("podSelector"), report);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.get(direction).items() {
            rule.get("ports").items().for_each(|port| self::port(&port, report));
            rule.get(peers).items().for_each(|peer| self::peer(&peer, report));
        }
    }
    let types = spec.get("policyTypes");
    if types.items().count() > 2 {
        report.add(&types, "has more than two types; remove some");
    }
    for kind in types.items() {
        report.one_of_these(&kind, &["Ingress", "Egress"]);
    }
}

fn port(port: &Field<'_>, report: &mut Report) {
    report.one_of_these(&port.get("protocol"), &PROTOCOLS);
    let (first, last) = (port.get("port"), port.get("endPort"));
    match first.value {
        Some(Value::Number(_)) => {
            report.range(&first, 1, 65535);
            report.range(&last, 1, 65535);
            if last.is_set() && last.integer() < first.integer() {
                report.add(&last, "is less than `port`; give `port` or more");
            }
        }
        Some(Value::String(_)) => {
            report.required_as(&first, &PORT_NAME);
            report.forbidden(&last, "beside a `port` that is a name");
        }
        None => report.forbidden(&last, "without a `port`"),
        Some(_) => {}
    }
}

fn peer(peer: &Field<'_>, report: &mut Report) {
    let (pods, namespaces, block) =
        (peer.get("podSelector"), peer.get("namespaceSelector"), peer.get("ipBlock"));
    metadata::selector(&pods, report);
    metadata::selector(&namespaces, report);
    let has_selector = pods.is_set() || namespaces.is_set();
    if has_selector && block.is_set() {
        report.add(&block, "is set together with a selector; use two peers");
    } else if !has_selector && !block.is_set() {
        report.add(peer, "selects nothing; give `podSelector`, `namespaceSelector` or `ipBlock`");
    }
    if !block.is_set() {
        return;
    }
    let range = block.get("cidr");
    report.required_as(&range, &CIDR);
    for hole in block.get("except").items() {
        report.required_as(&hole, &CIDR);
        let both = cidr(range.text()).zip(cidr(hole.text()));
        if both.is_some_and(|(outer, inner)| !is_strict_subset(outer, inner)) {
            report.add(&hole, "is not a part of `cidr`; give a smaller range inside of it");
        }
    }
}
