//! The documents of the snapshots that a refresh replaces.

use std::sync::Arc;

use super::type_group::{Member, TypeGroup};
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_cms::KnownDocuments;
use frontend_map_rules::Locale;

/// The snapshots of all members of a group as they were when their refresh began. A document that
/// an incremental update adds later may have a key that the walk has passed already.
pub(super) struct KnownSnapshots<'g>(Vec<(&'g [Locale], Arc<Snapshot>)>);

impl<'g> KnownSnapshots<'g> {
    pub(super) fn of(group: &'g TypeGroup) -> Self {
        let members = group.members.iter();
        let cached_snapshots = members.filter_map(|Member { site, entry }| {
            let cached = entry.cached()?;
            Some((site.locales(), cached.snapshot))
        });
        Self(cached_snapshots.collect())
    }
}

impl KnownDocuments for KnownSnapshots<'_> {
    fn each(&self, locale: Option<&Locale>, take: &mut dyn FnMut(&str)) {
        for (locales, snapshot) in &self.0 {
            let wanted = |at: usize| locale.is_none_or(|locale| locales[at] == *locale);
            for mut versions in snapshot.documents(0..snapshot.len()) {
                if let Some(url) = versions.find(|url| wanted(url.locale())) {
                    take(url.document_id());
                }
            }
        }
    }
}
