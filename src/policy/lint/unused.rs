//! Warns about unused definitions.

use std::collections::BTreeSet;

use super::Material;
use crate::engine::Interpretation;
use crate::expression::Variable;
use crate::json::Pointer;
use crate::policy::decode::{Notes, did_you_mean};
use crate::policy::finding::Finding;
use crate::policy::revision::PolicyDocument;

pub(super) fn policy(document: &PolicyDocument, used: &BTreeSet<&str>, notes: &mut Notes) {
    for (position, (name, _)) in document.policy.variables.iter().enumerate() {
        if !document.reads.contains(&Variable::Declared(name.clone())) {
            let place = Pointer::of(["spec", "variables"]).join(position.to_string());
            notes.note(
                &place.join("name"),
                format!("no expression uses the variable {name:?}; remove it, or use `variables.{name}`"),
            );
        }
    }
    for (name, _, place) in &document.allocations {
        if !used.contains(name.as_str()) {
            notes
                .note(place, format!("no rule uses the allocation {name:?}; remove it, or use it in a rule"));
        }
    }
}

/// Warns about interpretations that only repeat the defaults, and about those whose kind is similar to a
/// selected kind.
pub(super) fn interpretations(material: &Material<'_>, findings: &mut Vec<Finding>) {
    let selected =
        || material.policies.iter().flat_map(|document| &document.policy.selectors).map(|it| &it.gvk);
    for (document, gvk) in &material.interpreted {
        let mut notes = Notes::default();
        let target = Pointer::of(["spec", "target"]);
        if material.set.interpretations.get(gvk) == Some(&Interpretation::default()) {
            notes.note(
                &Pointer::of(["spec"]),
                "has only defaults; remove this ResourceInterpretation, or set a field",
            );
        }
        let alike: Vec<&str> = selected()
            .filter(|other| other.group == gvk.group && other.version == gvk.version)
            .map(|other| other.kind.as_str())
            .collect();
        if !selected().any(|other| other == *gvk) {
            let hint = did_you_mean(&gvk.kind, alike);
            if !hint.is_empty() {
                notes.note(&target.join("kind"), format!("no policy selects the kind {:?}{hint}", gvk.kind));
            }
        }
        findings.extend(Finding::all(*document, notes));
    }
}
