//! The text of one sitemap file.

use std::ops::Range;

use super::Frame;
use crate::sitemap::HiddenUrls;
use crate::snapshot::{PublicUrl, Snapshot, Versions, write_timestamp};

const HEAD: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8"?>"#,
    r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9""#,
    r#" xmlns:xhtml="http://www.w3.org/1999/xhtml">"#,
);
const TAIL: &str = "</urlset>";
const LINK_END: &str = "\"/>";
/// The length of a date with the text around it.
const DATE_BYTES: usize = "</loc><lastmod>2024-03-06T22:19:54.649Z</lastmod></url>".len();
/// The most bytes of the alternate links of one URL; longer ones are left out. A document with hundreds
/// of long versions would not fit into a file.
const MAX_LINK_BYTES: usize = 100 * 1024;

/// The documents in a range of all URLs that have a listed version on the host of the frame.
pub(super) fn groups<'s>(
    snapshot: &'s Snapshot,
    hidden: Option<&'s HiddenUrls>,
    frame: &Frame,
    range: Range<usize>,
) -> impl Iterator<Item = Group<'s>> {
    let is_listed = |group: &Group<'_>| group.urls_on(frame).next().is_some();
    let group = move |versions| Group { versions, hidden };
    snapshot.documents(range).map(group).filter(is_listed)
}

/// A document with at least one listed version.
pub(super) struct Group<'s> {
    versions: Versions<'s>,
    hidden: Option<&'s HiddenUrls>,
}

impl<'s> Group<'s> {
    /// Its listed versions without the hidden ones, in the order of the site's locales.
    pub(super) fn urls(&self) -> impl Iterator<Item = PublicUrl<'s>> + use<'s> {
        let hidden = self.hidden;
        let is_shown = move |url: PublicUrl<'_>| hidden.is_none_or(|hidden| !hidden.has(url));
        self.versions.clone().filter(move |url| url.is_listed() && is_shown(*url))
    }

    /// The URLs on the host of a frame.
    pub(super) fn urls_on(&self, frame: &Frame) -> impl Iterator<Item = PublicUrl<'s>> {
        self.urls().filter(|url| frame.lists(url.locale()))
    }
}

/// A `urlset` of the listed URLs of the frame's host in a range of all URLs, with their modification
/// dates and without the hidden ones. Each version of a document with several versions has links to all of
/// them (`xhtml:link`, as Google specifies it).
pub fn write(
    snapshot: &Snapshot,
    hidden: Option<&HiddenUrls>,
    frame: &Frame,
    range: Range<usize>,
) -> String {
    let size = |group: Group<'_>| frame.max_bytes(&group);
    let most: usize = groups(snapshot, hidden, frame, range.clone()).map(size).sum();
    let mut out = String::with_capacity(HEAD.len() + most + TAIL.len());
    let mut links = String::new();
    out.push_str(HEAD);
    for group in groups(snapshot, hidden, frame, range) {
        links.clear();
        frame.push_links(&mut links, &group);
        for url in group.urls_on(frame) {
            frame.push_url(&mut out, url, &links);
        }
    }
    out.push_str(TAIL);
    out
}

impl Frame {
    /// The most bytes that the URLs of a document take.
    pub(super) fn max_bytes(&self, group: &Group<'_>) -> usize {
        let own = DATE_BYTES + self.links_bytes(group);
        group.urls_on(self).map(|url| self.locs[url.locale()].len() + own + url.path_len()).sum()
    }

    /// The length of the links of each version of a document.
    fn links_bytes(&self, group: &Group<'_>) -> usize {
        let mut urls = group.urls();
        let (Some(first), Some(_)) = (urls.next(), urls.next()) else { return 0 };
        let link =
            |url: PublicUrl<'_>| self.links[url.locale()].len() + url.path_len() + LINK_END.len();
        let default = self.default_links[first.locale()].len();
        let default = default + first.path_len() + LINK_END.len();
        let all = group.urls().map(link).sum::<usize>() + default;
        if all > MAX_LINK_BYTES { 0 } else { all }
    }

    /// The `hreflang` links of a document: one for each version, and `x-default`.
    fn push_links(&self, out: &mut String, group: &Group<'_>) {
        if self.links_bytes(group) == 0 {
            return;
        }
        for url in group.urls() {
            push_all(out, [&self.links[url.locale()], url.path(), LINK_END]);
        }
        // The site's default locale is its first, so the first version is the best default.
        if let Some(first) = group.urls().next() {
            push_all(out, [&self.default_links[first.locale()], first.path(), LINK_END]);
        }
    }

    fn push_url(&self, out: &mut String, url: PublicUrl<'_>, links: &str) {
        push_all(out, [&self.locs[url.locale()], url.path(), "</loc>"]);
        if let Some(modified) = url.modified() {
            push_date(out, modified);
        }
        push_all(out, [links, "</url>"]);
    }
}

fn push_all<const N: usize>(out: &mut String, parts: [&str; N]) {
    for part in parts {
        out.push_str(part);
    }
}

/// `lastmod` as a W3C datetime in UTC, which has years of four digits; others are left out.
pub(super) fn push_date(out: &mut String, milliseconds: i64) {
    let length = out.len();
    out.push_str("<lastmod>");
    if write_timestamp(out, milliseconds) {
        out.push_str("</lastmod>");
    } else {
        out.truncate(length);
    }
}
