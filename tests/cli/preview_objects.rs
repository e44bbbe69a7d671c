//! `reviser preview` of several objects, of lists, and with a template.

use serde_json::{Value, json};

use crate::files::{Directory, assert_done};
use crate::process::Done;

/// Writes the cluster's name into `ConfigMaps`.
const POLICY: &str = r#"apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: p}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  rules:
  - name: cluster
    patch: {type: Merge, value: {data: {cluster: "${cluster.name}"}}}
"#;

fn config_map(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: shop\ndata:\n  x: \"1\"\n"
    )
}

/// The same as a version of cluster `m1`.
fn version(name: &str) -> String {
    config_map(name) + "  cluster: m1\n"
}

/// What no policy selects, as `helm template` prints it.
const OTHER: &str = "---\n# Source: shop/templates/namespace.yaml\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n";

/// A directory with the policy and a chart of two `ConfigMaps`, a Namespace and a document without content.
fn chart() -> Directory {
    let directory = Directory::new();
    directory.file("policy.yaml", POLICY);
    let empty = "---\n# Source: shop/templates/disabled.yaml\n";
    directory.file("chart.yaml", &format!("---\n{}---\n{}{empty}{OTHER}", config_map("a"), config_map("b")));
    directory
}

fn preview(directory: &Directory, arguments: &[&str]) -> Done {
    directory.run(&[&["preview", "-p", "policy.yaml", "--clusters", "m1=1"], arguments].concat())
}

const NOTE: &str = "no policy selects Namespace/shop (v1): every cluster gets it unchanged\n";
const PATCH: &str = r#"[{"op":"add","path":"/data/cluster","value":"m1"}]"#;

#[test]
fn each_object_is_headed_by_its_name() {
    let directory = chart();
    let expected = format!(
        "# object: ConfigMap shop/a\n# cluster: m1\n{PATCH}\n# object: ConfigMap shop/b\n# cluster: m1\n{PATCH}\n\
         # object: Namespace shop\n# cluster: m1\n[]\n"
    );
    assert_done(&preview(&directory, &["-f", "chart.yaml", "-o", "patch"]), 0, &expected, NOTE);
    let one = preview(&directory, &["-f", "chart.yaml", "-o", "patch", "--cluster", "m1"]);
    assert_done(&one, 0, &expected.replace("# cluster: m1\n", ""), NOTE);
    for format in ["diff", "explain"] {
        let done = preview(&directory, &["-f", "chart.yaml", "-o", format]);
        let heads: Vec<&str> = done.stdout.lines().filter(|line| line.starts_with("# object: ")).collect();
        assert_eq!(
            heads,
            ["# object: ConfigMap shop/a", "# object: ConfigMap shop/b", "# object: Namespace shop"]
        );
        assert_eq!(done.stdout.matches("CLUSTER  REPLICAS  HOSTS  RULES\n").count(), 3, "{}", done.stdout);
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), NOTE));
    }
}

#[test]
fn yaml_is_a_stream_that_kubectl_takes() {
    let directory = chart();
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n";
    let all = preview(&directory, &["-f", "chart.yaml", "-o", "yaml"]);
    let headed = |name: &str, text: &str| format!("# object: {name}\n# cluster: m1\n{text}");
    let documents = [
        headed("ConfigMap shop/a", &version("a")),
        headed("ConfigMap shop/b", &version("b")),
        headed("Namespace shop", namespace),
    ];
    assert_done(&all, 0, &documents.join("---\n"), NOTE);
    let one = preview(&directory, &["-f", "chart.yaml", "-o", "yaml", "--cluster", "m1"]);
    assert_done(&one, 0, &[version("a"), version("b"), namespace.to_owned()].join("---\n"), NOTE);
}

#[test]
fn json_has_a_list_of_objects() {
    let directory = chart();
    let object = |name: &str, cluster: Option<&str>| {
        let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": {"x": "1"}});
        if let Some(cluster) = cluster {
            object["data"]["cluster"] = cluster.into();
        }
        object
    };
    let directory_of_two = Directory::new();
    directory_of_two.file("policy.yaml", POLICY);
    std::fs::create_dir(directory_of_two.path().join("objects")).unwrap();
    directory_of_two.file("objects/b.json", &object("b", None).to_string());
    directory_of_two.file("objects/a.yaml", &config_map("a"));
    directory_of_two.file("objects/notes.txt", "a: b: c");
    let done = directory_of_two.run(&[
        "preview",
        "-p",
        "policy.yaml",
        "-f",
        "objects",
        "--clusters",
        "m1=1,m2=0",
        "-o",
        "json",
    ]);
    let entry = |name: &str| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": name, "clusters": [
            {"name": "m1", "replicas": 1, "object": object(name, Some("m1"))},
            {"name": "m2", "replicas": 0, "object": object(name, Some("m2"))},
        ]})
    };
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let found: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(found, json!({"objects": [entry("a"), entry("b")]}));
    let one = preview(&directory, &["-f", "chart.yaml", "-o", "json", "--cluster", "m1"]);
    let list: Value = serde_json::from_str(&one.stdout).unwrap();
    assert_eq!((list["kind"].as_str(), list["items"].as_array().unwrap().len()), (Some("List"), 3));
    assert_eq!(list["items"][0], object("a", Some("m1")));
}

#[test]
fn one_object_is_one_however_it_comes() {
    let directory = chart();
    let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
    let item =
        "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}, data: {x: \"1\"}}\n";
    directory.file("list.yaml", &list(item));
    directory.file("typed.yaml", "apiVersion: v1\nkind: ConfigMapList\nmetadata: {resourceVersion: \"7\"}\nitems:\n- {metadata: {name: a, namespace: shop}, data: {x: \"1\"}}\n");
    directory.file("with-policy.yaml", &format!("{}---\n{POLICY}", config_map("a")));
    for (file, note) in [
        ("list.yaml", ""),
        ("typed.yaml", ""),
        (
            "with-policy.yaml",
            "with-policy.yaml: document 2, line 9: skipped, because a ClusterRevisionPolicy of reviser is not revised\n",
        ),
    ] {
        let done = preview(&directory, &["-f", file, "-o", "yaml"]);
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), note), "{file}");
        assert!(done.stdout.starts_with("# cluster: m1\napiVersion: v1\n"), "{file}: {}", done.stdout);
        assert_done(&preview(&directory, &["-f", file, "-o", "patch", "--cluster", "m1"]), 0, PATCH, note);
    }
    let arguments =
        ["preview", "-p", "policy.yaml", "--clusters", "m1=1", "-f", "-", "-f", "list.yaml", "-o", "patch"];
    let done = directory.run_with(&arguments, &[], &config_map("b"));
    let expected = format!(
        "# object: ConfigMap shop/b\n# cluster: m1\n{PATCH}\n# object: ConfigMap shop/a\n# cluster: m1\n{PATCH}\n"
    );
    assert_done(&done, 0, &expected, "");
}

#[test]
fn one_document_that_is_no_object_refuses_all() {
    let directory = chart();
    directory.file("values.yaml", &format!("{}---\nreplicaCount: 1\n---\n- 1\n", config_map("a")));
    let done = preview(&directory, &["-f", "values.yaml", "-f", "missing.yaml", "-o", "yaml"]);
    let error = "error: missing.yaml: No such file or directory (os error 2)\n\
                 values.yaml: document 2, line 9: /apiVersion: must be a string that is not empty\n\
                 values.yaml: document 3, line 11: must be a map, is a list\n";
    assert_done(&done, 1, "", error);
}

#[test]
fn an_object_that_is_refused_leaves_the_others_printed_and_is_named() {
    let directory = chart();
    let wrong = config_map("b").replace("data:\n  x: \"1\"\n", "data: 7\n");
    directory.file(
        "policy.yaml",
        &POLICY.replace(
            "type: Merge, value: {data: {cluster: \"${cluster.name}\"}}",
            "type: JSON, value: [{op: add, path: /data/cluster, value: \"${cluster.name}\"}]",
        ),
    );
    directory.file("chart.yaml", &format!("{}---\n{wrong}", config_map("a")));
    let done = preview(&directory, &["-f", "chart.yaml", "-o", "yaml"]);
    assert_eq!(done.code, Some(1));
    assert_eq!(done.stdout, format!("# object: ConfigMap shop/a\n# cluster: m1\n{}", version("a")));
    let start = "error: ConfigMap shop/b: ClusterRevisionPolicy/p rule \"cluster\" cluster \"m1\": /data";
    assert!(done.stderr.starts_with(start), "{}", done.stderr);
    let single = preview(&directory, &["-f", "chart.yaml", "-o", "yaml", "--cluster", "m1"]);
    assert_eq!((single.code, single.stdout.as_str(), &single.stderr), (Some(1), "", &done.stderr));
}

const ORIGINAL_POLICY: &str = r#"apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: p}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  rules:
  - name: mirror
    targetCluster: {clusterNames: [m1]}
    patch: {type: Merge, value: {data: {x: "mirror/${original.data.x}"}}}
  - name: never
    when: "object.data.x == 'nothing' && original.data.x == 'nothing'"
    patch: {type: Merge, value: {data: {z: "1"}}}
"#;

const NO_ORIGINAL: &str = "no --original: `original` and `divide` read the object itself\n";

#[test]
fn without_a_template_the_object_stands_for_it_and_this_is_said_once() {
    let directory = Directory::new();
    directory.file("policy.yaml", ORIGINAL_POLICY);
    directory.file("objects.yaml", &format!("{}---\n{}", config_map("a"), config_map("b")));
    directory.file("object.yaml", &config_map("a"));
    let run = |arguments: &[&str]| {
        directory.run(&[&["preview", "-p", "policy.yaml", "-o", "patch"], arguments].concat())
    };
    let patch = r#"[{"op":"replace","path":"/data/x","value":"mirror/1"}]"#;
    let done = run(&["-f", "object.yaml", "--clusters", "m1=1"]);
    assert_done(&done, 0, &format!("# cluster: m1\n{patch}\n"), NO_ORIGINAL);
    assert_eq!(run(&["-f", "objects.yaml", "--clusters", "m1=1,m3=1"]).stderr, NO_ORIGINAL);
    // A rule that is not for the cluster reads nothing. A condition that is evaluated does.
    let other = ORIGINAL_POLICY.split("  - name: never\n").next().unwrap();
    directory.file("policy.yaml", other);
    assert_eq!(run(&["-f", "object.yaml", "--clusters", "m2=1"]).stderr, "");
    directory.file("policy.yaml", ORIGINAL_POLICY);
    assert_eq!(run(&["-f", "object.yaml", "--clusters", "m2=1"]).stderr, NO_ORIGINAL);
    directory.file("policy.yaml", POLICY);
    assert_eq!(run(&["-f", "object.yaml", "--clusters", "m1=1"]).stderr, "");
}

#[test]
fn a_template_is_what_original_and_divide_read_and_the_patch_stays_against_the_object() {
    let directory = Directory::new();
    directory.file("policy.yaml", ORIGINAL_POLICY);
    directory.file("object.yaml", &config_map("a").replace("\"1\"", "\"overridden\""));
    directory.file(
        "originals.yaml",
        &format!("{}---\n{}", config_map("b").replace("\"1\"", "\"2\""), config_map("a")),
    );
    let run = |arguments: &[&str]| {
        let fixed = ["preview", "-p", "policy.yaml", "-o", "patch", "--clusters", "m1=1,m2=2"];
        directory.run(&[&fixed, arguments].concat())
    };
    let patch = r#"[{"op":"replace","path":"/data/x","value":"mirror/1"}]"#;
    let expected = format!("# cluster: m1\n{patch}\n# cluster: m2\n[]\n");
    assert_done(&run(&["-f", "object.yaml", "--original", "originals.yaml"]), 0, &expected, "");
    let environment = [("REVISER_ORIGINAL", "originals.yaml")];
    let arguments =
        ["preview", "-p", "policy.yaml", "-o", "patch", "--clusters", "m1=1,m2=2", "-f", "object.yaml"];
    assert_done(&directory.run_with(&arguments, &environment, ""), 0, &expected, "");
    directory.file("other.yaml", &config_map("c"));
    let error = "error: other.yaml: holds ConfigMap shop/c, but no template of an object of --filename; a template has the kind, \
                 namespace and name of its object\n";
    assert_done(&run(&["-f", "object.yaml", "--original", "other.yaml"]), 1, "", error);
    let several = run(&["-f", "object.yaml", "-f", "other.yaml", "--original", "originals.yaml"]);
    let note = "originals.yaml holds no template of ConfigMap shop/c: `original` and `divide` read the object itself\n";
    assert_eq!((several.code, several.stderr.as_str()), (Some(0), note));

    let divide = ORIGINAL_POLICY
        .split("  - name: mirror\n")
        .next()
        .unwrap()
        .replace("v1, kind: ConfigMap", "a.example.com/v1, kind: Train")
        + "  - name: cars\n    divide: {path: /spec/cars}\n";
    directory.file("policy.yaml", &divide);
    let train = |cars: u32| {
        format!("apiVersion: a.example.com/v1\nkind: Train\nmetadata: {{name: a}}\nspec: {{cars: {cars}}}\n")
    };
    directory.file("object.yaml", &train(5));
    directory.file("originals.yaml", &train(9));
    let values = |done: &Done| -> Vec<i64> {
        let patches = done.stdout.lines().filter(|line| !line.starts_with('#'));
        patches
            .map(|line| serde_json::from_str::<Value>(line).unwrap()[0]["value"].as_i64().unwrap())
            .collect()
    };
    let template = run(&["-f", "object.yaml", "--original", "originals.yaml"]);
    assert_eq!((values(&template), template.stderr.as_str()), (vec![3, 6], ""));
    let itself = run(&["-f", "object.yaml"]);
    assert_eq!((values(&itself), itself.stderr.as_str()), (vec![2, 3], NO_ORIGINAL));
}

#[test]
fn the_door_of_pod_chaperons_knows_neither_template_nor_schedule() {
    let directory = Directory::new();
    let policy =
        POLICY.replace("v1, kind: ConfigMap", "multicluster.admiralty.io/v1alpha1, kind: PodChaperon");
    let chaperon = "apiVersion: multicluster.admiralty.io/v1alpha1\nkind: PodChaperon\nmetadata: {name: a, namespace: lab}\n\
                    spec: {containers: [{name: a, image: \"a:1\"}]}\n";
    directory.file("object.yaml", chaperon);
    for (expression, problem) in [
        ("original.metadata.name", "the template is not known here"),
        ("replicas", "the number of replicas in the cluster is not given"),
        ("binding.replicas", "the schedule of the workload is not known"),
    ] {
        let value = "{metadata: {annotations: {x: \"a${".to_owned() + expression + "}\"}}}";
        directory.file("policy.yaml", &policy.replace("{data: {cluster: \"${cluster.name}\"}}", &value));
        let done = directory.run(&["preview", "-p", "policy.yaml", "-f", "object.yaml", "--clusters", "t=1"]);
        assert_eq!(done.code, Some(1), "{}", done.stdout);
        assert!(done.stderr.contains(problem), "{}", done.stderr);
        let done = directory.run(&["check", "-p", "policy.yaml", "-f", "object.yaml"]);
        assert_eq!(done.code, Some(1), "{}", done.stderr);
        assert!(
            done.stdout.contains("fails on object.yaml in sample-1, sample-2")
                && done.stdout.contains(problem),
            "{}",
            done.stdout
        );
    }
}

#[test]
fn a_blank_behind_a_comma_is_no_part_of_a_name() {
    let directory = chart();
    let policy = POLICY.replace("${cluster.name}", "${cluster.labels.region}");
    directory.file(
        "policy.yaml",
        &policy
            .replace("  rules:", "  allocations: [{name: lead}]\n  rules:")
            .replace("    patch", "    when: allocations.lead != 'x'\n    patch"),
    );
    directory.file("object.yaml", &config_map("a"));
    let done = directory.run(&[
        "preview",
        "-p",
        "policy.yaml",
        "-f",
        "object.yaml",
        "-o",
        "explain",
        "--clusters",
        "a=1, b=2 ,c=0",
        "--cluster-labels",
        "a:region=eu, b:region=us, c:region=asia",
        "--allocation",
        "lead=a, lead = b",
    ]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{}", done.stdout);
    assert!(
        done.stdout.contains("allocation lead: in b, so elsewhere: it is there already"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("/data/cluster: added \"us\""), "{}", done.stdout);
    assert!(done.stdout.contains("# cluster: c (replicas: 0)"), "{}", done.stdout);
}
