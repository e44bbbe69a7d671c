//! A blocking client of an API server for one user.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use http::{Method, Request};
use http_body_util::BodyExt as _;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::Value;
use tokio::runtime::Runtime;

/// The runtime of all clients, for the lifetime of the test binary.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
});

/// How long the server may take for an answer, webhooks included.
const PATIENCE: Duration = Duration::from_secs(45);

/// The format of a patch.
pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

/// A user at an API server.
///
/// Paths are those of the API (`/api/v1/namespaces/shop`), with a query if need be (`?dryRun=All`). Requests
/// are not retried. Must not be used inside a task.
#[derive(Clone)]
pub(crate) struct Client {
    kube: kube::Client,
}

/// The reply of an API server.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) code: u16,
    /// The object or the `Status`; null if it is not JSON.
    pub(crate) body: Value,
    pub(crate) text: String,
    /// The `Warning` headers.
    pub(crate) warnings: Vec<String>,
}

impl Client {
    /// The user of a kubeconfig file, who impersonates `acting_as`.
    pub(crate) fn of(kubeconfig: &Path, acting_as: Option<&str>) -> Self {
        let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
        let kube = RUNTIME.block_on(async {
            let options = KubeConfigOptions::default();
            let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
            config.default_retry = false;
            config.auth_info.impersonate = acting_as.map(str::to_owned);
            kube::Client::try_from(config).unwrap()
        });
        Self { kube }
    }

    /// Sends a request. Fails if the connection is refused or broken.
    pub(crate) fn try_call(
        &self,
        method: Method,
        path: &str,
        form: &str,
        body: Vec<u8>,
    ) -> Result<Reply, String> {
        let request = Request::builder().method(method).uri(path).header("Content-Type", form);
        let request = request.body(kube::client::Body::from(body)).unwrap();
        let exchange = async {
            let response = self.kube.send(request).await.map_err(|error| format!("{error:?}"))?;
            let (head, body) = response.into_parts();
            let body = body.collect().await.map_err(|error| format!("{error:?}"))?.to_bytes();
            Ok::<_, String>((head, body))
        };
        let exchange = async { tokio::time::timeout(PATIENCE, exchange).await };
        let (head, body) = RUNTIME.block_on(exchange).map_err(|late| late.to_string())??;
        let warnings = head.headers.get_all("Warning").iter();
        let text = String::from_utf8_lossy(&body).into_owned();
        Ok(Reply {
            code: head.status.as_u16(),
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            text,
            warnings: warnings.map(|value| value.to_str().unwrap_or_default().to_owned()).collect(),
        })
    }

    /// Sends a request, and panics if there is no reply.
    pub(crate) fn call(&self, method: Method, path: &str, form: &str, body: Vec<u8>) -> Reply {
        let named = format!("{method} {path}");
        self.try_call(method, path, form, body).unwrap_or_else(|error| panic!("{named}: {error}"))
    }

    fn json(&self, method: Method, path: &str, body: &Value) -> Reply {
        self.call(method, path, "application/json", body.to_string().into_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, "application/json", Vec::new())
    }

    /// Creates an object in the collection `path`.
    pub(crate) fn create(&self, path: &str, object: &Value) -> Reply {
        self.json(Method::POST, path, object)
    }

    /// Writes a whole object, as Karmada does.
    pub(crate) fn put(&self, path: &str, object: &Value) -> Reply {
        self.json(Method::PUT, path, object)
    }

    /// Patches an object.
    pub(crate) fn patch(&self, path: &str, form: &str, change: &Value) -> Reply {
        self.call(Method::PATCH, path, form, change.to_string().into_bytes())
    }

    /// A merge patch of `{}`.
    pub(crate) fn touch(&self, path: &str) -> Reply {
        self.patch(path, MERGE, &serde_json::json!({}))
    }

    pub(crate) fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path, "application/json", Vec::new())
    }

    /// Posts a document of YAML.
    pub(crate) fn create_yaml(&self, path: &str, document: &str) -> Reply {
        self.call(Method::POST, path, "application/yaml", document.as_bytes().to_vec())
    }
}

impl Reply {
    pub(crate) fn is_ok(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// The object. Panics if the request failed.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!(self.is_ok(), "{}: {}", self.code, self.text);
        self.body
    }

    /// The message. Panics unless the request was refused with `code`.
    #[track_caller]
    pub(crate) fn refused(&self, code: u16) -> &str {
        assert_eq!(self.code, code, "{}", self.text);
        self.message()
    }

    /// The message of a `Status`.
    pub(crate) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or(&self.text)
    }
}
