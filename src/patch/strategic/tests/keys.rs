//! Lists that are merged by declared keys, and by all keys of server-side apply.

use proptest::prelude::*;

use super::*;

fn built_in(api_version: &str, kind: &str) -> Schema {
    Schema::built_in(api_version, kind).unwrap()
}

fn merged(object: &str, patch: &str, schema: &Schema) -> (String, Vec<(String, usize)>) {
    let merged = merge(&value(object), &value(patch), schema).unwrap();
    let shortened = merged.shortened.iter().map(|it| (it.place.to_string(), it.removed)).collect();
    (merged.value.to_string(), shortened)
}

fn problem(object: &str, patch: &str, schema: &Schema) -> (String, PatchErrorKind) {
    let error = apply(&value(object), &value(patch), schema).unwrap_err();
    (error.place.to_string(), error.problem)
}

const INGRESS: &str = r#"{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","spec":{"rules":[{"host":"a","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"a","port":{"number":80}}}},{"path":"/x","pathType":"Exact"}]}},{"http":{"paths":[]}},{"host":"b"}],"tls":[{"hosts":["a"]}]}}"#;

#[test]
fn declared_keys_merge_a_list_of_a_built_in_kind() {
    let patch = r#"{"spec":{"rules":[{"host":"a","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"c"}}}]}}]}}"#;
    let rules = declaring(built_in("networking.k8s.io/v1", "Ingress"), "/spec/rules", &["host"]);
    // The inner list is replaced.
    let (result, shortened) = merged(INGRESS, patch, &rules);
    assert!(
        result.contains(r#""paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"c"}}}]"#)
    );
    assert!(result.contains(r#"{"http":{"paths":[]}},{"host":"b"}]"#), "{result}");
    assert_eq!(shortened, [("/spec/rules/0/http/paths".to_owned(), 1)]);

    let both = declaring(rules, "/spec/rules/*/http/paths", &["path", "pathType"]);
    let (result, shortened) = merged(INGRESS, patch, &both);
    assert_eq!(result, INGRESS.replace(r#"{"name":"a","port""#, r#"{"name":"c","port""#));
    assert_eq!(shortened, []);
    // Both keys have to be equal.
    let other = patch.replace("Prefix", "Exact");
    let (result, _) = merged(INGRESS, &other, &both);
    assert!(
        result.contains(r#""paths":[{"path":"/","pathType":"Exact","backend":{"service":{"name":"c"}}},{"path":"/","pathType":"Prefix","backend":{"service":{"name":"a""#),
        "{result}"
    );
}

#[test]
fn a_key_may_lie_deeper_in_the_item() {
    let claims = |kind: &str| {
        format!(
            r#"{{{kind}"spec":{{"volumeClaimTemplates":[{{"metadata":{{"name":"wal"}},"spec":{{"accessModes":["ReadWriteOnce"],"storageClassName":"standard"}}}},{{"metadata":{{"name":"data","finalizers":["a"]}},"spec":{{"accessModes":["ReadWriteOnce"],"storageClassName":"standard"}}}}]}}}}"#
        )
    };
    let patch = r#"{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data","finalizers":["b"]},"spec":{"storageClassName":"gp3"}}]}}"#;
    let declared = |schema| declaring(schema, "/spec/volumeClaimTemplates", &["metadata.name"]);
    let object = claims(r#""apiVersion":"apps/v1","kind":"StatefulSet","#);
    let (result, shortened) = merged(&object, patch, &declared(built_in("apps/v1", "StatefulSet")));
    let expected = object.replace(
        r#"["a"]},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"standard""#,
        r#"["b","a"]},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"gp3""#,
    );
    assert_eq!((result, shortened), (expected, Vec::new()));
    // For a custom kind nothing is known about the items of the list.
    let (result, _) = merged(&claims(""), patch, &declared(Schema::custom(&[])));
    assert!(
        result.contains(
            r#""finalizers":["b"]},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"gp3""#
        )
    );
    assert!(result.contains(r#""name":"wal""#));
    // A name with a dot in it.
    let rows = r#"{"rows":[{"labels":{"example.com/id":"1"},"x":1},{"labels":{"example.com/id":"2"}}]}"#;
    let (list, key) = (Pointer::of(["rows"]), [Pointer::of(["labels", "example.com/id"])]);
    let schema = Schema::custom(&[]).declaring([Declared { path: &list, keys: &key }]);
    let patch = r#"{"rows":[{"labels":{"example.com/id":"1"},"x":2}]}"#;
    assert_eq!(merged(rows, patch, &schema).0, rows.replace(r#""x":1"#, r#""x":2"#));
    assert_eq!(spelled(&key[0]), "/labels/example.com~1id");
    assert_eq!(spelled(&Pointer::of(["metadata", "name"])), "metadata.name");
}

#[test]
fn a_declared_key_wins_over_that_of_the_kind_and_leaves_the_rest_alone() {
    let service = r#"{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":80,"name":"a"},{"port":81,"name":"b"},{"port":82}]}}"#;
    let by_name = declaring(built_in("v1", "Service"), "/spec/ports", &["name"]);
    assert_eq!(
        merged(service, r#"{"spec":{"ports":[{"name":"b","port":80}]}}"#, &by_name).0,
        service.replace("81", "80")
    );
    // In the items of a list that the kind merges, and below a pod template of a custom kind.
    let pod = r#"{"spec":{"containers":[{"name":"a","envFrom":[{"secretRef":{"name":"s"},"prefix":"P"},{"configMapRef":{"name":"m"}}],"env":[{"name":"A"}]},{"name":"b"}]}}"#;
    let patch = r#"{"spec":{"containers":[{"name":"a","envFrom":[{"secretRef":{"name":"s","optional":true}}],"env":[{"name":"B"}]}]}}"#;
    let expected = pod
        .replace(r#"{"name":"s"}"#, r#"{"name":"s","optional":true}"#)
        .replace(r#"[{"name":"A"}]"#, r#"[{"name":"B"},{"name":"A"}]"#);
    let list = "/spec/containers/*/envFrom";
    for schema in [built_in("v1", "Pod"), Schema::custom(&[Pointer::ROOT])] {
        let schema = declaring(schema, list, &["secretRef.name"]);
        assert_eq!(merged(pod, patch, &schema).0, expected);
        assert_eq!(schema.reach(&Pointer::parse(list).unwrap()), Ok(Vec::new()));
    }
    let nested = |text: &str| format!(r#"{{"spec":{{"template":{text}}}}}"#);
    let schema = Schema::custom(&[Pointer::of(["spec", "template"])]);
    let schema = declaring(schema, "/spec/template/spec/containers/*/envFrom", &["secretRef.name"]);
    assert_eq!(merged(&nested(pod), &nested(patch), &schema).0, nested(&expected));
}

#[test]
fn an_item_without_a_declared_key_stays_in_the_object_and_is_an_error_in_the_patch() {
    let rules = declaring(built_in("networking.k8s.io/v1", "Ingress"), "/spec/rules", &["host"]);
    for (patch, rest) in [
        (r#"{"spec":{"rules":[{"host":"b","$patch":"delete"}]}}"#, r#"{"http":{"paths":[]}}],"tls""#),
        (r#"{"spec":{"rules":[{"host":"n"}]}}"#, r#"{"http":{"paths":[]}},{"host":"b"}],"tls""#),
    ] {
        let (result, _) = merged(INGRESS, patch, &rules);
        assert!(result.contains(rest), "{result}");
    }
    let missing = PatchErrorKind::KeyMissing { key: "host".to_owned(), of: "patch" };
    for item in [r#"{"http":{}}"#, r#"{"host":null}"#, r#"{"host":["b"]}"#] {
        let patch = format!(r#"{{"spec":{{"rules":[{item}]}}}}"#);
        assert_eq!(problem(INGRESS, &patch, &rules), ("/spec/rules".to_owned(), missing.clone()));
    }
    let several = declaring(Schema::custom(&[]), "/rows", &["a", "b.c"]);
    assert_eq!(
        problem(r#"{"rows":[]}"#, r#"{"rows":[{"a":1}]}"#, &several),
        ("/rows".to_owned(), PatchErrorKind::KeyMissing { key: "b.c".to_owned(), of: "patch" })
    );
    assert_eq!(
        merged(
            r#"{"rows":[{"a":1},{"b":{"c":1}},{"a":1,"b":{"c":1}}]}"#,
            r#"{"rows":[{"a":1,"b":{"c":1},"x":1}]}"#,
            &several
        )
        .0,
        r#"{"rows":[{"a":1},{"b":{"c":1}},{"a":1,"b":{"c":1},"x":1}]}"#
    );
    assert_eq!(
        problem(
            r#"{"rows":[{"a":1,"b":{"c":1}},{"a":1,"b":{"c":1}}]}"#,
            r#"{"rows":[{"a":1,"b":{"c":1}}]}"#,
            &several
        )
        .1,
        PatchErrorKind::Ambiguous { key: "a`, `b.c".to_owned(), lacks: None }
    );
}

const DNS: &str = r#"{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":53,"protocol":"UDP","name":"u"},{"port":80},{"port":53,"name":"t"}]}}"#;

#[test]
fn items_that_share_the_merge_key_are_told_apart_by_all_keys() {
    let patch = |ports: &str| patched(DNS, &format!(r#"{{"spec":{{"ports":[{ports}]}}}}"#));
    // A missing protocol of the object is TCP.
    assert_eq!(
        patch(r#"{"port":53,"protocol":"TCP","nodePort":1}"#),
        DNS.replace(r#""name":"t""#, r#""name":"t","protocol":"TCP","nodePort":1"#)
    );
    assert_eq!(
        patch(r#"{"port":53,"protocol":"UDP","nodePort":1}"#),
        DNS.replace(r#""name":"u""#, r#""name":"u","nodePort":1"#)
    );
    let sctp = r#"{"port":53,"protocol":"SCTP"}"#;
    assert_eq!(patch(sctp), DNS.replace(r#""ports":["#, &format!(r#""ports":[{sctp},"#)));
    // Only the named item is deleted. By the merge key alone, kubectl deletes both.
    let without = |items: &str| DNS.replace(items, "");
    assert_eq!(
        patch(r#"{"port":53,"protocol":"UDP","$patch":"delete"}"#),
        without(r#"{"port":53,"protocol":"UDP","name":"u"},"#)
    );
    assert_eq!(patch(r#"{"port":53,"protocol":"SCTP","$patch":"delete"}"#), DNS);
    assert_eq!(
        patch(r#"{"port":53,"$patch":"delete"}"#),
        without(r#"{"port":53,"protocol":"UDP","name":"u"},"#).replace(r#",{"port":53,"name":"t"}"#, "")
    );
    let lacks = PatchErrorKind::Ambiguous { key: "port".to_owned(), lacks: Some("protocol".to_owned()) };
    assert_eq!(
        refused(DNS, r#"{"spec":{"ports":[{"port":53,"nodePort":1}]}}"#),
        ("/spec/ports".to_owned(), lacks)
    );
}

#[test]
fn one_item_with_the_merge_key_is_merged_as_kubectl_does() {
    let one =
        r#"{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":53,"protocol":"UDP","name":"u"}]}}"#;
    // With one item in the list, the protocol is overwritten, because the item is not ambiguous.
    assert_eq!(
        patched(one, r#"{"spec":{"ports":[{"port":53,"protocol":"TCP"}]}}"#),
        one.replace("UDP", "TCP")
    );
    // Two items of the patch are two ports.
    assert_eq!(
        patched(
            one,
            r#"{"spec":{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP","nodePort":1}]}}"#
        ),
        one.replace(
            r#"[{"port":53,"protocol":"UDP","name":"u""#,
            r#"[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP","name":"u","nodePort":1"#
        )
    );
    let none = one.replace(r#"{"port":53,"protocol":"UDP","name":"u"}"#, "");
    let both = r#"{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}"#;
    assert_eq!(
        patched(&none, &format!(r#"{{"spec":{{"ports":[{both}]}}}}"#)),
        none.replace("[]", &format!("[{both}]"))
    );
    let lacks = PatchErrorKind::Ambiguous { key: "port".to_owned(), lacks: Some("protocol".to_owned()) };
    assert_eq!(
        refused(one, r#"{"spec":{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"name":"n"}]}}"#).1,
        lacks
    );
    // The item with another protocol is kept.
    assert_eq!(patched(one, r#"{"spec":{"ports":[{"port":53,"protocol":"TCP","$patch":"delete"}]}}"#), one);
    // Declared keys are always compared, and a missing protocol is TCP in the object and in the patch.
    let declared = declaring(built_in("v1", "Service"), "/spec/ports", &["port", "protocol"]);
    let (result, _) = merged(one, r#"{"spec":{"ports":[{"port":53}]}}"#, &declared);
    assert_eq!(result, one.replace(r#""ports":["#, r#""ports":[{"port":53},"#));
    let tcp = one.replace(r#""protocol":"UDP","#, "");
    let (result, _) = merged(&tcp, r#"{"spec":{"ports":[{"port":53,"protocol":"TCP"}]}}"#, &declared);
    assert_eq!(result, tcp.replace(r#""name":"u""#, r#""name":"u","protocol":"TCP""#));
    assert_eq!(declared.reach(&Pointer::of(["spec", "ports"])), Ok(vec![Pointer::of(["protocol"])]));
}

#[test]
fn constraints_and_container_ports_have_two_keys_in_every_pod_template() {
    let constraints = r#"[{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","maxSkew":1},{"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","maxSkew":1}]"#;
    let object = |spec: &str| {
        format!(r#"{{"apiVersion":"apps/v1","kind":"DaemonSet","spec":{{"template":{{"spec":{spec}}}}}}}"#)
    };
    let patch = |spec: &str| format!(r#"{{"spec":{{"template":{{"spec":{spec}}}}}}}"#);
    let spread = object(&format!(r#"{{"topologySpreadConstraints":{constraints}}}"#));
    let item = r#"{"topologySpreadConstraints":[{"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","maxSkew":2}]}"#;
    assert_eq!(
        patched(&spread, &patch(item)),
        spread.replace(r#"Anyway","maxSkew":1"#, r#"Anyway","maxSkew":2"#)
    );
    // The other key has no default, so the item is ambiguous.
    let item = r#"{"topologySpreadConstraints":[{"topologyKey":"zone","maxSkew":2}]}"#;
    let lacks = PatchErrorKind::Ambiguous {
        key: "topologyKey".to_owned(),
        lacks: Some("whenUnsatisfiable".to_owned()),
    };
    assert_eq!(refused(&spread, &patch(item)).1, lacks);

    let ports = object(
        r#"{"initContainers":[{"name":"a","ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":53,"protocol":"TCP"}]}]}"#,
    );
    let item =
        r#"{"initContainers":[{"name":"a","ports":[{"containerPort":53,"protocol":"TCP","hostPort":53}]}]}"#;
    assert_eq!(patched(&ports, &patch(item)), ports.replace(r#""TCP""#, r#""TCP","hostPort":53"#));
    let custom = Schema::custom(&[Pointer::of(["spec", "template"])]);
    assert_eq!(
        super::custom(&ports, &patch(item), &custom),
        ports.replace(r#""TCP""#, r#""TCP","hostPort":53"#)
    );
}

#[test]
fn an_order_goes_by_the_keys_that_it_writes() {
    let order = |order: &str, ports: &str| {
        patched(DNS, &format!(r#"{{"spec":{{"$setElementOrder/ports":[{order}]{ports}}}}}"#))
    };
    let (udp, web, tcp) =
        (r#"{"port":53,"protocol":"UDP","name":"u"}"#, r#"{"port":80}"#, r#"{"port":53,"name":"t"}"#);
    let ports = |items: [&str; 3]| {
        format!(r#"{{"apiVersion":"v1","kind":"Service","spec":{{"ports":[{}]}}}}"#, items.join(","))
    };
    let (by_udp, by_tcp) = (r#"{"port":53,"protocol":"UDP"}"#, r#"{"port":53,"protocol":"TCP"}"#);
    assert_eq!(
        order(&format!(r#"{{"port":80,"protocol":"TCP"}},{by_tcp},{by_udp}"#), ""),
        ports([web, tcp, udp])
    );
    assert_eq!(order(r#"{"port":80},{"port":53}"#, ""), ports([web, udp, tcp]));
    // The items are merged by all keys, whatever keys the order has.
    let named = r#","ports":[{"port":53,"protocol":"TCP","nodePort":1}]"#;
    let changed = r#"{"port":53,"name":"t","protocol":"TCP","nodePort":1}"#;
    assert_eq!(order(r#"{"port":80},{"port":53}"#, named), ports([web, udp, changed]));
    assert_eq!(order(&format!("{by_tcp},{by_udp}"), named), ports([web, changed, udp]));
    let claims = declaring(Schema::custom(&[]), "/c", &["metadata.name"]);
    let object = r#"{"c":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}"#;
    let patch = r#"{"$setElementOrder/c":[{"metadata":{"name":"b"}},{"metadata":{"name":"a"}}]}"#;
    assert!(faults(patch).is_empty());
    assert_eq!(
        merged(object, patch, &claims).0,
        r#"{"c":[{"metadata":{"name":"b"}},{"metadata":{"name":"a"}}]}"#
    );
}

#[test]
fn a_list_that_becomes_shorter_is_noted_unless_the_patch_says_that_it_is_meant() {
    let pod = r#"{"apiVersion":"v1","kind":"Pod","spec":{"tolerations":[{"key":"a"},{"key":"b"},{"key":"c"}],"containers":[{"name":"a","args":["x","y"]}]}}"#;
    let schema = built_in("v1", "Pod");
    let tolerations =
        |items: &str| merged(pod, &format!(r#"{{"spec":{{"tolerations":[{items}]}}}}"#), &schema);
    assert_eq!(tolerations(r#"{"key":"d"}"#).1, [("/spec/tolerations".to_owned(), 2)]);
    assert_eq!(tolerations(r#"{"key":"d"},{"key":"e"},{"key":"f"}"#).1, []);
    assert_eq!(tolerations("").1, []);
    let (result, shortened) = tolerations(r#"{"$patch":"replace"},{"key":"d"}"#);
    assert_eq!((result.contains(r#""tolerations":[{"key":"d"}]"#), shortened), (true, Vec::new()));
    // Lists of scalars have no keys. A patch of arguments is expected to replace them.
    assert_eq!(merged(pod, r#"{"spec":{"containers":[{"name":"a","args":["z"]}]}}"#, &schema).1, []);
    // The same for custom kinds.
    assert_eq!(
        merged(r#"{"a":{"rows":[{"x":1},{"x":2}]}}"#, r#"{"a":{"rows":[{"x":1}]}}"#, &Schema::custom(&[])).1,
        [("/a/rows".to_owned(), 1)]
    );
    for (item, expected) in [
        (r#"{"key":"a","$patch":"delete"}"#, PatchErrorKind::DeletesOfWhole),
        (r#"{"$patch":"x"}"#, PatchErrorKind::UnknownWord),
    ] {
        let patch = format!(r#"{{"spec":{{"tolerations":[{item}]}}}}"#);
        assert_eq!(refused(pod, &patch), ("/spec/tolerations".to_owned(), expected));
    }
}

#[test]
fn a_declared_list_that_cannot_be_there_is_found() {
    let place = |text: &str| Pointer::parse(text).unwrap();
    let reach = |api_version: &str, kind: &str, paths: &[&str]| {
        let schema =
            paths.iter().fold(built_in(api_version, kind), |schema, path| declaring(schema, path, &["k"]));
        schema.reach(&place(paths[0]))
    };
    let ingress = |paths: &[&str]| reach("networking.k8s.io/v1", "Ingress", paths);
    assert_eq!(ingress(&["/spec/rules"]), Ok(Vec::new()));
    assert_eq!(ingress(&["/spec/rules/*/http/paths", "/spec/rules"]), Ok(Vec::new()));
    assert_eq!(ingress(&["/spec/rules/*/http/paths"]), Err(Unreached::Replaced(place("/spec/rules"))));
    assert_eq!(ingress(&["/spec/rules/0/http/paths"]), Err(Unreached::NoItems(place("/spec/rules"))));
    assert_eq!(ingress(&["/spec/rules/http/paths"]), Err(Unreached::NoItems(place("/spec/rules"))));
    for (path, field) in [
        ("/spec/rule", "/spec/rule"),
        ("/spec/Rules", "/spec/Rules"),
        ("/spce/rules", "/spce"),
        ("/spec/ingressClassName", "/spec/ingressClassName"),
        ("/metadata/labels/x", "/metadata/labels/x"),
    ] {
        let Err(Unreached::NoField { field: found, .. }) = ingress(&[path]) else { panic!("{path}") };
        assert_eq!(found, place(field));
    }
    for path in ["/spec", "/spec/rules/*", "/metadata/finalizers", "/spec/defaultBackend"] {
        assert_eq!(ingress(&[path]), Err(Unreached::NoListOfMaps), "{path}");
    }
    for (path, expected) in [
        ("/spec/template/spec/containers/*/envFrom", Ok(Vec::new())),
        ("/spec/template/spec/containers/*/args", Err(Unreached::NoListOfMaps)),
        ("/spec/template/spec/tolerations", Ok(Vec::new())),
    ] {
        assert_eq!(reach("apps/v1", "Deployment", &[path]), expected, "{path}");
    }
    let pdb = reach("policy/v1", "PodDisruptionBudget", &["/spec/selector/matchExpressions"]);
    assert_eq!(pdb, Err(Unreached::NoListOfMaps));
    let custom = |path: &str| {
        declaring(Schema::custom(&[Pointer::of(["spec", "template"])]), path, &["k"]).reach(&place(path))
    };
    assert_eq!(custom("/anything/there"), Ok(Vec::new()));
    assert_eq!(custom("/spec/template/spec/containers/*/envFrom"), Ok(Vec::new()));
    assert_eq!(custom("/spec/rows/*/list"), Err(Unreached::Replaced(place("/spec/rows"))));
}

/// An item with the keys `id` and `meta.name`, and one field.
fn item(id: u8, name: &str, field: &str, number: u8) -> Value<'static> {
    Value::parse(format!(r#"{{"id":{id},"meta":{{"name":"{name}"}},"{field}":{number}}}"#).as_bytes())
        .unwrap()
        .as_stored()
}

fn some_items() -> impl proptest::strategy::Strategy<Value = Vec<Value<'static>>> {
    let one = (0u8..3, prop_oneof![Just("a"), Just("b")], prop_oneof![Just("x"), Just("y")], 0u8..3);
    let items = proptest::collection::vec(one, 0..6);
    items.prop_map(|items| {
        let mut seen = std::collections::BTreeSet::new();
        let items = items.into_iter().filter(|(id, name, ..)| seen.insert((*id, *name)));
        items.map(|(id, name, field, number)| item(id, name, field, number)).collect()
    })
}

fn name_of(item: &Value<'_>) -> String {
    format!("{}/{}", item.get("id").unwrap(), item.at(&Pointer::of(["meta", "name"])).unwrap())
}

proptest! {
    /// A merge by keys is equivalent to a merge of maps whose names are the keys.
    #[test]
    fn a_merge_by_keys_is_a_merge_of_maps(before in some_items(), patch in some_items(), deleted in some_items()) {
        let list = |items: &[Value<'static>]| Value::Object(std::iter::once(("l".to_owned(), Value::array(items.to_vec()))).collect());
        let map = |items: &[Value<'static>]| Value::Object(items.iter().map(|item| (name_of(item), item.clone())).collect());
        let with_deletions = |items: &[Value<'static>], deleted: &[Value<'static>]| {
            let mut all = items.to_vec();
            for item in deleted.iter().filter(|item| !items.iter().any(|other| name_of(other) == name_of(item))) {
                let mut item = item.as_object().unwrap().clone();
                item.insert("$patch".to_owned(), Value::from("delete"));
                all.push(Value::Object(item));
            }
            all
        };
        let schema = declaring(Schema::custom(&[]), "/l", &["id", "meta.name"]);
        let merged = apply(&list(&before), &list(&with_deletions(&patch, &deleted)), &schema).unwrap();
        let merged = merged.get("l").unwrap().as_array().unwrap().to_vec();

        let mut expected = crate::patch::merge::apply(&map(&before), &map(&patch));
        if let Value::Object(object) = &mut expected {
            for item in deleted.iter().filter(|item| !patch.iter().any(|other| name_of(other) == name_of(item))) {
                object.remove(&name_of(item));
            }
        }
        prop_assert_eq!(map(&merged), expected);
        prop_assert_eq!(merged.len(), map(&merged).as_object().unwrap().len());

        // The expected order: named items as in the patch, others as before, new items before those that
        // follow the next named item.
        let order = |items: &[Value<'static>], keep: &dyn Fn(&Value<'static>) -> bool| {
            items.iter().filter(|item| keep(item)).map(name_of).collect::<Vec<_>>()
        };
        let named = |item: &Value<'static>| patch.iter().any(|other| name_of(other) == name_of(item));
        prop_assert_eq!(order(&merged, &named), order(&patch, &|_| true));
        let remains = |item: &Value<'static>| !named(item) && merged.iter().any(|other| name_of(other) == name_of(item));
        prop_assert_eq!(order(&merged, &remains), order(&before, &remains));
    }
}
