//! The warnings of `serve` about rules between which only the order of the settings decides (D16).

use frontend_map_catalog::site::{ResolveBy, Site, Sites};
use frontend_map_rules::{Incomplete, Overlaps};

/// The most pairs of rules that are logged at a start or a reload.
const MAX_WARNINGS: usize = 20;

/// Logs overlaps that only the order of the rules in the settings decides. On sites with
/// `resolve = "documents"` the documents decide.
pub(in crate::cli) fn log_ambiguous_rules(sites: &Sites) {
    let mut logged = 0;
    let mut more = 0;
    for site in sites.iter().filter(|site| site.resolve == ResolveBy::Rules) {
        for_each_ambiguous_pair(site, |log_pair| {
            if logged == MAX_WARNINGS {
                more += 1;
            } else {
                logged += 1;
                log_pair();
            }
        });
    }
    if more > 0 {
        tracing::warn!(more, "more content types share paths; `frontend-map check` lists them");
    }
}

fn for_each_ambiguous_pair(site: &Site, mut handle: impl FnMut(&dyn Fn())) {
    let key = &site.key;
    let Overlaps { pairs, incomplete, .. } = site.rules.equal_shape_overlaps();
    if incomplete == Some(Incomplete::Budget) {
        tracing::info!(
            site = key,
            "the search for content types that share a path reached its bound"
        );
    }
    for pair in pairs {
        let (winner, loser, example) = (pair.winner, pair.loser, &pair.example);
        handle(&|| {
            tracing::warn!(
                site = key, example, %winner, %loser,
                "two content types share a path; the order of the settings decides"
            );
        });
    }
}
