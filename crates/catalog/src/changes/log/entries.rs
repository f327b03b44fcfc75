//! Makes entries of the log of the differences between two snapshots.

use std::sync::Arc;

use super::entry::{Change, Entry, Kind};
use crate::changes::difference::{self, Difference, Side};
use crate::snapshot::PublicUrl;

/// Makes entries of the changes of one difference, which share their names.
pub(super) struct Entries<'d, 's> {
    uid: Arc<str>,
    /// For the locales of each side, in their order.
    locales_before: Vec<Arc<str>>,
    locales_after: Vec<Arc<str>>,
    difference: &'d Difference<'s>,
}

impl<'d, 's> Entries<'d, 's> {
    pub(super) fn new(uid: &str, difference: &'d Difference<'s>) -> Self {
        let names = |side: Side<'_>| -> Vec<Arc<str>> {
            (0..side.locales.count()).map(|at| side.locales.code(at).into()).collect()
        };
        Self {
            uid: uid.into(),
            locales_before: names(difference.before()),
            locales_after: names(difference.after()),
            difference,
        }
    }

    pub(super) fn entry(&self, change: difference::Change<'s>, now: i64) -> Entry {
        let (kind, before, url) = match change {
            difference::Change::Added(after) => (Kind::Added, None, after),
            difference::Change::Gone(before) => (Kind::Gone, Some(before), before),
            difference::Change::Moved { before, after } => (Kind::Moved, Some(before), after),
            difference::Change::Updated(after) => {
                (Kind::Updated, self.difference.before_of(after), after)
            }
        };
        let names = if kind == Kind::Gone { &self.locales_before } else { &self.locales_after };
        let locale = &names[url.locale()];
        let from = before.filter(|_| kind == Kind::Moved).map(PublicUrl::path);
        let change = Change {
            kind,
            uid: &self.uid,
            document_id: url.document_id(),
            locale,
            path: url.path(),
            from,
            at: now,
            was_listed: before.is_some_and(PublicUrl::is_listed),
            is_listed: kind != Kind::Gone && url.is_listed(),
        };
        let change = match url.redirect() {
            // Readers of the pages in sitemaps get it, too.
            Some(_) => Change {
                kind: Kind::Redirect,
                from: from.or(Some(url.path())),
                was_listed: true,
                is_listed: true,
                ..change
            },
            None => change,
        };
        Entry::new(change, &self.uid, locale)
    }
}
