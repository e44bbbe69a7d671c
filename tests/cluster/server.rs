//! Tests of the control plane that the other tests use.

use http::Method;
use serde_json::json;

use crate::support::plane::ControlPlane;
use crate::support::until;

fn namespace(name: &str) -> serde_json::Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

#[test]
fn it_knows_its_users_by_token_and_by_certificate() {
    let Some(plane) = ControlPlane::shared() else { return };
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    for user in ["admin", "karmada", "reviser", "nobody"] {
        for file in [user.to_owned(), format!("{user}.certificate")] {
            let reply =
                plane.user(&file).create("/apis/authentication.k8s.io/v1/selfsubjectreviews", &review);
            assert_eq!(reply.ok()["status"]["userInfo"]["username"], *user, "{file}");
        }
    }
    assert!(plane.admin().get("/api/v1/namespaces").is_ok());
    let refused = plane.user("nobody").get("/api/v1/namespaces");
    assert!(refused.refused(403).contains("User \"nobody\" cannot list resource \"namespaces\""));
    let works = "/apis/work.karmada.io/v1alpha1/works";
    assert!(plane.user("karmada").get(works).is_ok());
    plane.user("reviser").get(works).refused(403);
    plane.acting_as("karmada").get("/api/v1/namespaces").refused(403);
}

#[test]
fn an_api_server_restarts_on_the_same_port_with_its_objects() {
    let Some(plane) = ControlPlane::start() else { return };
    let admin = plane.admin();
    admin.create("/api/v1/namespaces", &namespace("stays")).ok();
    plane.restart();
    assert_eq!(admin.get("/api/v1/namespaces/stays").ok()["metadata"]["name"], "stays");

    plane.kill();
    let gone = || admin.try_call(Method::GET, "/readyz", "application/json", Vec::new()).is_err();
    until("the server is gone", gone);
    plane.start_again();
    assert!(admin.get("/api/v1/namespaces/stays").is_ok());
    // Roles and definitions are loaded a moment after it reports ready, and its caches later.
    let karmada = plane.user("karmada");
    until("karmada finds its bindings", || {
        let reply = karmada.get("/apis/work.karmada.io/v1alpha2/resourcebindings");
        assert!(reply.is_ok() || matches!(reply.code, 403 | 404 | 429), "{reply:?}");
        reply.is_ok()
    });
}
