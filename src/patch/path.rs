//! The current place while an object is visited.

use super::{PatchError, PatchErrorKind};
use crate::json::Pointer;

/// A place in an object, as a chain of steps on the stack. It becomes a pointer only for an error.
#[derive(Clone, Copy)]
pub(super) struct FieldPath<'p>(Option<(&'p Self, PathStep<'p>)>);

#[derive(Clone, Copy)]
enum PathStep<'p> {
    Name(&'p str),
    Index(usize),
}

impl<'p> FieldPath<'p> {
    pub(super) const ROOT: Self = Self(None);

    pub(super) fn member(&'p self, name: &'p str) -> Self {
        Self(Some((self, PathStep::Name(name))))
    }

    pub(super) fn item(&'p self, index: usize) -> Self {
        Self(Some((self, PathStep::Index(index))))
    }

    pub(super) fn error(&self, problem: PatchErrorKind) -> Failed {
        Failed(Box::new(PatchError { place: self.pointer(), operation: None, problem }))
    }

    pub(super) fn pointer(&self) -> Pointer {
        let mut steps = Vec::new();
        let mut here = self;
        while let Some((outer, step)) = &here.0 {
            steps.push(match step {
                PathStep::Name(name) => (*name).to_owned(),
                PathStep::Index(index) => index.to_string(),
            });
            here = outer;
        }
        steps.reverse();
        Pointer::of(steps)
    }
}

/// A boxed error. It is small, because the functions that return it recurse as deep as values are nested.
pub(super) struct Failed(Box<PatchError>);

impl From<Failed> for PatchError {
    fn from(failed: Failed) -> Self {
        *failed.0
    }
}
