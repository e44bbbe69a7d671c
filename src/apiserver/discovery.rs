//! How a server calls the kinds that others name.

use std::sync::PoisonError;

use super::{ApiServer, CallError, Kind};

impl ApiServer {
    /// The kind that objects with this group, version and kind are of, as the server says. It is asked once a kind.
    pub async fn kind(&self, group: &str, version: &str, kind: &str) -> Result<Kind, CallError> {
        let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        let key = format!("{api_version} {kind}");
        if let Some(known) = self.kinds.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.clone());
        }
        let action = || format!("find out what the API server calls the kind {kind} of {api_version}");
        let asked = async {
            if group.is_empty() {
                self.client.list_core_api_resources(version).await
            } else {
                self.client.list_api_group_resources(&api_version).await
            }
        };
        let resources = tokio::time::timeout(super::CALL_LIMIT, asked).await;
        let resources = resources.map_err(|_| CallError::late(action()))?;
        let resources = resources.map_err(|error| CallError::of(action(), &api_version, &error))?.resources;
        let named = resources.into_iter().find(|found| found.kind == kind && !found.name.contains('/'));
        let named =
            named.ok_or_else(|| CallError::not_served(action(), &format!("{kind} of {api_version}")))?;
        let found = Kind {
            group: group.to_owned().into(),
            version: version.to_owned().into(),
            kind: kind.to_owned().into(),
            plural: named.name.into(),
            namespaced: named.namespaced,
        };
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        Ok(found)
    }
}
