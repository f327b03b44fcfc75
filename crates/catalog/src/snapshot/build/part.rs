//! A part of a snapshot under construction: the documents of one walk.

use jiff::Timestamp;

use super::Listing;
use crate::snapshot::arena::Arena;
use crate::snapshot::entry::{Entry, Flags, UNDATED};
use crate::snapshot::no_url::{NoUrlDraft, NoUrlRow};
use crate::snapshot::references::{ReferencesDraft, locale_of};
use crate::snapshot::{Skipped, timestamp};
use frontend_map_rules::frontend_url::{NoUrl, NoUrlReason, PathSource, write_path};
use frontend_map_rules::{AbsentKey, Document, DocumentLocale, FieldPath, FieldValue, Rule};

/// The reason of a list item that is no document, or whose `documentId` is longer than 255 bytes: no
/// request can name one of more than 64 (D20).
const NOT_A_DOCUMENT: &str = "not_a_document";

/// The longest title, in bytes: a version without a URL has a byte for its length.
const MAX_TITLE: usize = u8::MAX as usize;
/// The end of a title that was cut.
const ELLIPSIS: &str = "…";

/// A part of a snapshot under construction: what a walk has found, or one of several concurrent
/// walks.
#[derive(Debug)]
pub struct Part<'s> {
    listing: Listing<'s>,
    pub(super) arena: Arena,
    pub(super) entries: Vec<Entry>,
    pub(super) references: ReferencesDraft,
    pub(super) no_url: NoUrlDraft,
    /// The documents without a URL that have no row.
    pub(super) without_row: Skipped,
    pub(super) too_large: bool,
    /// The first absent key that decides about a URL.
    pub(super) absent: Option<AbsentKey>,
    /// The rules of the content type and their positions in the settings.
    rules: Vec<(usize, &'s Rule)>,
    /// The path of the present document: one buffer for all documents.
    path: String,
}

impl<'s> Part<'s> {
    pub(super) fn new(listing: Listing<'s>) -> Self {
        let of_type = listing.rules.positions_of_type(listing.uid);
        Self {
            listing,
            arena: Arena::default(),
            entries: Vec::new(),
            references: ReferencesDraft::new(listing.rules.relations(listing.uid)),
            no_url: NoUrlDraft::default(),
            without_row: Skipped::default(),
            too_large: false,
            absent: None,
            rules: of_type.map(|at| (at, &listing.rules.rules()[at])).collect(),
            path: String::new(),
        }
    }

    /// The host of each locale; empty if there is one host.
    pub(super) fn hosts(&self) -> Box<[u16]> {
        self.listing.hosts.by_locale()
    }

    /// Adds a published document.
    pub fn add(&mut self, document: &Document<'_>) {
        let Listing { rules, hosts, .. } = self.listing;
        let tried = self.rules.iter().map(|(_, rule)| *rule);
        match write_path(rules, hosts, tried, document, false, &mut self.path) {
            Some(Ok(found)) => match absent_key(found.rule, document) {
                None => {
                    self.push(found, document);
                    self.references.add(document, rules.locales(), true);
                }
                Some(key) => _ = self.absent.get_or_insert(key),
            },
            Some(Err(NoUrl { reason: NoUrlReason::Absent(key), .. })) => {
                _ = self.absent.get_or_insert(key);
            }
            // The conditions leave it to other sites.
            Some(Err(no_url)) if no_url.reason == NoUrlReason::ConditionsNotMet => {}
            // It may get a URL when the document that it reads is gone.
            Some(Err(no_url)) => {
                self.push_no_url(&no_url, document);
                self.references.add(document, rules.locales(), false);
            }
            None => self.without_row.count("no_rule", 1),
        }
    }

    /// The first absent key that decides about the URL of a document. With one there will be no
    /// snapshot, so that other documents need not be read.
    pub fn absent_key(&self) -> Option<&AbsentKey> {
        self.absent.as_ref()
    }

    /// Adds a list item that is not a document.
    pub fn add_bad_item(&mut self) {
        self.without_row.count(NOT_A_DOCUMENT, 1);
    }

    fn push(&mut self, source: PathSource<'_>, document: &Document<'_>) {
        let PathSource { rule, locale, is_own, .. } = source;
        let Ok(id_len) = u8::try_from(document.id.len()) else {
            return self.add_bad_item();
        };
        let locales = self.listing.rules.locales().codes();
        let locale = locales.iter().position(|own| own == locale.code());
        let redirect = rule.redirect.as_ref().and_then(|fields| fields.of(document).ok());
        let leads = redirect.as_ref().map(ToString::to_string);
        let title = leads.as_deref().map_or_else(|| title(rule, document), |leads| [leads, ""]);
        let flags = Flags::default()
            .with(Flags::REDIRECT, redirect.is_some())
            .with(Flags::FORCED, redirect.is_some_and(|redirect| redirect.force))
            .with(Flags::LISTED, rule.sitemap.lists(document))
            .with(Flags::LOCALIZED, is_localized(document))
            .with(Flags::OWN_PATH, is_own);
        let at = self.position(rule);
        let mut entry = || {
            Some(Entry {
                text: self.arena.push([&self.path, &document.id, title[0], title[1]])?,
                rule: u32::try_from(at?).ok()?,
                path_len: u16::try_from(self.path.len()).ok()?,
                id_len,
                title_len: u16::try_from(title[0].len() + title[1].len()).ok()?,
                locale: u16::try_from(locale?).ok()?,
                flags,
                modified: modified(document, &rule.sitemap.modified),
            })
        };
        match entry() {
            Some(entry) => self.entries.push(entry),
            None => self.too_large = true,
        }
    }

    /// Adds a row. A document of a locale that the site does not have, or with an id of more than 65,535
    /// bytes, is only counted.
    fn push_no_url(&mut self, NoUrl { reason, rule, .. }: &NoUrl<'_>, document: &Document<'_>) {
        let locales = self.listing.rules.locales();
        let has_row =
            !document.locale.is_of_other_site(locales) && u16::try_from(document.id.len()).is_ok();
        let reason = reason.to_string();
        let Some(rule_at) = self.position(rule).filter(|_| has_row) else {
            return self.without_row.count(&reason, 1);
        };
        let row = NoUrlRow {
            document_id: &document.id,
            locale: locale_of(document, locales).map(|at| at as usize),
            is_localized: is_localized(document),
            reason: &reason,
            rule: rule_at,
            title: None,
        };
        self.too_large |= self.no_url.add(row, title(rule, document), &mut self.arena).is_none();
    }

    /// The position of a rule of the content type in the settings.
    fn position(&self, rule: &Rule) -> Option<usize> {
        self.rules.iter().find(|(_, own)| std::ptr::eq(*own, rule)).map(|(at, _)| *at)
    }
}

fn is_localized(document: &Document<'_>) -> bool {
    document.locale != DocumentLocale::None
}

/// An absent key that decides how sitemaps list a document.
fn absent_key(rule: &Rule, document: &Document<'_>) -> Option<AbsentKey> {
    if document.has_absent() { rule.sitemap.absent_key(document) } else { None }
}

/// When a version was last modified, in milliseconds since 1970.
fn modified(document: &Document<'_>, field: &FieldPath) -> i64 {
    let FieldValue::Text(text) = document.field(field) else { return UNDATED };
    timestamp::read(text).map_or(UNDATED, Timestamp::as_millisecond)
}

/// The title of a document in two parts, cut to [`MAX_TITLE`] where it is longer; empty where the
/// rule has no title field, or the field no text.
fn title<'d>(rule: &Rule, document: &'d Document<'_>) -> [&'d str; 2] {
    let field = rule.title.as_ref().map(|field| document.field(field));
    let Some(FieldValue::Text(text)) = field else { return ["", ""] };
    if text.len() <= MAX_TITLE {
        return [text, ""];
    }
    [&text[..text.floor_char_boundary(MAX_TITLE - ELLIPSIS.len())], ELLIPSIS]
}
