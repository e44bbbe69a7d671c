//! Users of the API server: certificates, tokens and kubeconfig files.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair};
use reviser::certs::{Authority, SubjectNames};
use serde_json::json;

/// The users, and their groups.
///
/// * `admin` may do everything.
/// * `karmada` may do everything with Karmada's kinds, and writes Works.
/// * `reviser` is the service itself; a test grants its rights (`ControlPlane::grant`).
/// * `nobody` has no rights of its own.
pub(crate) const USERS: [(&str, &str); 4] =
    [("admin", "system:masters"), ("karmada", "tests"), ("reviser", "tests"), ("nobody", "tests")];

/// The files of the API server and its users, in one directory.
#[derive(Debug)]
pub(crate) struct Credentials {
    directory: PathBuf,
    authority: Authority,
}

impl Credentials {
    /// Creates in `directory`: `ca.crt`, `server.crt`, `server.key`, `sa.key`, `sa.pub`, `tokens.csv`,
    /// `front-proxy.crt`, `front-proxy.key`.
    pub(crate) fn make(directory: &Path) -> Self {
        let now = SystemTime::now();
        let authority = Authority::new(now).unwrap();
        let server = authority.issue_server(&SubjectNames::local(), now).unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
        write("ca.crt", authority.certificate_pem());
        write("server.crt", &server.certificate);
        write("server.key", &server.key);
        let accounts = KeyPair::generate().unwrap();
        write("sa.key", &accounts.serialize_pem());
        write("sa.pub", &accounts.public_key_pem());
        let token = |(user, group): &(&str, &str)| format!("{user}-token,{user},{user},\"{group}\"\n");
        write("tokens.csv", &USERS.iter().map(token).collect::<String>());
        let credentials = Self { directory: directory.to_owned(), authority };
        let (certificate, key) = credentials.issue_client("front-proxy", "tests");
        write("front-proxy.crt", &certificate);
        write("front-proxy.key", &key);
        credentials
    }

    /// Writes `NAME.kubeconfig` (a token) and `NAME.certificate.kubeconfig` for each user of the server at
    /// `port`.
    pub(crate) fn write_kubeconfigs(&self, port: u16) {
        for (name, group) in USERS {
            let token = json!({"token": format!("{name}-token")});
            self.write_kubeconfig(&format!("{name}.kubeconfig"), port, &token);
            let (certificate, key) = self.issue_client(name, group);
            let pair = json!({
                "client-certificate-data": STANDARD.encode(certificate),
                "client-key-data": STANDARD.encode(key),
            });
            self.write_kubeconfig(&format!("{name}.certificate.kubeconfig"), port, &pair);
        }
    }

    fn write_kubeconfig(&self, file: &str, port: u16, user: &serde_json::Value) {
        let authority = STANDARD.encode(self.authority.certificate_pem());
        let server = format!("https://127.0.0.1:{port}");
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "tests",
            "clusters": [{"name": "tests", "cluster": {"server": server, "certificate-authority-data": authority}}],
            "users": [{"name": "tests", "user": user}],
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
        });
        std::fs::write(self.directory.join(file), config.to_string()).unwrap();
    }

    /// A client certificate of user `name` in `group`, and its key.
    fn issue_client(&self, name: &str, group: &str) -> (String, String) {
        let authority_key = KeyPair::from_pem(&self.authority.key_pem()).unwrap();
        let issuer = Issuer::from_ca_cert_pem(self.authority.certificate_pem(), authority_key).unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.distinguished_name.push(DnType::OrganizationName, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}
