//! Notices a response about all locales that shows one of them alone.
//!
//! A proxy or cache in front of the CMS that ignores `locale=*` returns the versions in one locale,
//! with their own total. A document whose other versions were unpublished looks alike.

use crate::refresh::{Member, TypeGroup};
use frontend_map_rules::{Document, DocumentLocale, Locale};

/// Whether versions that the snapshots have may be missing from such a response: it has versions in
/// one locale or none, and the snapshots have versions of the same documents in another one. A
/// response without versions counts as one in the first locale.
pub(super) fn may_be_missing(
    group: &TypeGroup,
    ids: &[String],
    versions: &[Document<'static>],
) -> bool {
    let Some(only) = only_locale(group, versions) else { return false };
    group.members.iter().any(|Member { site, entry }| {
        let Some(cached) = entry.cached() else { return false };
        let locales = site.locales();
        let has_other = |id: &String| {
            let known = (0..locales.len()).filter_map(|locale| cached.snapshot.path_of(id, locale));
            known.into_iter().any(|(_, locale)| locales[locale].as_str() != only)
        };
        ids.iter().any(has_other)
    })
}

/// The locale of all versions; `None`: there are several.
fn only_locale<'a>(group: &'a TypeGroup, versions: &'a [Document<'static>]) -> Option<&'a str> {
    let mut named = versions.iter().filter_map(|version| match &version.locale {
        DocumentLocale::Named(name) => Some(&**name),
        DocumentLocale::None | DocumentLocale::NotText => None,
    });
    let only = named.next().or_else(|| group.locales.first().map(Locale::as_str))?;
    named.all(|name| name == only).then_some(only)
}
