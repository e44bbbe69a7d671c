//! Reads selectors of workloads (`resourceSelectors`), labels and clusters (`targetCluster`).

use super::decode::{Fields, Node, Notes, names, one_of};
use crate::domain::GroupVersionKind;
use crate::engine::{
    ClusterField, ClusterPattern, FieldRequirement, LabelRequirement, LabelSelector, ResourceSelector,
    TargetClusters,
};

/// Wildcards that users may write by mistake.
const WILDCARDS: [char; 2] = ['*', '?'];

/// Built-in groups in which all object names are DNS subdomains.
const DNS_GROUPS: [&str; 5] = ["", "apps", "autoscaling", "batch", "policy"];

/// Reads the required fields `apiVersion` and `kind`.
pub(super) fn gvk(fields: &mut Fields<'_>, notes: &mut Notes) -> Option<GroupVersionKind> {
    let node = fields.required("apiVersion", notes);
    let api_version = node.as_ref().and_then(|node| node.name(notes));
    let kind = fields.required("kind", notes).and_then(|node| node.name(notes));
    let (node, api_version, kind) = (node?, api_version?, kind?);
    if api_version.matches('/').count() > 1 || api_version.starts_with('/') || api_version.ends_with('/') {
        notes.note(
            &node.field,
            format!("{api_version:?} is no API version; write `group/version`, or `v1` for the core group"),
        );
        return None;
    }
    if [api_version, kind].iter().any(|text| text.contains(WILDCARDS)) {
        notes.note(&node.field, "wildcards select nothing here; name the API version and the kind");
        return None;
    }
    Some(GroupVersionKind::of(api_version, kind))
}

/// Reads an item of `resourceSelectors`. `home` is the namespace of the policy, if it has one.
pub(super) fn resource(node: Node<'_>, home: Option<&str>, notes: &mut Notes) -> Option<ResourceSelector> {
    let mut fields = Fields::of(node, notes)?;
    let gvk = gvk(&mut fields, notes);
    let namespace = fields.optional("namespace");
    let name = fields.optional("name").and_then(|node| object_name(&node, gvk.as_ref(), notes));
    let labels = fields.optional("labelSelector").and_then(|node| label_selector(node, notes));
    fields.end(notes);
    let namespace = namespace.and_then(|node| {
        let namespace = namespace_name(&node, notes)?;
        if let Some(home) = home.filter(|home| *home != namespace) {
            notes.note(
                &node.field,
                format!(
                    "a RevisionPolicy selects in its own namespace, {home:?}; use a ClusterRevisionPolicy"
                ),
            );
        }
        Some(namespace.to_owned())
    });
    Some(ResourceSelector { gvk: gvk?, namespace, name: name.map(str::to_owned), labels })
}

/// `name`: the name of one object. A name that no object can have is an error.
fn object_name<'v>(node: &Node<'v>, gvk: Option<&GroupVersionKind>, notes: &mut Notes) -> Option<&'v str> {
    let name = node.name(notes)?;
    let is_dns = gvk.is_some_and(|gvk| DNS_GROUPS.contains(&gvk.group.as_str()));
    let problem = if name.contains(WILDCARDS) {
        format!(
            "{name:?} selects nothing: a name takes no wildcards, as in Karmada's selectors; use `labelSelector`, or leave `name` out"
        )
    } else if name.contains(|c: char| matches!(c, '/' | '%') || c.is_whitespace() || c.is_control()) {
        format!("{name:?} selects nothing: no object has such a name; leave out `/`, `%` and blanks")
    } else if is_dns && !is_subdomain(name) {
        format!(
            "{name:?} selects nothing: names of this kind are up to 253 lower case letters, digits, `-` and `.`, with a letter or digit at both ends"
        )
    } else {
        return Some(name);
    };
    notes.note(&node.field, problem);
    None
}

/// `namespace`: the name of one namespace.
fn namespace_name<'v>(node: &Node<'v>, notes: &mut Notes) -> Option<&'v str> {
    let name = node.name(notes)?;
    let problem = if name.contains(WILDCARDS) {
        format!(
            "{name:?} selects nothing: a namespace takes no wildcards, as in Karmada's selectors; add an item for each namespace, use `labelSelector`, or leave `namespace` out"
        )
    } else if !is_label(name) {
        format!(
            "{name:?} selects nothing: names of namespaces are up to 63 lower case letters, digits and `-`, with a letter or digit at both ends"
        )
    } else {
        return Some(name);
    };
    notes.note(&node.field, problem);
    None
}

/// Whether a text is a lowercase DNS label (RFC 1123).
fn is_label(text: &str) -> bool {
    text.len() <= 63 && is_part(text)
}

/// Whether a text is a DNS subdomain by the rules of Kubernetes, which do not limit the length of a label.
fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_part)
}

fn is_part(text: &str) -> bool {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| is_alphanumeric(*byte))
        && bytes.last().is_some_and(|byte| is_alphanumeric(*byte))
        && bytes.iter().all(|byte| is_alphanumeric(*byte) || *byte == b'-')
}

/// `targetSelector`: labels, or a label selector.
pub(super) fn target_selector(node: Node<'_>, notes: &mut Notes) -> Option<LabelSelector> {
    let is_selector = ["matchLabels", "matchExpressions"].iter().any(|name| node.value.get(name).is_some());
    if is_selector { label_selector(node, notes) } else { labels(node, notes).map(LabelSelector) }
}

/// A map of labels, all of which are required.
fn labels(node: Node<'_>, notes: &mut Notes) -> Option<Vec<LabelRequirement>> {
    let labels = Fields::of(node, notes)?;
    let mut requirements = Vec::new();
    for (key, value) in labels.object.iter() {
        let node = Node { value, field: labels.field.join(key) };
        if let Some(value) = node.string(notes) {
            requirements.push(LabelRequirement::In(key.to_owned(), vec![value.to_owned()]));
        }
    }
    Some(requirements)
}

fn label_selector(node: Node<'_>, notes: &mut Notes) -> Option<LabelSelector> {
    let mut fields = Fields::of(node, notes)?;
    let mut requirements =
        fields.optional("matchLabels").and_then(|node| labels(node, notes)).unwrap_or_default();
    for node in fields.optional("matchExpressions").map(|node| node.items(notes)).unwrap_or_default() {
        requirements.extend(match_expression(node, notes));
    }
    fields.end(notes);
    Some(LabelSelector(requirements))
}

#[derive(Clone, Copy)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

fn match_expression(node: Node<'_>, notes: &mut Notes) -> Option<LabelRequirement> {
    const OPERATORS: &[(&str, Operator)] = &[
        ("In", Operator::In),
        ("NotIn", Operator::NotIn),
        ("Exists", Operator::Exists),
        ("DoesNotExist", Operator::DoesNotExist),
    ];
    let mut fields = Fields::of(node, notes)?;
    let key = fields.required("key", notes).and_then(|node| node.name(notes));
    let operator = fields.required("operator", notes).and_then(|node| one_of(&node, OPERATORS, notes));
    let list = fields.optional("values");
    let place = fields.field.join("values");
    fields.end(notes);
    let values: Vec<String> = list
        .map(|node| {
            node.items(notes).iter().filter_map(|item| item.string(notes)).map(str::to_owned).collect()
        })
        .unwrap_or_default();
    let (key, operator) = (key?.to_owned(), operator?);
    match (operator, values.is_empty()) {
        (Operator::In | Operator::NotIn, true) => {
            notes.note(&place, "needs at least one value for the operators In and NotIn");
            None
        }
        (Operator::Exists | Operator::DoesNotExist, false) => {
            notes.note(&place, "must be empty for the operators Exists and DoesNotExist");
            None
        }
        (Operator::In, _) => Some(LabelRequirement::In(key, values)),
        (Operator::NotIn, _) => Some(LabelRequirement::NotIn(key, values)),
        (Operator::Exists, _) => Some(LabelRequirement::Exists(key)),
        (Operator::DoesNotExist, _) => Some(LabelRequirement::DoesNotExist(key)),
    }
}

/// Reads `targetCluster`.
pub(super) fn target_clusters(node: Node<'_>, notes: &mut Notes) -> TargetClusters {
    let Some(mut fields) = Fields::of(node, notes) else {
        return TargetClusters::default();
    };
    let mut names = |name| {
        let list: Vec<&str> = fields.optional(name).map(|node| names(&node, notes)).unwrap_or_default();
        list.into_iter().map(|name| ClusterPattern(name.to_owned())).collect()
    };
    let (names, exclude) = (names("clusterNames"), names("exclude"));
    // An empty label selector selects everything, like a missing one.
    let labels = fields.optional("labelSelector").and_then(|node| label_selector(node, notes));
    let labels = labels.filter(|labels| !labels.0.is_empty());
    let fields_selected = fields.optional("fieldSelector").map(|node| field_selector(node, notes));
    fields.end(notes);
    TargetClusters { names, exclude, labels, fields: fields_selected.unwrap_or_default() }
}

/// `fieldSelector`, as in Karmada's `ClusterAffinity`.
fn field_selector(node: Node<'_>, notes: &mut Notes) -> Vec<FieldRequirement> {
    let Some(mut fields) = Fields::of(node, notes) else { return Vec::new() };
    let items = fields.optional("matchExpressions").map(|node| node.items(notes)).unwrap_or_default();
    let requirements = items.into_iter().filter_map(|item| field_requirement(item, notes)).collect();
    fields.end(notes);
    requirements
}

fn field_requirement(node: Node<'_>, notes: &mut Notes) -> Option<FieldRequirement> {
    const FIELDS: &[(&str, ClusterField)] = &[
        ("provider", ClusterField::Provider),
        ("region", ClusterField::Region),
        ("zone", ClusterField::Zone),
    ];
    const OPERATORS: &[(&str, bool)] = &[("In", true), ("NotIn", false)];
    let mut fields = Fields::of(node, notes)?;
    let field = fields.required("key", notes).and_then(|node| one_of(&node, FIELDS, notes));
    let is_in = fields.required("operator", notes).and_then(|node| one_of(&node, OPERATORS, notes));
    let values = fields.required("values", notes);
    fields.end(notes);
    let node = values?;
    let values: Vec<String> = names(&node, notes).into_iter().map(str::to_owned).collect();
    if values.is_empty() {
        notes.note(&node.field, "needs at least one value");
        return None;
    }
    Some(FieldRequirement { field: field?, is_in: is_in?, values })
}
