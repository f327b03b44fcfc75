//! A request to a target: its id and its body.

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::indexnow::{self, IndexNow, paths_of};
use super::position::Position;
use super::target::{Target, TargetKind};
use frontend_map_catalog::changes::log::{ChangeLog, ChangeRow, Cursor, Filter, Since};
use frontend_map_catalog::json;
use frontend_map_catalog::snapshot::timestamp_text;

/// The most changes of a request.
const MAX_CHANGES: usize = 100;

/// The body of a request about changes.
#[derive(Debug, Serialize)]
pub struct ChangesMessage<'s> {
    /// `frontend-map.changes`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// When the last change was noticed (RFC 3339).
    pub timestamp: String,
    /// The changes.
    pub data: ChangesOfSite<'s>,
}

/// Changes of a site.
#[derive(Debug, Serialize)]
pub struct ChangesOfSite<'s> {
    /// The key of the site.
    pub site: &'s str,
    /// Whether changes are missing, so that all pages have to be read again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<bool>,
    /// In order.
    pub changes: Vec<ChangeRow>,
}

/// What is sent next.
pub(super) struct Message {
    /// One id for all attempts.
    pub(super) id: String,
    pub(super) body: String,
    /// The place after its last change.
    pub(super) end: Cursor,
    pub(super) is_reset: bool,
}

/// What a target gets next.
pub(super) enum Next {
    Message(Message),
    /// Nothing; the place after the changes that it does not get.
    Nothing(Cursor),
}

/// What a target gets next about a site.
pub(super) fn next(
    log: &ChangeLog,
    target: &Target,
    site: &str,
    position: &Position,
    now: i64,
) -> Next {
    match &target.kind {
        TargetKind::Changes(_) => next_changes(log, target, site, position, now),
        TargetKind::IndexNow(index_now) => next_urls(log, target, index_now, site, position),
    }
}

/// The URLs of the next changes whose pages are on one host. There is no reset: what is missing, search
/// engines find by the sitemap.
fn next_urls(
    log: &ChangeLog,
    target: &Target,
    index_now: &IndexNow,
    site: &str,
    position: &Position,
) -> Next {
    let filter = Filter { with_unlisted: false, kinds: &target.kinds };
    let since = Some(Since::Cursor(position.cursor)).filter(|_| !position.needs_reset);
    let (mut base, mut on_one_host, mut is_other) = (None, 0, false);
    let read = log.read_until(site, since, position.end, indexnow::MAX_CHANGES, filter, |change| {
        let own = index_now.base(site, change.locale);
        base = base.or(own);
        is_other |= own.is_some() && own != base;
        on_one_host += usize::from(!is_other);
    });
    let Some(base) = base.filter(|_| !read.reset) else {
        if read.reset || position.needs_reset {
            tracing::warn!(
                target_name = target.name,
                site,
                "URLs of changes were not sent; search engines find them by the sitemap"
            );
        }
        return Next::Nothing(read.cursor);
    };
    let mut paths = Vec::new();
    let read = log.read_until(site, since, position.end, on_one_host, filter, |change| {
        if index_now.base(site, change.locale).is_some() {
            paths.extend(paths_of(&change));
        }
    });
    if paths.is_empty() {
        return Next::Nothing(read.cursor);
    }
    let identity = format!("{} {site} {} {}", target.url, position.cursor, read.cursor.sequence);
    let id = format!("msg_{:032x}", xxh3_128(identity.as_bytes()));
    Next::Message(Message {
        id,
        body: index_now.body(base, &paths),
        end: read.cursor,
        is_reset: false,
    })
}

/// The next changes of a site, or a reset.
fn next_changes(
    log: &ChangeLog,
    target: &Target,
    site: &str,
    position: &Position,
    now: i64,
) -> Next {
    let filter = Filter { with_unlisted: target.unlisted, kinds: &target.kinds };
    // The time of a reset is that of its first attempt: each attempt has the same body.
    let mut last = position.failing_since.unwrap_or(now);
    let mut changes = Vec::new();
    let since = Some(Since::Cursor(position.cursor)).filter(|_| !position.needs_reset);
    let read = log.read_until(site, since, position.end, MAX_CHANGES, filter, |change| {
        last = change.at;
        changes.push(ChangeRow::from(change));
    });
    let is_reset = read.reset || position.needs_reset;
    if changes.is_empty() && !is_reset {
        return Next::Nothing(read.cursor);
    }
    let body = json::to_text(&ChangesMessage {
        kind: "frontend-map.changes",
        // Only times beyond the year 9999 have no text.
        timestamp: timestamp_text(last).unwrap_or_default(),
        data: ChangesOfSite { site, reset: is_reset.then_some(true), changes },
    });
    let (from, to) = (position.cursor, read.cursor);
    // Another reset may begin and end at the same places.
    let first = is_reset.then(|| format!(" {}", position.failing_since.unwrap_or(now)));
    let first = first.unwrap_or_default();
    let identity = format!("{} {site} {from} {} {is_reset}{first}", target.url, to.sequence);
    let id = format!("msg_{:032x}", xxh3_128(identity.as_bytes()));
    Next::Message(Message { id, body, end: to, is_reset })
}
