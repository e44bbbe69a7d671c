//! What no rule may change in the spec of a `PodChaperon`: what Admiralty removed from the pod, or added to
//! it, on the way to the target.

use super::Draft;
use super::draft::ObjectSource;
use super::owner::Owner;
use super::selectors::{LabelSelector, ResourceSelector};
use crate::domain::{ADMIRALTY_GROUP, Failure, PARENT_CLUSTER_LABEL, Workload};
use crate::json::{Object, Pointer, Value};

/// Fields that no rule may change, and why.
const FIELDS: [(&str, &str); 3] = [
    ("schedulerName", "names the scheduler of the target by which Admiralty places the pod"),
    ("priority", "is worked out in the target"),
    (
        "nodeName",
        "binds the pod before Admiralty has chosen a target, so that it would run in several; use nodeSelector or affinity",
    ),
];

/// Where a pod's own credentials are mounted.
const CREDENTIALS: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Refuses a revision that undoes what Admiralty did. Other kinds are not checked.
pub(super) fn check(object: &Draft<'_>, workload: &Workload) -> Result<(), Failure> {
    if workload.is_chaperon() { compare(object.original(), object.value()) } else { Ok(()) }
}

/// Warnings for policies that select a `PodChaperon` by a label that Admiralty writes in another form:
/// `<pointer>: <problem>; <advice>`.
pub(super) fn selector_warnings<'p>(
    selectors: impl Iterator<Item = (&'p Owner, &'p ResourceSelector)>,
    workload: &Workload,
    object: &ObjectSource<'_>,
) -> Vec<String> {
    if !workload.is_chaperon() {
        return Vec::new();
    }
    let labels = Pointer::of(["metadata", "labels"]);
    let label = |key: &str| {
        let found = object.at(&labels.join(key)).ok().flatten()?;
        found.as_str().map(str::to_owned)
    };
    let mut warnings = Vec::new();
    for (owner, selector) in selectors {
        let is_elsewhere = |namespace: Option<&str>| namespace.is_some_and(|it| it != workload.namespace);
        if selector.gvk != workload.gvk
            || is_elsewhere(owner.namespace())
            || is_elsewhere(selector.namespace.as_deref())
        {
            continue;
        }
        let keys = selector.labels.iter().filter(|_| selector.name.is_none()).flat_map(LabelSelector::keys);
        warnings.extend(keys.filter_map(|key| {
            if key == PARENT_CLUSTER_LABEL && label(key).unwrap_or_default().is_empty() {
                return Some(format!(
                    "{}: is empty, and {owner} selects by it; install Admiralty in the source with the value clusterName",
                    labels.join(key)
                ));
            }
            let last = key.rsplit('/').next().unwrap_or_default();
            let arrived = format!("{ADMIRALTY_GROUP}/{last}");
            (key != arrived && label(key).is_none() && label(&arrived).is_some()).then(|| {
                format!(
                    "{}: {owner} selects by {key:?}, which Admiralty renames to this; select by this key",
                    labels.join(&arrived)
                )
            })
        }));
    }
    warnings.dedup();
    warnings
}

fn compare(before: &Value<'_>, after: &Value<'_>) -> Result<(), Failure> {
    for (field, reason) in FIELDS {
        let place = Pointer::of(["spec", field]);
        if before.at(&place) != after.at(&place) {
            return Err(refused(&place, reason));
        }
    }
    let had: Vec<String> = mounts(before).map(|(container, _)| container).collect();
    match mounts(after).find(|(container, _)| !had.contains(container)) {
        Some((_, place)) => Err(refused(
            &place,
            "mounts the credentials of a service account of the source, which Admiralty has taken away",
        )),
        None => Ok(()),
    }
}

fn refused(place: &Pointer, reason: &str) -> Failure {
    Failure::unprocessable(format!(
        "{place}: {reason}; remove the change from the rule or the transformation"
    ))
}

/// The containers that mount credentials, by list and name, each with the place of the mount.
fn mounts<'v>(object: &'v Value<'_>) -> impl Iterator<Item = (String, Pointer)> + 'v {
    ["initContainers", "containers"].into_iter().flat_map(move |list| {
        let place = Pointer::of(["spec", list]);
        let containers = object.at(&place).and_then(Value::as_array).unwrap_or_default();
        containers.iter().enumerate().filter_map(move |(position, container)| {
            let members = container.as_object();
            let name = members.and_then(|members| text(members, "name")).unwrap_or_default();
            let place = place.join(position.to_string()).join("volumeMounts");
            let mounts = members.and_then(|members| members.get("volumeMounts")).and_then(Value::as_array);
            let credentials = |mount: &&Value<'_>| {
                let path = mount.as_object().and_then(|mount| text(mount, "mountPath"));
                path.is_some_and(|path| path.trim_end_matches('/') == CREDENTIALS)
            };
            let at = mounts.unwrap_or_default().iter().position(|mount| credentials(&mount));
            at.map(|at| (format!("{list}/{name}"), place.join(at.to_string())))
        })
    })
}

fn text<'v>(members: &'v Object<'_>, name: &str) -> Option<&'v str> {
    members.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{GroupVersionKind, POD_CHAPERON};
    use crate::engine::LabelRequirement;
    use crate::json::Text;

    fn value(text: &'static str) -> Value<'static> {
        Value::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn what_admiralty_did_is_not_undone() {
        let before = value(r#"{"spec":{"schedulerName":"admiralty-candidate","containers":[{"name":"a"}]}}"#);
        for (after, expected) in [
            (r#"{"spec":{"containers":[{"name":"a"}]}}"#, "/spec/schedulerName: "),
            (r#"{"spec":{"schedulerName":"default-scheduler"}}"#, "/spec/schedulerName: "),
            (r#"{"spec":{"schedulerName":"admiralty-candidate","priority":0}}"#, "/spec/priority: "),
            (
                r#"{"spec":{"schedulerName":"admiralty-candidate","nodeName":"n1","containers":[{"name":"a"}]}}"#,
                "/spec/nodeName: ",
            ),
            (
                r#"{"spec":{"schedulerName":"admiralty-candidate","containers":[{"name":"a","volumeMounts":[{"mountPath":"/x"},{"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount/"}]}]}}"#,
                "/spec/containers/0/volumeMounts/1: ",
            ),
        ] {
            let refusal = compare(&before, &value(after)).unwrap_err();
            assert!(refusal.message().starts_with(expected), "{refusal}");
        }
        let allowed = r#"{"spec":{"schedulerName":"admiralty-candidate","nodeSelector":{"a":"b"},"containers":[{"name":"a","volumeMounts":[{"mountPath":"/x"}]}]}}"#;
        assert_eq!(compare(&before, &value(allowed)), Ok(()));
    }

    /// A policy that selects `PodChaperon`s by these labels.
    fn policy(
        owner: Owner,
        keys: &[&str],
        namespace: Option<&str>,
        name: Option<&str>,
    ) -> (Owner, ResourceSelector) {
        let selector = ResourceSelector {
            gvk: GroupVersionKind::of("multicluster.admiralty.io/v1alpha1", POD_CHAPERON),
            namespace: namespace.map(str::to_owned),
            name: name.map(str::to_owned),
            labels: Some(LabelSelector(
                keys.iter().map(|&key| LabelRequirement::In(key.to_owned(), vec!["x".to_owned()])).collect(),
            )),
        };
        (owner, selector)
    }

    #[test]
    fn a_selector_that_expects_other_labels_is_warned_of() {
        let cluster = || Owner::Cluster { name: "p".to_owned() };
        let namespace =
            |namespace: &str| Owner::Namespace { namespace: namespace.to_owned(), name: "n".to_owned() };
        let workload = Workload {
            gvk: GroupVersionKind::of("multicluster.admiralty.io/v1alpha1", POD_CHAPERON),
            namespace: "lab".to_owned(),
            name: "train-".to_owned(),
        };
        let warned = |(owner, selector): (Owner, ResourceSelector), labels: &str| {
            let text = format!(r#"{{"metadata":{{"labels":{labels}}}}}"#);
            let text = Text::parse(text.as_bytes()).unwrap();
            selector_warnings([(&owner, &selector)].into_iter(), &workload, &text.root().into())
        };
        let parent = |value: &str| format!(r#"{{"{PARENT_CLUSTER_LABEL}":"{value}"}}"#);
        for labels in [parent(""), "{}".to_owned(), "null".to_owned()] {
            let [warning] = &warned(policy(cluster(), &[PARENT_CLUSTER_LABEL], None, None), &labels)[..]
            else {
                panic!("{labels}: one is wanted")
            };
            assert_eq!(
                warning,
                "/metadata/labels/multicluster.admiralty.io~1parent-cluster-name: is empty, and ClusterRevisionPolicy/p selects by it; \
                 install Admiralty in the source with the value clusterName"
            );
        }
        let arrived = r#"{"multicluster.admiralty.io/app":"train","tier":"x"}"#;
        for key in ["app", "app.kubernetes.io/app"] {
            let [warning] = &warned(policy(namespace("lab"), &[key, "tier"], None, None), arrived)[..] else {
                panic!("{key}: one is wanted")
            };
            let expected =
                format!("~1app: RevisionPolicy/n selects by {key:?}, which Admiralty renames to this; ");
            assert!(warning.contains(&expected), "{warning}");
        }
        for (policy, labels) in [
            (policy(cluster(), &[PARENT_CLUSTER_LABEL], None, None), parent("source").as_str()),
            (policy(cluster(), &[PARENT_CLUSTER_LABEL], Some("bank"), None), &parent("")),
            (policy(cluster(), &[PARENT_CLUSTER_LABEL], None, Some("train-")), &parent("")),
            (policy(namespace("bank"), &[PARENT_CLUSTER_LABEL], None, None), &parent("")),
            (policy(cluster(), &["tier", "multicluster.admiralty.io/app", "other"], None, None), arrived),
        ] {
            assert_eq!(warned(policy, labels), Vec::<String>::new());
        }
    }
}
