//! `reviser manifests`.

use crate::files::{Directory, assert_done};

/// The files in the order in which they are printed.
const CRDS: [&str; 5] = [
    include_str!("../../manifests/crds/clusterrevisionpolicies.yaml"),
    include_str!("../../manifests/crds/revisionpolicies.yaml"),
    include_str!("../../manifests/crds/resourceinterpretations.yaml"),
    include_str!("../../manifests/crds/clustertargetpodtransformations.yaml"),
    include_str!("../../manifests/crds/targetpodtransformations.yaml"),
];

#[test]
fn the_definitions_are_those_of_the_repository() {
    let done = Directory::new().run(&["manifests", "--for", "crds"]);
    assert_done(&done, 0, &CRDS.join("---\n"), "");
}

#[test]
fn a_webhook_configuration_needs_an_url() {
    let done = Directory::new().run(&["manifests", "--for", "policies"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    let start = "error: the following required arguments were not provided:\n  --url <URL>\n";
    assert!(done.stderr.starts_with(start), "{}", done.stderr);
}
