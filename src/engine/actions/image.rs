//! The action `image`: parts of image references.

use super::containers::{Which, not};
use super::reference::Reference;
use super::{Ask, text};
use crate::domain::Failure;
use crate::engine::Draft;
use crate::engine::templated::Templated;
use crate::json::{Pointer, Value};

/// Changes parts of the image references of containers. What is not named stays, but that a tag drops the digest, unless a
/// digest is given too. An empty text takes a part away, and nothing else; the repository can't be.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// The containers, by name; all if there are none.
    pub containers: Vec<String>,
    /// Whether init containers are changed too.
    pub init_containers: bool,
    /// Host, or host and port.
    pub registry: Option<Templated>,
    /// The repository.
    pub repository: Option<Templated>,
    /// The tag.
    pub tag: Option<Templated>,
    /// The digest, `sha256:...`.
    pub digest: Option<Templated>,
}

impl Image {
    /// What can be seen to be wrong with the parts that are the same for all, each with its name.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let plain = || Reference { registry: None, repository: "a".to_owned(), tag: None, digest: None };
        let literal = |part: &Option<Templated>| {
            part.as_ref()?.constant()?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let repository = literal(&self.repository).map(|repository| Reference { repository, ..plain() });
        let parts = [
            ("registry", literal(&self.registry).map(|text| Reference { registry: Some(text), ..plain() })),
            ("repository", repository),
            ("tag", literal(&self.tag).map(|text| Reference { tag: Some(text), ..plain() })),
            ("digest", literal(&self.digest).map(|text| Reference { digest: Some(text), ..plain() })),
        ];
        let fault = |(name, part): (&'static str, Option<Reference>)| {
            let part = part?;
            part.check().err().map(|error| (name, part.explain(error)))
        };
        parts.into_iter().filter_map(fault).collect()
    }

    /// Applies it to `object`.
    pub fn apply<'a, A: Ask<'a>>(&self, object: &mut Draft<'a>, ask: &mut A) -> Result<(), A::Error> {
        let mut part = |name: &str, templated: &Option<Templated>| match templated {
            Some(templated) => text(name, templated, object, ask).map(Some),
            None => Ok(None),
        };
        let (registry, repository) =
            (part("image.registry", &self.registry)?, part("image.repository", &self.repository)?);
        let (tag, digest) = (part("image.tag", &self.tag)?, part("image.digest", &self.digest)?);
        let which = Which { names: self.containers.clone(), init: self.init_containers };
        which.change(object, ask, |container, place| {
            let place = place.join("image");
            let image = match container.get("image") {
                // Whoever fills it in later may set all of it.
                None | Some(Value::Null) => return Ok(None),
                Some(Value::String(image)) => image,
                Some(other) => return Err(not(&place, "an image reference", other.kind())),
            };
            let mut reference = Reference::parse(image).map_err(|error| refused(&place, image, &error))?;
            let optional = |text: &String| (!text.is_empty()).then(|| text.clone());
            if let Some(registry) = &registry {
                reference.registry = optional(registry);
            }
            if let Some(repository) = &repository {
                reference.repository.clone_from(repository);
            }
            if let Some(tag) = &tag {
                reference.tag = optional(tag);
                // It names what the tag named before, and would win over another one.
                if reference.tag.is_some() {
                    reference.digest = None;
                }
            }
            if let Some(digest) = &digest {
                reference.digest = optional(digest);
            }
            let changed = reference.to_string();
            reference.check().map_err(|error| refused(&place, &changed, &reference.explain(error)))?;
            if changed == **image {
                return Ok(None);
            }
            let mut container = container.clone();
            if let Some(members) = container.object_mut() {
                members.insert("image", changed.into());
            }
            Ok(Some(container))
        })
    }
}

fn refused(place: &Pointer, image: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::unprocessable(format!(
        "{place}: {image:?} is no image reference: {error}; mend the object, or the rule"
    ))
}
