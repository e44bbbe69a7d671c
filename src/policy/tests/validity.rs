//! Results that the API server would reject.

use super::case::{Case, Done, document};

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app: web}}
spec:
  replicas: 9
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 2}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web}]
      volumes: [{name: data, emptyDir: {}}]
";

/// Revises an object with these rules, for the last of three clusters.
fn revised(api_version: &str, kind: &str, rules: &str, object: &str) -> Result<Done, String> {
    let policy = format!(
        "apiVersion: reviser.io/v1alpha1\nkind: ClusterRevisionPolicy\nmetadata: {{name: p}}\nspec:\n  resourceSelectors: [{{apiVersion: {api_version}, kind: {kind}}}]\n  rules: [{rules}]"
    );
    let case = Case::documents(&[document(&policy)]).schedule(&[("a", 3), ("b", 3), ("c", 3)]).cluster("c");
    case.revised_whole(&document(object).to_string())
}

fn of_deployment(rules: &str) -> Result<Done, String> {
    revised("apps/v1", "Deployment", rules, DEPLOYMENT)
}

fn strategic(value: &str) -> String {
    format!("{{name: r, patch: {{type: Strategic, value: {{spec: {value}}}}}}}")
}

const DIVIDED: &str = "{name: budget, divide: {path: /spec/strategy/rollingUpdate/maxUnavailable}}";

#[test]
fn what_a_rule_breaks_is_refused_with_rule_place_and_advice() {
    assert_eq!(
        of_deployment(DIVIDED).unwrap_err(),
        "422 ClusterRevisionPolicy/p rule \"budget\" cluster \"c\": /spec/strategy/rollingUpdate/maxUnavailable: no API server takes this: is 0, and so is `maxSurge`, so that no pod could ever be replaced; make one of the two 1 or more, where it is divided with `floor: 1`"
    );
    for (rules, place, problem) in [
        (
            strategic("{template: {spec: {volumes: [{name: data, hostPath: {path: /d}}]}}}"),
            "/spec/template/spec/volumes/0/hostPath",
            "is set together with `emptyDir`",
        ),
        (
            strategic("{template: {metadata: {labels: {app: other}}}}"),
            "/spec/template/metadata/labels",
            "do not have the label \"app\" as the selector has it",
        ),
        (
            strategic("{selector: {matchLabels: {cluster: \"${cluster.name}\"}}}"),
            "/spec/template/metadata/labels",
            "do not have the label \"cluster\" as the selector has it",
        ),
        (
            strategic("{template: {metadata: {labels: {zone: \"in ${cluster.name}\"}}}}"),
            "/spec/template/metadata/labels/zone",
            "\"in c\" is no value of a label",
        ),
        (
            strategic("{template: {spec: {containers: [{name: web, volumeMounts: [{name: conf, mountPath: /c}]}]}}}"),
            "/spec/template/spec/containers/0/volumeMounts/0/name",
            "there is no volume \"conf\" in the pod",
        ),
        (
            strategic("{template: {spec: {containers: [{name: web, resources: {requests: {cpu: 2}, limits: {cpu: \"${replicas}00m\"}}}]}}}"),
            "/spec/template/spec/containers/0/resources/requests/cpu",
            "is 2, more than the limit of 300m",
        ),
        (
            "{name: r, env: {name: \"A\", valueFrom: {fieldRef: {fieldPath: spec.node}}}}".to_owned(),
            "/spec/template/spec/containers/0/env/0/valueFrom/fieldRef/fieldPath",
            "is \"spec.node\", which cannot be used here",
        ),
        ("{name: r, divide: {path: /spec/replicas, floor: 1}}, {name: r2, patch: {type: Merge, value: {spec: {replicas: \"${replicas - 9}\"}}}}".to_owned(), "/spec/replicas", "is -6; give 0 or more"),
    ] {
        let refusal = of_deployment(&rules).unwrap_err();
        assert!(refusal.contains(&format!("\": {place}: no API server takes this: {problem}")), "{refusal}");
    }
}

#[test]
fn what_a_later_rule_puts_right_is_no_fault() {
    let surge = strategic("{strategy: {rollingUpdate: {maxSurge: 1}}}");
    for rules in [format!("{DIVIDED}, {surge}"), format!("{surge}, {DIVIDED}")] {
        assert!(
            of_deployment(&rules).unwrap().spec.contains(r#""maxSurge":1,"maxUnavailable":0"#),
            "{rules}"
        );
    }
    let both = strategic("{selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}}}");
    assert_eq!(of_deployment(&both).unwrap().applied, ["r"]);
    let floor = "{name: budget, divide: {path: /spec/strategy/rollingUpdate/maxUnavailable, floor: 1}}";
    assert!(of_deployment(floor).unwrap().spec.contains(r#""maxUnavailable":1"#));
}

#[test]
fn the_rule_that_is_named_is_the_one_that_did_it() {
    let harmless =
        |name: &str| format!("{{name: {name}, patch: {{type: Merge, value: {{spec: {{paused: true}}}}}}}}");
    // The label is invalid after the second rule and valid after the third.
    let for_a_while = "{name: b, patch: {type: Merge, value: {metadata: {labels: {x: a/b}}}}}, {name: c, patch: {type: Merge, value: {metadata: {labels: {x: z}}}}}";
    let rules = format!("{}, {for_a_while}, {DIVIDED}, {}", harmless("a"), harmless("z"));
    let refusal = of_deployment(&rules).unwrap_err();
    assert!(refusal.starts_with("422 ClusterRevisionPolicy/p rule \"budget\" cluster \"c\": "), "{refusal}");
    // `onError: Skip` does not apply to the result of a rule that succeeded.
    let skipping = DIVIDED.replace("}}", "}, onError: Skip}");
    assert!(of_deployment(&skipping).unwrap_err().contains("rule \"budget\""));
}

#[test]
fn what_the_object_broke_before_is_not_refused() {
    for object in [
        // Missing selector and labels, a missing image, and an invalid name.
        DEPLOYMENT.replace("  selector: {matchLabels: {app: web}}\n", ""),
        DEPLOYMENT.replace("metadata: {labels: {app: web}}", "metadata: {labels: {app: other}}"),
        DEPLOYMENT.replace("{name: web, image: web}", "{name: WEB}"),
        DEPLOYMENT.replace("replicas: 9", "replicas: -9"),
    ] {
        let rules = strategic(
            "{template: {metadata: {labels: {zone: z}}, spec: {containers: [{name: web, image: w}, {name: log, image: l}]}}}",
        );
        revised("apps/v1", "Deployment", &rules, &object).unwrap();
    }
    // A further invalid name is an error of the rules.
    let object = DEPLOYMENT.replace("{name: web, image: web}", "{name: WEB}");
    let rules = strategic("{template: {spec: {containers: [{name: LOG, image: l}]}}}");
    let refusal = revised("apps/v1", "Deployment", &rules, &object).unwrap_err();
    assert!(refusal.contains("\"LOG\" is no DNS label"), "{refusal}");
}

#[test]
fn other_kinds_have_other_rules() {
    let merge = |value: &str| format!("{{name: r, patch: {{type: Merge, value: {value}}}}}");
    for (api_version, kind, object, rule, expected) in [
        (
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            "{spec: {minReplicas: 2, maxReplicas: 10}}",
            "{name: r, divide: {path: /spec/minReplicas}}".to_owned(),
            "/spec/minReplicas: no API server takes this: is 0; give 1 or more, where it is divided with `floor: 1`",
        ),
        (
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            "{spec: {minReplicas: 2, maxReplicas: 3}}",
            "{name: r, divide: {path: /spec/maxReplicas}}".to_owned(),
            "/spec/maxReplicas: no API server takes this: is 1, less than `minReplicas`, which is 2",
        ),
        (
            "policy/v1",
            "PodDisruptionBudget",
            "{spec: {minAvailable: 1}}",
            merge("{spec: {maxUnavailable: 1}}"),
            "/spec/maxUnavailable: no API server takes this: is set together with `minAvailable`",
        ),
        (
            "v1",
            "Service",
            "{spec: {ports: [{port: 80}]}}",
            merge("{spec: {ports: [{port: 80}, {port: \"${8000 + replicas}\"}]}}"),
            "/spec/ports/0/name: no API server takes this: is missing",
        ),
        (
            "v1",
            "ConfigMap",
            "{data: {a: b}}",
            merge("{data: {\"of ${cluster.name}\": x}}").replace("\"of ${cluster.name}\"", "a b"),
            "/data/a b: no API server takes this: \"a b\" is no key of a ConfigMap",
        ),
        (
            "networking.k8s.io/v1",
            "Ingress",
            "{spec: {rules: [{host: a.example.com}]}}",
            merge("{spec: {rules: [{host: \"${cluster.name}_x.example.com\"}]}}"),
            "/spec/rules/0/host: no API server takes this: \"c_x.example.com\" is no host name",
        ),
        (
            "batch/v1",
            "CronJob",
            "{spec: {schedule: 0 3 * * *}}",
            merge("{spec: {schedule: \"${58 + replicas} 3 * * *\"}}"),
            "/spec/schedule: no API server takes this: \"61 3 * * *\" is no schedule",
        ),
        (
            "apps.example.com/v1",
            "Train",
            "{spec: {}}",
            merge("{metadata: {labels: {a: \"b c\"}}}"),
            "/metadata/labels/a: no API server takes this: \"b c\" is no value of a label",
        ),
    ] {
        let body = object.strip_prefix('{').unwrap();
        let whole = format!(
            "{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: x, namespace: shop}}, {body}"
        );
        let refusal = revised(api_version, kind, &rule, &whole).unwrap_err();
        assert!(refusal.contains(&format!("rule \"r\" cluster \"c\": {expected}")), "{refusal}");
    }
}
