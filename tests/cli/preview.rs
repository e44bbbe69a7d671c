//! `reviser preview`.

use std::io::Read as _;

use serde_json::{Value, json};

use crate::files::{
    Directory, PATCH, ROLLOUT, assert_done, policy, rollout_elsewhere, rollout_that_is_refused,
};
use crate::process::{Done, reviser};

const BUILT_IN: &str = "no --policy: using the built-in example\n";
const REFUSED: &str = "ClusterRevisionPolicy/rollout-fort rule \"canary-steps\" cluster \"z\": \
                       /spec/strategy/canary/steps/0/properties: must be a map, is a number; change the object, or the \
                       path in the rule (`fort.field` is /properties/pull)";

/// Runs `preview` of the Rollout with these arguments.
fn preview(arguments: &[&str]) -> Done {
    preview_of(ROLLOUT, arguments)
}

fn preview_of(object: &str, arguments: &[&str]) -> Done {
    let directory = Directory::new();
    directory.file("rollout.yaml", object);
    directory.run(&[&["preview", "-f", "rollout.yaml"], arguments].concat())
}

fn json_of(yaml: &str) -> Value {
    let documents = reviser::yaml::documents(yaml).unwrap();
    assert_eq!(documents.len(), 1);
    serde_json::from_str(&documents[0].value.to_string()).unwrap()
}

/// The table above the diff and the explanation, of these rows.
fn table(rows: &[&str]) -> String {
    format!("CLUSTER  REPLICAS  HOSTS  RULES\n{}\n", rows.join("\n"))
}

const ROW_X: &str = "x        3         fort   -";
const ROW_Z: &str = "z        1         -      ClusterRevisionPolicy/rollout-fort/canary-steps";

#[test]
fn the_diff_shows_a_table_and_what_changes_in_each_cluster() {
    let z = "
# cluster: z
@@ -10,10 +10,10 @@
       steps:
       - type: Fort
         properties:
-          pull: \"false\"
+          pull: null
       - type: Batch
         properties:
           pull: \"false\"
       - type: Fort
         properties:
-          pull: \"true\"
+          pull: null
";
    let x = "\n# cluster: x: nothing changes\n";
    for format in [&[][..], &["-o", "diff"]] {
        let both = preview(&[&["--clusters", "x=3,z=1"], format].concat());
        assert_done(&both, 0, &format!("{}{x}{z}", table(&[ROW_X, ROW_Z])), BUILT_IN);
    }
    let head = "CLUSTER  REPLICAS  HOSTS  RULES\n";
    let only_z = preview(&["--clusters", "x=3,z=1", "--cluster", "z"]);
    assert_done(&only_z, 0, &format!("{head}{ROW_Z}\n{z}"), BUILT_IN);
    let only_x = preview(&["--clusters", "x=3,z=1", "--cluster", "x"]);
    assert_done(&only_x, 0, &format!("{head}{ROW_X}\n{x}"), BUILT_IN);
}

#[test]
fn yaml_has_a_document_for_each_cluster_and_reads_back() {
    let elsewhere = rollout_elsewhere();
    let both = preview(&["--clusters", "x=3,z=1", "-o", "yaml"]);
    assert_done(&both, 0, &format!("# cluster: x\n{ROLLOUT}---\n# cluster: z\n{elsewhere}"), BUILT_IN);
    let read = reviser::yaml::documents(&both.stdout).unwrap();
    let read: Vec<Value> =
        read.iter().map(|document| serde_json::from_str(&document.value.to_string()).unwrap()).collect();
    assert_eq!(read, [json_of(ROLLOUT), json_of(&elsewhere)]);

    let one = preview(&["--clusters", "x=3,z=1", "-o", "yaml", "--cluster", "z"]);
    assert_done(&one, 0, &elsewhere, BUILT_IN);
    assert_done(&preview(&["--clusters", "x=3", "-o", "yaml", "--cluster", "x"]), 0, ROLLOUT, BUILT_IN);
}

#[test]
fn json_has_the_clusters_in_order_or_the_one_object() {
    let both = preview(&["--clusters", "x=3,z=1", "-o", "json"]);
    assert_eq!((both.code, both.stderr.as_str()), (Some(0), BUILT_IN));
    let (hosts, elsewhere) = (json_of(ROLLOUT), json_of(&rollout_elsewhere()));
    let expected = json!({"clusters": [
        {"name": "x", "replicas": 3, "object": hosts},
        {"name": "z", "replicas": 1, "object": elsewhere},
    ]});
    assert_eq!(serde_json::from_str::<Value>(&both.stdout).unwrap(), expected);
    assert!(both.stdout.ends_with("}\n"));
    let one = preview(&["--clusters", "x=3,z=1", "-o", "json", "--cluster", "z"]);
    assert_eq!(serde_json::from_str::<Value>(&one.stdout).unwrap(), elsewhere);
}

#[test]
fn a_patch_is_printed_byte_for_byte() {
    let both = preview(&["--clusters", "x=3,z=1", "-o", "patch"]);
    assert_done(&both, 0, &format!("# cluster: x\n[]\n# cluster: z\n{PATCH}\n"), BUILT_IN);
    assert_done(&preview(&["--clusters", "x=3,z=1", "-o", "patch", "--cluster", "z"]), 0, PATCH, BUILT_IN);
    assert_done(&preview(&["--clusters", "x=3,z=1", "-o", "patch", "--cluster", "x"]), 0, "[]", BUILT_IN);
}

#[test]
fn the_object_may_be_json_and_come_from_the_standard_input() {
    let directory = Directory::new();
    let json = json_of(ROLLOUT).to_string();
    directory.file("rollout.json", &json);
    let arguments = |file| ["preview", "-f", file, "--clusters", "x=3,z=1", "--cluster", "z", "-o", "patch"];
    assert_done(&directory.run(&arguments("rollout.json")), 0, PATCH, BUILT_IN);
    for input in [ROLLOUT, &json] {
        assert_done(&directory.run_with(&arguments("-"), &[], input), 0, PATCH, BUILT_IN);
    }
    let environment = [
        ("REVISER_FILENAME", "rollout.json"),
        ("REVISER_CLUSTERS", "x=3,z=1"),
        ("REVISER_CLUSTER", "z"),
        ("REVISER_OUTPUT", "patch"),
    ];
    assert_done(&directory.run_with(&["preview"], &environment, ""), 0, PATCH, BUILT_IN);
}

/// The cluster that hosts the fort in a preview with these arguments.
fn host(arguments: &[&str]) -> String {
    let done = preview(&[arguments, &["-o", "patch"]].concat());
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), BUILT_IN));
    let lines: Vec<&str> = done.stdout.lines().collect();
    let hosts: Vec<&str> = lines.chunks(2).filter(|pair| pair[1] == "[]").map(|pair| pair[0]).collect();
    assert_eq!(hosts.len(), 1, "{}", done.stdout);
    hosts[0].strip_prefix("# cluster: ").unwrap().to_owned()
}

#[test]
fn the_host_is_where_it_was_else_the_first_of_the_heaviest() {
    assert_eq!(host(&["--clusters", "x=1,z=3"]), "z");
    assert_eq!(host(&["--clusters", "z=2,x=2"]), "z");
    assert_eq!(host(&["--clusters", "y=0,x=0,z=0"]), "y");
    assert_eq!(host(&["--clusters", "x=1", "--clusters", "z=3"]), "z");
    assert_eq!(host(&["--clusters", "x=1,z=3", "--allocation", "fort=x"]), "x");
    assert_eq!(host(&["--clusters", "x=1,z=3", "--allocation", "fort=gone"]), "z");
}

#[test]
fn an_allocation_that_no_policy_defines_is_refused_with_those_that_are() {
    let done = preview(&["--clusters", "x=1", "--allocation", "ford=x"]);
    let text = "error: --allocation: no policy defines \"ford\"; defined: fort\n";
    assert_done(&done, 2, "", &format!("{BUILT_IN}{text}"));
}

#[test]
fn a_cluster_that_is_refused_leaves_the_others_printed() {
    let refused = rollout_that_is_refused();
    let error = format!("{BUILT_IN}error: {REFUSED}\n");
    for (format, stdout) in [
        (
            "diff",
            format!(
                "{}\n# cluster: x: nothing changes\n",
                table(&[ROW_X, "z        1         -      refused"])
            ),
        ),
        ("yaml", format!("# cluster: x\n{refused}")),
        ("patch", "# cluster: x\n[]\n".to_owned()),
    ] {
        assert_done(&preview_of(&refused, &["--clusters", "x=3,z=1", "-o", format]), 1, &stdout, &error);
        let one = preview_of(&refused, &["--clusters", "x=3,z=1", "-o", format, "--cluster", "z"]);
        assert_done(&one, 1, "", &error);
    }
    let both = preview_of(&refused, &["--clusters", "x=3,z=1", "-o", "json"]);
    assert_eq!((both.code, both.stderr.as_str()), (Some(1), error.as_str()));
    let expected = json!({"clusters": [
        {"name": "x", "replicas": 3, "object": json_of(&refused)},
        {"name": "z", "replicas": 1, "error": REFUSED},
    ]});
    assert_eq!(serde_json::from_str::<Value>(&both.stdout).unwrap(), expected);
    assert_done(
        &preview_of(&refused, &["--clusters", "x=3,z=1", "-o", "json", "--cluster", "z"]),
        1,
        "",
        &error,
    );
}

#[test]
fn a_schedule_that_can_not_be_is_a_usage_error() {
    const FORM: &str = "use NAME=REPLICAS, for instance cluster-x=3; REPLICAS is 0 or more";
    for (clusters, value, advice) in [
        ("a", "a", FORM),
        ("x=1,a", "a", FORM),
        ("x=-1", "x=-1", FORM),
        ("x=1.5", "x=1.5", FORM),
        ("x=2147483648", "x=2147483648", FORM),
        ("", "", FORM),
        ("=1", "=1", "the name of the cluster is empty"),
    ] {
        let text = format!(
            "error: invalid value '{value}' for '--clusters <NAME=REPLICAS>': {advice}\n\nFor more information, try '--help'.\n"
        );
        assert_done(&preview(&["--clusters", clusters]), 2, "", &text);
    }
    let text = format!("{BUILT_IN}error: --clusters: cluster \"x\" is listed twice\n");
    assert_done(&preview(&["--clusters", "x=1,x=2"]), 2, "", &text);
    let text = format!("{BUILT_IN}error: --cluster: \"y\" is not one of --clusters: x, z\n");
    assert_done(&preview(&["--clusters", "x=1,z=1", "--cluster", "y"]), 2, "", &text);
    for missing in [["preview", "-f", "-"], ["preview", "--clusters", "x=1"]] {
        let done = Directory::new().run(&missing);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
        assert!(done.stderr.starts_with("error: the following required arguments were not provided:\n  --"));
    }
    let done = preview(&["--clusters", "x=1", "-o", "xml"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    assert!(done.stderr.contains("[possible values: diff, yaml, json, patch, explain]"), "{}", done.stderr);
}

#[test]
fn a_file_without_an_object_is_refused() {
    for (object, problem) in [
        ("# nothing\n", "there is no object in it"),
        ("apiVersion: v1\nkind: List\nitems: []\n", "there is no object in it"),
        ("a: b: c\n", "line 1, column 5: mapping values are not allowed in this context"),
        ("[1]\n", "must be a map, is a list"),
        ("kind: Rollout\n", "/apiVersion: must be a string that is not empty"),
        (
            "apiVersion: v1\nkind: A\nmetadata: {name: 7}\n",
            "/metadata/name: must be a string that is not empty",
        ),
    ] {
        let done = preview_of(object, &["--clusters", "x=1"]);
        assert_done(&done, 1, "", &format!("{BUILT_IN}error: rollout.yaml: {problem}\n"));
    }
    let done = Directory::new().run(&["preview", "-f", "missing.yaml", "--clusters", "x=1"]);
    let text = format!("{BUILT_IN}error: missing.yaml: No such file or directory (os error 2)\n");
    assert_done(&done, 1, "", &text);
}

#[test]
fn policies_are_those_that_are_named() {
    let directory = Directory::new();
    directory.file("rollout.yaml", ROLLOUT);
    directory.file("policy.yaml", &policy("mine", "other"));
    let arguments = [
        "preview",
        "-f",
        "rollout.yaml",
        "--clusters",
        "x=3,z=1",
        "-p",
        "policy.yaml",
        "--allocation",
        "other=z",
    ];
    let done = directory.run(&arguments);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let rows =
        table(&["x        3         -      ClusterRevisionPolicy/mine/steps", "z        1         other  -"]);
    assert!(done.stdout.starts_with(&rows), "{}", done.stdout);
    assert!(done.stdout.ends_with("\n# cluster: z: nothing changes\n"), "{}", done.stdout);

    directory.file("policy.yaml", &policy("mine", "other").replace("name: steps", "nam: steps"));
    let text = "error: the policies are refused:\n\
                policy.yaml: document 1, line 11: spec.rules[0].name: is required\n\
                policy.yaml: document 1, line 11: spec.rules[0].nam: unknown field; did you mean \"name\"?\n";
    assert_done(&directory.run(&arguments), 1, "", text);
}

#[test]
fn a_workload_that_no_policy_selects_is_said_so() {
    let done = preview_of(&ROLLOUT.replace("kind: Rollout", "kind: Deployment"), &["--clusters", "x=1"]);
    let text = format!(
        "{BUILT_IN}no policy selects Deployment/checkout (deploy.example.com/v1alpha1): every cluster gets it unchanged\n"
    );
    let row = "x        1         -      -";
    assert_done(&done, 0, &format!("{}\n# cluster: x: nothing changes\n", table(&[row])), &text);
}

#[test]
fn nothing_is_coloured_that_no_terminal_shows() {
    let directory = Directory::new();
    for environment in [&[("NO_COLOR", "1")][..], &[("NO_COLOR", ""), ("TERM", "xterm-256color")]] {
        let arguments = ["preview", "-f", "-", "--clusters", "x=3,z=1"];
        let done = directory.run_with(&arguments, environment, ROLLOUT);
        assert!(done.stdout.contains("\n+          pull: null\n") && !done.stdout.contains('\u{1b}'));
        let done = directory.run_with(&["preview", "--nothing"], environment, "");
        assert!(!done.stderr.contains('\u{1b}'), "{}", done.stderr);
    }
}

#[test]
fn a_reader_that_has_enough_is_no_fault() {
    let directory = Directory::new();
    // More than a pipe holds, so that the rest is written after the reader has closed it.
    let long = format!("{ROLLOUT}  notes: {}\n", "x".repeat(200_000));
    let file = directory.file("rollout.yaml", &long);
    let mut child = reviser(["preview", "-f", &file, "--clusters", "x=1,z=1", "-o", "yaml"]).spawn().unwrap();
    let mut line = [0; 13];
    child.stdout.take().unwrap().read_exact(&mut line).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(&line, b"# cluster: x\n");
    assert_eq!((done.status.code(), str::from_utf8(&done.stderr)), (Some(0), Ok(BUILT_IN)));
}
