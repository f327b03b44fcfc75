//! Cache tags: a response header by which a CDN purges what depends on a document, a content type or a
//! site.

use std::fmt::Write as _;

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use frontend_map_catalog::moved::redirects::FormerOwner;
use frontend_map_catalog::resolve::Found;
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::snapshot::PublicUrl;

/// The header that a CDN or a cache reads, and what it has between tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheTags {
    name: HeaderName,
    separator: char,
}

/// The headers that are known, each with its separator: of Cloudflare and others, Netlify, Bunny, Akamai,
/// Fastly and Varnish.
const KNOWN: [(&str, char); 6] = [
    ("Cache-Tag", ','),
    ("Netlify-Cache-Tag", ','),
    ("CDN-Tag", ','),
    ("Edge-Cache-Tag", ','),
    ("Surrogate-Key", ' '),
    ("xkey", ' '),
];

impl CacheTags {
    /// The header with this name, in any case.
    ///
    /// # Errors
    /// A message with the known names.
    ///
    /// # Panics
    /// Never: the known names are tokens.
    pub fn of_header(name: &str) -> Result<Self, String> {
        let known = KNOWN.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let Some((known, separator)) = known else {
            let names: Vec<&str> = KNOWN.iter().map(|(known, _)| *known).collect();
            let name = name.escape_debug();
            return Err(format!("`{name}` is no header of cache tags: use {}", names.join(", ")));
        };
        let name = HeaderName::from_bytes(known.as_bytes()).expect("the known names are tokens");
        Ok(Self { name, separator: *separator })
    }

    /// Adds the tags of a list of the URLs of these content types.
    pub(crate) fn insert_list<'u>(
        &self,
        headers: &mut HeaderMap,
        site: &Site,
        content_types: impl IntoIterator<Item = &'u str>,
    ) {
        let mut tags = self.tags(site);
        for uid in content_types {
            tags.add("list", uid);
        }
        tags.insert(headers);
    }

    /// Adds the tags of a document.
    pub(crate) fn insert_document(
        &self,
        headers: &mut HeaderMap,
        site: &Site,
        content_type: &str,
        id: &str,
    ) {
        let mut tags = self.tags(site);
        tags.add("type", content_type);
        tags.add("document", id);
        tags.insert(headers);
    }

    /// Adds the tags of what a pathname resolves to.
    #[cold]
    pub(crate) fn insert_resolution(
        &self,
        headers: &mut HeaderMap,
        site: &Site,
        tags: ResolutionTags,
    ) {
        let mut all = self.tags(site);
        for (kind, value) in tags.0 {
            all.add(kind, &value);
        }
        all.insert(headers);
    }

    fn tags(&self, site: &Site) -> TagList<'_> {
        let mut tags = TagList { header: self, text: String::new() };
        tags.add("site", &site.key);
        tags
    }
}

/// What a resolution depends on beside the site.
pub(crate) struct ResolutionTags(Vec<(&'static str, String)>);

impl ResolutionTags {
    /// Of the document or the page that has the path; without one also of what may change that.
    #[cold]
    pub(crate) fn of(site: &Site, found: &Found<'_, '_>) -> Self {
        Self(match found {
            Found::Page(page) => vec![("list", PAGES.to_owned()), of_page(*page)],
            Found::NotKnown(_) => Vec::new(),
            Found::Rule { document: Some(url), .. } => of_document(site, *url),
            Found::Rule { former, .. } | Found::NoRule(former) => of_former(site, former),
        })
    }
}

fn of_page(page: PublicUrl<'_>) -> (&'static str, String) {
    ("document", page.document_id().to_owned())
}

fn of_document(site: &Site, url: PublicUrl<'_>) -> Vec<(&'static str, String)> {
    let uid = &site.rules.rules()[url.rule()].content_type;
    vec![("type", uid.as_str().to_owned()), of_page(url)]
}

/// Any page that is added, moved or removed may have the path, or be what a redirect leads to.
fn of_former(site: &Site, former: &FormerOwner<'_>) -> Vec<(&'static str, String)> {
    let mut tags = vec![("absent", site.key.clone())];
    match former {
        FormerOwner::Moved(redirect) => tags.extend(of_document(site, redirect.to)),
        FormerOwner::Entry(redirect) => tags.push(of_page(redirect.entry)),
        FormerOwner::Gone { .. } | FormerOwner::None | FormerOwner::NotKnown(_) => {}
    }
    tags
}

/// The value of the header.
struct TagList<'h> {
    header: &'h CacheTags,
    text: String,
}

impl TagList<'_> {
    /// Adds `kind:value`. Characters that a tag cannot have are percent-encoded.
    fn add(&mut self, kind: &str, value: &str) {
        if !self.text.is_empty() {
            self.text.push(self.header.separator);
        }
        self.text.push_str(kind);
        self.text.push(':');
        for byte in value.bytes() {
            if byte.is_ascii_graphic() && !matches!(byte, b',' | b'%') {
                self.text.push(char::from(byte));
            } else {
                // Writing to a string cannot fail.
                let _ = write!(self.text, "%{byte:02X}");
            }
        }
    }

    fn insert(self, headers: &mut HeaderMap) {
        let value = HeaderValue::try_from(self.text).expect("tags are visible ASCII");
        headers.insert(self.header.name.clone(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(header: &str, tags: &[(&str, &str)]) -> String {
        let header = CacheTags::of_header(header).unwrap();
        let mut list = TagList { header: &header, text: String::new() };
        for (kind, value) in tags {
            list.add(kind, value);
        }
        list.text
    }

    #[test]
    fn header_decides_what_is_between_tags() {
        let tags = [("site", "main"), ("type", "api::post.post"), ("document", "a b,c%é")];
        let expected = "site:main,type:api::post.post,document:a%20b%2Cc%25%C3%A9";
        assert_eq!(text("cache-tag", &tags), expected);
        assert_eq!(text("Surrogate-Key", &tags), expected.replacen(',', " ", 2));
        assert_eq!(
            CacheTags::of_header("Content-Type").unwrap_err(),
            "`Content-Type` is no header of cache tags: use Cache-Tag, Netlify-Cache-Tag, CDN-Tag, \
             Edge-Cache-Tag, Surrogate-Key, xkey"
        );
    }
}
