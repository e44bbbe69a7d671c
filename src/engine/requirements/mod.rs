//! The requirements of one replica of a workload, as Karmada's own interpreter computes them.
//!
//! Mirrors `karmada-io/karmada@f8fdd02`: `pkg/util/helper/binding.go` `GenerateReplicaRequirements` and
//! `GenerateNodeClaimByPodSpec` here, `pkg/util/resource.go` and `pkg/util/lifted/corev1helpers.go` in
//! `amounts.rs`. Karmada's own answers are in `tests/data/replica-requirements.json`. The rules:
//!
//! * A container that has a limit for a resource and no request for it requests the limit
//!   (`AddPodTemplateRequest`). A request of 0, or of null, is a request.
//! * Requests are rounded up one by one, `cpu` to thousandths, all else to integers, and then summed over the
//!   containers (`Add`). Per resource, the sum is raised to the request of the largest init container
//!   (`SetMaxResource`), restartable or not; then the pod's overhead is added (`AddPodRequest`). Pod-level
//!   resources and ephemeral containers count for nothing.
//! * Names that are no resource to a scheduler, and totals that are not positive, are left out
//!   (`IsScalarResourceName`, `ResourceList`).
//! * The node claim holds the node selector, the tolerations and the *required* node affinity. A node
//!   selector without entries makes a node claim, an empty one.
//! * Without node claim and without resources there are no requirements; neither namespace nor priority class
//!   make any.
//!
//! Namespace and priority class: Karmada fills them in only with its feature gate `ResourceQuotaEstimate`,
//! and nothing reads them without it. We always give them.
//!
//! DIFFERENCE: where a number leaves the int64 that Karmada counts in, its total wraps around or becomes 0,
//! so that the resource is no longer asked for. Ours stays at the largest int64: what asks for too much fits
//! nowhere. A number that is no [`Quantity`] to us since it is too large is refused. A negative request,
//! which no API server lets into a pod, lowers the sum; Karmada takes some of them, those that Go keeps as
//! big decimals, for another number.
//!
//! Only what is read here is checked.

mod amounts;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use self::amounts::Amounts;
use crate::domain::{Quantity, QuantityError};
use crate::json::{Kind, Object, Pointer, Value};

/// What one replica asks for: Karmada's `ReplicaRequirements`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirements<'a> {
    /// Which nodes it can run on.
    pub node_claim: Option<NodeClaim<'a>>,
    /// What it asks of each resource. Positive amounts, spelled as Karmada spells them.
    pub resource_request: BTreeMap<String, Quantity>,
    /// The namespace of the workload; empty if there is none.
    pub namespace: String,
    /// The pod's priority class; empty if it names none.
    pub priority_class_name: Cow<'a, str>,
}

/// Which nodes a replica can run on: Karmada's `NodeClaim`. The parts are the template's own, whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeClaim<'a> {
    /// The required node affinity, a `NodeSelector`.
    pub hard_node_affinity: Option<Value<'a>>,
    /// Labels that the node has to have. Never empty.
    pub node_selector: Option<Value<'a>>,
    /// Taints that are tolerated. Never empty.
    pub tolerations: Option<Value<'a>>,
}

/// Why a template has no requirements that could be computed, and where.
///
/// Displayed as `<pointer>: <problem>`, the pointer from the template on: put the pointer to the template
/// directly in front.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {problem}")]
pub struct RequirementsError {
    /// The place in the template.
    pub at: Pointer,
    /// What is wrong there.
    pub problem: RequirementsErrorKind,
}

/// What is wrong at a place of a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequirementsErrorKind {
    /// The value is of another kind than it has to be.
    #[error("{found} where {expected} should be")]
    Kind {
        /// What should be there.
        expected: Kind,
        /// What is.
        found: Kind,
    },
    /// The value is of a kind that no quantity has.
    #[error("{0} where a quantity should be")]
    NoQuantity(Kind),
    /// The text can't be read as a quantity.
    #[error("{text:?} is no quantity; {error}")]
    Quantity {
        /// The text, shortened if it is long.
        text: String,
        /// Why it is none.
        error: QuantityError,
    },
}

type Result<T> = std::result::Result<T, RequirementsError>;

/// What a replica made from `pod_template` asks for; `None` if it asks for nothing.
///
/// A Pod will do for a template too: what counts is its `spec`. Parts that are missing or null are empty.
/// `namespace` is that of the workload; empty for a component of a workload, whose requirements have none.
pub fn replica_requirements<'a>(
    pod_template: &Value<'a>,
    namespace: &str,
) -> Result<Option<Requirements<'a>>> {
    let spec = member(pod_template, "spec")?;
    in_spec(spec, namespace).map_err(|error| error.inside("spec"))
}

fn in_spec<'a>(spec: &Value<'a>, namespace: &str) -> Result<Option<Requirements<'a>>> {
    let mut amounts = Amounts::default();
    for_each_container(spec, "containers", |name, quantity| amounts.add(name, quantity))?;
    for_each_container(spec, "initContainers", |name, quantity| amounts.raise(name, quantity))?;
    for_each_quantity(spec, "overhead", |name, quantity| amounts.add(name, quantity))?;
    let resource_request = amounts.into_request();
    let node_claim = node_claim(spec)?;
    let priority_class_name = match member(spec, "priorityClassName")? {
        Value::Null => Cow::Borrowed(""),
        Value::String(name) => name.clone(),
        other => return Err(wrong_kind(Kind::String, other).inside("priorityClassName")),
    };
    if node_claim.is_none() && resource_request.is_empty() {
        return Ok(None);
    }
    Ok(Some(Requirements {
        node_claim,
        resource_request,
        namespace: namespace.to_owned(),
        priority_class_name,
    }))
}

/// Visits what each of the containers in `spec[list]` requests, or, where it does not, the limit that it has.
fn for_each_container<'v>(
    spec: &'v Value<'_>,
    list: &str,
    mut visit: impl FnMut(&'v str, Quantity),
) -> Result<()> {
    for (position, container) in items(spec, list)?.iter().enumerate() {
        for_each_request(container, &mut visit)
            .map_err(|error| error.inside(position.to_string()).inside(list))?;
    }
    Ok(())
}

fn for_each_request<'v>(container: &'v Value<'_>, mut visit: impl FnMut(&'v str, Quantity)) -> Result<()> {
    let resources = member(container, "resources")?;
    let in_resources = |error: RequirementsError| error.inside("resources");
    for_each_quantity(resources, "requests", &mut visit).map_err(in_resources)?;
    let requests = members(resources, "requests").map_err(in_resources)?;
    let requested = |name| requests.is_some_and(|requests| requests.get(name).is_some());
    for_each_quantity(resources, "limits", |name, quantity| {
        if !requested(name) {
            visit(name, quantity);
        }
    })
    .map_err(in_resources)
}

/// Visits the entries of the resource list `parent[name]`.
fn for_each_quantity<'v>(
    parent: &'v Value<'_>,
    name: &str,
    mut visit: impl FnMut(&'v str, Quantity),
) -> Result<()> {
    let entries = members(parent, name)?.into_iter().flat_map(Object::iter);
    for (resource, value) in entries {
        visit(resource, quantity(value).map_err(|error| error.inside(resource).inside(name))?);
    }
    Ok(())
}

fn quantity(value: &Value<'_>) -> Result<Quantity> {
    let text = match value {
        Value::Null => return Ok(Quantity::ZERO),
        Value::String(text) => text.as_ref(),
        Value::Number(number) => number.as_str(),
        other => return Err(RequirementsErrorKind::NoQuantity(other.kind()).here()),
    };
    Quantity::parse(text).map_err(|error| {
        RequirementsErrorKind::Quantity { text: text.chars().take(64).collect(), error }.here()
    })
}

fn node_claim<'a>(spec: &Value<'a>) -> Result<Option<NodeClaim<'a>>> {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let affinity = member(spec, "affinity")?;
    let node_affinity = member(affinity, "nodeAffinity").map_err(|error| error.inside("affinity"))?;
    let required = members(node_affinity, REQUIRED)
        .map_err(|error| error.inside("nodeAffinity").inside("affinity"))?
        .and_then(|_| node_affinity.get(REQUIRED));
    let node_selector = members(spec, "nodeSelector")?;
    for (label, value) in node_selector.into_iter().flat_map(Object::iter) {
        if !matches!(value, Value::String(_) | Value::Null) {
            return Err(wrong_kind(Kind::String, value).inside(label).inside("nodeSelector"));
        }
    }
    let tolerations = items(spec, "tolerations")?;
    for (position, toleration) in tolerations.iter().enumerate() {
        object(toleration).map_err(|error| error.inside(position.to_string()).inside("tolerations"))?;
    }
    if required.is_none() && node_selector.is_none() && tolerations.is_empty() {
        return Ok(None);
    }
    let unless_empty = |name, empty: bool| if empty { None } else { spec.get(name).cloned() };
    Ok(Some(NodeClaim {
        hard_node_affinity: required.cloned(),
        node_selector: unless_empty("nodeSelector", node_selector.is_none_or(Object::is_empty)),
        tolerations: unless_empty("tolerations", tolerations.is_empty()),
    }))
}

/// The member `name` of what has to be an object or missing; null if there is none.
fn member<'v, 'a>(parent: &'v Value<'a>, name: &str) -> Result<&'v Value<'a>> {
    Ok(object(parent)?.and_then(|object| object.get(name)).unwrap_or(&Value::Null))
}

/// The members of the object `parent[name]`; `None` if that is missing.
fn members<'v, 'a>(parent: &'v Value<'a>, name: &str) -> Result<Option<&'v Object<'a>>> {
    object(member(parent, name)?).map_err(|error| error.inside(name))
}

/// The items of the list `parent[name]`; none if that is missing.
fn items<'v, 'a>(parent: &'v Value<'a>, name: &str) -> Result<&'v [Value<'a>]> {
    match member(parent, name)? {
        Value::Null => Ok(&[]),
        Value::Array(items) => Ok(items),
        other => Err(wrong_kind(Kind::Array, other).inside(name)),
    }
}

fn object<'v, 'a>(value: &'v Value<'a>) -> Result<Option<&'v Object<'a>>> {
    match value {
        Value::Null => Ok(None),
        Value::Object(object) => Ok(Some(object)),
        other => Err(wrong_kind(Kind::Object, other)),
    }
}

fn wrong_kind(expected: Kind, found: &Value<'_>) -> RequirementsError {
    RequirementsErrorKind::Kind { expected, found: found.kind() }.here()
}

impl RequirementsErrorKind {
    fn here(self) -> RequirementsError {
        RequirementsError { at: Pointer::ROOT, problem: self }
    }
}

impl RequirementsError {
    /// The same error, seen from the container that has the place under `token`.
    fn inside(self, token: impl fmt::Display) -> Self {
        Self { at: Pointer::of([token.to_string()]).concat(&self.at), problem: self.problem }
    }
}

impl<'a> Requirements<'a> {
    /// The object that Karmada reads, members in Karmada's order, empty ones left out.
    pub fn to_value(&self) -> Value<'a> {
        let Self { node_claim, resource_request, namespace, priority_class_name } = self;
        let mut object = Object::new();
        if let Some(node_claim) = node_claim {
            object.insert("nodeClaim", node_claim.to_value());
        }
        if !resource_request.is_empty() {
            let amounts =
                resource_request.iter().map(|(name, amount)| (name.clone(), amount.to_string().into()));
            object.insert("resourceRequest", Value::Object(amounts.collect()));
        }
        if !namespace.is_empty() {
            object.insert("namespace", namespace.clone().into());
        }
        if !priority_class_name.is_empty() {
            object.insert("priorityClassName", Value::String(priority_class_name.clone()));
        }
        Value::Object(object)
    }
}

impl<'a> NodeClaim<'a> {
    fn to_value(&self) -> Value<'a> {
        let Self { hard_node_affinity, node_selector, tolerations } = self;
        let parts = [
            ("hardNodeAffinity", hard_node_affinity),
            ("nodeSelector", node_selector),
            ("tolerations", tolerations),
        ];
        Value::Object(parts.into_iter().filter_map(|(name, part)| Some((name, part.clone()?))).collect())
    }
}
