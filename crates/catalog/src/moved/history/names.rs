//! The names in rows: each is kept once, and rows have its number. All of them are from settings, so
//! there are few.

use rustc_hash::FxHashMap;

/// A site with the source of its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteId(pub(super) u16);

#[derive(Debug, Default)]
pub(super) struct Names {
    texts: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, u16>,
    sites: Vec<(u128, Box<str>)>,
}

/// The names in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowNames {
    pub(super) site: SiteId,
    pub(super) host: u16,
    pub(super) uid: u16,
    pub(super) locale: u16,
}

impl Names {
    pub(super) fn site(&mut self, source: u128, key: &str) -> Option<SiteId> {
        let known = self.sites.iter().position(|(own, name)| *own == source && **name == *key);
        let at = u16::try_from(known.unwrap_or(self.sites.len())).ok()?;
        if known.is_none() {
            self.sites.push((source, key.into()));
        }
        Some(SiteId(at))
    }

    pub(super) fn source_and_key(&self, site: SiteId) -> (u128, &str) {
        let (source, key) = &self.sites[usize::from(site.0)];
        (*source, key)
    }

    /// `None`: there are more names than numbers.
    pub(super) fn of_row(
        &mut self,
        site: SiteId,
        host: &str,
        uid: &str,
        locale: &str,
    ) -> Option<RowNames> {
        let [host, uid, locale] = [host, uid, locale].map(|name| self.add(name));
        Some(RowNames { site, host: host?, uid: uid?, locale: locale? })
    }

    fn add(&mut self, name: &str) -> Option<u16> {
        if let Some(known) = self.get(name) {
            return Some(known);
        }
        let number = u16::try_from(self.texts.len()).ok()?;
        self.texts.push(name.into());
        self.numbers.insert(name.into(), number);
        Some(number)
    }

    pub(super) fn get(&self, name: &str) -> Option<u16> {
        self.numbers.get(name).copied()
    }

    pub(super) fn text(&self, name: u16) -> &str {
        &self.texts[usize::from(name)]
    }
}
