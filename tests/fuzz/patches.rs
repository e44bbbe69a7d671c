//! Patches of all three kinds, from damaged JSON.

use reviser::json::{Pointer, Value};
use reviser::patch::strategic::{self, Schema};
use reviser::patch::{diff, merge, rfc6902};

use crate::fuzz;
use crate::mutate::mutated;
use crate::random::Random;

const OBJECTS: &[&str] = &[
    r#"{"metadata":{"name":"n","finalizers":["a","b"],"labels":{"a":"1"}},"spec":{"template":{"spec":{"containers":[{"name":"a","image":"i","ports":[{"containerPort":80},{"containerPort":80,"protocol":"UDP"}],"env":[{"name":"A","value":"1"}]},{"name":"b"}],"volumes":[{"name":"v","emptyDir":{}}],"tolerations":[{"key":"k"}]}}}}"#,
    r#"{"spec":{"list":[1,2.0,[null],{"a":{}}],"null":null,"empty":{}}}"#,
];

const PATCHES: &[&str] = &[
    r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"labels":{"a":null,"b":"2"}},"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"a","env":[{"name":"A","$patch":"delete"},{"name":"B","value":"2"}],"ports":[{"containerPort":80,"protocol":"TCP"}]},{"name":"c","image":"j"}],"volumes":[{"name":"v","$retainKeys":["name","configMap"],"configMap":{"name":"c"}}]}}}}"#,
    r#"[{"op":"add","path":"/spec/list/-","value":{"x":[]}},{"op":"move","from":"/spec/list/0","path":"/spec/a~1b"},{"op":"copy","from":"/spec","path":"/spec/copy"},{"op":"test","path":"/spec/null","value":null},{"op":"remove","path":"/spec/empty"},{"op":"replace","path":"/metadata/labels","value":{}}]"#,
    r#"{"spec":{"list":null,"template":{"spec":{"containers":[{"$patch":"replace"},{"name":"z"}]}},"empty":{"$patch":"delete"}}}"#,
];

fn make(random: &mut Random) -> String {
    let object = random.pick(OBJECTS);
    let object = if random.once_in(2) { object.to_owned() } else { mutated(object, random) };
    format!("{object}\n{}", mutated(random.pick(PATCHES), random))
}

fn run(input: &str) -> String {
    let (object, patch) = input.split_once('\n').unwrap_or((input, ""));
    let (Ok(object), Ok(patch)) = (Value::parse(object.as_bytes()), Value::parse(patch.as_bytes())) else {
        return "no JSON".to_owned();
    };
    let (object, patch) = (object.into_owned(), patch.into_owned());
    let mut outcome = String::new();
    let mut after = |result: Result<Value<'static>, String>| match result {
        Ok(value) => {
            // A debug build compares this with another implementation.
            outcome.push_str(&diff(&object, &value).to_text());
        }
        Err(error) => outcome.push_str(&error),
    };
    after(Ok(merge::apply(&object, &patch)));
    let root = Schema::custom(&[Pointer::parse("/spec/template").unwrap()]);
    for schema in [Schema::built_in("apps/v1", "Deployment").unwrap(), root] {
        if strategic::check(&patch).is_empty() {
            after(
                strategic::apply(&object, &patch, &schema)
                    .map_err(|error| format!("{error}: {}", error.problem)),
            );
        }
    }
    if let Ok(operations) = rfc6902::parse(&patch) {
        use rfc6902::MissingPath;
        for missing in [MissingPath::Fail, MissingPath::Create, MissingPath::Skip] {
            let applied = rfc6902::apply(&object, &operations, missing);
            after(applied.map_err(|error| format!("{error}: {}", error.problem)));
        }
    }
    outcome
}

#[test]
fn patches_are_refused_or_applied() {
    fuzz(make, run);
}
