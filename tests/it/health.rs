//! Probes.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use http::{StatusCode, header};
use reviser::server::{CertificateSource, Check};

use crate::support::{
    client::{Client, Protocol},
    server::{TestServer, issue, new_authority, read},
};

#[tokio::test]
async fn readiness_follows_its_checks_on_both_ports() {
    let synced = Arc::new(AtomicBool::new(false));
    let check = Check::new("listers", {
        let synced = Arc::clone(&synced);
        move || if synced.load(SeqCst) { Ok(()) } else { Err("not synced".to_owned()) }
    });
    let authority = Arc::new(new_authority());
    let source = CertificateSource::Fixed(Arc::new(read(&issue(&authority))));
    let server = TestServer::start_from(authority, source, vec![check], |_options| {}).await;
    let secure = Client::connect(&server, Protocol::Http1).await;
    let admin = Client::connect_admin(&server).await;
    for mut client in [secure, admin] {
        synced.store(false, SeqCst);
        assert_eq!(client.get("/livez").await.text(), "ok");
        let answer = client.get("/readyz").await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.text(), "[-]listers failed: not synced\nreadyz check failed\n");
        assert_eq!(answer.header(header::RETRY_AFTER), None);

        synced.store(true, SeqCst);
        assert_eq!(client.get("/readyz").await.text(), "ok");
        let answer = client.get("/readyz?verbose").await;
        assert_eq!(answer.status, StatusCode::OK);
        let all = "[+]listers ok\n[+]certificate ok\n[+]draining ok\nreadyz check passed\n";
        assert_eq!(answer.text(), all);
    }
}
