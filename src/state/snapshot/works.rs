//! Merges what Works record about one workload.

use crate::domain::{Delivery, Hosts};

/// Merges the deliveries of each cluster into one. A workload is gone from a cluster only when all Works that
/// deliver it are gone. The result is sorted by cluster.
pub(in crate::state) fn merge_by_cluster(mut deliveries: Vec<Delivery>) -> Vec<Delivery> {
    deliveries.sort_by(|a, b| a.cluster.cmp(&b.cluster));
    deliveries.dedup_by(|other, kept| {
        let same = kept.cluster == other.cluster;
        if same {
            merge(kept, other);
        }
        same
    });
    deliveries
}

fn merge(kept: &mut Delivery, other: &Delivery) {
    kept.preserves |= other.preserves;
    kept.deleting_since = kept.deleting_since.zip(other.deleting_since).map(|(a, b)| a.max(b));
    match (&mut kept.hosts, &other.hosts) {
        (Hosts::Recorded(hosts), Hosts::Recorded(others)) => {
            for other in others {
                if !hosts.contains(other) {
                    hosts.push(other.clone());
                }
            }
        }
        // An empty record of one Work does not replace the missing record of another.
        (Hosts::Recorded(hosts), Hosts::Unrecorded) if hosts.is_empty() => kept.hosts = Hosts::Unrecorded,
        (Hosts::Unrecorded, Hosts::Recorded(others)) if !others.is_empty() => {
            kept.hosts = other.hosts.clone();
        }
        (Hosts::Recorded(_), Hosts::Unrecorded)
        | (Hosts::Unrecorded, Hosts::Unrecorded | Hosts::Recorded(_)) => {}
    }
}
