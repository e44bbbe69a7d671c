//! Claims of storage.

use super::field::{Field, Report};
use super::metadata;
use super::syntax::DNS_SUBDOMAIN;
use crate::domain::Quantity;

pub(super) fn claim(object: &Field<'_>, report: &mut Report) {
    claim_spec(&object.get("spec"), report);
}

/// Checks the spec of a claim, or of a template of claims.
pub(super) fn claim_spec(spec: &Field<'_>, report: &mut Report) {
    let modes = spec.get("accessModes");
    report.not_empty(&modes, "access mode");
    for mode in modes.items() {
        report.one_of_these(&mode, &["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]);
    }
    let is_single = |mode: &Field<'_>| mode.text() == "ReadWriteOncePod";
    if modes.items().any(|mode| is_single(&mode)) && !modes.items().all(|mode| is_single(&mode)) {
        report.add(&modes, "has ReadWriteOncePod together with another mode; remove one of the two");
    }
    metadata::selector(&spec.get("selector"), report);
    let storage = spec.at(&["resources", "requests", "storage"]);
    if !storage.is_set() {
        report.required(&storage);
    }
    if let Some(amount) = storage.quantity().filter(|amount| *amount <= Quantity::ZERO) {
        report.add(&storage, format!("is {amount}; give more than 0"));
    }
    report.spelled(&spec.get("storageClassName"), &DNS_SUBDOMAIN);
    report.one_of_these(&spec.get("volumeMode"), &["Filesystem", "Block"]);
}
