//! The definitions, as they are applied.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt as _;

use super::{
    ClusterRevisionPolicy, ClusterTargetPodTransformation, ResourceInterpretation, RevisionPolicy,
    TargetPodTransformation,
};

/// The definitions of all five kinds.
pub fn definitions() -> [CustomResourceDefinition; 5] {
    [
        ClusterRevisionPolicy::crd(),
        RevisionPolicy::crd(),
        ResourceInterpretation::crd(),
        TargetPodTransformation::crd(),
        ClusterTargetPodTransformation::crd(),
    ]
    .map(|mut definition| {
        let schemas = definition.spec.versions.iter_mut().filter_map(|version| version.schema.as_mut());
        schemas.filter_map(|schema| schema.open_api_v3_schema.as_mut()).for_each(settle);
        definition
    })
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
        // Without this, the API server drops a null and puts the default there, which is what it means to be missing.
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
