//! Reads `ResourceInterpretation`: where a kind has its replicas and its pod templates.

use super::decode::{Fields, Node, Notes, pointer};
use super::{paths, selector};
use crate::domain::GroupVersionKind;
use crate::engine::{Interpretation, protected_by};
use crate::json::Pointer;

pub(super) fn interpretation(
    spec: &mut Fields<'_>,
    notes: &mut Notes,
) -> Option<(GroupVersionKind, Interpretation)> {
    let target = spec.required("target", notes).and_then(|node| {
        let mut fields = Fields::of(node, notes)?;
        let gvk = selector::gvk(&mut fields, notes);
        fields.end(notes);
        gvk
    });
    let mut interpretation = Interpretation::default();
    let pointer = |node: &Node<'_>, notes: &mut Notes| {
        let pointer = pointer(node, notes)?;
        if pointer.tokens().iter().any(|token| token == "*") {
            notes.note(&node.field, "takes no `*`; pod templates in lists are for `podTemplates`");
            return None;
        }
        paths::through_maps(&pointer, &target, &node.field, notes);
        Some(pointer)
    };
    if let Some(mut fields) = spec.optional("replicaResource").and_then(|node| Fields::of(node, notes)) {
        if let Some(replicas) = fields.optional("replicas").and_then(|node| pointer(&node, notes)) {
            interpretation.revised_replicas = replicas.clone();
            interpretation.replicas = replicas;
        }
        if let Some(template) = fields.optional("podTemplate").and_then(|node| pointer(&node, notes)) {
            interpretation.pod_templates = vec![template.clone()];
            interpretation.pod_template = template;
        }
        if let Some(node) = fields.optional("podTemplates") {
            interpretation.pod_templates = pod_templates(&node, target.as_ref(), notes);
        }
        if let Some(at_zero) = fields.optional("requirementsAtZero").and_then(|node| node.boolean(notes)) {
            interpretation.requirements_at_zero = at_zero;
        }
        fields.end(notes);
    }
    if let Some(mut fields) = spec.optional("replicaRevision").and_then(|node| Fields::of(node, notes)) {
        if let Some(node) = fields.optional("replicas") {
            interpretation.revised_replicas = pointer(&node, notes).unwrap_or(Pointer::ROOT);
        }
        fields.end(notes);
    }
    if let Some(reason) =
        protected_by(&interpretation.revised_replicas).filter(|_| !interpretation.revised_replicas.is_root())
    {
        notes.note(
            &spec.field,
            format!("replicas are written at {}: {reason}", interpretation.revised_replicas),
        );
    }
    Some((target?, interpretation))
}

/// `podTemplates`: paths in which a step `*` stands for each item of a list.
fn pod_templates(node: &Node<'_>, target: Option<&GroupVersionKind>, notes: &mut Notes) -> Vec<Pointer> {
    let items = node.items(notes);
    if items.is_empty() && node.value.as_array().is_some() {
        notes.note(&node.field, "needs at least one item");
    }
    let mut templates = Vec::new();
    for item in items {
        let Some(template) = pointer(&item, notes) else { continue };
        paths::through_items(&template, target, &item.field, |step| step == "*", notes);
        templates.push(template);
    }
    templates
}
