//! The definitions, as they are applied.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
    JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt as _;

use super::interpretation::ResourceInterpretation;
use super::policy::{ClusterRevisionPolicy, RevisionPolicy};
use super::transformation::{ClusterTargetPodTransformation, TargetPodTransformation};

/// What `kubectl get` shows of a kind: name, type, where it is, what it is.
type Column = (&'static str, &'static str, &'static str, &'static str);

const PRIORITY: Column = ("Priority", "integer", ".spec.priority", "Higher applies later.");
const API_VERSION: Column =
    ("API Version", "string", ".spec.target.apiVersion", "API version of the kind that it is for.");
const KIND: Column = ("Kind", "string", ".spec.target.kind", "The kind that it is for.");
const ACCEPTED: Column =
    ("Accepted", "string", ".status.conditions[?(@.type==\"Accepted\")].status", "Whether it is active.");
const WORKS: Column = ("Works", "integer", ".status.works.total", "How many Works it selects.");
const CURRENT: Column =
    ("Current", "integer", ".status.works.current", "How many of them are revised by the active rules.");
const MESSAGE: Column =
    ("Message", "string", ".status.conditions[?(@.type==\"Accepted\")].message", "What is wrong with it.");
const AGE: Column = ("Age", "date", ".metadata.creationTimestamp", "How long it has been there.");

const OF_POLICIES: &[Column] = &[PRIORITY, ACCEPTED, WORKS, CURRENT, MESSAGE, AGE];
const OF_INTERPRETATIONS: &[Column] = &[API_VERSION, KIND, ACCEPTED, MESSAGE, AGE];
const OF_TRANSFORMATIONS: &[Column] = &[ACCEPTED, MESSAGE, AGE];

/// The definitions of all five kinds.
pub(crate) fn definitions() -> [CustomResourceDefinition; 5] {
    [
        (ClusterRevisionPolicy::crd(), OF_POLICIES),
        (RevisionPolicy::crd(), OF_POLICIES),
        (ResourceInterpretation::crd(), OF_INTERPRETATIONS),
        (TargetPodTransformation::crd(), OF_TRANSFORMATIONS),
        (ClusterTargetPodTransformation::crd(), OF_TRANSFORMATIONS),
    ]
    .map(|(mut definition, columns)| {
        for version in &mut definition.spec.versions {
            version.additional_printer_columns = Some(columns.iter().map(column).collect());
            let schema = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut());
            schema.into_iter().for_each(settle);
        }
        definition
    })
}

fn column(&(name, type_, json_path, description): &Column) -> CustomResourceColumnDefinition {
    CustomResourceColumnDefinition {
        name: name.to_owned(),
        type_: type_.to_owned(),
        json_path: json_path.to_owned(),
        description: Some(description.to_owned()),
        // Long, and so only for who asks for everything.
        priority: (name == MESSAGE.0).then_some(1),
        format: None,
    }
}

/// Puts right what the types can't say. Goes as deep as the types do.
fn settle(schema: &mut JSONSchemaProps) {
    schema.title = None;
    // The lines of a comment are no lines of its text.
    if let Some(description) = &mut schema.description {
        let paragraphs = description.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        *description = paragraphs.collect::<Vec<_>>().join("\n\n");
    }
    let required = schema.required.as_deref().unwrap_or_default();
    for (name, field) in schema.properties.iter_mut().flatten() {
        // Without this, the API server drops a null and puts the default there, which is what it means to be
        // missing.
        if !required.contains(name) {
            field.nullable = None;
        }
        settle(field);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        settle(items);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        settle(values);
    }
}
