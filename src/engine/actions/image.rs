//! The action `image`: parts of image references.

use super::containers::{Which, not};
use super::reference::Reference;
use super::{Ask, text};
use crate::domain::Failure;
use crate::engine::Draft;
use crate::engine::templated::Templated;
use crate::json::{Pointer, Value};

/// Changes parts of image references: those of containers, or those at a place of their own. What is not named stays, but that a tag
/// drops the digest, unless a digest is given too. An empty text takes a part away, and nothing else; the repository can't be.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// The containers, by name; all if there are none.
    pub containers: Vec<String>,
    /// Whether init containers are changed too.
    pub init_containers: bool,
    /// Where the reference is, in place of containers. A step `*` stands for each item of a list.
    pub path: Option<Pointer>,
    /// Only images of this registry are changed.
    pub from: Option<Templated>,
    /// Host, or host and port.
    pub registry: Option<Templated>,
    /// The repository.
    pub repository: Option<Templated>,
    /// What is put in front of the repository.
    pub repository_prefix: Option<Templated>,
    /// The tag.
    pub tag: Option<Templated>,
    /// The digest, `sha256:...`.
    pub digest: Option<Templated>,
}

/// The same with its expressions evaluated.
struct Parts {
    from: Option<String>,
    registry: Option<String>,
    repository: Option<String>,
    repository_prefix: Option<String>,
    tag: Option<String>,
    digest: Option<String>,
}

impl Image {
    /// What can be seen to be wrong with the parts that are the same for all, each with its name.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let plain = || Reference { registry: None, repository: "a".to_owned(), tag: None, digest: None };
        let literal = |part: &Option<Templated>| {
            part.as_ref()?.constant()?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let registry = |registry| Reference { registry: Some(registry), ..plain() };
        let repository = |repository| Reference { repository, ..plain() };
        let parts = [
            ("from", literal(&self.from).map(registry)),
            ("registry", literal(&self.registry).map(registry)),
            ("repository", literal(&self.repository).map(repository)),
            ("repositoryPrefix", literal(&self.repository_prefix).map(repository)),
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
        let parts = Parts {
            from: part("image.from", &self.from)?,
            registry: part("image.registry", &self.registry)?,
            repository: part("image.repository", &self.repository)?,
            repository_prefix: part("image.repositoryPrefix", &self.repository_prefix)?,
            tag: part("image.tag", &self.tag)?,
            digest: part("image.digest", &self.digest)?,
        };
        let Some(path) = &self.path else {
            let which = Which { names: self.containers.clone(), init: self.init_containers };
            return which.change("image", object, ask, |container, place| {
                // Whoever fills a missing one in later may set all of it.
                let Some(image) = container.get("image").filter(|image| !image.is_null()) else {
                    return Ok(None);
                };
                let Some(changed) = parts.changed(image, &place.join("image"))? else { return Ok(None) };
                let mut container = container.clone();
                if let Some(members) = container.object_mut() {
                    members.insert("image", changed.into());
                }
                Ok(Some(container))
            });
        };
        let found = object.change(path, |image, place| {
            if let Some(changed) = parts.changed(image, place)? {
                *image = changed.into();
            }
            Ok(())
        });
        if found.map_err(|failure| failure.with_detail(format_args!("`image.path` is {path}")))? == 0 {
            ask.warn(format!(
                "{path}: is not there, so `image` changes nothing; change `image.path`, or take the kind out of the policy"
            ));
        }
        Ok(())
    }
}

impl Parts {
    /// The image with these parts; `None` if it stays.
    fn changed(&self, image: &Value<'_>, place: &Pointer) -> Result<Option<String>, Failure> {
        let Some(image) = image.as_str() else {
            return Err(not(place, "an image reference", image.kind()));
        };
        let mut reference = match Reference::parse(image) {
            Ok(reference) => reference,
            Err(error) => return Err(refused(place, image, &error)),
        };
        if self.from.as_deref().is_some_and(|from| !reference.is_of(from)) {
            return Ok(None);
        }
        let optional = |text: &String| (!text.is_empty()).then(|| text.clone());
        if let Some(prefix) = self.repository_prefix.as_ref().and_then(optional) {
            reference.repository = format!("{prefix}/{}", reference.full_repository());
        }
        if let Some(registry) = &self.registry {
            reference.registry = optional(registry);
        }
        if let Some(repository) = &self.repository {
            reference.repository.clone_from(repository);
        }
        if let Some(tag) = &self.tag {
            reference.tag = optional(tag);
            // It names what the tag named before, and would win over another one.
            if reference.tag.is_some() {
                reference.digest = None;
            }
        }
        if let Some(digest) = &self.digest {
            reference.digest = optional(digest);
        }
        let changed = reference.to_string();
        reference.check().map_err(|error| refused(place, &changed, &reference.explain(error)))?;
        Ok((changed != image).then_some(changed))
    }
}

fn refused(place: &Pointer, image: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::unprocessable(format!(
        "{place}: {image:?} is no image reference: {error}; mend the object, or the rule"
    ))
}
