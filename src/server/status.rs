//! `metav1.Status`: the body of every answer that is not a 200.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;

/// The body of an answer with this HTTP status code.
///
/// `reason` is one of Kubernetes' `StatusReason`s, such as `BadRequest`.
pub(super) fn body(code: u16, reason: &str, message: &str) -> String {
    let status = Status {
        status: Some("Failure".to_owned()),
        message: Some(message.to_owned()),
        reason: Some(reason.to_owned()),
        code: Some(code.into()),
        ..Status::default()
    };
    serde_json::to_string(&status)
        .unwrap_or_else(|_| unreachable!("strings and numbers can be written as JSON"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_status_has_what_kubernetes_clients_show() {
        let body: serde_json::Value =
            serde_json::from_str(&super::body(413, "RequestEntityTooLarge", "too \"big\"")).unwrap();
        assert_eq!(
            body,
            serde_json::json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "too \"big\"", "reason": "RequestEntityTooLarge", "code": 413})
        );
    }
}
