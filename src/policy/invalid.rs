//! Determines what an invalid document selects, as far as it can be read.
//!
//! Requests for the selected objects fail until the document is fixed. Each part is read by itself, and an
//! invalid part selects more than was meant, never less: an object that is not selected would be delivered
//! without the policy.

use super::decode::{Fields, Node, Notes};
use super::finding::Finding;
use super::selector;
use crate::domain::PolicyKind;
use crate::engine::{InvalidDocument, InvalidScope, Owner, ResourceSelector, TransformationScope};
use crate::json::{Pointer, Value};

/// What the document selects. `None` if that cannot be read.
pub(super) fn invalid(document: &Value<'static>, first: &Finding) -> Option<InvalidDocument> {
    let kind = PolicyKind::by_name(document.get("kind")?.as_str()?)?;
    let text = |field: &str| {
        let value = document.get("metadata").and_then(|metadata| metadata.get(field));
        value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let (name, namespace) = (text("name")?, text("namespace"));
    let called = format!("{kind}/{name}");
    let policy = |owner: Owner| {
        let selectors = selectors(document, owner.namespace());
        (!selectors.is_empty()).then_some(InvalidScope::Policy { owner, selectors })
    };
    let scope = match kind {
        PolicyKind::ClusterRevisionPolicy => policy(Owner::Cluster { name })?,
        PolicyKind::RevisionPolicy => policy(Owner::Namespace { namespace: namespace?, name })?,
        PolicyKind::ClusterTargetPodTransformation => {
            InvalidScope::Transformation { scope: TransformationScope::Cluster, name }
        }
        PolicyKind::TargetPodTransformation => {
            let scope = namespace.map_or(TransformationScope::AnyNamespace, TransformationScope::Namespace);
            InvalidScope::Transformation { scope, name }
        }
        PolicyKind::ResourceInterpretation => {
            let target = node(document, &["spec", "target"])?;
            let mut ignored = Notes::default();
            let mut fields = Fields::of(target, &mut ignored)?;
            let gvk = selector::gvk(&mut fields, &mut ignored)?;
            fields.end(&mut ignored);
            InvalidScope::Interpretation(gvk)
        }
    };
    Some(InvalidDocument { document: called, problem: first.to_string(), scope })
}

fn selectors(document: &Value<'static>, home: Option<&str>) -> Vec<ResourceSelector> {
    let mut ignored = Notes::default();
    let list = node(document, &["spec", "resourceSelectors"]);
    let items = list.map(|list| list.items(&mut ignored)).unwrap_or_default();
    items.into_iter().filter_map(|item| selector::resource(item, home, &mut ignored)).collect()
}

fn node<'v>(document: &'v Value<'static>, path: &[&str]) -> Option<Node<'v>> {
    let field = Pointer::of(path.iter().copied());
    Some(Node { value: document.at(&field)?, field })
}
