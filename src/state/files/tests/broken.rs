//! Invalid, incomplete and missing files.

use super::*;
use crate::json::Value;
use crate::yaml;

const CAPTURE: &str = include_str!("../../../../tests/data/captures/rb-w31.json");

#[test]
fn a_faulty_set_is_refused_at_the_start_with_every_fault() {
    let directory = Directory::new();
    directory.write("a.yaml", "kind: ResourceBinding\n");
    directory.write("b.yaml", "a: [\n");
    directory.write("c.yaml", "");
    directory.write("d.yaml", &binding("checkout", 1));
    fs::create_dir(directory.at("empty")).unwrap();
    let faults =
        directory.open(&["d.yaml", "missing.yaml", "c.yaml", "b.yaml", "a.yaml", "empty"]).unwrap_err();
    assert_eq!(faults.len(), 4, "{faults:#?}");
    assert_eq!(faults[0], "a.yaml: document 1, line 1: apiVersion: is required");
    assert!(faults[1].starts_with("b.yaml: line "), "{faults:#?}");
    assert!(faults[2].starts_with("c.yaml: there is no document in it"), "{faults:#?}");
    assert_eq!(faults[3], "missing.yaml: No such file or directory (os error 2)");
    // A pipe or a device can't be read again.
    assert_eq!(
        StateFiles::open(vec!["/dev/null".into()]).unwrap_err(),
        ["/dev/null: neither a file nor a directory, and it is read more than once"]
    );
}

#[tokio::test]
async fn a_faulty_set_leaves_the_last_good_one_in_force_until_it_is_mended() {
    let directory = Directory::new();
    directory.write("a.yaml", &binding("checkout", 1));
    directory.write("b.yaml", &binding("cart", 1));
    let files = directory.open(&["a.yaml", "b.yaml"]).unwrap();
    for (n, broken) in ["", "# nothing\n", "a: [\n", "[]\n", "\u{0}", "kind: Work\n", &binding("checkout", 1)]
        .into_iter()
        .enumerate()
    {
        // One file is valid and new, the other is invalid. Neither becomes active.
        directory.write("a.yaml", &binding("checkout", n + 2));
        directory.replace("b.yaml", broken);
        assert_eq!(replicas(&files, "checkout").await, Ok(i64::try_from(n + 1).unwrap()), "{broken:?}");
        assert_eq!(replicas(&files, "cart").await, Ok(i64::try_from(n + 1).unwrap()), "{broken:?}");
        assert!(files.is_stale(), "{broken:?}");
        directory.write("b.yaml", &binding("cart", n + 2));
        assert_eq!(replicas(&files, "checkout").await, Ok(i64::try_from(n + 2).unwrap()));
        assert_eq!(replicas(&files, "cart").await, Ok(i64::try_from(n + 2).unwrap()));
        assert!(!files.is_stale());
    }
}

#[tokio::test]
async fn a_file_that_is_named_and_goes_is_not_an_empty_one() {
    let directory = Directory::new();
    directory.write("a.yaml", &binding("checkout", 1));
    let files = directory.open(&["a.yaml"]).unwrap();
    fs::remove_file(directory.at("a.yaml")).unwrap();
    assert_eq!(replicas(&files, "checkout").await, Ok(1));
    assert!(files.is_stale());
    fs::create_dir(directory.at("a.yaml")).unwrap();
    assert!(
        replicas(&files, "checkout").await.is_err(),
        "an empty directory in its place is a set without documents"
    );
    fs::remove_dir(directory.at("a.yaml")).unwrap();
    directory.write("a.yaml", &binding("checkout", 2));
    assert_eq!(replicas(&files, "checkout").await, Ok(2));
    assert!(!files.is_stale());
}

/// The capture without long fields that are not read.
fn shortened() -> Value<'static> {
    let mut value = Value::parse(CAPTURE.as_bytes()).unwrap();
    let object = value.object_mut().unwrap();
    object.remove("status");
    for (below, name) in [("metadata", "annotations"), ("spec", "placement"), ("spec", "replicaRequirements")]
    {
        object.get_mut(below).and_then(Value::object_mut).unwrap().remove(name).unwrap();
    }
    value
}

/// The binding of the capture.
fn whole() -> Binding {
    let mut builder = crate::state::snapshot::SnapshotBuilder::default();
    builder.add(Path::new("a"), &crate::documents::parse(CAPTURE.as_bytes()).unwrap());
    match builder.finish().unwrap().binding(&workload("checkout"), None) {
        Match::One(binding) => binding.clone(),
        other => panic!("{other:?}"),
    }
}

/// Truncates the file to each of these lengths: whether the state is stale then, and the result of a lookup.
async fn prefixes(
    text: &str,
    ends: impl Iterator<Item = usize>,
) -> Vec<(usize, bool, Result<Binding, LookupError>)> {
    let directory = Directory::new();
    directory.write("state", text);
    let files = directory.open(&["state"]).unwrap();
    let mut seen = Vec::new();
    for end in ends {
        directory.write("state", &text[..end]);
        let found = match files.find(&workload("checkout"), None).await {
            Ok(BindingLookup::Found(binding)) => Ok(binding),
            Ok(BindingLookup::Gone) => panic!(),
            Err(error) => Err(error),
        };
        seen.push((end, files.is_stale(), found));
        if !files.is_stale() {
            directory.write("state", text);
            assert!(files.find(&workload("checkout"), None).await.is_ok());
        }
    }
    seen
}

#[tokio::test]
async fn no_part_of_a_json_file_is_taken_for_the_whole() {
    let expected = whole();
    let text = shortened().to_string();
    for (end, stale, found) in prefixes(&text, 0..text.len()).await {
        assert_eq!((stale, found), (true, Ok(expected.clone())), "up to byte {end}");
    }
}

#[tokio::test]
async fn a_yaml_file_that_ends_too_early_is_refused_as_long_as_that_can_be_told() {
    let mut text = String::new();
    yaml::write(&shortened(), &mut text);
    let resource = text.find("\n  resource:\n").unwrap();
    let namespace = resource + text[resource..].find("\n    namespace: shop\n").unwrap();
    let ends = namespace + "\n    namespace: shop".len();
    let expected = whole();
    for (end, stale, found) in prefixes(&text, 0..text.len()).await {
        assert_eq!(found, Ok(expected.clone()), "up to byte {end}");
        assert!(stale || end >= ends, "up to byte {end}");
    }

    // In the output of kubectl, the `kind` of a List is at the end.
    let items = format!("apiVersion: v1\nitems:\n{}", indent(&text));
    let list = format!("{items}kind: List\nmetadata:\n  resourceVersion: \"\"\n");
    let ends = (0..items.len()).step_by(7).chain(items.len()..list.len());
    for (end, stale, found) in prefixes(&list, ends).await {
        assert_eq!(found, Ok(expected.clone()), "up to byte {end}");
        assert!(stale || end >= items.len() + "kind: List".len(), "up to byte {end}");
    }
}

/// A document as the item of a list.
fn indent(text: &str) -> String {
    format!("- {}\n", text.trim_end().replace('\n', "\n  "))
}
