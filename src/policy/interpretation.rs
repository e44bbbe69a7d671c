//! `ResourceInterpretation`: where a kind has its replicas and its pod template.

use super::decode::{Fields, Node, Notes};
use super::{paths, selector};
use crate::domain::GroupVersionKind;
use crate::engine::{Interpretation, protected_by};
use crate::json::Pointer;

/// Reads the `spec`.
pub(super) fn interpretation(
    spec: &mut Fields<'_>,
    notes: &mut Notes,
) -> Option<(GroupVersionKind, Interpretation)> {
    let target = spec.required("target", notes).and_then(|node| {
        let mut fields = node.fields(notes)?;
        let gvk = selector::gvk(&mut fields, notes);
        fields.end(notes);
        gvk
    });
    let mut interpretation = Interpretation::default();
    let pointer = |node: &Node<'_>, notes: &mut Notes| {
        let pointer = node.pointer(notes)?;
        paths::through_maps(&pointer, &target, &node.field, notes);
        Some(pointer)
    };
    if let Some(mut fields) = spec.optional("replicaResource").and_then(|node| node.fields(notes)) {
        if let Some(replicas) = fields.optional("replicas").and_then(|node| pointer(&node, notes)) {
            interpretation.revised_replicas = replicas.clone();
            interpretation.replicas = replicas;
        }
        if let Some(template) = fields.optional("podTemplate").and_then(|node| pointer(&node, notes)) {
            interpretation.pod_template = template;
        }
        if let Some(at_zero) = fields.optional("requirementsAtZero").and_then(|node| node.boolean(notes)) {
            interpretation.requirements_at_zero = at_zero;
        }
        fields.end(notes);
    }
    if let Some(mut fields) = spec.optional("replicaRevision").and_then(|node| node.fields(notes)) {
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
