//! The action `image`: parts of image references.

use super::containers::{ContainerSelector, wrong_kind};
use super::reference::Reference;
use crate::domain::Failure;
use crate::engine::Draft;
use crate::engine::context::Context;
use crate::engine::request::Stop;
use crate::engine::templated::Templated;
use crate::json::{Pointer, Value};

/// Changes parts of image references, in containers or at a path.
///
/// Parts that are not given stay, except that a new tag removes the digest unless a digest is given too. An
/// empty text removes a part; the repository can't be removed.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// The containers, by name; all if empty.
    pub containers: Vec<String>,
    /// Whether init containers are changed too.
    pub init_containers: bool,
    /// Where the reference is, instead of in containers. A step `*` stands for each item of a list.
    pub path: Option<Pointer>,
    /// Only images of this registry are changed.
    pub from: Option<Templated>,
    /// Host, or host and port.
    pub registry: Option<Templated>,
    pub repository: Option<Templated>,
    /// Put in front of the repository.
    pub repository_prefix: Option<Templated>,
    pub tag: Option<Templated>,
    /// `sha256:...`
    pub digest: Option<Templated>,
}

/// The parts of an [`Image`], with their expressions evaluated.
struct Parts {
    from: Option<String>,
    registry: Option<String>,
    repository: Option<String>,
    repository_prefix: Option<String>,
    tag: Option<String>,
    digest: Option<String>,
}

impl Image {
    fn parts(&self) -> [(&'static str, &Option<Templated>); 6] {
        [
            ("from", &self.from),
            ("registry", &self.registry),
            ("repository", &self.repository),
            ("repositoryPrefix", &self.repository_prefix),
            ("tag", &self.tag),
            ("digest", &self.digest),
        ]
    }

    pub(super) fn values(&self) -> Vec<&Templated> {
        self.parts().into_iter().filter_map(|(_, part)| part.as_ref()).collect()
    }

    /// The parts without expressions that fit no image reference, by name, each with the problem.
    pub fn invalid_parts(&self) -> Vec<(&'static str, String)> {
        let check = |(name, part): (&'static str, &Option<Templated>)| {
            let text = part.as_ref()?.constant()?.as_str().filter(|text| !text.is_empty())?.to_owned();
            let mut reference =
                Reference { registry: None, repository: "a".to_owned(), tag: None, digest: None };
            match name {
                "from" | "registry" => reference.registry = Some(text),
                "tag" => reference.tag = Some(text),
                "digest" => reference.digest = Some(text),
                _ => reference.repository = text,
            }
            reference.check().err().map(|error| (name, reference.explain(error)))
        };
        self.parts().into_iter().filter_map(check).collect()
    }

    pub(super) fn apply<'a>(&self, draft: &mut Draft<'a>, context: &mut Context<'_, 'a>) -> Result<(), Stop> {
        let mut part = |field: &str, part: &Option<Templated>| {
            part.as_ref().map(|part| context.text(field, part, draft)).transpose()
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
            let selector = ContainerSelector { names: &self.containers, init: self.init_containers };
            return selector.change("image", draft, context, |container, place| {
                // An image that is missing is set later by another controller, which may set all of it.
                if let Some(image) = container.get("image").filter(|image| !image.is_null())
                    && let Some(changed) = parts.changed(image, &place.join("image"))?
                {
                    container.insert("image", changed.into());
                }
                Ok(())
            });
        };
        let found = draft.change(path, |image, place| {
            if let Some(changed) = parts.changed(image, place)? {
                *image = changed.into();
            }
            Ok(())
        });
        if found.map_err(|failure| failure.with_detail(format_args!("`image.path` is {path}")))? == 0 {
            context.warn(format!(
                "{path}: is not there, so `image` changes nothing; change `image.path`, or take the kind out of the policy"
            ));
        }
        Ok(())
    }
}

impl Parts {
    /// The image with these parts; `None` if that is the same.
    fn changed(&self, image: &Value<'_>, place: &Pointer) -> Result<Option<String>, Failure> {
        let Some(image) = image.as_str() else {
            return Err(wrong_kind(place, "an image reference", image.kind()));
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
            // The digest is that of the old tag, and would override the new one.
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
        "{place}: {image:?} is no image reference: {error}; change the object, or the rule"
    ))
}
