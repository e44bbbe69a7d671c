//! The containers of the pod templates of an object.

use super::Ask;
use crate::domain::Failure;
use crate::engine::Draft;
use crate::json::{Kind, Pointer, Value};
use crate::schema::ObjectType;

/// Which containers an action is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Which {
    /// Only these, if there are any; all of them have to be there.
    pub(super) names: Vec<String>,
    /// Init containers too.
    pub(super) init: bool,
}

impl Which {
    /// Calls `change` with each of them, its members and its place. It says what becomes of it; `None` leaves it unchanged.
    ///
    /// Warns that `action` does nothing if there are no containers at all, and fails if one of the names is not there.
    pub(super) fn change<'a, A: Ask<'a>>(
        &self,
        action: &str,
        object: &mut Draft<'a>,
        ask: &mut A,
        mut change: impl FnMut(&Value<'a>, &Pointer) -> Result<Option<Value<'a>>, Failure>,
    ) -> Result<(), A::Error> {
        let (mut there, mut found) = (0_usize, Vec::new());
        let lists: &[&str] = if self.init { &["initContainers", "containers"] } else { &["containers"] };
        for template in ask.pod_templates() {
            for list in lists {
                let changed = object.change(&template.join("spec").join(*list), |list, place| {
                    let kind = list.kind();
                    let Some(containers) = list.array_mut() else {
                        return Err(not(place, "a list of containers", kind));
                    };
                    there += containers.len();
                    for (position, container) in containers.iter_mut().enumerate() {
                        self.one(container, &place.join(position.to_string()), &mut found, &mut change)?;
                    }
                    Ok(())
                });
                let gvk = &ask.request().workload.gvk;
                let is_custom = ObjectType::built_in(&gvk.api_version(), &gvk.kind).is_none();
                changed.map_err(|failure| {
                    if !is_custom {
                        return failure;
                    }
                    let templates = listed(ask.pod_templates());
                    failure.with_detail(format_args!("pod templates are looked for at {templates}: {PLACE}"))
                })?;
            }
        }
        if let Some(name) = self.names.iter().find(|name| !found.contains(name)) {
            let specs: Vec<Pointer> = ask.pod_templates().iter().map(|place| place.join("spec")).collect();
            return Err(Failure::unprocessable(format!(
                "{}: has no container {name:?}; name one that is there, or use `onError: Skip`",
                listed(&specs)
            )))?;
        }
        if there == 0 {
            let missing = missing(object, ask.pod_templates())?;
            let other = if action == "image" { ", or that of the image with `image.path`" } else { "" };
            ask.warn(format!("{missing}, so `{action}` finds no containers; {PLACE}{other}"));
        }
        Ok(())
    }

    /// Changes a container, if it is one of these.
    fn one<'a>(
        &self,
        container: &mut Value<'a>,
        place: &Pointer,
        found: &mut Vec<String>,
        change: &mut impl FnMut(&Value<'a>, &Pointer) -> Result<Option<Value<'a>>, Failure>,
    ) -> Result<(), Failure> {
        if container.as_object().is_none() {
            return Err(not(place, "a container", container.kind()));
        }
        let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
        if !self.names.is_empty() && !self.names.iter().any(|wanted| wanted == name) {
            return Ok(());
        }
        found.push(name.to_owned());
        if let Some(new) = change(container, place)? {
            *container = new;
        }
        Ok(())
    }
}

/// How the places of pod templates are given.
const PLACE: &str = "name the place with `replicaResource.podTemplate` of a ResourceInterpretation";

/// Which place is missing, or empty, where there are no containers.
fn missing(object: &Draft<'_>, templates: &[Pointer]) -> Result<String, Failure> {
    let mut present = Vec::new();
    for template in templates {
        if object.has(template)? {
            present.push(template.join("spec").join("containers"));
        }
    }
    let (places, is) = match (present.is_empty(), templates.len()) {
        (true, 1) => (listed(templates), "is not there"),
        (true, _) => (listed(templates), "are not there"),
        (false, _) => (listed(&present), "has no items"),
    };
    Ok(format!("{places}: {is}"))
}

fn listed(places: &[Pointer]) -> String {
    let places: Vec<String> = places.iter().map(Pointer::to_string).collect();
    places.join(", ")
}

/// The failure where the object has something else than `wanted`.
pub(super) fn not(place: &Pointer, wanted: &str, found: Kind) -> Failure {
    Failure::unprocessable(format!("{place}: must be {wanted}, is {found}; mend the object, or the rule"))
}
