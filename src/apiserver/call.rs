//! Requests to the API server. Each has a timeout.

use kube::api::{GetParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::Request;

use super::{ApiServer, CALL_LIMIT, CallError, Kind, Stored};

/// The page size of lists, in objects.
const PAGE: u32 = 250;

/// Selects objects of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Within<'w> {
    /// Objects of this namespace; of all namespaces if `None`.
    pub namespace: Option<&'w str>,
    /// The object with this name.
    pub name: Option<&'w str>,
}

#[derive(serde::Deserialize)]
struct Page {
    metadata: PageMeta,
    /// Go encodes an empty list as null.
    items: Option<Vec<Stored>>,
}

#[derive(serde::Deserialize)]
struct PageMeta {
    #[serde(rename = "continue")]
    next: Option<String>,
}

impl ApiServer {
    /// The object with this name; `None` if it does not exist. `namespace` is empty for a cluster-scoped
    /// kind.
    pub async fn get(&self, kind: &Kind, namespace: &str, name: &str) -> Result<Option<Stored>, CallError> {
        let action = || format!("get {}", whole_name(kind, namespace, name));
        let request = request(kind, Some(namespace), [name], action)?.get(name, &GetParams::default());
        match self.stored(kind, request, action).await {
            Ok(stored) => Ok(Some(stored)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All selected objects. The pages of a list are of the same resource version.
    pub async fn list(&self, kind: &Kind, within: Within<'_>) -> Result<Vec<Stored>, CallError> {
        let action = || {
            let name = within.name.map(|name| format!(" called {name}")).unwrap_or_default();
            let namespace = within.namespace.map(|namespace| format!(" in {namespace}")).unwrap_or_default();
            format!("list {}{name}{namespace}", kind.resource())
        };
        let mut parameters = ListParams::default().limit(PAGE);
        if let Some(name) = within.name {
            check(name, action)?;
            parameters = parameters.fields(&format!("metadata.name={name}"));
        }
        let mut all = Vec::new();
        loop {
            let request = request(kind, within.namespace, [], action)?.list(&parameters);
            let text = self.text(kind, request, action).await?;
            let page: Page =
                serde_json::from_str(&text).map_err(|error| CallError::unreadable(action(), &error))?;
            all.extend(page.items.unwrap_or_default());
            match page.metadata.next.filter(|next| !next.is_empty()) {
                Some(next) => parameters = parameters.continue_token(&next),
                None => return Ok(all),
            }
        }
    }

    /// Applies the JSON merge patch `body` to an object or to its subresource `sub`, and returns the patched
    /// object. If `body` has `metadata.resourceVersion`, the server rejects the patch as a conflict when the
    /// object has changed since.
    pub async fn merge_patch(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        sub: Option<&str>,
        body: &serde_json::Value,
    ) -> Result<Stored, CallError> {
        let action = || {
            let sub = sub.map(|sub| format!("{sub} of ")).unwrap_or_default();
            format!("patch {sub}{}", whole_name(kind, namespace, name))
        };
        let to = request(kind, Some(namespace), [name], action)?;
        let (parameters, patch) = (PatchParams::default(), Patch::Merge(body));
        let request = match sub {
            None => to.patch(name, &parameters, &patch),
            Some(sub) => to.patch_subresource(sub, name, &parameters, &patch),
        };
        self.stored(kind, request, action).await
    }

    pub async fn create(
        &self,
        kind: &Kind,
        namespace: &str,
        body: &serde_json::Value,
    ) -> Result<Stored, CallError> {
        let action = || format!("create a {kind} in {namespace}");
        let request = request(kind, Some(namespace), [], action)?
            .create(&PostParams::default(), body.to_string().into_bytes());
        self.stored(kind, request, action).await
    }

    async fn stored(
        &self,
        kind: &Kind,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
        action: impl Fn() -> String,
    ) -> Result<Stored, CallError> {
        let text = self.text(kind, request, &action).await?;
        serde_json::from_str(&text).map_err(|error| CallError::unreadable(action(), &error))
    }

    pub(super) async fn text(
        &self,
        kind: &Kind,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
        action: impl Fn() -> String,
    ) -> Result<String, CallError> {
        let request = request.map_err(|error| CallError::unreadable(action(), &error))?;
        match tokio::time::timeout(CALL_LIMIT, self.client.request_text(request)).await {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(error)) => Err(CallError::of(action(), &kind.resource(), &error)),
            Err(_) => Err(CallError::late(action())),
        }
    }
}

/// A request for objects in `namespace`: `None` for all namespaces, empty for a cluster-scoped kind. Fails if
/// a name is not valid in a path.
fn request<const N: usize>(
    kind: &Kind,
    namespace: Option<&str>,
    names: [&str; N],
    action: impl Fn() -> String,
) -> Result<Request, CallError> {
    let namespace = namespace.filter(|_| kind.namespaced);
    for part in namespace.into_iter().chain(names) {
        check(part, &action)?;
    }
    Ok(Request::new(kind.path(namespace)))
}

/// Checks a name that becomes part of a path. Names come from annotations, which users can write.
fn check(name: &str, action: impl Fn() -> String) -> Result<(), CallError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':');
    let is_name = !matches!(name, "" | "." | "..") && name.len() <= 253 && name.bytes().all(plain);
    if is_name { Ok(()) } else { Err(CallError::name(action(), name)) }
}

/// `Work.work.karmada.io karmada-es-a/web`
fn whole_name(kind: &Kind, namespace: &str, name: &str) -> String {
    let slash = if kind.namespaced && !namespace.is_empty() { "/" } else { "" };
    let namespace = if kind.namespaced { namespace } else { "" };
    format!("{kind} {namespace}{slash}{name}")
}
