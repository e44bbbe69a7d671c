//! What a pointer leads to, by the kind of the object alone.

use super::types;
use crate::domain::GroupVersionKind;
use crate::json::Pointer;
use crate::schema::ObjectType;

/// Why `pointer` leads to no place: it goes on below a value of a map of scalars, such as labels or the
/// `data` of a `ConfigMap`. Usually a `/` inside a name is not escaped.
///
/// Without `kind`, only maps of scalars that objects of all kinds have are found.
pub fn below_string(pointer: &Pointer, kind: Option<&GroupVersionKind>) -> Option<String> {
    let tokens = pointer.tokens();
    let of = kind.and_then(types::built_in);
    let map = (1..tokens.len().saturating_sub(1)).find(|&steps| match &of {
        Some(of) => of.at(&pointer.prefix(steps)).is_map_of_scalars(),
        None => is_map_of_scalars(&tokens[..steps]),
    })?;
    let map_place = pointer.prefix(map);
    let whole = map_place.join(tokens[map..].join("/"));
    Some(format!(
        "{pointer} leads below a string: the values in {map_place} are strings; write `/` inside a name as `~1`: {whole}"
    ))
}

/// Whether a map of scalars is at `place` in an object of any kind.
fn is_map_of_scalars(place: &[String]) -> bool {
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    matches!(
        place.as_slice(),
        [.., "metadata", "labels" | "annotations"]
            | [.., "matchLabels"]
            | [.., "template", "spec", "nodeSelector"]
            | [.., "containers" | "initContainers", _, "resources", "limits" | "requests"]
    )
}

/// The first list that `pointer` leads to or through, in objects of a built-in kind.
pub fn list_in_path(pointer: &Pointer, kind: &GroupVersionKind) -> Option<Pointer> {
    let of = ObjectType::built_in(&kind.api_version(), &kind.kind)?;
    of.root().first_list(pointer).map(|steps| pointer.prefix(steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(text: &str) -> Pointer {
        Pointer::parse(text).unwrap()
    }

    #[test]
    fn a_place_below_a_string_is_found_with_the_probable_pointer() {
        for (text, kind, meant) in [
            ("/metadata/annotations/example.com/x", None, "/metadata/annotations/example.com~1x"),
            ("/metadata/labels/a/b/c", None, "/metadata/labels/a~1b~1c"),
            (
                "/spec/template/metadata/labels/app.kubernetes.io/name",
                None,
                "/spec/template/metadata/labels/app.kubernetes.io~1name",
            ),
            (
                "/spec/jobTemplate/spec/template/spec/nodeSelector/topology.kubernetes.io/zone",
                None,
                "/spec/jobTemplate/spec/template/spec/nodeSelector/topology.kubernetes.io~1zone",
            ),
            (
                "/spec/selector/matchLabels/app.kubernetes.io/name",
                None,
                "/spec/selector/matchLabels/app.kubernetes.io~1name",
            ),
            (
                "/spec/template/spec/containers/0/resources/limits/nvidia.com/gpu",
                None,
                "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
            ),
            ("/spec/nodeSelector/a/b", Some("Pod"), "/spec/nodeSelector/a~1b"),
            ("/data/app.yaml/log/level", Some("ConfigMap"), "/data/app.yaml~1log~1level"),
            ("/stringData/a/b", Some("Secret"), "/stringData/a~1b"),
            (
                "/spec/selector/app.kubernetes.io/name",
                Some("Service"),
                "/spec/selector/app.kubernetes.io~1name",
            ),
            (
                "/spec/hard/requests.nvidia.com/gpu",
                Some("ResourceQuota"),
                "/spec/hard/requests.nvidia.com~1gpu",
            ),
        ] {
            let kind = kind.map(|kind| GroupVersionKind::of("v1", kind));
            let problem = below_string(&pointer(text), kind.as_ref()).unwrap();
            assert!(problem.ends_with(&format!("as `~1`: {meant}")), "{problem}");
        }
    }

    #[test]
    fn other_places_are_not_below_a_string() {
        for (text, kind) in [
            ("/metadata/annotations/example.com~1x", None),
            ("/metadata/labels/app", None),
            ("/metadata/ownerReferences/0/name", None),
            ("/spec/nodeSelector/nodeSelectorTerms/0", None),
            ("/spec/nodeSelector/nodeSelectorTerms/0", Some("Widget")),
            ("/data/a/b", Some("Widget")),
            ("/spec/resources/limits/a/b", None),
            ("/spec/template/spec/containers/0/env/0/value", Some("Pod")),
        ] {
            let kind = kind.map(|kind| GroupVersionKind::of("v1", kind));
            assert_eq!(below_string(&pointer(text), kind.as_ref()), None, "{text}");
        }
    }

    #[test]
    fn a_list_of_a_built_in_kind_is_found_where_it_stands() {
        let deployment = GroupVersionKind::of("apps/v1", "Deployment");
        for (text, list) in [
            ("/spec/template/spec/containers/0/x", Some("/spec/template/spec/containers")),
            ("/spec/template/spec/containers", Some("/spec/template/spec/containers")),
            ("/spec/template/spec/tolerations/0/key", Some("/spec/template/spec/tolerations")),
            ("/metadata/finalizers/0", Some("/metadata/finalizers")),
            ("/spec/replicas", None),
            ("/spec/strategy/rollingUpdate/maxSurge", None),
            ("/spec/unknown/containers/0", None),
        ] {
            let found = list_in_path(&pointer(text), &deployment);
            assert_eq!(found.map(|found| found.to_string()).as_deref(), list, "{text}");
        }
        let custom = GroupVersionKind::of("example.com/v1", "Train");
        assert_eq!(list_in_path(&pointer("/spec/template/spec/containers/0"), &custom), None);
    }
}
