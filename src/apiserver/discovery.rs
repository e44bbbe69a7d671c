//! Discovery of the kinds that the API server serves.

use std::sync::PoisonError;

use super::{ApiServer, CallError, Kind};

impl ApiServer {
    /// Whether the server serves the kind. Discovery needs no rights on the objects of the kind.
    pub async fn serves(&self, kind: &Kind) -> Result<bool, CallError> {
        match self.resources(&kind.group, &kind.version).await {
            Ok(resources) => Ok(resources.iter().any(|(_, plural, _)| *plural == *kind.plural)),
            Err(error) if error.is_not_served() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The kind with this group, version and kind name, from discovery. The result is cached.
    pub async fn kind(&self, group: &str, version: &str, kind: &str) -> Result<Kind, CallError> {
        let api_version = api_version(group, version);
        let key = format!("{api_version} {kind}");
        if let Some(known) = self.kinds.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.clone());
        }
        let resources = self.resources(group, version).await?;
        let named = resources.into_iter().find(|(own, plural, _)| own == kind && !plural.contains('/'));
        let (_, plural, namespaced) = named.ok_or_else(|| {
            let action = format!("find out what the API server calls the kind {kind} of {api_version}");
            CallError::not_served(action, &format!("{kind} of {api_version}"))
        })?;
        let found = Kind {
            group: group.to_owned().into(),
            version: version.to_owned().into(),
            kind: kind.to_owned().into(),
            plural: plural.into(),
            namespaced,
        };
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        Ok(found)
    }

    /// Kind, plural, and whether it is namespaced, of each resource of a group version.
    async fn resources(&self, group: &str, version: &str) -> Result<Vec<(String, String, bool)>, CallError> {
        let api_version = api_version(group, version);
        let action = || format!("find out which kinds the API server has in {api_version}");
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
        Ok(resources.into_iter().map(|found| (found.kind, found.name, found.namespaced)).collect())
    }
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
