//! What the server may do on an API server.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{RIGHTS, renderings};
use crate::support::kustomize::rendered;
use crate::support::objects::{items, of_kind, texts, the};

/// What the rules of roles allow, one line for each resource.
fn allowed(given: &[&Value]) -> BTreeSet<String> {
    let rules = given.iter().flat_map(|role| items(&role["rules"]));
    rules
        .flat_map(|rule| {
            let [group] = texts(&rule["apiGroups"])[..] else { panic!("{rule}") };
            let names = texts(&rule["resourceNames"]).join(",");
            let verbs = texts(&rule["verbs"]).join(",");
            let line = move |resource: &str| format!("{resource}.{group} {names} {verbs}");
            texts(&rule["resources"]).into_iter().map(line).collect::<Vec<_>>()
        })
        .collect()
}

const POLICIES: [&str; 5] = [
    "clusterrevisionpolicies",
    "revisionpolicies",
    "resourceinterpretations",
    "clustertargetpodtransformations",
    "targetpodtransformations",
];

#[test]
fn rights_are_those_that_are_needed_and_no_more() {
    for (folder, objects) in renderings(RIGHTS) {
        let mut roles = of_kind(&objects, "ClusterRole");
        roles.extend(of_kind(&objects, "Role"));
        let mut expected: BTreeSet<String> = POLICIES
            .iter()
            .flat_map(|kind| {
                [format!("{kind}.reviser.io  list,watch"), format!("{kind}/status.reviser.io  patch")]
            })
            .collect();
        let others: &[&str] = if folder.contains("karmada") {
            &[
                "resourcebindings.work.karmada.io  get,list,watch,patch",
                "clusterresourcebindings.work.karmada.io  get,list,watch,patch",
                "works.work.karmada.io  list,watch,patch",
                "clusters.cluster.karmada.io  list,watch",
                "rollouts.deploy.example.com  get",
            ]
        } else {
            &[
                "targets.multicluster.admiralty.io  list,watch",
                "clustertargets.multicluster.admiralty.io  list,watch",
            ]
        };
        expected.extend(others.iter().map(|line| (*line).to_owned()));
        expected.insert("leases.coordination.k8s.io  create".to_owned());
        expected.insert("leases.coordination.k8s.io reviser get,patch".to_owned());
        assert_eq!(allowed(&roles), expected, "{folder}");
        assert!(!json!(roles).to_string().contains('*'), "{folder}");
        assert!(!json!(roles).to_string().contains("nonResourceURLs"), "{folder}");
    }
}

#[test]
fn each_role_is_bound_to_the_account_that_is_there() {
    for (folder, objects) in renderings(RIGHTS) {
        let account = the(&objects, "ServiceAccount");
        for (kind, role) in [("ClusterRoleBinding", "ClusterRole"), ("RoleBinding", "Role")] {
            let names = |kind: &str| -> BTreeSet<String> {
                of_kind(&objects, kind).into_iter().map(|role| role["metadata"]["name"].to_string()).collect()
            };
            assert_eq!(names(kind), names(role), "{folder}");
            for binding in of_kind(&objects, kind) {
                let reference = &binding["roleRef"];
                assert_eq!(
                    (&reference["kind"], &reference["name"]),
                    (&json!(role), &binding["metadata"]["name"]),
                    "{folder}"
                );
                let metadata = &account["metadata"];
                let subject = json!({"kind": "ServiceAccount", "name": metadata["name"], "namespace": metadata["namespace"]});
                assert_eq!(binding["subjects"], json!([subject]), "{folder}");
            }
        }
    }
}

#[test]
fn policies_are_what_is_installed_looked_at_and_read() {
    let Some(callers) = rendered("manifests/policies") else { return };
    let [rule] = &callers[0]["webhooks"][0]["rules"].as_array().unwrap()[..] else { panic!("{callers:?}") };
    let expected = BTreeSet::from(POLICIES);
    assert_eq!(texts(&rule["resources"]).into_iter().collect::<BTreeSet<_>>(), expected);
    for (folder, objects) in renderings(RIGHTS) {
        let definitions = of_kind(&objects, "CustomResourceDefinition");
        let plurals: BTreeSet<&str> =
            definitions.iter().map(|one| one["spec"]["names"]["plural"].as_str().unwrap()).collect();
        assert_eq!(plurals, expected, "{folder}");
        for definition in definitions {
            assert_eq!(rule["apiGroups"], json!([definition["spec"]["group"]]), "{folder}");
            for version in items(&definition["spec"]["versions"]) {
                assert_eq!(rule["apiVersions"], json!([version["name"]]), "{folder}");
                assert!(
                    version["subresources"].get("status").is_some(),
                    "{folder}: {}",
                    definition["metadata"]
                );
            }
        }
    }
}
