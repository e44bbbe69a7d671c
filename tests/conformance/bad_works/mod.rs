//! Reviews of Works that are wrong, each with what exactly comes back, and state that is.
//!
//! After each of them the next good review is answered, by the same process and with the same bytes.

mod envelope;
mod manifests;
mod revised;
mod state;

use std::path::PathBuf;

use tempfile::TempDir;

use crate::Site;
use crate::admission::{Asked, Verdict, verify};
use crate::reply::Reply;
use crate::spawned::wire::post;

/// A right review.
const REVIEW: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1",
"kind":{"group":"work.karmada.io","version":"v1alpha1","kind":"Work"},
"resource":{"group":"work.karmada.io","version":"v1alpha1","resource":"works"},
"name":"checkout","namespace":"karmada-es-cluster-z","operation":"UPDATE","dryRun":false,
"object":{"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{"name":"checkout","namespace":"karmada-es-cluster-z",
"annotations":{"resourcebinding.karmada.io/namespace":"shop","resourcebinding.karmada.io/name":"checkout-rollout"}},
"spec":{"workload":{"manifests":[MANIFEST]}}}}}"#;

/// The manifest in it.
const ROLLOUT: &str = r#"{"apiVersion":"deploy.example.com/v1alpha1","kind":"Rollout","metadata":{"name":"checkout","namespace":"shop"},
"spec":{"replicas":1,"strategy":{"canary":{"steps":[{"type":"Fort","properties":{"pull":"true"}},{"type":"Batch"}]}}}}"#;

/// What is done to the manifest of the right review.
const NULLED: &str = r#"{"op":"replace","path":"/spec/workload/manifests/0/spec/strategy/canary/steps/0/properties/pull","value":null}"#;

/// A binding of a Rollout in the namespace `shop`.
fn binding(name: &str, rollout: &str, clusters: &str) -> String {
    format!(
        r#"{{"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","metadata":{{"name":"{name}","namespace":"shop"}},
"spec":{{"clusters":{clusters},"resource":{{"apiVersion":"deploy.example.com/v1alpha1","kind":"Rollout","namespace":"shop","name":"{rollout}"}}}}}}"#
    )
}

/// Where the Rollout goes.
const CLUSTERS: &str = r#"[{"name":"cluster-x","replicas":3},{"name":"cluster-z","replicas":1}]"#;

/// What a review gets.
enum Gets {
    /// The answer, as if nothing were wrong.
    Good,
    /// No patch, and nothing to say.
    Nothing,
    /// No patch, and a warning that begins so.
    Warning(&'static str),
    /// A patch that holds this operation.
    Patch(&'static str),
    /// A denial with this code and a message that begins so.
    Denied(i64, &'static str),
    /// No answer, with this HTTP status and a message that begins so.
    Failed(u16, &'static str),
    /// A `metav1.Status` that the webhook configuration is wrong about, with a message that begins so.
    Http(u16, &'static str),
}

use Gets::{Denied, Failed, Good, Http, Nothing, Patch, Warning};

/// Replaces what stands there exactly once.
fn with(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "{old:?} in {text}");
    text.replace(old, new)
}

/// A review of a Work with these manifests.
fn of(manifests: &str) -> String {
    with(REVIEW, "MANIFEST", manifests)
}

/// The right review.
fn good() -> String {
    of(ROLLOUT)
}

/// The right review, where `old`, which is there once, is `new`.
fn review(old: &str, new: &str) -> String {
    with(&good(), old, new)
}

/// A server with state of its own, and what its good reviews get.
struct Door {
    site: Site,
    directory: TempDir,
    answer: Verdict,
}

impl Door {
    fn open() -> Self {
        Self::with(&[])
    }

    /// A door whose server gets these arguments, too. `DIRECTORY` in them is one of the test's own.
    fn with(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("state");
        std::fs::create_dir(&state).unwrap();
        std::fs::write(state.join("binding.json"), binding("checkout-rollout", "checkout", CLUSTERS))
            .unwrap();
        let place = directory.path().to_str().unwrap();
        let own = ["--state".to_owned(), state.to_str().unwrap().to_owned()];
        let others = arguments.iter().map(|argument| argument.replace("DIRECTORY", place));
        let site = Site::with(own.into_iter().chain(others));
        let answer = site.admit(good().as_bytes()).unwrap_or_else(|broken| panic!("{broken}"));
        let Verdict::Allowed { patch: Some(patch), .. } = &answer else { panic!("{answer:?}") };
        assert!(patch.contains(NULLED), "{patch}");
        Self { site, directory, answer }
    }

    /// A file in the state.
    fn state(&self, name: &str) -> PathBuf {
        self.directory.path().join("state").join(name)
    }

    /// Sends each review, and checks what it gets and that the server is none the worse for it.
    fn check(&mut self, cases: &[(&str, String, Gets)]) {
        for (name, body, gets) in cases {
            self.check_request(name, &post("/mutate/works?timeout=10s", body.as_bytes()), body, gets);
        }
    }

    fn check_request(&mut self, name: &str, request: &[u8], body: &str, gets: &Gets) {
        let reply = self.site.send(request).unwrap_or_else(|broken| panic!("{name}: {broken}"));
        self.judge(name, &reply, body, gets);
        self.still_serves(name);
    }

    fn judge(&self, name: &str, reply: &Reply, body: &str, gets: &Gets) {
        let good = good();
        if let Http(status, beginning) = gets {
            let message = reply.refusal().unwrap_or_else(|broken| panic!("{name}: {broken}"));
            let found = reply.status;
            assert!(found == *status && message.starts_with(beginning), "{name}: {found} {message}");
            return;
        }
        // What this reader can't hold is judged as if it were the good one, of which it has the places.
        let held = serde_json::from_str::<serde_json::Value>(body).is_ok();
        let object = Asked::of(if held { body.as_bytes() } else { good.as_bytes() }).object;
        let verdict = verify(&Asked { uid: "u-1".to_owned(), object, is_policy: false }, reply);
        let verdict = verdict.unwrap_or_else(|broken| panic!("{name}: {broken}"));
        let right = match (gets, &verdict) {
            (Good, found) => *found == self.answer,
            (Nothing, found) => *found == Verdict::nothing(),
            (Warning(beginning), Verdict::Allowed { patch: None, warnings }) => {
                warnings.len() == 1 && warnings[0].starts_with(beginning)
            }
            (Patch(operation), Verdict::Allowed { patch: Some(patch), .. }) => patch.contains(operation),
            (Denied(code, beginning), Verdict::Denied(found, message)) => {
                found == code && message.starts_with(beginning)
            }
            (Failed(status, beginning), Verdict::Failed(found, message)) => {
                found == status && message.starts_with(beginning)
            }
            _ => false,
        };
        assert!(right, "{name}: {verdict:?}");
    }

    fn still_serves(&mut self, after: &str) {
        let verdict =
            self.site.admit(good().as_bytes()).unwrap_or_else(|broken| panic!("after {after}: {broken}"));
        assert_eq!(verdict, self.answer, "after {after}");
        assert!(self.site.server.runs(), "after {after} the process was gone");
    }
}
