//! Which sites, content types and locales the documents of a batch belong to.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::item::{Item, Items, TypeAndLocale};
use crate::app::App;
use frontend_map_catalog::site::Site;

/// The documents of a batch, with what they need to be looked up.
pub(super) struct Batch<'a> {
    pub(super) items: &'a Items<'a>,
    /// What the items of each content type and locale resolve to.
    resolutions: Vec<ItemResolution>,
    /// The content types of sites that have at least one of the documents.
    pub(super) types: Vec<TypeOfSite<'a>>,
}

/// A content type of a site.
#[derive(Clone, Copy)]
pub(super) struct TypeOfSite<'a> {
    pub(super) site: &'a Site,
    pub(super) uid: &'a str,
}

/// What the items of a content type and locale resolve to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemResolution {
    /// They are malformed.
    Invalid,
    /// The site, or any site, has no rule for the content type.
    NoRule,
    /// The site does not have the requested locale.
    NoLocale,
    /// They belong to the content type at this position of [`Batch::types`].
    Type {
        at: usize,
        /// The position of the locale in the site's locales.
        locale: usize,
    },
}

impl<'a> Batch<'a> {
    /// Assigns the items of each content type and locale to the site of the parameter, or to that of its
    /// content type (D17).
    pub(super) fn new(app: &'a App, site: Option<&'a Arc<Site>>, items: &'a Items<'a>) -> Self {
        let mut types: Vec<TypeOfSite<'a>> = Vec::new();
        let mut positions: FxHashMap<(&str, &str), usize> = FxHashMap::default();
        // A type and a locale may occur together more than once.
        let mut known: FxHashMap<(&str, Option<&str>), ItemResolution> = FxHashMap::default();
        let mut resolution = |type_and_locale: &'a TypeAndLocale<'_>| {
            let (Some(uid), true) = (type_and_locale.uid.as_deref(), type_and_locale.is_valid)
            else {
                return ItemResolution::Invalid;
            };
            let locale = type_and_locale.locale.as_deref();
            *known.entry((uid, locale)).or_insert_with(|| {
                let site = site.or_else(|| app.sites.of_type(uid, locale));
                let Some(site) = site.filter(|site| site.has_rule(uid)) else {
                    return ItemResolution::NoRule;
                };
                let Some(locale) = locale_of(site, locale) else {
                    return ItemResolution::NoLocale;
                };
                let at = *positions.entry((&site.key, uid)).or_insert_with(|| {
                    types.push(TypeOfSite { site, uid });
                    types.len() - 1
                });
                ItemResolution::Type { at, locale }
            })
        };
        let resolutions = items.types_and_locales().iter().map(&mut resolution).collect();
        Self { items, resolutions, types }
    }

    /// Each item with its content type and locale, and what it resolves to, in their order.
    pub(super) fn items(
        &self,
    ) -> impl Iterator<Item = (&'a Item<'a>, &'a TypeAndLocale<'a>, ItemResolution)> {
        self.items.iter().map(|item| {
            let resolution = if item.is_valid {
                self.resolutions[item.type_and_locale]
            } else {
                ItemResolution::Invalid
            };
            (item, &self.items.types_and_locales()[item.type_and_locale], resolution)
        })
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
