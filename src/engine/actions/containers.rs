//! The containers of a pod template.

use super::Ask;
use crate::domain::Failure;
use crate::engine::Draft;
use crate::json::{Kind, Pointer, Value};

/// Which containers an action is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Which {
    /// Only these, if there are any; all of them have to be there.
    pub(super) names: Vec<String>,
    /// Init containers too.
    pub(super) init: bool,
}

impl Which {
    /// Calls `change` with each of them, its members and its place. It says what becomes of it; `None` leaves it as it is.
    pub(super) fn change<'a, A: Ask<'a>>(
        &self,
        object: &mut Draft<'a>,
        ask: &mut A,
        mut change: impl FnMut(&Value<'a>, &Pointer) -> Result<Option<Value<'a>>, Failure>,
    ) -> Result<(), A::Error> {
        let spec = ask.pod_template().join("spec");
        let mut found: Vec<String> = Vec::new();
        let lists: &[&str] = if self.init { &["initContainers", "containers"] } else { &["containers"] };
        for list in lists {
            let place = spec.join(*list);
            let value = object.find(&place).map_err(|failure| {
                failure.with_detail(format_args!(
                    "the pod template is looked for at {}: name another place with `replicaResource.podTemplate` of a ResourceInterpretation",
                    ask.pod_template()
                ))
            })?;
            let Some(value) = value else { continue };
            let Some(containers) = value.as_array() else {
                return Err(not(&place, "a list of containers", value.kind()))?;
            };
            let mut changed = containers.to_vec();
            for (position, container) in changed.iter_mut().enumerate() {
                let at = place.join(position.to_string());
                if container.as_object().is_none() {
                    return Err(not(&at, "a container", container.kind()))?;
                }
                let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
                if !self.names.is_empty() && !self.names.iter().any(|wanted| wanted == name) {
                    continue;
                }
                found.push(name.to_owned());
                if let Some(new) = change(container, &at)? {
                    *container = new;
                }
            }
            object.set(&place, Value::array(changed))?;
        }
        match self.names.iter().find(|name| !found.contains(name)) {
            None => Ok(()),
            Some(name) => Err(Failure::unprocessable(format!(
                "{spec}: has no container {name:?}; name one that is there, or use `onError: Skip`"
            )))?,
        }
    }
}

/// The failure where the object has something else than `wanted`.
pub(super) fn not(place: &Pointer, wanted: &str, found: Kind) -> Failure {
    Failure::unprocessable(format!("{place}: must be {wanted}, is {found}; mend the object, or the rule"))
}
