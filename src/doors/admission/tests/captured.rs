//! Recorded reviews, compared with their descriptions in `tests/data/captures/README.md`.

use serde_json::Value;

use super::super::Operation::{self, Create, Delete, Update};
use super::decode;

/// The Work of the workload that most reviews are about.
const CHECKOUT: &str = "checkout-7c5c86b58d";

macro_rules! captures {
    ($(($operation:ident, $dry_run:literal, $cluster:literal, $work:expr): $($file:literal)*)*) => {
        &[$($((
            $file,
            include_bytes!(concat!("../../../../tests/data/captures/", $file, ".json")),
            $operation,
            $dry_run,
            concat!("karmada-es-", $cluster),
            $work,
        ),)*)*]
    };
}

type Capture = (&'static str, &'static [u8], Operation, bool, &'static str, &'static str);

/// File, body, operation, whether it is a dry run, namespace, name.
const CAPTURES: &[Capture] = captures![
    (Create, false, "cluster-x", CHECKOUT): "work-create-cluster-x-added-back" "work-create-cluster-x-r0" "work-create-cluster-x-w31"
    (Create, false, "cluster-z", CHECKOUT): "work-create-cluster-z-r0" "work-create-cluster-z-w31"
    (Create, false, "cluster-x", "checkout-config-6cc575c444"): "work-create-configmap-cluster-x"
    (Create, false, "cluster-x", "checkout-secret-668d846978"): "work-create-secret-cluster-x"
    (Create, false, "cluster-x", "cart-7b8f6bb9d6"): "work-create-deployment-cluster-x"
    (Create, false, "cluster-z", "cart-7b8f6bb9d6"): "work-create-deployment-cluster-z"
    (Create, false, "cluster-x", "shop-55c4c4674c"): "work-create-namespace-cluster-x"
    (Create, false, "cluster-z", "shop-55c4c4674c"): "work-create-namespace-cluster-z"
    (Delete, false, "cluster-x", CHECKOUT): "work-delete-cluster-x"
    (Delete, false, "cluster-z", CHECKOUT): "work-delete-cluster-z"
    (Delete, false, "cluster-x", "checkout-config-6cc575c444"): "work-delete-configmap-cluster-x"
    (Delete, true, "cluster-z", CHECKOUT): "work-dryrun-delete"
    (Update, true, "cluster-z", CHECKOUT): "work-dryrun-label-cluster-z"
    (Update, false, "cluster-x", CHECKOUT): "work-finalizer-cluster-x" "work-label-cluster-x"
        "work-update-cluster-x-not-in-binding" "work-update-cluster-x-r0" "work-update-cluster-x-reweight"
        "work-update-cluster-x-scale-to-0-stale" "work-update-cluster-x-scale-to-0" "work-update-cluster-x-w31"
    (Update, false, "cluster-z", CHECKOUT): "work-finalizer-cluster-z" "work-label-cluster-z"
        "work-update-cluster-z-r0" "work-update-cluster-z-restart" "work-update-cluster-z-reweight-stale"
        "work-update-cluster-z-reweight" "work-update-cluster-z-scale-to-0" "work-update-cluster-z-takes-over"
        "work-update-cluster-z-w31"
    (Update, false, "cluster-x", "checkout-config-6cc575c444"): "work-finalizer-configmap-cluster-x"
];

#[test]
fn every_recorded_review_is_decoded() {
    assert_eq!(CAPTURES.len(), 34);
    for (file, body, operation, dry_run, namespace, name) in CAPTURES {
        let truth: Value = serde_json::from_slice(body).unwrap();
        let decoded = decode(*body).unwrap_or_else(|error| panic!("{file}: {error}"));
        let head = &decoded.head;
        assert_eq!(head.uid, truth["request"]["uid"].as_str().unwrap(), "{file}");
        let subject = [&head.kind, &head.namespace, &head.name].map(AsRef::as_ref);
        assert_eq!(subject, ["Work", *namespace, *name], "{file}");
        assert_eq!((head.operation, head.dry_run), (operation.name(), Some(*dry_run)), "{file}");

        let review = decoded.content.unwrap_or_else(|failure| panic!("{file}: {failure}"));
        assert_eq!((review.operation, review.dry_run), (*operation, *dry_run), "{file}");
        assert_eq!((review.namespace.as_ref(), review.name.as_ref()), (*namespace, *name), "{file}");
        let resource = &review.resource;
        assert_eq!(
            [&resource.group, &resource.version, &resource.resource, &resource.sub_resource]
                .map(AsRef::as_ref),
            ["work.karmada.io", "v1alpha1", "works", ""],
            "{file}"
        );
        let has = (review.object.is_some(), review.old_object.is_some());
        assert_eq!(has, (*operation != Delete, *operation != Create), "{file}");
        for (member, object) in [("object", review.object), ("oldObject", review.old_object)] {
            let read: Value = object.map_or(Value::Null, |raw| serde_json::from_str(raw.text()).unwrap());
            assert_eq!(read, truth["request"][member], "{file} {member}");
        }
    }
}
