use super::*;

#[tokio::test]
async fn a_kubeconfig_that_is_not_there_is_named() {
    let access = Access::Kubeconfig("does/not/exist.config".into());
    let error = ApiServer::new(&access).await.unwrap_err();
    assert_eq!(error.to_string(), "failed to use the kubeconfig does/not/exist.config");
}

#[tokio::test]
async fn a_name_that_is_no_name_never_gets_into_a_path() {
    let server = nobody();
    for name in ["", ".", "..", "a/b", "a?b", "../../secrets", "a%2fb", "a b", &"a".repeat(300)] {
        let error = server.get(&Kind::WORK, "karmada-es-a", name).await.unwrap_err();
        assert!(error.is_refusal(), "{name:?}: {error}");
        let error = server.get(&Kind::WORK, name, "web").await.unwrap_err();
        assert!(error.is_refusal(), "{name:?}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_no_refusal() {
    let error = nobody().get(&Kind::CLUSTER, "", "a").await.unwrap_err();
    assert!(!error.is_refusal() && !error.is_not_found() && !error.is_conflict(), "{error}");
    assert!(error.to_string().starts_with("failed to get Cluster.cluster.karmada.io a: "), "{error}");
}

/// A server at a port without a listener.
fn nobody() -> ApiServer {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let config = Config::new(format!("http://127.0.0.1:{port}").parse().unwrap());
    let client = Client::try_from(config).unwrap();
    ApiServer { client, address: String::new(), pod_namespace: None, kinds: Arc::default() }
}
