//! Documents as JSON text to a snapshot, one object at a time.
//!
//! Trees of all documents of a fleet take many times the memory of what is kept of them, and an allocator that has had it once
//! does not give all of it back. So here no more than one object is a tree at any time. The price is that nobody can tell on
//! which line something is wrong; who finds that something is takes [`Draft::add`] then.

use std::path::Path;
use std::rc::Rc;

use super::draft::{Draft, head, list_of};
use super::{Node, Notes};
use crate::documents::Fault;
use crate::json::{Kind, ParseError, Pointer, Raw, Value};

/// `apiVersion` and `kind` that the items of a list have from it.
type Inherited = Option<Rc<(String, String)>>;

/// An object that is still to be read.
type Pending<'t> = (Raw<'t>, Inherited);

impl Draft {
    /// Takes the documents of the file at `path`, as [`add`](Self::add) does, but tells no more than that something is wrong.
    pub fn add_texts(&mut self, path: &Path, documents: &[Raw<'_>]) {
        self.begin(path, documents.is_empty());
        let mut pending: Vec<Pending<'_>> = documents.iter().rev().map(|raw| (*raw, None)).collect();
        let mut notes = Notes::default();
        while let Some(next) = pending.pop() {
            if let Err(error) = self.take_text(next, &mut pending, &mut notes) {
                self.fault(Fault::of(path, &error.to_string()));
            }
        }
        for (_, problem) in notes {
            self.fault(Fault::of(path, &problem));
        }
    }

    /// Takes one object, or puts the items of a list on `pending`.
    fn take_text<'t>(
        &mut self,
        (raw, inherited): Pending<'t>,
        pending: &mut Vec<Pending<'t>>,
        notes: &mut Notes,
    ) -> Result<(), ParseError> {
        let inherited = inherited.as_deref().map(|(api_version, kind)| (api_version.as_str(), kind.as_str()));
        if let Some(items) =
            raw.get("items")?.filter(|items| matches!(items.kind(), Kind::Array | Kind::Null))
        {
            let shell = shell(raw)?;
            let node = Node { value: &shell, field: Pointer::default() };
            let Some((api_version, kind)) = head(&node, inherited, notes) else { return Ok(()) };
            if let Some(inherited) = list_of(api_version, kind, &shell) {
                let inherited =
                    inherited.map(|(api_version, kind)| Rc::new((api_version.to_owned(), kind.to_owned())));
                // The first item is to come off first.
                pending.extend(items.items()?.into_iter().rev().map(|item| (item, inherited.clone())));
                return Ok(());
            }
        }
        let value = raw.to_value()?;
        let node = Node { value: &value, field: Pointer::default() };
        if let Some(head) = head(&node, inherited, notes) {
            self.take(None, &node, head, notes);
        }
        Ok(())
    }
}

/// A list without its items.
fn shell(raw: Raw<'_>) -> Result<Value<'_>, ParseError> {
    let members = raw.members()?;
    let member = |(name, member): (&str, Raw<'_>)| {
        let value = if name == "items" { Value::Null } else { member.to_value()?.into_owned() };
        Ok((name.to_owned(), value))
    };
    Ok(Value::Object(members.iter().map(member).collect::<Result<_, ParseError>>()?))
}
