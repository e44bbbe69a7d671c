//! Very deep, very large and malformed patches.

use proptest::prelude::*;

use super::*;
use crate::json::MAX_DEPTH;

/// Maps, and alternating maps and merged lists, with the maximum depth, on a stack of the default size of a
/// thread.
#[test]
fn the_deepest_values_fit_on_the_stack_of_a_thread() {
    // Each turn is a map and a list. The innermost map is one more level.
    const TURNS: usize = (MAX_DEPTH - 1) / 2;
    let nest = |open: &str, inner: &str| format!("{}{inner}{}", open.repeat(TURNS), "]}".repeat(TURNS));
    let lists = move |inner: &str| nest(r#"{"k":1,"a":["#, inner);
    let maps =
        |inner: &str| format!("{}{inner}{}", r#"{"a":"#.repeat(MAX_DEPTH - 1), "}".repeat(MAX_DEPTH - 1));
    let run = move || {
        let steps = Pointer::of((0..TURNS).flat_map(|_| ["a", "*"]));
        let keyed: Vec<Pointer> = (0..TURNS).map(|turn| steps.prefix(turn * 2 + 1)).collect();
        let keyed = keyed
            .iter()
            .fold(Schema::custom(&[]), |schema, place| declaring(schema, &place.to_string(), &["k"]));
        let (object, patch) = (lists(r#"{"k":2,"x":1}"#), lists(r#"{"k":2,"x":2}"#));
        let (object, patch) = (value(&object), value(&patch));
        assert_eq!(apply(&object, &patch, &keyed).unwrap(), patch);
        assert!(check(&patch).is_empty());
        let ordered = nest(
            r#"{"k":1,"$setElementOrder/a":[{"k":1},{"k":2}],"a":["#,
            r#"{"k":2,"x":2,"$retainKeys":["k","x"]}"#,
        );
        let ordered = value(&ordered);
        assert_eq!(apply(&object, &ordered, &keyed).unwrap(), patch);
        assert!(check(&ordered).is_empty());
        // For a list of maps, the directive is another spelling of a patch of the list.
        let deleted = nest(r#"{"k":1,"$deleteFromPrimitiveList/a":["#, r#"{"k":2,"x":2}"#);
        assert_eq!(apply(&object, &value(&deleted), &keyed).unwrap(), patch);
        // Values that are copied from the patch: as new values and as replacements.
        let replacement = lists(r#"{"k":2,"x":2,"$retainKeys":["k","x"]}"#);
        assert_eq!(apply(&Value::empty_object(), &ordered, &keyed).unwrap(), patch);
        assert_eq!(apply(&object, &value(&replacement), &Schema::custom(&[])).unwrap(), patch);

        let (object, patch) = (maps(r#"{"x":1}"#), maps(r#"{"x":2}"#));
        let (object, patch) = (value(&object), value(&patch));
        assert_eq!(apply(&object, &patch, &keyed).unwrap(), patch);
        assert_eq!(crate::patch::merge::apply(&object, &patch), patch);
        assert_eq!(crate::patch::merge::apply(&Value::Null, &patch), patch);
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

/// An object with `size` labels and containers, and a patch that changes, adds and deletes as many.
fn large(size: usize) -> (String, String) {
    let join = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(",");
    let containers = |range: std::ops::Range<usize>, more: &str| {
        join(&mut range.map(|n| format!(r#"{{"name":"c{n}"{more}}}"#)))
    };
    let labels = |range: std::ops::Range<usize>| {
        let value = range.start;
        join(&mut range.map(|n| format!(r#""k{n}":"{value}""#)))
    };
    let object = format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"labels":{{{}}}}},"spec":{{"containers":[{}]}}}}"#,
        labels(0..size),
        containers(0..size, "")
    );
    let patch = format!(
        r#"{{"metadata":{{"labels":{{{}}}}},"spec":{{"containers":[{},{}]}}}}"#,
        labels(size / 2..size + size / 2),
        containers(size / 2..size + size / 2, r#","image":"i""#),
        containers(0..size / 4, r#","$patch":"delete""#)
    );
    (object, patch)
}

#[test]
fn long_lists_and_wide_maps_take_linear_time() {
    let time = |size: usize| {
        let (object, patch) = large(size);
        let (object, patch) = (value(&object), value(&patch));
        let once = || {
            let start = std::time::Instant::now();
            let result = apply(&object, &patch, &schema_of(&object)).unwrap();
            let time = start.elapsed();
            let count = |place: &[&str]| match result.at(&Pointer::of(place.iter().copied())) {
                Some(Value::Array(items)) => items.len(),
                Some(Value::Object(object)) => object.len(),
                _ => 0,
            };
            assert_eq!(count(&["spec", "containers"]), size * 5 / 4);
            assert_eq!(count(&["metadata", "labels"]), size * 3 / 2);
            time
        };
        (0..3).map(|_| once()).min().unwrap()
    };
    // Other processes can slow down a single measurement. Quadratic time shows in all of them.
    let mut seen = Vec::new();
    let is_linear = (0..8).any(|_| {
        let (small, large) = (time(1_000), time(16_000));
        seen.push((small, large));
        large < small * 64
    });
    assert!(is_linear, "sixteen times the size took more than 64 times the time, each time: {seen:?}");
}

/// Names of members: fields of every merge type, keys, and all directives, also misspelled ones.
const NAMES: &[&str] = &[
    "metadata",
    "finalizers",
    "spec",
    "containers",
    "name",
    "args",
    "ports",
    "containerPort",
    "labels",
    "selector",
    "$patch",
    "$retainKeys",
    "$setElementOrder/containers",
    "$setElementOrder/args",
    "$setElementOrder",
    "$deleteFromPrimitiveList/finalizers",
    "$deleteFromPrimitiveList/args",
    "$deleteFromPrimitiveList/containers",
];

const WORDS: &[&str] = &["a", "b", "name", "containers", "replace", "delete", "merge"];

/// Nested maps and lists with these names.
fn any_map(names: &'static [&'static str]) -> impl proptest::strategy::Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        (0i64..3).prop_map(Value::from),
        proptest::sample::select(WORDS).prop_map(Value::from),
        prop_oneof![Just("replace"), Just("delete")].prop_map(Value::from),
    ];
    let map = move |inner| {
        proptest::collection::vec((proptest::sample::select(names), inner), 0..6)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
    };
    let inner = leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::array), map(inner)]
    });
    map(inner.boxed())
}

fn holds_directives(value: &Value<'_>) -> bool {
    match value {
        Value::Array(items) => items.iter().any(holds_directives),
        Value::Object(object) => {
            object.iter().any(|(name, value)| name.starts_with('$') || holds_directives(value))
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// Any patch gives a result without directives, or an error.
    #[test]
    fn no_patch_leaves_a_directive_or_brings_us_down(object in any_map(&NAMES[..10]), patch in any_map(NAMES)) {
        let custom = Schema::custom(&[Pointer::of(["selector"])]);
        let custom = declaring(custom, "/spec/containers", &["name"]);
        let custom = declaring(custom, "/spec/containers/*/ports", &["containerPort", "labels.name"]);
        let pod = Schema::built_in("v1", "Pod").unwrap();
        let declared = declaring(pod.clone(), "/spec/containers", &["name", "labels.name"]);
        check(&patch);
        for schema in [pod, declared, custom] {
            if let Ok(result) = apply(&object, &patch, &schema) {
                prop_assert!(!holds_directives(&result), "{result}");
                // The result is deterministic, including the order of members.
                let again = apply(&object, &patch, &schema).unwrap();
                prop_assert_eq!(result.to_string(), again.to_string());
                let patch = patch.as_object().unwrap();
                if !patch.iter().any(|(name, _)| name.starts_with('$')) {
                    let unnamed = object.as_object().unwrap().iter().filter(|(name, _)| patch.get(name).is_none());
                    for (name, value) in unnamed {
                        prop_assert_eq!(result.get(name), Some(value));
                    }
                }
            }
        }
    }
}
