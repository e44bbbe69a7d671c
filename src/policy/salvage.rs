//! What a faulty document was meant for, as far as it still says so.
//!
//! Each part is read by itself. One that can't be read leaves more selected than was meant, never less: what is selected gets no answer
//! until the document is mended, and to leave something out would deliver it as if nobody had written a policy for it.

use super::decode::{Fields, Node, Notes};
use super::finding::Finding;
use super::selector;
use crate::domain::PolicyKind;
use crate::engine::{InvalidDocument, InvalidScope, Owner, ResourceSelector, TransformationScope};
use crate::json::{Pointer, Value};

/// The document as one that is out of use; `None` if it does not say for what it is.
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
            let mut nobody_reads = Notes::default();
            let mut fields = Fields::of(target, &mut nobody_reads)?;
            let gvk = selector::gvk(&mut fields, &mut nobody_reads)?;
            fields.end(&mut nobody_reads);
            InvalidScope::Interpretation(gvk)
        }
    };
    Some(InvalidDocument { document: called, problem: first.to_string(), scope })
}

fn selectors(document: &Value<'static>, home: Option<&str>) -> Vec<ResourceSelector> {
    let mut nobody_reads = Notes::default();
    let list = node(document, &["spec", "resourceSelectors"]);
    let items = list.map(|list| list.items(&mut nobody_reads)).unwrap_or_default();
    items.into_iter().filter_map(|item| selector::resource(item, home, &mut nobody_reads)).collect()
}

fn node<'v>(document: &'v Value<'static>, path: &[&str]) -> Option<Node<'v>> {
    let field = Pointer::of(path.iter().copied());
    Some(Node { value: document.at(&field)?, field })
}
