//! A policy reaches every Work, by reviser alone.

use serde_json::json;

use crate::apply::{apply, path};
use crate::patience::until;
use crate::service::policy;
use crate::stage::Stage;

pub(crate) fn changed(stage: &mut Stage) {
    stage.step("The policy gets another rule");
    let expected = stage.expected_now();
    let mut policy = policy();
    let rule =
        json!({"name": "cluster-env", "env": {"name": "CDOS_K8S_CLUSTER", "value": "${cluster.name}"}});
    policy["spec"]["rules"].as_array_mut().unwrap().push(rule);
    apply(&stage.admin, &policy);
    stage.comes_to_with(&expected, |held| {
        held.environment.iter().any(|entry| entry.starts_with("CDOS_K8S_CLUSTER=cluster-"))
    });
    until("the status of the policy says that every Work is current", || {
        let status = stage.admin.get(&path(&policy)).ok()["status"].take();
        status["works"]["total"] == 2 && status["works"]["current"] == 2
    });
    let status = stage.admin.get(&path(&policy)).ok()["status"].take();
    stage.say(&format!("            status of the policy: {status}"));
    stage.step("The rule goes again");
    apply(&stage.admin, &crate::service::policy());
    stage.comes_to_with(&expected, |held| held.environment == ["LOG_FORMAT=json"]);
}
