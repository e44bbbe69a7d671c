//! Requests and limits of containers and pods, and the names of resources.

use super::field::{Field, Report};
use super::syntax::{LABEL_KEY, Syntax};
use crate::domain::Quantity;
use crate::json::Object;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bearer {
    Container,
    /// A pod as a whole.
    Pod,
}

/// Resources without a domain in their names.
pub(super) const STANDARD: [&str; 20] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];

/// Resources that are counted in integers.
const WHOLE: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

const HUGE_PAGES: &str = "hugepages-";

pub(super) const RESOURCE: Syntax = Syntax {
    holds: |name| {
        (LABEL_KEY.holds)(name)
            && (name.contains('/')
                || STANDARD.contains(&name)
                || name.starts_with(HUGE_PAGES)
                || name.starts_with("requests.hugepages-"))
    },
    name: "name of a resource",
    advice: "cpu, memory or another standard name, or one behind `DOMAIN/`",
};

pub(super) const OF_CONTAINER: Syntax = Syntax {
    holds: |name| {
        let is_plain = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with(HUGE_PAGES);
        let is_qualified = name.contains('/') && (RESOURCE.holds)(name);
        is_plain || is_qualified && (is_native(name) || is_extended(name))
    },
    name: "name of a resource that a container can ask for",
    advice: "cpu, memory, ephemeral-storage, hugepages-SIZE, or one behind `DOMAIN/`",
};

const OF_POD: Syntax = Syntax {
    holds: |name| matches!(name, "cpu" | "memory") || name.starts_with(HUGE_PAGES),
    name: "name of a resource that a pod can ask for",
    advice: "cpu, memory or hugepages-SIZE",
};

fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    !is_native(name) && !name.starts_with("requests.") && (LABEL_KEY.holds)(&format!("requests.{name}"))
}

/// Whether less can be requested than the limit.
pub(super) fn can_overcommit(name: &str) -> bool {
    is_native(name) && !name.starts_with(HUGE_PAGES)
}

/// Checks the amount of the resource `name`.
pub(super) fn amount(field: &Field<'_>, name: &str, report: &mut Report) -> Option<Quantity> {
    let amount = field.quantity()?;
    if amount < Quantity::ZERO {
        report.add(field, format!("is {amount}; give 0 or more"));
    } else if (WHOLE.contains(&name) || is_extended(name)) && amount.milli_value() % 1000 != 0 {
        report.add(field, format!("is {amount}, and there are only whole ones; give an integer"));
    }
    Some(amount)
}

/// Checks `resources`.
pub(super) fn resources(resources: &Field<'_>, bearer: Bearer, report: &mut Report) {
    let syntax = if bearer == Bearer::Pod { &OF_POD } else { &OF_CONTAINER };
    let (limits, requests) = (resources.get("limits"), resources.get("requests"));
    let (mut has_huge, mut has_plain) = (false, false);
    for list in [&limits, &requests] {
        for (name, field) in list.entries() {
            if !(syntax.holds)(name) {
                report.misspelt(&field, name, syntax);
            }
            let amount = amount(&field, name, report);
            has_plain |= matches!(name, "cpu" | "memory");
            if let Some(size) = name.strip_prefix(HUGE_PAGES) {
                has_huge = true;
                let size = Quantity::parse(size).map(Quantity::value).unwrap_or_default();
                if size <= 0 || amount.is_some_and(|amount| amount.value() % size != 0) {
                    report.add(&field, "is not a multiple of the size of its pages; make it one");
                }
            }
        }
    }
    if has_huge && !has_plain {
        report.add(resources, "asks for huge pages without cpu or memory; ask for one of these too");
    }
    let none = Object::new();
    let known = limits.map().unwrap_or(&none).index();
    for (name, field) in requests.entries() {
        let limit = known.get(name).filter(|limit| !limit.is_null());
        let (Some(limit), Some(request)) = (limit, field.quantity()) else {
            if !can_overcommit(name) && limit.is_none() {
                let problem = "has no limit, and cannot be overcommitted; set the same in `limits`";
                report.add(&field, problem);
            }
            continue;
        };
        let Some(limit) = Field::root(limit).quantity() else { continue };
        if request > limit {
            report
                .add(&field, format!("is {request}, more than the limit of {limit}; change one of the two"));
        } else if request < limit && !can_overcommit(name) {
            report
                .add(&field, format!("is {request}, and must be the limit, {limit}; change one of the two"));
        }
    }
}
