//! Reads objects from files: documents, and the items of lists.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::read::{read_file, read_from};
use super::{Diagnostic, FileErrorKind, STDIN, list};
use crate::json::{Pointer, Value};
use crate::yaml::Document;

/// An object and its position in a file.
#[derive(Clone, Debug)]
pub struct Object {
    /// The object. An item of a typed list, such as a `ConfigMapList`, has `apiVersion` and `kind` from the
    /// list.
    pub value: Value<'static>,
    path: PathBuf,
    /// `None` for the only document of a file.
    place: Option<Place>,
}

#[derive(Clone, Debug)]
struct Place {
    document: usize,
    line: usize,
    /// The path from the root of the document.
    field: Pointer,
}

impl Object {
    /// The path as given, or as found in a directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file holds no other object.
    pub fn is_whole_file(&self) -> bool {
        self.place.is_none()
    }

    /// A diagnostic about this object, with document and line if the file holds several objects.
    pub fn diagnostic(&self, problem: &str) -> Diagnostic {
        match &self.place {
            Some(Place { document, line, field }) => {
                Diagnostic::in_document(&self.path, *document, *line, field, problem)
            }
            None => Diagnostic::of(&self.path, problem),
        }
    }
}

/// The objects in files, and the errors.
#[derive(Debug, Default)]
pub struct Objects {
    /// Ordered by path as given, then by position in the file.
    pub objects: Vec<Object>,
    /// The files and documents that could not be read.
    pub errors: Vec<Diagnostic>,
}

/// Reads the objects in these files and directories; [`STDIN`] is the standard input. Lists are replaced by
/// their items, recursively. Empty documents are skipped, but a given file without any object is an error. A
/// file is read once.
pub fn read_objects(paths: &[PathBuf]) -> Objects {
    let mut read = Objects::default();
    let mut seen = HashSet::new();
    for path in paths {
        if path == Path::new(STDIN) {
            if seen.insert(path.clone()) {
                read.take(path, read_from(io::stdin().lock()), true);
            }
            continue;
        }
        let listing = list(std::slice::from_ref(path));
        read.errors.extend(listing.errors.iter().map(Diagnostic::from));
        for file in listing.files {
            let canonical = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
            if seen.insert(canonical) {
                let is_named = file == *path;
                read.take(&file, read_file(&file), is_named);
            }
        }
    }
    read
}

impl Objects {
    fn take(&mut self, path: &Path, documents: Result<Vec<Document>, FileErrorKind>, is_named: bool) {
        let documents = match documents {
            Ok(documents) => documents,
            Err(error) => return self.errors.push(Diagnostic::of(path, &error.to_string())),
        };
        if documents.is_empty() && is_named {
            self.errors.push(Diagnostic::of(path, "there is no object in it"));
        }
        let is_alone = documents.len() == 1;
        for document in &documents {
            self.expand(path, document, is_alone);
        }
    }

    /// Adds a document, or the items of a list. `is_alone`: the file has no other document.
    fn expand(&mut self, path: &Path, document: &Document, is_alone: bool) {
        let mut pending = vec![(document.value.clone(), Pointer::ROOT)];
        while let Some((value, field)) = pending.pop() {
            let place = || Place {
                document: document.index,
                line: document.lines.of(&field).line,
                field: field.clone(),
            };
            match items(&value) {
                Items::None => {
                    let place = (!is_alone || !field.is_root()).then(place);
                    self.objects.push(Object { value, path: path.to_owned(), place });
                }
                Items::Wrong(kind) => self.errors.push(Diagnostic::at(
                    path,
                    document,
                    &field.join("items"),
                    &format!("must be a list, is {kind}"),
                )),
                // In reverse, because the last item that is pushed is the next to be popped.
                Items::Some(items) => {
                    let place = |position: usize| field.join("items").join(position.to_string());
                    let items = items.iter().enumerate().rev();
                    pending.extend(items.map(|(position, item)| (typed(item, &value), place(position))));
                }
            }
        }
    }
}

/// The items of a document that is a list of objects.
enum Items<'v> {
    Some(&'v [Value<'static>]),
    /// The value is a `List` whose `items` are not a list.
    Wrong(crate::json::Kind),
    /// The value is an object.
    None,
}

/// The items of a `List`, or of a typed list as an API server returns it: with `items` and without a name.
fn items<'v>(value: &'v Value<'static>) -> Items<'v> {
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    let items = value.get("items");
    let is_named = || value.get("metadata").and_then(|metadata| metadata.get("name")).is_some();
    match items {
        Some(Value::Array(_)) if kind == "List" || kind.ends_with("List") && !is_named() => {
            Items::Some(items.and_then(Value::as_array).unwrap_or_default())
        }
        None | Some(Value::Null) if kind == "List" => Items::Some(&[]),
        Some(other) if kind == "List" => Items::Wrong(other.kind()),
        _ => Items::None,
    }
}

/// Adds the `apiVersion` and `kind` that the items of a typed list leave out.
fn typed(item: &Value<'static>, list: &Value<'static>) -> Value<'static> {
    let mut item = item.clone();
    let kind = list.get("kind").and_then(Value::as_str).and_then(|kind| kind.strip_suffix("List"));
    let version = list.get("apiVersion").and_then(Value::as_str);
    if let (Some(kind), Some(version), Some(members)) = (kind, version, item.object_mut())
        && !kind.is_empty()
        && members.get("kind").is_none()
        && members.get("apiVersion").is_none()
    {
        members.insert_at(0, "apiVersion", version.to_owned().into());
        members.insert_at(1, "kind", kind.to_owned().into());
    }
    item
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(directory.path().join(name), content).unwrap();
        }
        directory
    }

    /// The objects in the named files as JSON, and the errors.
    fn read(directory: &tempfile::TempDir, names: &[&str]) -> (Vec<String>, Vec<String>) {
        let paths: Vec<PathBuf> = names.iter().map(|name| directory.path().join(name)).collect();
        let Objects { objects, errors } = read_objects(&paths);
        let prefix = format!("{}/", directory.path().display());
        let errors = Diagnostic::texts(errors).iter().map(|text| text.replace(&prefix, "")).collect();
        (objects.iter().map(|object| object.value.to_string()).collect(), errors)
    }

    #[test]
    fn lists_are_replaced_by_their_items_and_empty_documents_are_skipped() {
        let directory = directory(&[(
            "all.yaml",
            "---\n# Source: a template that renders nothing\n---\n{kind: A}\n---\nnull\n---\n\
             apiVersion: v1\nkind: List\nitems:\n- {kind: B}\n- kind: List\n  items: [{kind: C}, {kind: D}]\n- {kind: E}\n\
             ---\napiVersion: v1\nkind: List\nitems: []\n",
        )]);
        let (objects, errors) = read(&directory, &["all.yaml"]);
        assert_eq!(objects, ["A", "B", "C", "D", "E"].map(|kind| format!(r#"{{"kind":"{kind}"}}"#)));
        assert_eq!(errors, [""; 0]);
    }

    #[test]
    fn items_of_a_typed_list_have_its_kind() {
        let list = r#"{"apiVersion":"apps/v1","kind":"DeploymentList","metadata":{"resourceVersion":"1"},"items":[{"a":1},{"kind":"X","apiVersion":"v1"},7]}"#;
        let object =
            "{apiVersion: x.example.com/v1, kind: AllowList, metadata: {name: a}, items: [{b: 1}]}\n";
        let directory = directory(&[("list.json", list), ("object.yaml", object)]);
        let (objects, _) = read(&directory, &["list.json", "object.yaml"]);
        assert_eq!(
            objects,
            [
                r#"{"apiVersion":"apps/v1","kind":"Deployment","a":1}"#,
                r#"{"kind":"X","apiVersion":"v1"}"#,
                "7",
                r#"{"apiVersion":"x.example.com/v1","kind":"AllowList","metadata":{"name":"a"},"items":[{"b":1}]}"#,
            ]
        );
    }

    #[test]
    fn files_come_in_the_order_in_which_they_are_named_and_once() {
        let directory =
            directory(&[("a.yaml", "{kind: A}"), ("b.yaml", "{kind: B}"), ("c.yaml", "# nothing\n")]);
        let kinds = |names: &[&str]| read(&directory, names).0.join(",").replace(r#""kind":"#, "");
        assert_eq!(kinds(&["b.yaml", "a.yaml", "b.yaml"]), r#"{"B"},{"A"}"#);
        assert_eq!(kinds(&["b.yaml", ""]), r#"{"B"},{"A"}"#);
        // In a directory, a file without an object is not an error.
        assert_eq!(read(&directory, &[""]).1, [""; 0]);
        assert_eq!(read(&directory, &["c.yaml"]).1, ["c.yaml: there is no object in it"]);
    }

    #[test]
    fn a_fault_says_which_object_of_a_file_it_is_about() {
        let directory = directory(&[
            ("one.yaml", "---\nkind: A\n"),
            ("two.yaml", "kind: A\n---\nkind: B\n"),
            ("list.yaml", "kind: List\nitems:\n- kind: A\n- kind: B\n"),
            ("wrong.yaml", "kind: List\nitems: {a: 1}\n"),
            ("broken.yaml", "a: b: c\n"),
        ]);
        let last = |name: &str| {
            let read = read_objects(&[directory.path().join(name)]);
            let text = Diagnostic::texts(vec![read.objects.last().unwrap().diagnostic("wrong")]).concat();
            text.replace(&format!("{}/", directory.path().display()), "")
        };
        assert_eq!(last("one.yaml"), "one.yaml: wrong");
        assert_eq!(last("two.yaml"), "two.yaml: document 2, line 3: wrong");
        assert_eq!(last("list.yaml"), "list.yaml: document 1, line 4: items[1]: wrong");
        assert_eq!(
            read(&directory, &["wrong.yaml", "broken.yaml", "missing.yaml"]).1,
            [
                "broken.yaml: line 1, column 5: mapping values are not allowed in this context",
                "missing.yaml: No such file or directory (os error 2)",
                "wrong.yaml: document 1, line 2: items: must be a list, is a map",
            ]
        );
    }
}
