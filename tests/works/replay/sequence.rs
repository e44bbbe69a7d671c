//! The recorded run, in its order.

use super::plane::Plane;
use super::recording::{Call, What, sequence};
use crate::api::Written;

pub(crate) const AFTER_RELEASE: &str = r"
apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: rollout-fort}
spec:
  resourceSelectors:
  - {apiVersion: deploy.example.com/v1alpha1, kind: Rollout}
  allocations:
  - {name: fort, handover: {mode: AfterRelease}}
  rules:
  - name: canary-steps
    fort: {allocation: fort, steps: /spec/strategy/canary/steps, match: {type: Fort}, field: /properties/pull}
";

/// The host of the fort from a body about the Rollout on; in brackets if its Work is being deleted.
const HOSTS: &[(&str, &str)] = &[
    ("1-create 5", "cluster-x"),
    // The policy drops x. The Work in x is gone before z hosts the fort.
    ("5-remove-cluster-x 70", "(cluster-x)"),
    ("5-remove-cluster-x 75", ""),
    ("5-remove-cluster-x 77", "cluster-z"),
    // x returns, and the fort stays.
    ("7-delete 102", "(cluster-z)"),
    ("7-delete 105", ""),
];

/// Replays all reviews of Works, each twice, with `between` before each step. Returns the host of the fort
/// after each body that changed it.
fn replay(plane: &mut Plane, mut between: impl FnMut(&mut Plane)) -> Result<Vec<(String, String)>, String> {
    let calls = sequence();
    let mut hosts: Vec<(String, String)> = Vec::new();
    for step in calls.chunk_by(|one, next| one.step == next.step) {
        between(plane);
        for call in step {
            let Some(body) = call.review() else { continue };
            plane.bind(&call.bindings);
            let (decision, _) = plane.deliver(&body)?;
            let is_ours = body.kind() == "Rollout" && body.what == What::Write;
            assert!(is_ours || decision.is_untouched(), "{}: {decision:?}", body.name);
            if body.what == What::Write {
                // A restart of Karmada repeats the write. The same answer changes nothing.
                assert_eq!(plane.deliver(&body)?.1, Written::Dropped, "{}", body.name);
            }
            if hosts.last().map_or("", |(_, hosts)| hosts) != plane.hosts() {
                hosts.push((format!("{} {}", call.step, call.number), plane.hosts()));
            }
        }
        assert!(!plane.touch_all()?, "{}: a touch changes something", step[0].step);
        plane.check_rest()?;
    }
    Ok(hosts)
}

fn assert_hosts(hosts: &[(String, String)]) {
    let hosts: Vec<(&str, &str)> =
        hosts.iter().map(|(body, hosts)| (body.as_str(), hosts.as_str())).collect();
    assert_eq!(hosts, HOSTS);
}

#[test]
fn the_recorded_run_has_one_fort_and_moves_it_when_the_old_host_is_gone() {
    let mut plane = Plane::new(Some(AFTER_RELEASE));
    assert_hosts(&replay(&mut plane, |_| ()).unwrap());
    assert!(plane.stored.works.is_empty(), "all Works are deleted at the end");
}

#[test]
fn the_built_in_policy_does_the_same() {
    assert_hosts(&replay(&mut Plane::new(None), |_| ()).unwrap());
}

#[test]
fn a_server_that_restarts_at_each_step_does_the_same_with_and_without_its_ledger() {
    let mut plane = Plane::new(Some(AFTER_RELEASE));
    let mut keeps_ledger = true;
    let restart = |plane: &mut Plane| {
        plane.served.restart(keeps_ledger);
        keeps_ledger = !keeps_ledger;
    };
    assert_hosts(&replay(&mut plane, restart).unwrap());
}

/// Without handover the recorded run has two forts, so it tests the handover.
#[test]
fn the_recorded_run_without_handover_has_two_forts() {
    let policy = AFTER_RELEASE.replace("AfterRelease", "Immediate");
    let problem = replay(&mut Plane::new(Some(&policy)), |_| ()).unwrap_err();
    assert!(problem.starts_with("66: more than one fort"), "{problem}");
}

#[test]
fn the_recording_has_all_steps_and_the_bindings_of_each_moment() {
    let calls = sequence();
    let mut steps: Vec<&str> = calls.iter().map(|call| call.step.as_str()).collect();
    steps.dedup();
    let all =
        "1-create 2-status 3-template-change 4-reweight-1-3 5-remove-cluster-x 6-add-back-cluster-x 7-delete";
    assert_eq!(steps.join(" "), all);
    let reviews = calls.iter().filter_map(Call::review);
    let mut count = [0; 3];
    for body in reviews {
        match body.what {
            What::Write => count[0] += 1,
            What::Delete => count[1] += 1,
            What::Finalizer => count[2] += 1,
            What::Label => panic!("{}: unexpected label", body.name),
        }
    }
    assert_eq!(count, [17, 10, 9]);
    let first = calls.iter().find(|call| call.number == 5).unwrap();
    assert_eq!(super::recording::schedule(&first.bindings).unwrap().0, ["cluster-x=3", "cluster-z=1"]);
}
