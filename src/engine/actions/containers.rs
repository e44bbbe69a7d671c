//! The containers that an action changes.

use crate::domain::Failure;
use crate::engine::Draft;
use crate::engine::context::Context;
use crate::engine::request::Stop;
use crate::json::{Kind, Object, Pointer, Value};
use crate::schema::ObjectType;

/// Selects containers of the pod templates of an object.
pub(super) struct ContainerSelector<'s> {
    /// All containers if empty. All of these have to exist.
    pub(super) names: &'s [String],
    /// Whether init containers are selected too.
    pub(super) init: bool,
}

impl ContainerSelector<'_> {
    /// Calls `change` with each selected container and its place. Warns that `action` changes nothing if the
    /// object has no containers.
    pub(super) fn change<'a>(
        &self,
        action: &str,
        draft: &mut Draft<'a>,
        context: &mut Context<'_, 'a>,
        mut change: impl FnMut(&mut Object<'a>, &Pointer) -> Result<(), Failure>,
    ) -> Result<(), Stop> {
        let templates = context.facts.pod_templates;
        let (mut count, mut found) = (0_usize, Vec::new());
        let mut change_list = |list: &mut Value<'a>, place: &Pointer| {
            let kind = list.kind();
            let containers =
                list.array_mut().ok_or_else(|| wrong_kind(place, "a list of containers", kind))?;
            count += containers.len();
            for (position, container) in containers.iter_mut().enumerate() {
                let (place, kind) = (place.join(position.to_string()), container.kind());
                let members =
                    container.object_mut().ok_or_else(|| wrong_kind(&place, "a container", kind))?;
                let name = members.get("name").and_then(Value::as_str).unwrap_or_default();
                if self.names.is_empty() || self.names.iter().any(|wanted| wanted == name) {
                    found.push(name.to_owned());
                    change(members, &place)?;
                }
            }
            Ok(())
        };
        let lists: &[&str] = if self.init { &["initContainers", "containers"] } else { &["containers"] };
        for template in templates {
            for list in lists {
                draft.change(&template.join("spec").join(*list), &mut change_list).map_err(|failure| {
                    let gvk = &context.request.workload.gvk;
                    if ObjectType::built_in(&gvk.api_version(), &gvk.kind).is_some() {
                        return failure;
                    }
                    let templates = listed(templates);
                    failure.with_detail(format_args!("pod templates are looked for at {templates}: {ADVICE}"))
                })?;
            }
        }
        if let Some(name) = self.names.iter().find(|name| !found.contains(name)) {
            let specs: Vec<Pointer> = templates.iter().map(|place| place.join("spec")).collect();
            return Err(Stop::Refused(Failure::unprocessable(format!(
                "{}: has no container {name:?}; name a container that exists, or use `onError: Skip`",
                listed(&specs)
            ))));
        }
        if count == 0 {
            let missing = missing(draft, templates);
            let other = if action == "image" { ", or that of the image with `image.path`" } else { "" };
            context.warn(format!("{missing}, so `{action}` finds no containers; {ADVICE}{other}"));
        }
        Ok(())
    }
}

const ADVICE: &str = "name the place with `replicaResource.podTemplate` of a ResourceInterpretation";

/// Which place is missing or empty in an object without containers.
fn missing(draft: &Draft<'_>, templates: &[Pointer]) -> String {
    let present: Vec<Pointer> = templates
        .iter()
        .filter(|template| draft.has(template))
        .map(|template| template.join("spec").join("containers"))
        .collect();
    match (present.is_empty(), templates.len()) {
        (true, 1) => format!("{}: is not there", listed(templates)),
        (true, _) => format!("{}: are not there", listed(templates)),
        (false, _) => format!("{}: has no items", listed(&present)),
    }
}

fn listed(places: &[Pointer]) -> String {
    let places: Vec<String> = places.iter().map(Pointer::to_string).collect();
    places.join(", ")
}

pub(super) fn wrong_kind(place: &Pointer, wanted: &str, found: Kind) -> Failure {
    Failure::unprocessable(format!("{place}: must be {wanted}, is {found}; change the object, or the rule"))
}
