//! Pages outside the CMS, as entries of a snapshot of their own.

use super::Part;
use crate::snapshot::entry::{Entry, Flags, UNDATED};

/// A page outside the CMS in one locale.
#[derive(Clone, Copy, Debug)]
pub struct PageVersion<'p> {
    /// Its name, in place of a `documentId`.
    pub name: &'p str,
    /// Its position in the settings, in place of a rule.
    pub position: usize,
    /// Its path: absolute, percent-encoded ASCII.
    pub path: &'p str,
    /// The position of its locale in the site's locales.
    pub locale: usize,
    /// Whether sitemaps list it.
    pub listed: bool,
    /// When it was last modified, in milliseconds since 1970, if the settings say so.
    pub modified: Option<i64>,
}

impl Part<'_> {
    /// Adds a page outside the CMS in one locale.
    pub fn add_page(&mut self, page: PageVersion<'_>) {
        let flags = Flags::default().with(Flags::LISTED, page.listed).with(Flags::LOCALIZED, true);
        let mut entry = || {
            Some(Entry {
                text: self.arena.push([page.path, page.name, ""])?,
                rule: u32::try_from(page.position).ok()?,
                path_len: u16::try_from(page.path.len()).ok()?,
                id_len: u8::try_from(page.name.len()).ok()?,
                title_len: 0,
                locale: u16::try_from(page.locale).ok()?,
                flags,
                modified: page.modified.unwrap_or(UNDATED),
            })
        };
        match entry() {
            Some(entry) => self.entries.push(entry),
            None => self.too_large = true,
        }
    }
}
