//! Warns about declared lists that a selected kind does not have or does not merge.
//!
//! For built-in kinds this is an error when the policy is read. The pod templates of other kinds are known
//! only when all documents have been read.

use crate::engine::{Action, MergeKey, PatchKind, Policy, PolicySet, Rule};
use crate::json::Pointer;
use crate::patch::strategic::Schema;
use crate::policy::decode::Notes;
use crate::policy::merge_keys;

pub(super) fn rule(policy: &Policy, rule: &Rule, set: &PolicySet, place: &Pointer, notes: &mut Notes) {
    let Action::Patch(patching) = &rule.action else { return };
    let PatchKind::Strategic(declared) = &patching.kind else { return };
    let custom = policy
        .selectors
        .iter()
        .map(|selector| &selector.gvk)
        .filter(|gvk| Schema::built_in(&gvk.api_version(), &gvk.kind).is_none());
    let schemas: Vec<_> = custom
        .map(|gvk| {
            let schema = Schema::of(&gvk.api_version(), &gvk.kind, &set.active_pod_templates(gvk));
            (gvk, schema.declaring(declared.iter().map(MergeKey::declared)))
        })
        .collect();
    for (position, list) in declared.iter().enumerate() {
        let unreached = schemas.iter().find_map(|(gvk, schema)| Some((gvk, schema.reach(&list.path).err()?)));
        if let Some((gvk, unreached)) = unreached {
            let field = place.join("patch").join("mergeKeys").join(position.to_string()).join("path");
            notes.note(&field, merge_keys::problem(&list.path, gvk, &unreached));
        }
    }
}
