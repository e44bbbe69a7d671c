//! The `CustomResourceDefinition`s of the policies.

use crate::domain::PolicyKind;

/// All of them, as a YAML stream: the files of `manifests/crds`.
pub fn crds() -> String {
    PolicyKind::ALL.map(crd).join("---\n")
}

const fn crd(kind: PolicyKind) -> &'static str {
    match kind {
        PolicyKind::ClusterRevisionPolicy => {
            include_str!("../../manifests/crds/clusterrevisionpolicies.yaml")
        }
        PolicyKind::RevisionPolicy => include_str!("../../manifests/crds/revisionpolicies.yaml"),
        PolicyKind::ResourceInterpretation => {
            include_str!("../../manifests/crds/resourceinterpretations.yaml")
        }
        PolicyKind::ClusterTargetPodTransformation => {
            include_str!("../../manifests/crds/clustertargetpodtransformations.yaml")
        }
        PolicyKind::TargetPodTransformation => {
            include_str!("../../manifests/crds/targetpodtransformations.yaml")
        }
    }
}
