//! Documents with every field, and each value in them with its schema from the custom resource definitions.

use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use reviser::engine::PolicySet;
use reviser::json::{Pointer, Value as Document};
use reviser::manifests::crds;
use reviser::policy::{self, Finding};
use reviser::yaml;
use serde_json::{Map, Value};

const FULL: &str = include_str!("../data/definitions/full.yaml");

/// A name that no field or enum value has, and that is similar to none.
pub(crate) const UNUSED: &str = "qqqqqqqq";

/// A value in one of the documents.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) document: Arc<Value>,
    pub(crate) pointer: Pointer,
    pub(crate) value: Value,
    /// Its schema; null below a value without one.
    pub(crate) schema: Value,
    /// The kind and the path in its schema: `RevisionPolicy/spec/rules/*/patch`.
    pub(crate) path: String,
}

impl Place {
    /// Whether the schema preserves unknown values or fields here.
    pub(crate) fn is_free(&self) -> bool {
        self.schema.is_null() || self.schema["x-kubernetes-preserve-unknown-fields"] == true
    }

    /// The fields of the schema here.
    pub(crate) fn properties(&self) -> Vec<String> {
        names(&self.schema["properties"])
    }

    pub(crate) fn is_required(&self, field: &str) -> bool {
        self.schema["required"].as_array().is_some_and(|names| names.iter().any(|name| name == field))
    }

    /// The document with this value replaced, or removed for `None`.
    pub(crate) fn with(&self, value: Option<Value>) -> Value {
        let Some((last, above)) = self.pointer.tokens().split_last() else {
            panic!("the root cannot be replaced")
        };
        let above = Pointer::of(above.iter().map(String::as_str)).to_string();
        let mut document = (*self.document).clone();
        match (document.pointer_mut(&above).unwrap(), value) {
            (Value::Object(map), Some(value)) => drop(map.insert(last.clone(), value)),
            (Value::Object(map), None) => drop(map.remove(last)),
            (Value::Array(items), Some(value)) => items[last.parse::<usize>().unwrap()] = value,
            (Value::Array(items), None) => drop(items.remove(last.parse().unwrap())),
            (other, _) => panic!("{other} has no fields"),
        }
        document
    }

    /// The field `name` of this value.
    pub(crate) fn field(&self, name: &str) -> Self {
        Self {
            document: Arc::clone(&self.document),
            pointer: self.pointer.join(name),
            value: self.value[name].clone(),
            schema: self.schema["properties"][name].clone(),
            path: format!("{}/{name}", self.path),
        }
    }
}

/// Documents that together have every field.
pub(crate) fn documents() -> Vec<Value> {
    read(FULL)
}

/// The documents of a text.
pub(crate) fn read(text: &str) -> Vec<Value> {
    let read = yaml::documents(text).unwrap();
    read.iter().map(|document| serde_json::from_str(&document.value.to_string()).unwrap()).collect()
}

/// The definitions in `manifests/crds`.
pub(crate) fn definitions() -> Vec<CustomResourceDefinition> {
    read(&crds()).into_iter().map(|definition| serde_json::from_value(definition).unwrap()).collect()
}

/// The schema of a kind.
pub(crate) fn schema(kind: &str) -> Value {
    let definition = definitions().into_iter().find(|definition| definition.spec.names.kind == kind).unwrap();
    let version = definition.spec.versions.into_iter().next().unwrap();
    let mut schema = serde_json::to_value(version.schema.unwrap().open_api_v3_schema.unwrap()).unwrap();
    // The server writes it; policies are compiled without it.
    schema["properties"].as_object_mut().unwrap().remove("status");
    schema
}

/// All values in the documents except `apiVersion`, `kind` and `metadata`, the documents first.
pub(crate) fn places() -> Vec<Place> {
    let mut found = Vec::new();
    for value in documents() {
        let kind = value["kind"].as_str().unwrap().to_owned();
        let document = Arc::new(value.clone());
        collect(
            Place { document, pointer: Pointer::ROOT, value, schema: schema(&kind), path: kind },
            &mut found,
        );
    }
    found
}

/// [`places`] without the documents themselves.
pub(crate) fn inner() -> impl Iterator<Item = Place> {
    places().into_iter().filter(|place| !place.pointer.is_root())
}

fn collect(place: Place, found: &mut Vec<Place>) {
    let below: Vec<Place> = match &place.value {
        Value::Object(map) => {
            let is_root = place.pointer.is_root();
            let names = map
                .keys()
                .filter(|name| !is_root || !["apiVersion", "kind", "metadata"].contains(&name.as_str()));
            names
                .map(|name| {
                    let mut field = place.field(name);
                    if field.schema.is_null() {
                        field.schema = place.schema["additionalProperties"].clone();
                    }
                    field
                })
                .collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(position, item)| Place {
                document: Arc::clone(&place.document),
                pointer: place.pointer.join(position.to_string()),
                value: item.clone(),
                schema: place.schema["items"].clone(),
                path: format!("{}/*", place.path),
            })
            .collect(),
        _ => Vec::new(),
    };
    found.push(place);
    for place in below {
        collect(place, found);
    }
}

/// The paths of all schemas that match `wanted`.
pub(crate) fn paths(wanted: fn(&Value) -> bool) -> Vec<String> {
    fn look(schema: &Value, path: &str, wanted: fn(&Value) -> bool, found: &mut Vec<String>) {
        if wanted(schema) {
            found.push(path.to_owned());
        }
        for name in names(&schema["properties"]) {
            look(&schema["properties"][&name], &format!("{path}/{name}"), wanted, found);
        }
        if schema["items"].is_object() {
            look(&schema["items"], &format!("{path}/*"), wanted, found);
        }
    }
    let mut found = Vec::new();
    for kind in definitions().into_iter().map(|definition| definition.spec.names.kind) {
        look(&schema(&kind), &kind, wanted, &mut found);
    }
    found.sort();
    found
}

/// Reads a document with reviser's reader.
fn tree(document: &Value) -> Document<'static> {
    yaml::documents(&document.to_string()).unwrap().remove(0).value
}

/// Compiles one document by itself.
fn compile(document: &Value) -> Result<PolicySet, Vec<Finding>> {
    policy::compile(&[tree(document)])
}

/// The compiled document as text, without the digests of its source.
pub(crate) fn meaning(document: &Value) -> Result<String, Vec<Finding>> {
    let debug = format!("{:?}", compile(document)?);
    let mut parts = debug.split("digest: \"");
    let first = parts.next().unwrap_or_default().to_owned();
    Ok(parts.fold(first, |debug, part| debug + part.trim_start_matches(|c: char| c.is_ascii_hexdigit())))
}

/// reviser's findings for a document.
pub(crate) fn findings(document: &Value) -> Vec<Finding> {
    compile(document).err().unwrap_or_default()
}

fn names(map: &Value) -> Vec<String> {
    map.as_object().map(Map::keys).into_iter().flatten().cloned().collect()
}
