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

/// Who hosts the fort after a body about the Rollout, from that body on; in brackets: its Work is on its way out.
const HOSTS: &[(&str, &str)] = &[
    ("1-create 5", "cluster-x"),
    // The policy has lost x. Its Work is deleted, and gone, before z takes the fort.
    ("5-remove-cluster-x 70", "(cluster-x)"),
    ("5-remove-cluster-x 75", ""),
    ("5-remove-cluster-x 77", "cluster-z"),
    // x is back, and the fort stays.
    ("7-delete 102", "(cluster-z)"),
    ("7-delete 105", ""),
];

/// Replays everything that concerns Works: each body, then each repeated at once, with `between` before each step. Gives
/// who hosts the fort after each body that changed it.
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
                // What a restart of Karmada does: the same write again. With the same answer nothing is written.
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
fn the_recorded_run_has_one_fort_and_moves_it_when_its_cluster_is_free_of_it() {
    let mut plane = Plane::new(Some(AFTER_RELEASE));
    assert_hosts(&replay(&mut plane, |_| ()).unwrap());
    assert!(plane.stored.works.is_empty(), "everything was deleted in the end");
}

#[test]
fn the_built_in_policy_does_the_same() {
    assert_hosts(&replay(&mut Plane::new(None), |_| ()).unwrap());
}

#[test]
fn a_server_that_starts_anew_at_each_step_does_the_same_with_its_ledger_and_without() {
    let mut plane = Plane::new(Some(AFTER_RELEASE));
    let mut keeps_ledger = true;
    let restart = |plane: &mut Plane| {
        plane.served.restart(keeps_ledger);
        keeps_ledger = !keeps_ledger;
    };
    assert_hosts(&replay(&mut plane, restart).unwrap());
}

/// The recorded run holds what it is there to find.
#[test]
fn the_recorded_run_has_two_forts_where_nobody_waits() {
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
            What::Label => panic!("{}: there is no label", body.name),
        }
    }
    assert_eq!(count, [17, 10, 9]);
    let first = calls.iter().find(|call| call.number == 5).unwrap();
    assert_eq!(super::recording::schedule(&first.bindings).unwrap().0, ["cluster-x=3", "cluster-z=1"]);
}
