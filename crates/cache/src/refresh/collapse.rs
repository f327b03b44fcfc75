//! Whether a walk has lost so much of a list that a confirming walk has to follow (D34).

use super::type_group::TypeGroup;
use super::walk::Found;
use crate::triggers::RefreshTriggers;
use frontend_map_catalog::snapshot::Snapshot;

/// From this number of URLs on, a list collapses if it loses more than half of them; a shorter one
/// if it loses all, because editors do remove most of a short list.
const LONG: usize = 100;

/// The positions of the members whose lists have collapsed although no webhook event has removed
/// anything since the walk of their present snapshots.
pub(super) fn collapsed(
    group: &TypeGroup,
    found: &[Found],
    triggers: &RefreshTriggers,
) -> Vec<usize> {
    let has_collapsed = |at: &usize| {
        let (Ok(fresh), Some(cached)) = (&found[*at], group.members[*at].entry.cached()) else {
            return false;
        };
        let (before, after) = (&*cached.snapshot, &fresh.snapshot);
        let collapsed = collapses(before, after) && !triggers.has_withdrawal_since(cached.begun);
        if collapsed {
            let (site, uid) = (&group.members[*at].entry.site, group.query.uid.as_str());
            let (before, after) = (before.len(), after.len());
            tracing::warn!(
                site,
                uid,
                before,
                after,
                "list lost most of its URLs; reading again to confirm"
            );
        }
        collapsed
    };
    (0..found.len()).filter(has_collapsed).collect()
}

/// Logs what the confirming walk has found for these members.
pub(super) fn log_confirmation(group: &TypeGroup, collapsed: &[usize], found: &[Found]) {
    for at in collapsed {
        let entry = &group.members[*at].entry;
        let (Ok(fresh), Some(cached)) = (&found[*at], entry.cached()) else { continue };
        let (site, uid, urls) = (&entry.site, group.query.uid.as_str(), fresh.snapshot.len());
        if collapses(&cached.snapshot, &fresh.snapshot) {
            tracing::warn!(
                site,
                uid,
                urls,
                "second reading confirms the list that lost most of its URLs"
            );
        } else {
            tracing::warn!(
                site,
                uid,
                urls,
                "second reading does not confirm the list that lost most of its URLs"
            );
        }
    }
}

/// Whether most of all URLs are lost, or most of those that sitemaps list.
fn collapses(before: &Snapshot, after: &Snapshot) -> bool {
    loses_most(before.len(), after.len()) || loses_most(before.listed_count(), after.listed_count())
}

fn loses_most(before: usize, after: usize) -> bool {
    if before >= LONG { after * 2 < before } else { before > 0 && after == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_collapses_when_it_loses_more_than_half_or_if_it_is_short_everything() {
        for (before, after, expected) in [
            (0, 0, false),
            (1, 0, true),
            (99, 1, false),
            (99, 0, true),
            (100, 50, false),
            (100, 49, true),
            (101, 51, false),
            (101, 50, true),
            (100, 300, false),
        ] {
            assert_eq!(loses_most(before, after), expected, "{before} to {after}");
        }
    }
}
