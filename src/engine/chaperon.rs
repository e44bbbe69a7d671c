//! What no rule may change in the spec of a `PodChaperon`: what Admiralty took out of the pod or put into it on the way to the target.

use super::Draft;
use crate::domain::{ADMIRALTY_GROUP, Failure, POD_CHAPERON, Workload};
use crate::json::{Object, Pointer, Value};

/// Fields of the pod that no rule may change, and why.
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

/// Refuses a revision that undoes what Admiralty did. Other kinds than `PodChaperon` pass.
pub(super) fn crosses(object: &Draft<'_>, workload: &Workload) -> Result<(), Failure> {
    let gvk = &workload.gvk;
    let spec = Pointer::of(["spec"]);
    if (gvk.group.as_str(), gvk.kind.as_str()) != (ADMIRALTY_GROUP, POD_CHAPERON) || !object.touches(&spec) {
        return Ok(());
    }
    let before = object.original().to_value().map_err(|error| Failure::unprocessable(error.to_string()))?;
    compare(&before, &object.to_value()?)
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
        "{place}: {reason}; take the change out of the rule or the transformation"
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
}
