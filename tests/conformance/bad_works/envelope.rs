//! What is wrong around the Work.

use super::{Denied, Door, Failed, Good, Http, Nothing, Patch, ROLLOUT, Warning, good, of, review, with};
use crate::spawned::wire::post;

#[test]
fn without_a_review_of_this_version_and_a_uid_there_is_no_answer() {
    const OLD: &str = "apiVersion: must be \"admission.k8s.io/v1\", is \"admission.k8s.io/v1beta1\"; set `admissionReviewVersions: [v1]` in the webhook configuration";
    let uid = r#""uid":"u-1","#;
    Door::open().check(&[
        ("an old version", review("admission.k8s.io/v1", "admission.k8s.io/v1beta1"), Http(400, OLD)),
        (
            "no version",
            review(r#""apiVersion":"admission.k8s.io/v1","#, ""),
            Http(400, "apiVersion: must be \"admission.k8s.io/v1\", is missing"),
        ),
        (
            "a request to the other door",
            review("AdmissionReview", "ResourceInterpreterContext"),
            Http(400, "kind: must be \"AdmissionReview\", is \"ResourceInterpreterContext\""),
        ),
        ("no uid", review(uid, ""), Http(400, "`request.uid` must be there once")),
        ("two uids", review(uid, &uid.repeat(2)), Http(400, "`request.uid` must be there once")),
        ("a uid that is a number", review(uid, r#""uid":1,"#), Http(400, "`request.uid` must be there once")),
        (
            "no request",
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#.to_owned(),
            Http(400, "the body is no AdmissionReview: it has no `request` that is a map"),
        ),
        (
            "an answer",
            review(r#""request""#, r#""response""#),
            Http(400, "the body is no AdmissionReview: it has no `request` that is a map"),
        ),
        ("nothing", String::new(), Http(400, "the body is no AdmissionReview: not JSON at byte 0")),
        (
            "half of it",
            good()[..400].to_owned(),
            Http(400, "the body is no AdmissionReview: not JSON at byte 400"),
        ),
        ("a list", "[]".to_owned(), Http(400, "kind: must be \"AdmissionReview\", is missing")),
    ]);
}

#[test]
fn what_is_wrong_in_the_envelope_is_denied_with_its_place() {
    let resource = r#""resource":{"group":"work.karmada.io","version":"v1alpha1","resource":"works"},"#;
    Door::open().check(&[
        ("no resource", review(resource, ""), Denied(400, "request.resource: must be a map")),
        (
            "a resource that is text",
            review(resource, r#""resource":"works","#),
            Denied(400, "request.resource: must be a map of the strings group, version and resource"),
        ),
        (
            "no operation",
            review(r#""operation":"UPDATE","#, ""),
            Denied(400, "request.operation: is missing; send it"),
        ),
        (
            "an unknown operation",
            review("UPDATE", "PATCH"),
            Denied(
                400,
                "request.operation: \"PATCH\" does not exist; send one of CREATE, UPDATE, DELETE, CONNECT",
            ),
        ),
        (
            "a dry run that is text",
            review(r#""dryRun":false"#, r#""dryRun":"no""#),
            Denied(400, "request.dryRun: must be true or false, is a string"),
        ),
        (
            "a namespace that is a number",
            review(r#""namespace":"karmada-es-cluster-z","operation""#, r#""namespace":1,"operation""#),
            Denied(400, "request.namespace: must be a string, is a number"),
        ),
        (
            "two objects",
            review(r#""object":"#, r#""object":{},"object":"#),
            Denied(400, "the member \"object\" is there twice"),
        ),
        (
            "an object that is a list",
            review(r#""object":"#, r#""object":[],"ignored":"#),
            Denied(422, "Work/checkout: request.object: must be a map, is a list; send one object"),
        ),
    ]);
}

#[test]
fn what_is_not_to_be_revised_is_left_as_it_is() {
    const PODS: &str = "reviser revises works.work.karmada.io here and was asked about pods (core); fix the rules of the MutatingWebhookConfiguration";
    let resource = r#""group":"work.karmada.io","version":"v1alpha1","resource":"works""#;
    let old = |object: &str| review(r#""object":"#, &format!(r#""object":{object},"oldObject":"#));
    Door::open().check(&[
        ("a Pod", review(resource, r#""group":"","version":"v1","resource":"pods""#), Warning(PODS)),
        (
            "works of another group",
            review(resource, r#""group":"art.example.com","version":"v1","resource":"works""#),
            Warning(
                "reviser revises works.work.karmada.io here and was asked about works (art.example.com); ",
            ),
        ),
        (
            "a resource with a name that is no line",
            review(
                resource,
                &format!(r#""group":"a\nb","version":"v1","resource":"{}""#, "\\u0007".repeat(900)),
            ),
            Warning("reviser revises works.work.karmada.io here and was asked about  "),
        ),
        ("a status", review(r#""operation":"#, r#""subResource":"status","operation":"#), Nothing),
        ("a deletion", old("null").replace("UPDATE", "DELETE"), Nothing),
        ("a connection", review("UPDATE", "CONNECT"), Nothing),
        ("a deletion that brings an object", review("UPDATE", "DELETE"), Nothing),
        ("an old object where the object belongs", old("null"), Nothing),
        ("no object", review(r#""object":"#, r#""objects":"#), Nothing),
        ("another version of Works", review(resource, &resource.replace("v1alpha1", "v1beta1")), Good),
        ("a creation", review("UPDATE", "CREATE"), Good),
        ("an old object that is text", review(r#""object":"#, r#""oldObject":"","object":"#), Good),
        (
            "an old object too deep to be read",
            review(
                r#""object":"#,
                &format!(r#""oldObject":{}1{},"object":"#, r#"{"a":"#.repeat(600), "}".repeat(600)),
            ),
            Good,
        ),
    ]);
}

#[test]
fn no_cluster_is_guessed() {
    const NONE: &str = "/metadata/namespace: \"\" is no execution namespace, so that the cluster of the Work is not known; name one that begins with \"karmada-es-\"";
    let namespace = |namespace: &str| {
        review(r#""namespace":"karmada-es-cluster-z","operation""#, &format!(r#"{namespace}"operation""#))
    };
    let other = |name: &str| namespace(&format!(r#""namespace":"{name}","#));
    Door::open().check(&[
        ("no namespace", namespace(""), Denied(422, NONE)),
        ("an empty namespace", other(""), Denied(422, NONE)),
        (
            "a namespace of a user",
            other("shop"),
            Denied(422, "/metadata/namespace: \"shop\" is no execution namespace"),
        ),
        (
            "no cluster after the prefix",
            other("karmada-es-"),
            Denied(422, "/metadata/namespace: \"karmada-es-\" is no execution namespace"),
        ),
        (
            "the prefix in its middle",
            other("x-karmada-es-z"),
            Denied(422, "/metadata/namespace: \"x-karmada-es-z\" is no execution namespace"),
        ),
        // Whose object it is does not matter where nothing is to be revised.
        ("nothing to revise", of("").replace("karmada-es-cluster-z", "shop"), Nothing),
        // It goes to a cluster that the binding does not list: like any other.
        ("an unknown cluster", other("karmada-es-cluster-q"), Patch(super::NULLED)),
    ]);
}

#[test]
fn annotations_that_point_elsewhere_are_denied() {
    const OTHER: &str = "Rollout/checkout cluster \"cluster-z\": /spec/workload/manifests/0/metadata/namespace: is \"shop\", but the annotations of the Work name the ";
    const LOST: &str = "Rollout/checkout cluster \"cluster-z\": no annotation of the Work names its binding, although its /metadata/annotations/resourcebinding.karmada.io~1name says that it was made from one; ";
    const UNBOUND: &str = "ClusterRevisionPolicy/rollout-fort rule \"canary-steps\" cluster \"cluster-z\": allocation \"fort\": the Work has no binding, so that there is no schedule; ";
    let namespace = r#""resourcebinding.karmada.io/namespace":"shop""#;
    let both = r#""resourcebinding.karmada.io/namespace":"shop","resourcebinding.karmada.io/name":"checkout-rollout""#;
    let second = ROLLOUT.replace("\"checkout\"", "\"cart\"").replace("\"shop\"", "\"other\"");
    Door::open().check(&[
        ("another namespace", review(namespace, &namespace.replace("shop", "other")), Denied(422, OTHER)),
        ("no namespace", review(&format!("{namespace},"), ""), Denied(422, OTHER)),
        (
            "a namespace that is a number",
            review(namespace, &namespace.replace("\"shop\"", "1")),
            Denied(422, OTHER),
        ),
        // Found by the object, of which there is one.
        ("another name", review("checkout-rollout", "gone"), Good),
        ("a name that is a number", review(r#""checkout-rollout""#, "1"), Denied(422, LOST)),
        ("no annotations", review(both, ""), Denied(422, UNBOUND)),
        (
            "both kinds of binding",
            review(both, &format!(r#"{both},"clusterresourcebinding.karmada.io/name":"other""#)),
            Patch(super::NULLED),
        ),
        (
            "only the other kind of binding",
            review(both, r#""clusterresourcebinding.karmada.io/name":"checkout-rollout""#),
            Patch(super::NULLED),
        ),
        (
            "two manifests in two namespaces",
            of(&format!("{ROLLOUT},{second}")),
            Failed(503, "Rollout/cart cluster \"cluster-z\": no binding in the state files ("),
        ),
    ]);
}

#[test]
fn a_deadline_that_has_passed_is_no_answer() {
    let mut door = Door::open();
    for (timeout, gets) in [
        ("1ns", Failed(504, "the deadline of the request has passed")),
        ("10s", Good),
        ("soon", Good),
        ("", Good),
    ] {
        let request = post(&format!("/mutate/works?timeout={timeout}"), good().as_bytes());
        door.check_request(timeout, &request, &good(), &gets);
    }
    // What needs no time has none to exceed.
    let deleted = review("UPDATE", "DELETE");
    door.check_request(
        "a deletion",
        &post("/mutate/works?timeout=1ns", deleted.as_bytes()),
        &deleted,
        &Nothing,
    );
}

#[test]
fn a_body_that_is_not_json_by_its_header_is_refused() {
    let mut door = Door::open();
    let typed = String::from_utf8(post("/mutate/works", good().as_bytes())).unwrap();
    let yaml = with(&typed, "Content-Type: application/json", "Content-Type: application/yaml");
    door.check_request("YAML", yaml.as_bytes(), "", &Http(415, "the body has to be JSON"));
    let large = post("/mutate/works", &vec![b' '; 10 << 20]);
    door.check_request("10 MB", &large, "", &Http(413, "the body is longer than 8388608 bytes"));
}
