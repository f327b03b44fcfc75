//! What is at an address: the verdict about a link.

use super::known_hosts::SitePath;
use crate::moved::entries::{Destination, EntryRedirect};
use crate::moved::redirects::FormerOwner;
use crate::resolve::{Found, Resolution, is_canonical};
use crate::site::Site;
use crate::snapshot::PublicUrl;

/// What is at the address of a link: the first that applies, except that [`Verdict::NotCanonical`] comes
/// before [`Verdict::NoSuchPage`] where only the letter case differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Verdict {
    /// Another page: by a redirect, or because its document is there now.
    Moved,
    /// Nothing more: its document is not published any more, or a redirect says that it is gone.
    Gone,
    /// Nothing: no page has or had the path; or a redirect leads to such a path.
    NoSuchPage,
    /// A page in another locale than that of the document with the link.
    OtherLocale,
    /// A page whose URL is another one: the host, the scheme, a slash or the letter case differs.
    NotCanonical,
    /// The page.
    Ok,
    /// What is there is not known at present.
    Unknown,
}

/// The page to which a link leads, or should lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its path below the base URL; of a redirect to another host its URL.
    pub path: String,
    /// Its URL; `None` without a base URL.
    pub url: Option<String>,
    /// Whether the link leads to it, and it is a path of the site.
    pub(super) is_reached: bool,
}

impl Verdict {
    /// All, in the order of responses.
    pub const ALL: [Self; 7] = [
        Self::Ok,
        Self::Moved,
        Self::Gone,
        Self::NoSuchPage,
        Self::OtherLocale,
        Self::NotCanonical,
        Self::Unknown,
    ];

    /// The name in responses.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether a visitor who follows the link finds no page.
    pub fn is_broken(self) -> bool {
        matches!(self, Self::Gone | Self::NoSuchPage)
    }

    /// The position in [`Verdict::ALL`].
    pub(super) fn position(self) -> usize {
        Self::ALL.iter().position(|own| *own == self).expect("all are in the list")
    }
}

/// The verdict about a path of a site, with the target if that is another URL. `locale` is the code of
/// that of the document with the link; `None`: it is not localized.
pub(super) fn verdict(
    site: &Site,
    place: &SitePath<'_>,
    resolution: &Resolution<'_, '_>,
    locale: Option<&str>,
) -> (Verdict, Option<Target>) {
    let live = |url, is_page| of_live(site, place, url, is_page, locale);
    match &resolution.found {
        Found::Page(page) => live(*page, true),
        Found::Rule { document: Some(url), .. } => live(*url, false),
        Found::NotKnown(_) => (Verdict::Unknown, None),
        Found::Rule { document: None, former, .. } | Found::NoRule(former) => match former {
            FormerOwner::Moved(moved) => (Verdict::Moved, Some(Target::of(site, moved.to))),
            FormerOwner::Entry(entry) => match (&entry.destination, entry.path()) {
                (Some(destination), Some(path)) => {
                    let is_reached = !matches!(destination, Destination::Url(_));
                    let target = Target { path, url: entry.url(site), is_reached };
                    (Verdict::Moved, Some(target))
                }
                _ => (Verdict::Gone, None),
            },
            FormerOwner::Gone { .. } => (Verdict::Gone, None),
            FormerOwner::None if resolution.is_definite_miss() => (Verdict::NoSuchPage, None),
            FormerOwner::None | FormerOwner::NotKnown(_) => (Verdict::Unknown, None),
        },
    }
}

/// Whether a redirect of the CMS leads to an address that is not that of a document or a page of the site.
pub(super) fn leads_elsewhere(resolution: &Resolution<'_, '_>) -> bool {
    let (Found::Rule { document: None, former, .. } | Found::NoRule(former)) = &resolution.found
    else {
        return false;
    };
    let FormerOwner::Entry(EntryRedirect { destination, .. }) = former else { return false };
    matches!(destination, Some(Destination::Path { .. } | Destination::Url(_)))
}

/// The verdict about the path of a live document or page.
fn of_live(
    site: &Site,
    place: &SitePath<'_>,
    url: PublicUrl<'_>,
    is_page: bool,
    locale: Option<&str>,
) -> (Verdict, Option<Target>) {
    let locale = locale.and_then(|code| site.rules.locales().position(code));
    if let Some(locale) = locale.filter(|locale| !is_in(site, url, is_page, *locale)) {
        let mut versions = url.versions();
        let own = versions.find(|version| version.locale() == locale);
        let own = own.map(|own| Target { is_reached: false, ..Target::of(site, own) });
        return (Verdict::OtherLocale, own);
    }
    if place.has_canonical_host && is_canonical(&place.path, place.host, url) {
        (Verdict::Ok, None)
    } else {
        (Verdict::NotCanonical, Some(Target::of(site, url)))
    }
}

/// Whether a document or a page is in a locale, or has no locale.
fn is_in(site: &Site, url: PublicUrl<'_>, is_page: bool, locale: usize) -> bool {
    if is_page {
        let locales = site.rules.locales().codes().len();
        return site.pages.locales_of(url, locales).any(|own| own == locale);
    }
    !url.is_localized() || url.locale() == locale
}

impl Target {
    pub(super) fn of(site: &Site, url: PublicUrl<'_>) -> Self {
        Self {
            path: url.path().to_owned(),
            url: site.hosts.url(url.locale(), url.path()),
            is_reached: true,
        }
    }
}
