//! Which binding a Work was made from.
//!
//! Source: karmada-io/karmada@f8fdd02
//! `pkg/controllers/{binding,namespace,federatedresourcequota,unifiedauth,multiclusterservice,mcs}`.

use std::borrow::Cow;

use super::read::{Manifest, Work, string};
use crate::domain::{
    BINDING_ID_LABELS, BINDING_NAME_ANNOTATION, BINDING_NAMESPACE_ANNOTATION, BindingName,
    CLUSTER_BINDING_NAME_ANNOTATION, Failure, SUPPRESSED_LABEL, Workload,
};
use crate::json::{Members, Pointer, Raw};

/// The origin of a Work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    Binding(BindingName),
    /// Made without a binding, like those of Namespaces. There is no schedule.
    Unbound,
    /// Made without a binding and not dispatched: Karmada keeps objects in it that it collected from members.
    Undispatched,
    /// Made from a binding, but no annotation names it.
    Lost(Failure),
}

impl<'a> Work<'a> {
    /// The binding that its annotations name. Fails if the name is empty.
    pub fn link(&self) -> Result<Link, Failure> {
        if let Some(name) = self.name_in(BINDING_NAME_ANNOTATION)? {
            let namespace = self.annotation(BINDING_NAMESPACE_ANNOTATION)?;
            return Ok(Link::Binding(BindingName {
                namespace: Some(namespace.unwrap_or_default().into_owned()),
                name: name.into_owned(),
            }));
        }
        if let Some(name) = self.name_in(CLUSTER_BINDING_NAME_ANNOTATION)? {
            return Ok(Link::Binding(BindingName { namespace: None, name: name.into_owned() }));
        }
        let labels = self.labels.and_then(|labels| labels.members().ok()).unwrap_or_default();
        Ok(match self.binding_hint(&labels) {
            _ if self.is_suspended || is_suppressed(&labels) => Link::Undispatched,
            None => Link::Unbound,
            Some(path) => Link::Lost(Failure::unprocessable(format!(
                "no annotation of the Work names its binding, although its {path} says that it was made from one; let Karmada write the \
                 Work again, which restores the annotation, or remove that field"
            ))),
        })
    }

    /// The path of a field that only a Work with a binding has.
    fn binding_hint(&self, labels: &Members<'_>) -> Option<Pointer> {
        const NAMES: [&str; 2] = [BINDING_NAME_ANNOTATION, CLUSTER_BINDING_NAME_ANNOTATION];
        // An annotation that is no string names no binding, but it is a hint.
        if let Some(name) = NAMES.into_iter().find(|name| self.annotations.get(name).is_some()) {
            return Some(Pointer::of(["metadata", "annotations", name]));
        }
        if let Some(label) = BINDING_ID_LABELS.into_iter().find(|label| labels.get(label).is_some()) {
            return Some(Pointer::of(["metadata", "labels", label]));
        }
        self.manifests.iter().enumerate().find_map(|(position, manifest)| {
            let name = NAMES.into_iter().find(|name| manifest.has_annotation(name))?;
            let position = position.to_string();
            Some(Pointer::of([
                "spec",
                "workload",
                "manifests",
                position.as_str(),
                "metadata",
                "annotations",
                name,
            ]))
        })
    }

    /// Whether `workload` is its owner. The object of that name on Karmada's API server is then its template.
    pub fn is_owned_by(&self, workload: &Workload) -> bool {
        // The owner of a Work in an execution namespace is cluster-scoped.
        let owners = || self.owners.and_then(|owners| owners.items().ok()).unwrap_or_default();
        workload.namespace.is_empty() && owners().iter().any(|owner| names(owner, workload))
    }

    /// The name in an annotation. Fails if it is empty.
    fn name_in(&self, key: &str) -> Result<Option<Cow<'a, str>>, Failure> {
        match self.annotation(key)? {
            Some(name) if name.is_empty() => Err(Failure::unprocessable(format!(
                "the Work's annotation {key:?} is empty; name its binding, or remove the annotation"
            ))),
            name => Ok(name),
        }
    }

    fn annotation(&self, key: &str) -> Result<Option<Cow<'a, str>>, Failure> {
        string(&self.annotations, key).map_err(|error| {
            Failure::unprocessable(format!("the Work's annotation {key:?} can't be read: {error}; fix it"))
        })
    }
}

fn is_suppressed(labels: &Members<'_>) -> bool {
    let (label, value) = SUPPRESSED_LABEL;
    string(labels, label).is_ok_and(|found| found.as_deref() == Some(value))
}

impl Manifest<'_> {
    fn has_annotation(&self, key: &str) -> bool {
        let annotations = self.raw.at(&Pointer::of(["metadata", "annotations", key]));
        annotations.is_ok_and(|found| found.is_some())
    }
}

/// Whether an owner reference names a workload as the controller.
fn names(owner: &Raw<'_>, workload: &Workload) -> bool {
    let Ok(owner) = owner.members() else { return false };
    let has =
        |member: &str, value: &str| string(&owner, member).is_ok_and(|found| found.as_deref() == Some(value));
    owner.get("controller").is_some_and(|raw| raw.text() == "true")
        && has("apiVersion", &workload.gvk.api_version())
        && has("kind", &workload.gvk.kind)
        && has("name", &workload.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::GroupVersionKind;
    use crate::json::Text;

    /// A Work with this in its metadata, its spec and the metadata of its one manifest, each with a comma at
    /// the end.
    fn work(metadata: &str, spec: &str, manifest: &str) -> String {
        format!(
            r#"{{"metadata":{{{metadata}"name":"w"}},"spec":{{{spec}"workload":{{"manifests":[
            {{"apiVersion":"v1","kind":"Namespace","metadata":{{{manifest}"name":"shop"}}}}]}}}}}}"#
        )
    }

    fn link(text: &str) -> Link {
        let text = Text::parse(text.as_bytes()).unwrap();
        Work::read(text.root()).unwrap().link().unwrap()
    }

    fn binding(namespace: Option<&str>) -> Link {
        Link::Binding(BindingName { namespace: namespace.map(str::to_owned), name: "b".to_owned() })
    }

    #[test]
    fn a_binding_is_named_by_annotations() {
        for (annotations, expected) in [
            (
                r#"{"resourcebinding.karmada.io/name":"b","resourcebinding.karmada.io/namespace":"n"}"#,
                binding(Some("n")),
            ),
            (r#"{"resourcebinding.karmada.io/name":"b"}"#, binding(Some(""))),
            (r#"{"clusterresourcebinding.karmada.io/name":"b"}"#, binding(None)),
            (r#"{"resourcebinding.karmada.io/namespace":"n"}"#, Link::Unbound),
            (r#"{"endpointslice.karmada.io/provision-cluster":"x"}"#, Link::Unbound),
            ("null", Link::Unbound),
        ] {
            let metadata = format!(r#""annotations":{annotations},"#);
            assert_eq!(link(&work(&metadata, "", "")), expected, "{annotations}");
        }
        let suspended = work(
            r#""annotations":{"clusterresourcebinding.karmada.io/name":"b"},"#,
            r#""suspendDispatching":true,"#,
            "",
        );
        assert_eq!(link(&suspended), binding(None), "it is dispatched later");
    }

    #[test]
    fn a_work_without_a_binding_that_is_not_dispatched_is_recognized() {
        for (metadata, spec, expected) in [
            ("", r#""suspendDispatching":true,"#, Link::Undispatched),
            ("", r#""suspendDispatching":false,"#, Link::Unbound),
            ("", r#""suspendDispatching":null,"#, Link::Unbound),
            ("", r#""suspendDispatching":"true","#, Link::Unbound),
            (r#""labels":{"propagation.karmada.io/instruction":"suppressed"},"#, "", Link::Undispatched),
            (r#""labels":{"propagation.karmada.io/instruction":"other"},"#, "", Link::Unbound),
            (r#""labels":{"propagation.karmada.io/instruction":1},"#, "", Link::Unbound),
            (r#""labels":[],"#, "", Link::Unbound),
        ] {
            assert_eq!(link(&work(metadata, spec, "")), expected, "{metadata} {spec}");
        }
    }

    #[test]
    fn a_binding_without_a_name_is_lost() {
        let lost = |path: &str, text: &str| {
            let Link::Lost(failure) = link(text) else { panic!("{text}") };
            let message = failure.message();
            assert!(message.contains(&format!("although its {path} says ")), "{message}");
        };
        for label in ["resourcebinding.karmada.io/permanent-id", "clusterresourcebinding.karmada.io/key"] {
            let metadata = format!(r#""labels":{{"{label}":"i"}},"#);
            lost(&format!("/metadata/labels/{}", label.replace('/', "~1")), &work(&metadata, "", ""));
        }
        lost(
            "/metadata/annotations/resourcebinding.karmada.io~1name",
            &work(r#""annotations":{"resourcebinding.karmada.io/name":1},"#, "", ""),
        );
        lost(
            "/spec/workload/manifests/0/metadata/annotations/clusterresourcebinding.karmada.io~1name",
            &work("", "", r#""annotations":{"clusterresourcebinding.karmada.io/name":"b"},"#),
        );
        let labelled = work("", "", r#""labels":{"resourcebinding.karmada.io/permanent-id":"i"},"#);
        assert_eq!(link(&labelled), Link::Unbound, "members copy labels of Services to EndpointSlices");
    }

    #[test]
    fn the_owner_of_a_work_is_the_template_of_an_object_with_its_identity() {
        let owner = r#"{"apiVersion":"v1","kind":"Namespace","name":"shop","controller":true}"#;
        let namespace = |name: &str| Workload {
            gvk: GroupVersionKind::of("v1", "Namespace"),
            namespace: String::new(),
            name: name.to_owned(),
        };
        let quota = Workload { gvk: GroupVersionKind::of("v1", "ResourceQuota"), ..namespace("shop") };
        let inside = Workload { namespace: "shop".to_owned(), ..namespace("shop") };
        for (owners, workload, expected) in [
            (format!("[{owner}]"), namespace("shop"), true),
            (format!("[{{}},1,{owner}]"), namespace("shop"), true),
            (format!("[{owner}]"), namespace("other"), false),
            (format!("[{owner}]"), quota, false),
            (format!("[{owner}]"), inside, false),
            (format!("[{}]", owner.replace("true", "false")), namespace("shop"), false),
            (format!("[{}]", owner.replace(r#","controller":true"#, "")), namespace("shop"), false),
            (owner.to_owned(), namespace("shop"), false),
            ("null".to_owned(), namespace("shop"), false),
        ] {
            let text = work(&format!(r#""ownerReferences":{owners},"#), "", "");
            let text = Text::parse(text.as_bytes()).unwrap();
            let work = Work::read(text.root()).unwrap();
            assert_eq!(work.is_owned_by(&workload), expected, "{owners} {workload:?}");
        }
    }
}
