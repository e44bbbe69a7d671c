//! Random objects and patches of built-in kinds, given to kubectl and to us.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Write as _;
use std::process::{Command, Stdio};

use reviser::json::Value;
use reviser::patch::PatchErrorKind;
use reviser::patch::strategic::apply;

use super::generate::{Generator, KINDS};
use super::{schema_of, seen, without_directives};

/// Each patch is a run of kubectl.
const PATCHES: usize = 90;
/// How many objects it is given in one run.
const OBJECTS: usize = 12;

#[test]
#[expect(clippy::print_stderr, reason = "who reads the log of the tests has to see what was left out")]
fn kubectl_merges_random_patches_into_random_objects_as_we_do() {
    let version = Command::new("kubectl").args(["version", "--client"]).output();
    if let Err(error) = version {
        eprintln!("left out: kubectl patch --local over random objects: kubectl: {error}");
        return;
    }
    let seed = RandomState::new().build_hasher().finish();
    let mut generator = Generator::new(seed);
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    for round in 0..PATCHES {
        let kind = &KINDS[round % KINDS.len()];
        let objects: Vec<String> =
            (0..OBJECTS).map(|number| generator.object(kind, &format!("o{number}"))).collect();
        let patch = generator.patch(kind);
        let theirs = kubectl(&objects, &patch);
        for (number, object) in objects.iter().enumerate() {
            let name = format!("o{number}");
            let how = compare(object, &patch, theirs.get(&name)).or_else(|fault| {
                // A run may fail as a whole, and Go looks at maps in an order of its own each time.
                let again = kubectl(std::slice::from_ref(object), &patch);
                compare(object, &patch, again.get(&name)).map_err(|_| fault)
            });
            match how {
                Ok(how) => *tally.entry(how).or_default() += 1,
                Err(fault) => panic!("seed {seed}: {fault}\n  object  {object}\n  patch   {patch}"),
            }
        }
    }
    // Were most refused, the rest would say little.
    let same = tally.get("same").copied().unwrap_or_default();
    assert!(same * 3 > PATCHES * OBJECTS, "seed {seed}: {tally:?}");
}

/// Whether our answer is kubectl's, or an intended difference.
fn compare(object: &str, patch: &str, theirs: Option<&serde_json::Value>) -> Result<&'static str, String> {
    let (object, patch) = (value(object), value(patch));
    match (apply(&object, &patch, &schema_of(&object)), theirs) {
        (Err(_), None) => Ok("both refuse"),
        (Ok(ours), Some(theirs)) => {
            let theirs = without_directives(theirs.clone());
            if seen(&ours, false) == theirs {
                return Ok("same");
            }
            // Kubectl deletes from a list that it still takes the order from.
            let text = patch.to_string();
            let aliased = text.contains("$setElementOrder") && text.contains(r#""$patch":"delete""#);
            if aliased && seen(&ours, true) == seen(&value(&theirs.to_string()), true) {
                return Ok("another order");
            }
            Err(format!("ours    {ours}\n  kubectl {theirs}"))
        }
        (Err(error), Some(theirs)) => match error.problem {
            PatchErrorKind::Ambiguous { .. }
            | PatchErrorKind::AddedTwice { .. }
            | PatchErrorKind::NoPlace(_)
            // A map where the kind has a scalar.
            | PatchErrorKind::UnknownField { .. }
            | PatchErrorKind::SetAndDeleted(_) => Ok("only we refuse"),
            problem => Err(format!("ours    {} {problem}\n  kubectl {theirs}", error.place)),
        },
        (Ok(ours), None) => Err(format!("ours    {ours}\n  kubectl refuses")),
    }
}

fn value(text: &str) -> Value<'_> {
    Value::parse(text.as_bytes()).unwrap()
}

/// What kubectl makes of the objects, by their names; those that it refuses are missing.
fn kubectl(objects: &[String], patch: &str) -> BTreeMap<String, serde_json::Value> {
    let mut child = Command::new("kubectl")
        .args(["patch", "--local", "-f", "-", "--type", "strategic", "-o", "json", "-p", patch])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = objects.join("\n");
    let output = std::thread::scope(|scope| {
        // One that goes down does not read to the end.
        scope.spawn(move || stdin.write_all(input.as_bytes()).ok());
        child.wait_with_output().unwrap()
    });
    if objects.len() > 1 && String::from_utf8_lossy(&output.stderr).contains("panic:") {
        // It goes down with all others: one by one, then.
        return objects.iter().flat_map(|object| kubectl(std::slice::from_ref(object), patch)).collect();
    }
    serde_json::Deserializer::from_slice(&output.stdout)
        .into_iter::<serde_json::Value>()
        .map(|object| {
            let object = numbers_as_floats(object.unwrap());
            (object["metadata"]["name"].as_str().unwrap().to_owned(), object)
        })
        .collect()
}

/// As [`seen`] has them.
fn numbers_as_floats(value: serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Number(number) => number.as_f64().unwrap().into(),
        serde_json::Value::Array(items) => items.into_iter().map(numbers_as_floats).collect(),
        serde_json::Value::Object(object) => {
            object.into_iter().map(|(name, value)| (name, numbers_as_floats(value))).collect()
        }
        other => other,
    }
}
