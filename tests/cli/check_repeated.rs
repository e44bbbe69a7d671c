//! `reviser check` and rules that are applied to their own result.

use crate::files::Directory;
use crate::process::Done;

const CHAPERON: &str = "apiVersion: multicluster.admiralty.io/v1alpha1
kind: PodChaperon
metadata: {name: a, namespace: lab, annotations: {zone: a}}
spec:
  containers:
  - {name: app, image: \"team/app:1\", args: [serve]}
  - {name: log, image: \"log:1\", securityContext: {allowPrivilegeEscalation: true}}
";

/// A rule with this action, for this kind.
fn policy(api_version: &str, kind: &str, action: &str) -> String {
    format!(
        "apiVersion: reviser.io/v1alpha1\nkind: ClusterRevisionPolicy\nmetadata: {{name: p}}\nspec:\n  \
         resourceSelectors: [{{apiVersion: {api_version}, kind: {kind}}}]\n  rules:\n  - name: same\n    \
         patch: {{type: Merge, value: {{metadata: {{labels: {{a: b}}}}}}}}\n  - name: other\n    \
         patch: {{type: Merge, value: {{metadata: {{labels: {{a: c}}}}}}}}\n  - name: r\n    {action}\n"
    )
}

fn check(policy: &str, object: &str) -> Done {
    let directory = Directory::new();
    directory.file("policy.yaml", policy);
    directory.file("object.yaml", object);
    let done = directory.run(&["check", "-p", "policy.yaml", "-f", "object.yaml", "--clusters", "t=1,u=1"]);
    // That two rules of a policy write one label is another finding, of the second one.
    let lines = done.stdout.split_inclusive('\n').filter(|line| !line.contains(": conflict: "));
    let stdout = lines.collect();
    Done { stdout, ..done }
}

/// Actions that give another result when they are applied again, each with the place.
const DIFFERING: [(&str, &str); 5] = [
    (
        r#"patch: {type: Strategic, value: {spec: {containers: [{name: app, args: "${object.spec.containers[0].args + ['--fast']}"}]}}}"#,
        "changes /spec/containers/0/args/2 again",
    ),
    (
        r#"patch: {type: Merge, value: {metadata: {annotations: {zone: "zone-${object.metadata.annotations.zone}"}}}}"#,
        "changes /metadata/annotations/zone again",
    ),
    (
        r#"image: {repository: "mirror/${object.spec.containers[0].image.split(':')[0]}"}"#,
        "changes /spec/containers/0/image again",
    ),
    (
        r#"patch: {type: JSON, value: [{op: add, path: "/spec/containers/0/${'args'}/0", value: first}]}"#,
        "changes /spec/containers/0/args/1 again",
    ),
    (
        "patch: {type: JSON, value: [{op: test, path: /metadata/annotations/zone, value: a}, {op: replace, path: /metadata/annotations/zone, value: b}]}",
        "fails (",
    ),
];

#[test]
fn a_rule_that_differs_on_the_door_of_chaperons_is_a_finding() {
    for (action, problem) in DIFFERING {
        let done = check(&policy("multicluster.admiralty.io/v1alpha1", "PodChaperon", action), CHAPERON);
        let start =
            "policy.yaml: document 1, line 11: spec.rules[2]: a second application on object.yaml in t, u ";
        let rest = done.stdout.strip_prefix(start).unwrap_or_else(|| panic!("{action}: {done:?}"));
        assert!(rest.starts_with(problem), "{rest}");
        assert!(
            rest.contains(
                ": POST /mutate/podchaperons undoes no earlier revision, and so revises twice where "
            ),
            "{rest}"
        );
        assert_eq!((done.code, done.stdout.lines().count()), (Some(1), 1), "{}", done.stdout);
    }
}

#[test]
fn a_prefix_that_is_added_whatever_the_registry_is_found_without_an_object() {
    let action = "image: {registry: r.example.com, repositoryPrefix: proxy}";
    let done = check(&policy("multicluster.admiralty.io/v1alpha1", "PodChaperon", action), CHAPERON);
    let start = "policy.yaml: document 1, line 12: spec.rules[2].image.repositoryPrefix: a second application adds the prefix again: ";
    assert!(done.stdout.starts_with(start) && done.stdout.lines().count() == 1, "{}", done.stdout);
}

#[test]
fn a_rule_that_gives_the_same_again_is_no_finding() {
    for action in [
        r#"patch: {type: Strategic, value: {spec: {containers: "${object.spec.containers.filter(c, !has(c.securityContext)).map(c, {'name': c.name, 'securityContext': {'allowPrivilegeEscalation': false}})}"}}}"#,
        r#"patch: {type: Merge, value: {metadata: {annotations: {zone: "${object.metadata.annotations.zone.lowerAscii()}"}}}}"#,
        r#"patch: {type: Merge, value: {metadata: {annotations: {zone: "${object.metadata.annotations.zone.startsWith('z-') ? object.metadata.annotations.zone : 'z-' + object.metadata.annotations.zone}"}}}}"#,
        "env: {name: A, value: b}",
        "image: {registry: r.example.com}",
        "image: {from: docker.io, registry: r.example.com, repositoryPrefix: proxy}",
        "{when: \"!('done' in object.metadata.annotations)\", patch: {type: JSON, value: [{op: add, path: /spec/containers/0/args/-, value: x}, {op: add, path: /metadata/annotations/done, value: z}]}}",
    ] {
        let action = action
            .strip_prefix('{')
            .and_then(|fields| fields.strip_suffix('}'))
            .map_or_else(|| action.to_owned(), |fields| fields.replacen(", patch:", "\n    patch:", 1));
        let done = check(&policy("multicluster.admiralty.io/v1alpha1", "PodChaperon", &action), CHAPERON);
        assert_eq!(done.stdout, "", "{action}");
        assert!(!done.stderr.contains("a second application"), "{}", done.stderr);
    }
}

#[test]
fn for_kinds_of_karmada_it_is_a_note() {
    let object = CHAPERON
        .replace("multicluster.admiralty.io/v1alpha1", "a.example.com/v1")
        .replace("PodChaperon", "Fleet");
    for (action, problem) in DIFFERING {
        let action = action.replace("Strategic", "Merge");
        if action.starts_with("image") {
            continue;
        }
        let done = check(&policy("a.example.com/v1", "Fleet", &action), &object);
        assert_eq!(done.stdout, "", "{action}");
        let note =
            done.stderr.lines().find(|line| line.contains("a second application on object.yaml in t, u "));
        let note = note.unwrap_or_else(|| panic!("{action}: {}", done.stderr));
        let place = problem.split('/').next().unwrap();
        assert!(
            note.contains(place) && note.contains("POST /mutate/works undoes a revision first"),
            "{note}"
        );
    }
    // From the template it is the same each time: that is the advice.
    let advised = r#"patch: {type: Merge, value: {metadata: {annotations: {zone: "zone-${original.metadata.annotations.zone}"}}}}"#;
    let done = check(&policy("a.example.com/v1", "Fleet", advised), &object);
    assert_eq!(done.stdout, "");
    assert!(!done.stderr.contains("a second application"), "{}", done.stderr);
}
