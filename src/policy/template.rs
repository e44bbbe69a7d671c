//! Compiles expressions in a document, and records which variables they read.

use std::collections::{BTreeMap, BTreeSet};

use super::decode::{Fields, Node, Notes};
use crate::engine::{ClusterTable, Definition, Templated};
use crate::expression::{CompileError, Condition, Expression, Scope, Variable};
use crate::json::{Kind, Pointer, Value};

/// The maximum number of variables of a policy. Each may use earlier ones, so evaluation can recurse this
/// deep.
const MAX_VARIABLES: usize = 64;

/// Compiles the expressions of a policy.
#[derive(Debug)]
pub(super) struct Expressions {
    scope: Scope,
    /// The allocations that each variable reads, by the name of the variable.
    asked_by: BTreeMap<String, BTreeSet<String>>,
    /// What each variable reads, directly or through other variables, by the name of the variable.
    read_by: BTreeMap<String, BTreeSet<Variable>>,
    needs_cluster: bool,
    /// The allocations since the last call of [`take_asks`](Self::take_asks).
    asks: BTreeSet<String>,
    /// The variables since the last call of [`take_reads`](Self::take_reads), read directly or through other
    /// variables.
    rule_reads: BTreeSet<Variable>,
    /// Everything that is read, also by invalid rules.
    reads: BTreeSet<Variable>,
    /// The allocations that expressions read, each with the place.
    asked: Vec<(String, Pointer)>,
}

impl Expressions {
    /// Creates a compiler for expressions that may use `scope` and no variables yet.
    pub(super) fn new(scope: Scope) -> Self {
        Self {
            scope,
            asked_by: BTreeMap::new(),
            read_by: BTreeMap::new(),
            needs_cluster: false,
            asks: BTreeSet::new(),
            rule_reads: BTreeSet::new(),
            reads: BTreeSet::new(),
            asked: Vec::new(),
        }
    }

    pub(super) fn variables(&mut self, node: &Node<'_>, notes: &mut Notes) -> Vec<(String, Definition)> {
        let items = node.items(notes);
        if items.len() > MAX_VARIABLES {
            notes.note(&node.field, format!("has {} items, and may have {MAX_VARIABLES}", items.len()));
            return Vec::new();
        }
        items.into_iter().filter_map(|item| self.variable(item, notes)).collect()
    }

    fn variable(&mut self, node: Node<'_>, notes: &mut Notes) -> Option<(String, Definition)> {
        let mut fields = Fields::of(node, notes)?;
        let name = fields
            .required("name", notes)
            .and_then(|node| variable_name(&node, notes).map(|name| (node, name)));
        let expression = fields.optional("expression");
        let (values, default) = (fields.optional("values"), fields.optional("default"));
        if expression.is_some() == values.is_some() {
            let found = if values.is_some() { "both" } else { "none" };
            notes.note(&fields.field, format!("needs exactly one of expression, values, and has {found}"));
        }
        if let Some(default) = default.as_ref().filter(|_| values.is_none()) {
            notes
                .note(&default.field, "is for `values`: it is the value of clusters that are not among them");
        }
        fields.end(notes);
        let (place, name) = name?;
        let definition = match (&expression, values) {
            (Some(expression), _) => {
                let compiled = compiled(expression, notes, |source| Expression::compile(source, &self.scope));
                if let Some(compiled) = &compiled {
                    compiled.uses().iter().for_each(|variable| self.note(variable, &expression.field));
                }
                compiled.map(Definition::Expression)
            }
            (None, Some(values)) => table(values, default.as_ref(), notes).map(Definition::Table),
            (None, None) => None,
        };
        if self.asked_by.contains_key(name) {
            notes.note(&place.field, format!("{name:?} is the name of an earlier variable of this policy"));
            return None;
        }
        // An invalid variable is defined too, so that its uses are not reported as well.
        self.asked_by.insert(name.to_owned(), std::mem::take(&mut self.asks));
        let reads = self.take_reads();
        self.read_by.insert(name.to_owned(), reads);
        self.scope = std::mem::take(&mut self.scope).with_variable(name);
        Some((name.to_owned(), definition?))
    }

    pub(super) fn condition(&mut self, node: &Node<'_>, notes: &mut Notes) -> Option<Condition> {
        let condition = compiled(node, notes, |source| Condition::compile(source, &self.scope))?;
        condition.uses().iter().for_each(|variable| self.note(variable, &node.field));
        Some(condition)
    }

    /// Compiles a value whose strings may contain expressions.
    pub(super) fn value(&mut self, node: &Node<'_>, notes: &mut Notes) -> Templated {
        self.tree(node.value, &node.field, notes)
    }

    /// Compiles a value at `place` of the document.
    pub(super) fn tree(&mut self, value: &Value<'static>, place: &Pointer, notes: &mut Notes) -> Templated {
        let mut faults = Vec::new();
        let templated = Templated::compile(&value.as_stored(), &self.scope, &mut faults);
        for (at, fault) in faults {
            notes.note(&place.concat(&at), message(&fault));
        }
        templated.uses(&mut |variable| self.note(variable, place));
        templated
    }

    /// A string, or an expression that returns one.
    pub(super) fn text(&mut self, node: &Node<'_>, notes: &mut Notes) -> Option<Templated> {
        node.string(notes)?;
        let before = notes.len();
        let templated = self.value(node, notes);
        if notes.len() > before {
            return None;
        }
        match templated.kind() {
            Some(kind @ (Kind::Null | Kind::Array | Kind::Object)) => {
                notes.note(&node.field, format!("must give a string, and gives {kind}"));
                None
            }
            _ => Some(templated),
        }
    }

    /// Records that an allocation is used.
    pub(super) fn ask(&mut self, allocation: &str) {
        self.asks.insert(allocation.to_owned());
        self.reads.insert(Variable::Allocation(allocation.to_owned()));
        self.rule_reads.insert(Variable::Allocation(allocation.to_owned()));
    }

    /// Everything that is read, and the allocations that expressions read, each with the place.
    pub(super) fn into_reads(self) -> (BTreeSet<Variable>, Vec<(String, Pointer)>) {
        (self.reads, self.asked)
    }

    /// The allocations since the last call.
    pub(super) fn take_asks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.asks).into_iter().collect()
    }

    /// The variables since the last call, read directly or through other variables.
    pub(super) fn take_reads(&mut self) -> BTreeSet<Variable> {
        std::mem::take(&mut self.rule_reads)
    }

    /// Whether an expression reads a property of the cluster other than its name.
    pub(super) fn needs_cluster(&self) -> bool {
        self.needs_cluster
    }

    fn note(&mut self, variable: &Variable, place: &Pointer) {
        self.reads.insert(variable.clone());
        self.rule_reads.insert(variable.clone());
        match variable {
            Variable::Allocation(name) => {
                self.asked.push((name.clone(), place.clone()));
                self.asks.insert(name.clone());
            }
            Variable::Declared(name) => {
                let asked = self.asked_by.get(name).cloned().unwrap_or_default();
                self.asks.extend(asked);
                self.rule_reads.extend(self.read_by.get(name).cloned().unwrap_or_default());
            }
            Variable::ClusterLabels
            | Variable::ClusterProvider
            | Variable::ClusterRegion
            | Variable::ClusterZone => self.needs_cluster = true,
            _ => {}
        }
    }
}

/// Reads `values` and `default` of a variable.
fn table(values: Node<'_>, default: Option<&Node<'_>>, notes: &mut Notes) -> Option<ClusterTable> {
    let before = notes.len();
    let fields = Fields::of(values, notes)?;
    let mut table = ClusterTable::default();
    for (cluster, value) in fields.object.iter() {
        let node = Node { value, field: fields.field.join(cluster) };
        if cluster.is_empty() || cluster.contains(['*', '?']) {
            notes.note(
                &node.field,
                "is no name of a cluster: `values` take no wildcards; name each cluster, or give a `default`",
            );
        }
        if let Some(value) = datum(&node, notes) {
            table.values.insert(cluster.to_owned(), value);
        }
    }
    table.default = default.and_then(|node| datum(node, notes));
    (notes.len() == before).then_some(table)
}

/// A value without expressions. `$${` is a literal `${` here too.
fn datum(node: &Node<'_>, notes: &mut Notes) -> Option<Value<'static>> {
    let mut faults = Vec::new();
    let templated = Templated::compile(&node.value.as_stored(), &Scope::object_only(), &mut faults);
    match templated.constant().filter(|_| faults.is_empty()) {
        Some(Value::Null) => {
            notes.note(&node.field, "must not be null; leave it out");
            None
        }
        Some(value) => Some(value.clone()),
        None => {
            notes.note(
                &node.field,
                "holds `${`, and `values` are data without expressions; use `expression`, or write `$${` for a literal one",
            );
            None
        }
    }
}

fn variable_name<'v>(node: &Node<'v>, notes: &mut Notes) -> Option<&'v str> {
    let name = node.name(notes)?;
    let first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let fits = name.bytes().next().is_some_and(first)
        && name.bytes().all(|byte| first(byte) || byte.is_ascii_digit());
    if !fits {
        notes.note(&node.field, format!("{name:?} can't be written in an expression; use letters, digits and `_`, not beginning with a digit"));
        return None;
    }
    Some(name)
}

/// Compiles a field that is one expression.
fn compiled<T>(
    node: &Node<'_>,
    notes: &mut Notes,
    compile: impl FnOnce(&str) -> Result<T, CompileError>,
) -> Option<T> {
    let source = node.name(notes)?;
    let advice = if source.trim_start().starts_with("${") {
        "; this field is an expression: write it without `${` and `}`"
    } else {
        ""
    };
    compile(source).map_err(|fault| notes.note(&node.field, format!("{}{advice}", message(&fault)))).ok()
}

/// The message of an error, with its place in the text if the text has more than one place.
fn message(fault: &CompileError) -> String {
    format!("line {}, column {} of the text: {}", fault.line(), fault.column(), fault.problem())
}

/// Reports the fields of `fields` that were not taken, and returns `read`.
pub(super) fn ended<T>(fields: Fields<'_>, read: Option<T>, notes: &mut Notes) -> Option<T> {
    fields.end(notes);
    read
}
