//! Works of any shape. A match condition with an error refuses the request with 403, so no condition may
//! fail.

use serde_json::{Value, json};

use super::{elsewhere, served};
use crate::support::plane::ControlPlane;
use crate::support::world::World;

/// Replacement values for parts of a Work.
fn odd_values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(7),
        json!(0.5),
        json!(""),
        json!("x"),
        json!([]),
        json!([null]),
        json!([[]]),
        json!(["x", 1, {}]),
        json!({}),
        json!({"": {}}),
        json!({"metadata": null}),
    ]
}

/// The places to replace; their parents exist.
const PLACES: [&str; 11] = [
    "/metadata/annotations",
    "/metadata/annotations/resourcebinding.karmada.io~1name",
    "/spec",
    "/spec/workload",
    "/spec/workload/manifests",
    "/spec/workload/manifests/0",
    "/spec/workload/manifests/0/apiVersion",
    "/spec/workload/manifests/0/kind",
    "/spec/workload/manifests/0/metadata",
    "/spec/workload/manifests/0/metadata/annotations",
    "/spec/workload/manifests/0/metadata/annotations/resourcebinding.karmada.io~1name",
];

/// The captured Work with each value in each place, and with each place removed.
fn odd_works(world: &World<'_>) -> (String, Vec<(String, Value)>) {
    let (collection, work) = elsewhere(world);
    let mut works = Vec::new();
    for place in PLACES {
        for value in odd_values() {
            let mut odd = work.clone();
            let described = format!("{place}: {value}");
            *odd.pointer_mut(place).unwrap() = value;
            works.push((described, odd));
        }
        let (above, name) = place.rsplit_once('/').unwrap();
        let mut odd = work.clone();
        match odd.pointer_mut(above).unwrap() {
            Value::Array(items) => drop(items.remove(name.parse().unwrap())),
            above => drop(above.as_object_mut().unwrap().remove(&name.replace("~1", "/"))),
        }
        works.push((format!("no {place}"), odd));
    }
    (collection, works)
}

/// Sends all as dry runs. Returns the number of replies by code.
fn codes(world: &World<'_>) -> Vec<(u16, usize)> {
    let (collection, works) = odd_works(world);
    let stored = world.karmada().get(&format!("{collection}/stored")).ok();
    let mut codes = std::collections::BTreeMap::new();
    for (what, work) in works {
        for updated in [false, true] {
            let reply = if updated {
                let mut work = work.clone();
                for field in ["name", "resourceVersion"] {
                    work["metadata"][field] = stored["metadata"][field].clone();
                }
                world.karmada().put(&format!("{collection}/stored?dryRun=All"), &work)
            } else {
                world.karmada().create(&format!("{collection}?dryRun=All"), &work)
            };
            assert!(reply.code != 403 && !reply.text.contains("matchCondition"), "{what}: {}", reply.text);
            *codes.entry(reply.code).or_insert(0) += 1;
        }
    }
    codes.into_iter().collect()
}

/// A Work of another name that can be updated.
fn store_one(world: &World<'_>) {
    let (collection, mut work) = elsewhere(world);
    work["metadata"]["name"] = "stored".into();
    world.karmada().create(&collection, &work).ok();
}

#[test]
fn no_shape_of_a_work_makes_a_condition_err() {
    let Some(plane) = ControlPlane::shared() else { return };
    let (world, server) = served(plane, "shapes");
    store_one(&world);
    let reviewed = codes(&world);
    // Stored, skipped by the conditions, or refused by the schema or by reviser.
    assert_eq!(
        reviewed.iter().map(|(code, _)| *code).collect::<Vec<_>>(),
        [200, 201, 400, 422],
        "{reviewed:?}"
    );
    drop(server);
    // Some are still for reviser, and so refused; most are not, and none of those needs it.
    let alone = codes(&world);
    assert_eq!(
        alone.iter().map(|(code, _)| *code).collect::<Vec<_>>(),
        [200, 201, 400, 422, 500],
        "{alone:?}"
    );
}
