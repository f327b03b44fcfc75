//! The text of one file.

use std::ops::Range;

use smallvec::SmallVec;

use super::Frame;
use super::frame::DEFAULT_LINK;
use crate::snapshot::{PublicUrl, Snapshot, write_moment};

const HEAD: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8"?>"#,
    r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9""#,
    r#" xmlns:xhtml="http://www.w3.org/1999/xhtml">"#,
);
const TAIL: &str = "</urlset>";
const LOC: &str = "<url><loc>";
const LINK_END: &str = "\"/>";
/// What stands around a date and its 24 characters.
const DATE_BYTES: usize = "</loc><lastmod>2024-03-06T22:19:54.649Z</lastmod></url>".len();
/// More versions of a document than this need an allocation.
const USUAL_VERSIONS: usize = 8;
/// Longer links than this are left out: a document with hundreds of long versions would not fit
/// into a file.
const MOST_LINKS: usize = 100 * 1024;

/// The listed versions of a document, in the order of the site's locales.
pub(super) type Group<'s> = SmallVec<[PublicUrl<'s>; USUAL_VERSIONS]>;

/// The documents of a part of [`Snapshot::by_document`] that have a listed version.
pub(super) fn groups(snapshot: &Snapshot, range: Range<usize>) -> impl Iterator<Item = Group<'_>> {
    let mut urls = snapshot.by_document(range).filter(|url| url.is_listed()).peekable();
    std::iter::from_fn(move || {
        let first = urls.next()?;
        let mut group = Group::from_elem(first, 1);
        while let Some(next) = urls.next_if(|next| next.is_version_of(first)) {
            group.push(next);
        }
        Some(group)
    })
}

/// A `urlset` of the listed URLs in a part of [`Snapshot::by_document`], with the date of their
/// last modification, and for documents with several versions links to all of them
/// (`xhtml:link`, as Google reads it), each version the same.
#[must_use]
pub fn write(snapshot: &Snapshot, frame: &Frame, range: Range<usize>) -> String {
    let size = |group: Group<'_>| frame.most_bytes(&group);
    let most: usize = groups(snapshot, range.clone()).map(size).sum();
    let mut out = String::with_capacity(HEAD.len() + most + TAIL.len());
    let mut links = String::new();
    out.push_str(HEAD);
    for group in groups(snapshot, range) {
        links.clear();
        frame.push_links(&mut links, &group);
        for url in group {
            frame.push_url(&mut out, url, &links);
        }
    }
    out.push_str(TAIL);
    out
}

impl Frame {
    /// What the URLs of a document take at most.
    pub(super) fn most_bytes(&self, group: &Group<'_>) -> usize {
        let own = LOC.len() + self.base.len() + DATE_BYTES;
        let paths: usize = group.iter().map(|url| own + url.path().len()).sum();
        paths + group.len() * self.links_bytes(group)
    }

    /// The length of the links that all versions of a document have.
    fn links_bytes(&self, group: &Group<'_>) -> usize {
        let [first, _, ..] = group.as_slice() else { return 0 };
        let around = self.base.len() + LINK_END.len();
        let link = |url: &PublicUrl<'_>| self.links[url.locale()].len() + around + url.path().len();
        let all: usize = group.iter().map(link).sum();
        let all = all + DEFAULT_LINK.len() + around + first.path().len();
        if all > MOST_LINKS { 0 } else { all }
    }

    fn push_links(&self, out: &mut String, group: &Group<'_>) {
        if self.links_bytes(group) == 0 {
            return;
        }
        for url in group {
            push_all(out, [&self.links[url.locale()], &self.base, url.path(), LINK_END]);
        }
        // The site's default locale is its first, so the first version is the best there is.
        push_all(out, [DEFAULT_LINK, &self.base, group[0].path(), LINK_END]);
    }

    fn push_url(&self, out: &mut String, url: PublicUrl<'_>, links: &str) {
        push_all(out, [LOC, &self.base, url.path(), "</loc>"]);
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
    if write_moment(out, milliseconds) {
        out.push_str("</lastmod>");
    } else {
        out.truncate(length);
    }
}
