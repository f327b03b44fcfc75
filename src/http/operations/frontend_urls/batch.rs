//! Which sites, content types and locales the documents of a batch belong to.

use rustc_hash::FxHashMap;

use super::item::Item;
use crate::app::App;
use crate::site::Site;

/// The documents of a batch, with what they need to be looked up.
pub(super) struct Batch<'a> {
    /// Where each item belongs, in their order.
    pub(super) places: Vec<Place>,
    /// The content types of sites that have at least one of the documents.
    pub(super) types: Vec<TypeOfSite<'a>>,
}

/// A content type of a site.
#[derive(Clone, Copy)]
pub(super) struct TypeOfSite<'a> {
    pub(super) site: &'a Site,
    pub(super) uid: &'a str,
}

/// Where an item belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is malformed.
    Nowhere,
    /// The site, or any site, has no rule for the content type.
    NoRule,
    /// The site does not have the requested locale.
    NoLocale,
    /// It belongs to the content type at this position of [`Batch::types`].
    Type {
        at: usize,
        /// The position of the locale in the site's locales.
        locale: usize,
    },
}

impl<'a> Batch<'a> {
    /// Assigns each item to the site of the parameter, or to that of its content type (D17).
    pub(super) fn new(app: &'a App, site: Option<&'a Site>, items: &'a [Item<'_>]) -> Self {
        let mut types: Vec<TypeOfSite<'a>> = Vec::new();
        let mut positions: FxHashMap<(&str, &str), usize> = FxHashMap::default();
        // Most items have the content type and the locale of another one.
        let mut known: FxHashMap<(&str, Option<&str>), Place> = FxHashMap::default();
        let mut place = |item: &'a Item<'_>| {
            let (Some(uid), true) = (item.uid.as_deref(), item.is_valid) else {
                return Place::Nowhere;
            };
            let locale = item.locale.as_deref();
            *known.entry((uid, locale)).or_insert_with(|| {
                let site = site.or_else(|| app.sites.of_type(uid, locale));
                let Some(site) = site.filter(|site| site.has_rule(uid)) else {
                    return Place::NoRule;
                };
                let Some(locale) = locale_of(site, locale) else {
                    return Place::NoLocale;
                };
                let at = *positions.entry((&site.key, uid)).or_insert_with(|| {
                    types.push(TypeOfSite { site, uid });
                    types.len() - 1
                });
                Place::Type { at, locale }
            })
        };
        let mut places: Vec<Place> = Vec::with_capacity(items.len());
        for (position, item) in items.iter().enumerate() {
            let before = position.checked_sub(1).map(|before| (&items[before], places[before]));
            // Nearly always that of the item before, without a look-up.
            let is_as =
                |before: &Item<'_>| before.is_valid && item.is_valid && item.is_like(before);
            places.push(match before {
                Some((before, its)) if is_as(before) => its,
                _ => place(item),
            });
        }
        Self { places, types }
    }
}

/// The position of a locale of the site; by default that of its first.
fn locale_of(site: &Site, code: Option<&str>) -> Option<usize> {
    let locales = site.rules.locales().codes();
    match code {
        None => Some(0),
        Some(code) => locales.iter().position(|locale| locale.as_str() == code),
    }
}
