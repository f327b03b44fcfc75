//! Splits the documents of one walk into the snapshots of all sites that it serves.

use std::sync::atomic::{AtomicU64, Ordering};

use super::type_group::{Member, TypeGroup};
use crate::entry::Entry;
use crate::site_cache::SiteCache;
use frontend_map_catalog::snapshot::Part;
use frontend_map_cms::{BadItem, Document, DocumentLocale, DocumentSink};
use frontend_map_rules::{Locale, Locales};

/// The parts of the members' snapshots that a walk over one locale fills, in the order of the
/// members.
pub(super) struct MemberParts<'g> {
    parts: Vec<MemberPart<'g>>,
}

/// A part of a snapshot under construction, with a counter of the documents seen.
struct MemberPart<'g> {
    part: Part<'g>,
    seen: &'g AtomicU64,
    /// Whether the site has the locale of the walk. If not, it gets only documents without a
    /// locale, because this is the only walk over a type that is not localized.
    in_locale: bool,
    /// The locales of the site, in a walk over all locales of all sites.
    own_locales: Option<&'g Locales>,
}

impl<'g> MemberParts<'g> {
    /// For a walk over this locale; `None`: over all.
    pub(super) fn new(group: &'g TypeGroup, locale: Option<&Locale>) -> Self {
        let part = |Member { site, entry }: &'g Member| MemberPart::new(site, entry, locale);
        Self { parts: group.members.iter().map(part).collect() }
    }

    /// The parts of each member, from the walks over these many locales.
    pub(super) fn by_member(sinks: Vec<Self>, locales: usize) -> Vec<Vec<Part<'g>>> {
        // A type that is not localized is walked once.
        let is_localized = sinks.len() == locales;
        let members = sinks.first().map_or(0, |sink| sink.parts.len());
        let mut by_member: Vec<Vec<Part<'g>>> = (0..members).map(|_| Vec::new()).collect();
        for sink in sinks {
            for (own, part) in by_member.iter_mut().zip(sink.parts) {
                if part.in_locale || !is_localized {
                    own.push(part.part);
                }
            }
        }
        by_member
    }
}

impl DocumentSink for MemberParts<'_> {
    fn push(&mut self, item: Result<&Document<'_>, BadItem>) {
        self.parts.iter_mut().for_each(|part| part.push(item));
    }

    fn has_failed(&self) -> bool {
        self.parts.iter().all(|part| part.part.absent_key().is_some())
    }
}

impl<'g> MemberPart<'g> {
    fn new(site: &'g SiteCache, entry: &'g Entry, locale: Option<&Locale>) -> Self {
        let in_locale = locale.is_none_or(|locale| site.locales().contains(locale));
        let listing = site.listing(entry);
        let own_locales = locale.is_none().then(|| listing.rules.locales());
        Self { part: listing.part(), seen: &entry.seen, in_locale, own_locales }
    }

    /// Whether a document is none of the site's.
    fn excludes(&self, document: &Document<'_>) -> bool {
        let locale = &document.locale;
        *locale != DocumentLocale::None && !self.in_locale
            || self.own_locales.is_some_and(|own| locale.is_of_other_site(own))
    }

    fn push(&mut self, item: Result<&Document<'_>, BadItem>) {
        if item.is_ok_and(|document| self.excludes(document)) {
            return;
        }
        self.seen.fetch_add(1, Ordering::Relaxed);
        match item {
            Ok(document) => self.part.add(document),
            Err(_) => self.part.add_bad_item(),
        }
    }
}
