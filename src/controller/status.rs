//! The `status` of policies.
//!
//! Pure: it computes the `status` of a policy. The driver writes it.

use serde_json::{Value, json};

use super::planner::WorkCounts;
use super::policies::PolicyResource;
use crate::domain::shorten;

/// The maximum length of a condition message in Kubernetes.
const MAX_MESSAGE_BYTES: usize = 32_000;

/// The merge patch that turns the current `status` of a policy into the right one. `None` if it is right
/// already.
///
/// `works` is the number of Works that the policy selects.
pub(super) fn change(
    resource: &PolicyResource,
    works: Works,
    stored: Option<&Value>,
    time: &str,
) -> Option<Value> {
    let PolicyResource { generation, findings, warnings, .. } = resource;
    let generation = *generation;
    let null = Value::Null;
    let stored = stored.unwrap_or(&null);
    let (status, reason) = if findings.is_empty() { ("True", "Valid") } else { ("False", "Invalid") };
    let was = condition(stored);
    let since = match was {
        Some(was) if was["status"] == status => was["lastTransitionTime"].as_str().unwrap_or(time),
        _ => time,
    };
    let messages = if findings.is_empty() { warnings } else { findings };
    let message = shorten(messages.join("; "), MAX_MESSAGE_BYTES);
    let works = match works {
        Works::Counted(WorkCounts { total, current }) => json!({"total": total, "current": current}),
        Works::Counting if stored["observedGeneration"] == generation => stored["works"].clone(),
        Works::Counting | Works::None => Value::Null,
    };
    let wanted = json!({
        "observedGeneration": generation,
        "conditions": [{
            "type": "Accepted",
            "status": status,
            "reason": reason,
            "message": message,
            "observedGeneration": generation,
            "lastTransitionTime": since,
        }],
        "works": works,
    });
    let names = ["observedGeneration", "conditions", "works"];
    (!names.iter().all(|name| wanted[*name] == stored[*name])).then_some(wanted)
}

/// How many Works a policy selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Works {
    /// The policy does not select Works, or is not active.
    None,
    /// The number is not known at the moment.
    Counting,
    /// The number is known.
    Counted(WorkCounts),
}

fn condition(status: &Value) -> Option<&Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == "Accepted")
}

/// The status after a merge patch.
pub(super) fn merged(change: &Value) -> Value {
    let mut status = change.clone();
    if let Some(members) = status.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(generation: i64, findings: &[&str]) -> PolicyResource {
        PolicyResource {
            kind: crate::domain::PolicyKind::ClusterRevisionPolicy,
            namespace: String::new(),
            name: "p".to_owned(),
            uid: "u".to_owned(),
            generation,
            findings: findings.iter().map(|finding| (*finding).to_owned()).collect(),
            warnings: Vec::new(),
            status: None,
        }
    }

    #[test]
    fn what_is_strange_about_a_policy_in_force_is_told_too() {
        let strange =
            PolicyResource { warnings: vec!["spec.rules[1]: never applies".to_owned()], ..resource(1, &[]) };
        let told = &change(&strange, COUNTED, None, "t1").unwrap()["conditions"][0];
        assert_eq!(
            (&told["status"], &told["message"]),
            (&json!("True"), &json!("spec.rules[1]: never applies"))
        );
    }

    const COUNTED: Works = Works::Counted(WorkCounts { total: 3, current: 1 });

    #[test]
    fn what_is_so_already_is_not_written_again() {
        let first = change(&resource(2, &[]), COUNTED, None, "t1").unwrap();
        let stored = merged(&first);
        assert_eq!(stored["conditions"][0]["lastTransitionTime"], "t1");
        assert_eq!(stored["works"], json!({"total": 3, "current": 1}));
        assert_eq!(change(&resource(2, &[]), COUNTED, Some(&stored), "t2"), None);
        assert_eq!(change(&resource(2, &[]), Works::Counting, Some(&stored), "t2"), None);
        let more = Works::Counted(WorkCounts { total: 3, current: 2 });
        let next = change(&resource(2, &[]), more, Some(&stored), "t2").unwrap();
        assert_eq!(next["conditions"][0]["lastTransitionTime"], "t1");
    }

    #[test]
    fn a_fault_is_told_with_all_findings_and_a_time() {
        let stored = merged(&change(&resource(2, &[]), COUNTED, None, "t1").unwrap());
        let findings = ["spec.rules: is required", "spec.rulse: unknown field"];
        let faulty = change(&resource(3, &findings), Works::None, Some(&stored), "t2").unwrap();
        assert_eq!(
            faulty["conditions"][0],
            json!({"type": "Accepted", "status": "False", "reason": "Invalid", "observedGeneration": 3,
                "message": "spec.rules: is required; spec.rulse: unknown field", "lastTransitionTime": "t2"})
        );
        assert_eq!(faulty["works"], Value::Null);
        let stored = merged(&faulty);
        assert_eq!(change(&resource(3, &findings), Works::None, Some(&stored), "t3"), None);
    }

    #[test]
    fn counts_of_an_older_generation_are_not_taken_for_those_of_a_newer_one() {
        let stored = merged(&change(&resource(2, &[]), COUNTED, None, "t1").unwrap());
        assert_eq!(
            change(&resource(3, &[]), Works::Counting, Some(&stored), "t2").unwrap()["works"],
            Value::Null
        );
    }
}
