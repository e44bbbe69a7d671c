//! Behavior that kubectl does not have: unchanged memory, custom kinds, error messages and bounds.

mod bounds;
mod keys;

use super::*;
use crate::json::{Kind, Pointer};
use crate::patch::{InvalidPatchError, PatchErrorKind};

fn value(text: &str) -> Value<'_> {
    Value::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The schema of the kind of an object. For a custom kind, the schema without declarations.
fn schema_of(object: &Value<'_>) -> Schema {
    let field = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    Schema::built_in(field("apiVersion"), field("kind")).unwrap_or_else(|| Schema::custom(&[]))
}

/// `schema` with a list that is merged by these keys, which are names joined by dots.
fn declaring(schema: Schema, path: &str, keys: &[&str]) -> Schema {
    let path = Pointer::parse(path).unwrap();
    let keys: Vec<Pointer> = keys.iter().map(|key| Pointer::of(key.split('.'))).collect();
    schema.declaring([Declared { path: &path, keys: &keys }])
}

const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","spec":{"priority":1.0,"z":null,"empty":{},"none":[],"containers":[{"name":"b","image":"b","ports":[{"containerPort":53,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP"}],"resources":{"limits":{"cpu":"1"},"requests":null}},{"name":"a","env":[]}],"tolerations":[{"key":"k","value":null}]},"status":{"x":1e3},"metadata":{"name":"p"}}"#;

fn patched(object: &str, patch: &str) -> String {
    let object = value(object);
    apply(&object, &value(patch), &schema_of(&object)).unwrap().to_string()
}

fn custom(object: &str, patch: &str, schema: &Schema) -> String {
    apply(&value(object), &value(patch), schema).unwrap().to_string()
}

/// The place and the kind of the error.
fn refused(object: &str, patch: &str) -> (String, PatchErrorKind) {
    let object = value(object);
    let error = apply(&object, &value(patch), &schema_of(&object)).unwrap_err();
    (error.place.to_string(), error.problem)
}

fn faults(patch: &str) -> Vec<(String, PatchErrorKind)> {
    check(&value(patch))
        .into_iter()
        .map(|InvalidPatchError { place, problem }| (place.to_string(), problem))
        .collect()
}

#[test]
fn what_the_patch_does_not_mention_keeps_every_byte() {
    let patch = r#"{"spec":{"nodeName":"n","containers":[{"name":"b","image":"c"}]}}"#;
    let expected = POD.replace(r#""image":"b""#, r#""image":"c""#).replace(
        r#""tolerations":[{"key":"k","value":null}]}"#,
        r#""tolerations":[{"key":"k","value":null}],"nodeName":"n"}"#,
    );
    // The named item goes before the items that followed it. Here it is there already.
    assert_eq!(patched(POD, patch), expected);
}

#[test]
fn what_does_not_change_stays_the_same_piece_of_memory() {
    let object = value(POD);
    let schema = schema_of(&object);
    for nothing in [
        "null",
        "{}",
        r#"{"spec":{}}"#,
        r#"{"spec":{"priority":1.0,"absent":null,"empty":{},"none":[]}}"#,
        r#"{"spec":{"containers":[{"image":"b","name":"b"},{"name":"a"}]}}"#,
        r#"{"spec":{"containers":[]}}"#,
        r#"{"spec":{"containers":[{"name":"absent","$patch":"delete"}]}}"#,
        r#"{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}}"#,
        r#"{"spec":{"tolerations":[{"value":null,"key":"k"}]}}"#,
        r#"{"spec":{"$deleteFromPrimitiveList/none":["a"]}}"#,
        r#"{"metadata":{"$retainKeys":["name"],"name":"p"}}"#,
        r#"{"metadata":{"$patch":"replace","name":"p"}}"#,
        r#"{"spec":{"empty":{"$patch":"delete"}}}"#,
    ] {
        let schema = if nothing.contains("Primitive") || nothing.contains("empty") || nothing.contains("none")
        {
            // A schema without known fields.
            &Schema::custom(&[])
        } else {
            &schema
        };
        assert!(apply(&object, &value(nothing), schema).unwrap().is_same(&object), "{nothing}");
    }
    let changed = apply(&object, &value(r#"{"spec":{"containers":[{"name":"a","image":"x"}]}}"#), &schema);
    let changed = changed.unwrap();
    for place in
        ["/status", "/metadata", "/spec/empty", "/spec/none", "/spec/tolerations", "/spec/containers/0"]
    {
        let place = Pointer::parse(place).unwrap();
        assert!(changed.at(&place).unwrap().is_same(object.at(&place).unwrap()), "{place}");
    }
}

#[test]
fn new_items_go_in_front_of_what_follows_the_next_named_one() {
    let list = |names: &str| {
        let items: Vec<String> = names.chars().map(|name| format!(r#"{{"name":"{name}"}}"#)).collect();
        format!(r#"{{"apiVersion":"v1","kind":"Pod","spec":{{"containers":[{}]}}}}"#, items.join(","))
    };
    for (before, patch, after) in [
        ("abc", "n", "nabc"),
        ("abc", "nb", "nabc"),
        ("abc", "bn", "abnc"),
        ("abc", "ca", "bca"),
        ("abc", "nbmao", "nbmaoc"),
        ("abcdef", "enb", "acdenbf"),
    ] {
        assert_eq!(patched(&list(before), &list(patch)), list(after), "{before} + {patch}");
    }
}

#[test]
fn items_with_one_key_stay_where_they_are_unless_the_patch_names_them() {
    let service = r#"{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":53,"protocol":"TCP"},{"port":80},{"port":53,"protocol":"UDP"}]}}"#;
    assert_eq!(
        patched(service, r#"{"spec":{"ports":[{"port":80,"name":"web"}]}}"#),
        service.replace(r#"{"port":80}"#, r#"{"port":80,"name":"web"}"#)
    );
    let problem = PatchErrorKind::Ambiguous { key: "port".to_owned(), lacks: Some("protocol".to_owned()) };
    assert_eq!(
        refused(service, r#"{"spec":{"ports":[{"port":53,"name":"dns"}]}}"#),
        ("/spec/ports".to_owned(), problem)
    );
    let problem = PatchErrorKind::AddedTwice { key: "port".to_owned() };
    assert_eq!(
        refused(service, r#"{"spec":{"ports":[{"port":1},{"port":1}]}}"#),
        ("/spec/ports".to_owned(), problem)
    );
}

#[test]
fn pod_templates_in_custom_kinds_merge_as_pod_templates_do() {
    let object = r#"{"spec":{"replicas":1,"rules":[1],"template":{"metadata":{"finalizers":["a"]},"spec":{"containers":[{"name":"a","env":[{"name":"A","value":"1"}]}],"tolerations":[1]},"more":[1]}}}"#;
    let patch = r#"{"spec":{"rules":[2],"template":{"metadata":{"finalizers":["b"]},"spec":{"containers":[{"name":"a","env":[{"name":"B"}]}],"tolerations":[2]},"more":[2]}}}"#;
    let schema = Schema::custom(&[Pointer::of(["spec", "template"])]);
    assert_eq!(
        custom(object, patch, &schema),
        r#"{"spec":{"replicas":1,"rules":[2],"template":{"metadata":{"finalizers":["b","a"]},"spec":{"containers":[{"name":"a","env":[{"name":"B"},{"name":"A","value":"1"}]}],"tolerations":[2]},"more":[2]}}}"#
    );
    assert_eq!(
        custom(
            object,
            r#"{"spec":{"template":{"spec":{"containers":[{"name":"z"}]}}}}"#,
            &Schema::custom(&[])
        ),
        object.replace(r#"{"name":"a","env":[{"name":"A","value":"1"}]}"#, r#"{"name":"z"}"#)
    );
    // A kind with the fields of a pod.
    let chaperon =
        r#"{"metadata":{"name":"n"},"spec":{"containers":[{"name":"a"},{"name":"b"}]},"status":{"c":[1]}}"#;
    assert_eq!(
        custom(
            chaperon,
            r#"{"spec":{"containers":[{"name":"b","image":"i"}]},"status":{"c":[2]}}"#,
            &Schema::custom(&[Pointer::ROOT])
        ),
        chaperon.replace(r#"{"name":"b"}"#, r#"{"name":"b","image":"i"}"#).replace("[1]", "[2]")
    );
}

#[test]
fn lists_of_custom_kinds_are_replaced_unless_a_key_is_declared() {
    let object = r#"{"metadata":{"ownerReferences":[{"uid":"u","x":1}]},"spec":{"rules":[{"host":"a","paths":[{"path":"/","x":1}]},{"host":"b"}]}}"#;
    let patch = r#"{"metadata":{"ownerReferences":[{"uid":"u","y":1}]},"spec":{"rules":[{"host":"a","paths":[{"path":"/","y":2}]}]}}"#;
    let (rules, paths) = ("/spec/rules", "/spec/rules/*/paths");
    let merged = r#"{"metadata":{"ownerReferences":[{"uid":"u","x":1,"y":1}]},"spec":{"rules":"#;
    let answer = |schema: &Schema| custom(object, patch, schema);
    assert_eq!(
        answer(&Schema::custom(&[])),
        format!(r#"{merged}[{{"host":"a","paths":[{{"path":"/","y":2}}]}}]}}}}"#)
    );
    assert_eq!(
        answer(&declaring(Schema::custom(&[]), rules, &["host"])),
        format!(r#"{merged}[{{"host":"a","paths":[{{"path":"/","y":2}}]}},{{"host":"b"}}]}}}}"#)
    );
    assert_eq!(
        answer(&declaring(declaring(Schema::custom(&[]), rules, &["host"]), paths, &["path"])),
        format!(r#"{merged}[{{"host":"a","paths":[{{"path":"/","x":1,"y":2}}]}},{{"host":"b"}}]}}}}"#)
    );
}

#[test]
fn the_table_knows_the_kinds_of_kubernetes_and_no_others() {
    for (api_version, kind, known) in [
        ("v1", "Pod", true),
        ("apps/v1", "Deployment", true),
        ("extensions/v1beta1", "Deployment", true),
        ("batch/v1", "CronJob", true),
        ("resource.k8s.io/v1", "ResourceClaim", true),
        ("v1", "PodList", false),
        ("apps/v1", "deployment", false),
        ("apps/v2", "Deployment", false),
        ("apps", "Deployment", false),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", false),
        ("", "", false),
    ] {
        assert_eq!(Schema::built_in(api_version, kind).is_some(), known, "{api_version} {kind}");
    }
    for row in table::TYPES {
        assert!(row.is_sorted_by(|a, b| a.0 < b.0), "{row:?}");
        for (_, holds) in *row {
            if let schema::Holds::Map(other)
            | schema::Holds::AtomicMaps(other)
            | schema::Holds::Keyed(_, _, other) = holds
            {
                assert!(*other < table::TYPES.len(), "{row:?}");
            }
        }
    }
    assert!(table::KINDS.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)));
}

#[test]
fn errors_tell_the_place_in_the_object() {
    let pod = r#"{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a"},{"name":"b","env":[{"name":"A"}]}]}}"#;
    let missing = || PatchErrorKind::KeyMissing { key: "name".to_owned(), of: "patch" };
    assert_eq!(
        refused(pod, r#"{"spec":{"containers":[{"name":"b","env":[{"value":"1"}]}]}}"#),
        ("/spec/containers/1/env".to_owned(), missing())
    );
    assert_eq!(
        refused(&pod.replace(r#"{"name":"a"}"#, "{}"), r#"{"spec":{"containers":[]}}"#),
        (
            "/spec/containers/0".to_owned(),
            PatchErrorKind::KeyMissing { key: "name".to_owned(), of: "object" }
        )
    );
    assert_eq!(
        refused(pod, r#"{"spec":{"containers":["a"]}}"#),
        ("/spec/containers".to_owned(), PatchErrorKind::MixedItems)
    );
    assert_eq!(
        refused(r#"{"apiVersion":"v1","kind":"Pod","spec":{"x":[]}}"#, r#"{"spec":{"x":[1]}}"#),
        ("/spec/x".to_owned(), PatchErrorKind::UnknownField { name: "x".to_owned(), holds: "list" })
    );
    assert_eq!(
        refused(pod, r#"{"spec":{"$patch":"merge"}}"#),
        ("/spec".to_owned(), PatchErrorKind::UnknownWord)
    );
    assert_eq!(refused(pod, r#"{"$patch":"delete"}"#), (String::new(), PatchErrorKind::DeletesAll));
    assert_eq!(refused(pod, "[]"), (String::new(), PatchErrorKind::NotAMap(Kind::Array)));
    assert_eq!(refused("1", "{}"), (String::new(), PatchErrorKind::NotAMap(Kind::Number)));

    let object = value(pod);
    let error = apply(&object, &value(r#"{"spec":{"containers":[{}]}}"#), &schema_of(&object)).unwrap_err();
    assert_eq!(error.to_string(), "failed to patch the object at /spec/containers");
    assert_eq!(error.problem.to_string(), "the list is merged by `name`, and an item of the patch has none");
}

#[test]
fn a_field_is_not_set_to_what_is_deleted_from_it() {
    let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"finalizers":["a"]}}"#;
    for patch in [
        r#"{"metadata":{"finalizers":["b","a"],"$deleteFromPrimitiveList/finalizers":["a"]}}"#,
        r#"{"metadata":{"finalizers":["b"],"$deleteFromPrimitiveList/finalizers":null}}"#,
    ] {
        let problem = PatchErrorKind::SetAndDeleted("finalizers".to_owned());
        assert_eq!(refused(pod, patch), ("/metadata/finalizers".to_owned(), problem.clone()));
        assert_eq!(faults(patch), [("/metadata/$deleteFromPrimitiveList~1finalizers".to_owned(), problem)]);
    }
    let both = r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["b"]}}"#;
    assert_eq!(patched(pod, both), pod.replace(r#"["a"]"#, r#"["b"]"#));
    assert!(faults(both).is_empty());
}

#[test]
fn what_can_be_refused_at_load_is_refused_with_its_place() {
    let not_a_list =
        |directive: &str, found| PatchErrorKind::NotAList { directive: directive.to_owned(), found };
    let nearly = |found: &str, meant| PatchErrorKind::NearlyDirective { found: found.to_owned(), meant };
    for (patch, place, problem) in [
        ("[]", "", PatchErrorKind::NotAMap(Kind::Array)),
        (r#"{"$patch":"delete"}"#, "/$patch", PatchErrorKind::DeletesAll),
        (r#"{"a":[{"$patch":"merge"}]}"#, "/a/0/$patch", PatchErrorKind::UnknownWord),
        (r#"{"a":{"$patch":null}}"#, "/a/$patch", PatchErrorKind::UnknownWord),
        (r#"{"$Patch":"replace"}"#, "/$Patch", nearly("$Patch", "$patch")),
        (r#"{"$path":"replace"}"#, "/$path", nearly("$path", "$patch")),
        (r#"{"$retainkeys":[]}"#, "/$retainkeys", nearly("$retainkeys", "$retainKeys")),
        (
            r#"{"$setElementOder/a":[]}"#,
            "/$setElementOder~1a",
            nearly("$setElementOder/a", "$setElementOrder"),
        ),
        (
            r#"{"$deleteFromPrimitivList/a":[]}"#,
            "/$deleteFromPrimitivList~1a",
            nearly("$deleteFromPrimitivList/a", "$deleteFromPrimitiveList"),
        ),
        (r#"{"$setElementOrder":[]}"#, "/$setElementOrder", PatchErrorKind::NoListName("$setElementOrder")),
        (
            r#"{"$setElementOrderOf/a":[]}"#,
            "/$setElementOrderOf~1a",
            PatchErrorKind::NoListName("$setElementOrder"),
        ),
        (
            r#"{"$deleteFromPrimitiveList":[]}"#,
            "/$deleteFromPrimitiveList",
            PatchErrorKind::NoListName("$deleteFromPrimitiveList"),
        ),
        (
            r#"{"$deleteFromPrimitiveList/a":"b"}"#,
            "/$deleteFromPrimitiveList~1a",
            not_a_list("$deleteFromPrimitiveList/a", Kind::String),
        ),
        (r#"{"$setElementOrder/a":[1,"a"]}"#, "/$setElementOrder~1a", PatchErrorKind::MixedItems),
        (r#"{"$setElementOrder/a":[],"a":null}"#, "/a", not_a_list("$setElementOrder/a", Kind::Null)),
        (r#"{"$retainKeys":"a"}"#, "/$retainKeys", not_a_list("$retainKeys", Kind::String)),
        (r#"{"$retainKeys":["a"],"a":1,"b":2}"#, "/$retainKeys", PatchErrorKind::NotRetained("b".to_owned())),
        (
            r#"{"$retainKeys":["a",{}]}"#,
            "/$retainKeys/1",
            PatchErrorKind::BadItem { directive: "$retainKeys".to_owned(), found: Kind::Object },
        ),
    ] {
        assert_eq!(faults(patch), [(place.to_owned(), problem)], "{patch}");
    }
    for fine in [
        "null",
        "{}",
        r##"{"a":{"$ref":"#/x","$schema":"y","$id":1,"$":2}}"##,
        r#"{"$retainKeys":["a"],"a":1,"b":null,"$setElementOrder/c":[{"n":1}]}"#,
        r#"{"$deleteFromPrimitiveList/a":null}"#,
    ] {
        assert!(faults(fine).is_empty(), "{fine}: {:?}", faults(fine));
    }
    assert_eq!(check(&value(r#"{"a":{"$patch":1},"b":[{"$path":1}]}"#)).len(), 2, "every fault is told");
}
