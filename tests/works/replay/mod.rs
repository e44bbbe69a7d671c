//! What a real Karmada sent, against a real server: a process with TLS that reads bindings and Works from `--state`.
//!
//! * `recording`: the bodies of `tests/data/captures`, one by one, and the bindings between them.
//! * `splice`: other text in the middle of a body that otherwise keeps its bytes.
//! * `served`: the process, its state files, and what it answers.
//! * `plane`: the API server and the controllers around it, as far as the recording leaves them to us.
//! * `sequence`: the recorded run in its order. `orders`: in any other, with repeats, losses and restarts.
//! * `scenes`: single captures that belong together. `captures`: each captured review by itself, and by `curl`.
//! * `facts`: what the recording taught about Karmada, a test for each fact that is about what we do.
//!
//! **What is substituted.** The recording server made its own choices, and they came back to it in later bodies. Sent as
//! they are, those would tell of a history that never was. So, in whatever comes after another body:
//!
//! * `oldObject` is the Work as *our* server's answers have made it;
//! * `object`, where it is the stored Work coming back (finalizer removal, `kubectl label`), is our stored Work with the
//!   same edit;
//! * `object`, where it is a manifest as Karmada writes it, keeps its bytes. Only the annotations that the stored Work has
//!   and the recorded one lacks are put in, since Karmada keeps what others annotate a Work with; that is the record of
//!   the revision, and nothing else;
//! * `operation` is CREATE where our store has no such Work, and UPDATE where it has one. In the recorded order that
//!   changes nothing; in others it is what Karmada would do, which asks for the Work first.

mod captures;
mod facts;
mod orders;
mod plane;
mod recording;
mod scenes;
mod sequence;
mod served;
mod splice;

pub(crate) use recording::capture;
