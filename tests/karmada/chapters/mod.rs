//! The story, chapter by chapter. Each goes on where the one before it ended.
//!
//! * `release`: created, scheduled 3 to 1, released, at zero replicas too, weighed otherwise; Karmada's
//!   controllers restarted.
//! * `handover`: the host is dropped, and comes back; a pin.
//! * `again`: the binding deleted alone; the Rollout deleted and made again at once.
//! * `outage`: reviser killed in the middle of a handover; Karmada's webhook down.
//! * `policies`: a policy is changed, and reaches every Work.
//! * `weather`: all of that in random order, without waiting.
//! * `removal`: reviser is removed, and has left nothing; the Rollout is deleted.

mod again;
mod handover;
mod outage;
mod policies;
mod release;
mod removal;
mod weather;

use crate::stage::Stage;

pub(crate) fn play(stage: &mut Stage) {
    let as_karmada_writes_them = removal::works_without_reviser(stage);
    release::created(stage);
    release::released(stage);
    release::released_at_zero(stage);
    release::weighed_otherwise(stage);
    release::controllers_restarted(stage);
    handover::host_dropped(stage);
    handover::host_back(stage);
    again::binding_deleted(stage);
    again::made_again_at_once(stage);
    again::made_again_while_the_host_is_away(stage);
    outage::killed_in_a_handover(stage);
    outage::without_karmadas_webhook(stage);
    policies::changed(stage);
    handover::dropped_and_released(stage);
    handover::pinned(stage);
    weather::rough(stage);
    removal::removed(stage, &as_karmada_writes_them);
    removal::deleted(stage);
}
