//! Reads the action `fort`.

use super::decode::{Fields, Node, Notes, one_of, pointer};
use super::template::Expressions;
use crate::engine::{Elsewhere, Fort, Generate, GenerateWhen, protected_by};
use crate::json::{Object, Pointer, Value};

/// Reads `fort`. Whether the allocation exists is checked later, when all documents have been read.
pub(super) fn fort(node: Node<'_>, expressions: &mut Expressions, notes: &mut Notes) -> Option<Fort> {
    let mut fields = Fields::of(node, notes)?;
    let allocation = fields.required("allocation", notes).and_then(|node| node.name(notes));
    let steps = fields.required("steps", notes).and_then(|node| steps(&node, notes));
    let matches = fields.optional("match").map(|node| matches(node, notes));
    let field = fields.required("field", notes).and_then(|node| pointer(&node, notes));
    let written = fields.optional("elsewhere").map_or(Some(Written::Null), |node| elsewhere(node, notes));
    let generated = fields.optional("generate").map(|node| generate(node, notes));
    fields.end(notes);
    let mut fort = Fort {
        allocation: allocation?.to_owned(),
        steps: steps?,
        matches: matches.unwrap_or_default(),
        field: field?,
        elsewhere: Elsewhere::SetNull,
        generate: None,
    };
    let written = written?;
    if let Some(generated) = generated {
        fort.generate = Some(generated?.complete(&fort, &written, expressions, notes)?);
    }
    fort.elsewhere = match written {
        Written::Null => Elsewhere::SetNull,
        Written::Nothing => Elsewhere::Remove,
        Written::Value(value, place) => Elsewhere::Value(expressions.tree(&value, &place, notes)),
    };
    expressions.ask(&fort.allocation);
    Some(fort)
}

fn steps(node: &Node<'_>, notes: &mut Notes) -> Option<Pointer> {
    let pointer = pointer(node, notes)?;
    if let Some(reason) = protected_by(&pointer) {
        notes.note(&node.field, reason);
        return None;
    }
    Some(pointer)
}

fn matches(node: Node<'_>, notes: &mut Notes) -> Object<'static> {
    Fields::of(node, notes).map(|Fields { object, .. }| object.clone()).unwrap_or_default()
}

/// The value of `elsewhere` in the document.
enum Written {
    Null,
    Nothing,
    /// A value, and its place in the document.
    Value(Value<'static>, Pointer),
}

/// `SetNull`, `Remove` or `{value: ...}`.
fn elsewhere(node: Node<'_>, notes: &mut Notes) -> Option<Written> {
    const WORDS: &[(&str, bool)] = &[("SetNull", true), ("Remove", false)];
    match node.value {
        Value::String(_) => {
            one_of(&node, WORDS, notes).map(|null| if null { Written::Null } else { Written::Nothing })
        }
        Value::Object(object) => {
            let mut fields = Fields::of(node, notes)?;
            // `required` would reject a null, which is a valid value here.
            let value = object.get("value").cloned();
            let _ = fields.optional("value");
            if value.is_none() {
                notes.note(&fields.field.join("value"), "is required");
            }
            let place = fields.field.join("value");
            fields.end(notes);
            value.map(|value| Written::Value(value.as_stored(), place))
        }
        other => {
            notes
                .note(&node.field, format!("must be SetNull, Remove or {{value: ...}}, is {}", other.kind()));
            None
        }
    }
}

/// `generate`, before the steps for the other clusters are known.
struct Template<'v> {
    when: GenerateWhen,
    fort: Node<'v>,
    elsewhere: Option<Node<'v>>,
}

fn generate<'v>(node: Node<'v>, notes: &mut Notes) -> Option<Template<'v>> {
    const WHEN: &[(&str, GenerateWhen)] =
        &[("Absent", GenerateWhen::Absent), ("Always", GenerateWhen::Always)];
    let mut fields = Fields::of(node, notes)?;
    let when = fields.optional("when").map_or(Some(GenerateWhen::Absent), |node| one_of(&node, WHEN, notes));
    let fort = fields.required("fort", notes);
    let elsewhere = fields.optional("elsewhere");
    fields.end(notes);
    for list in [&fort, &elsewhere].into_iter().flatten() {
        for item in list.items(notes) {
            if item.value.as_object().is_none() {
                notes.note(&item.field, format!("a step must be a map, is {}", item.value.kind()));
            }
        }
    }
    Some(Template { when: when?, fort: fort?, elsewhere })
}

impl Template<'_> {
    /// If `elsewhere` is missing, the other clusters get the steps of `fort`, with the field changed as the
    /// rule says.
    fn complete(
        self,
        fort: &Fort,
        written: &Written,
        expressions: &mut Expressions,
        notes: &mut Notes,
    ) -> Option<Generate> {
        let given = self.fort.value.as_array()?;
        let elsewhere_place =
            self.elsewhere.as_ref().map_or_else(|| self.fort.field.clone(), |node| node.field.clone());
        let elsewhere = if let Some(node) = self.elsewhere {
            node.value.as_stored()
        } else {
            let mut steps = given.to_vec();
            let written = match written {
                Written::Null => Some(&Value::Null),
                Written::Nothing => None,
                Written::Value(value, _) => Some(value),
            };
            if let Err(failure) = fort.write_field(&mut steps, written) {
                notes.note(
                    &self.fort.field,
                    format!("the field {} can't be treated in it: {failure}", fort.field),
                );
                return None;
            }
            Value::array(steps)
        };
        let elsewhere = expressions.tree(&elsewhere, &elsewhere_place, notes);
        Some(Generate { when: self.when, fort: expressions.value(&self.fort, notes), elsewhere })
    }
}
