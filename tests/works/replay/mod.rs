//! Recorded requests of a real Karmada, sent to a server process with TLS that reads bindings and Works from
//! `--state`.
//!
//! * `recording`: the bodies of `tests/data/captures`, one by one, and the bindings between them.
//! * `splice`: replaces a part of a body and keeps all other bytes.
//! * `served`: the process, its state files and its replies.
//! * `plane`: the parts of the API server and controllers that the recording does not determine.
//! * `sequence`: the recorded run in its order. `orders`: in any other, with repeats, losses and restarts.
//! * `scenes`: single captures that belong together. `captures`: each captured review by itself, and by
//!   `curl`.
//! * `facts`: a test for each fact about Karmada that concerns reviser.
//!
//! **Substitutions.** Later bodies contain the choices of the recording server, which can differ from
//! reviser's. So in later bodies:
//!
//! * `oldObject` is the Work that results from reviser's answers;
//! * `object`, where it is the stored Work coming back (finalizer removal, `kubectl label`), is our stored
//!   Work with the same edit;
//! * `object`, where it is a manifest as Karmada writes it, keeps its bytes. Only the annotations that the
//!   stored Work has and the recorded Work lacks are added, since Karmada keeps annotations of others: this is
//!   the record of the revision;
//! * `operation` is CREATE if our store has no such Work, else UPDATE. This changes nothing in the recorded
//!   order; in other orders Karmada does the same, since it reads the Work first.

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
