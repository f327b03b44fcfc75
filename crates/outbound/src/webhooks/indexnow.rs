//! IndexNow: URLs that are new, have changed or are gone, for search engines
//! (<https://www.indexnow.org/documentation>).

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use frontend_map_catalog::changes::log::{Change, Kind};
use frontend_map_catalog::moved::entries::as_written;
use frontend_map_catalog::site::Site;
use frontend_map_rules::frontend_url::BaseUrl;

/// The most changes of a request: a page that has moved has two URLs, and a request at most 10,000.
pub(super) const MAX_CHANGES: usize = 5_000;
/// The lengths that a key may have, in characters.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=128;

/// A key that the owner of a site has chosen. It is no secret: the frontend serves it in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

/// Why a text is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be 8 to 128 letters (a to z, A to Z), digits and dashes, such as the output of: openssl rand -hex 16"
)]
pub struct BadKey;

/// What a search engine gets of the changes of some sites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexNow {
    key: Key,
    /// The base URL of each locale, by the code of the locale, by the key of the site.
    bases: BTreeMap<String, BTreeMap<String, BaseUrl>>,
}

/// The body of a request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'b> {
    host: &'b str,
    key: &'b str,
    key_location: String,
    url_list: Vec<String>,
}

impl Key {
    /// Reads a key.
    ///
    /// # Errors
    /// [`BadKey`].
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        let is_allowed = |char: u8| char.is_ascii_alphanumeric() || char == b'-';
        let is_key = LENGTHS.contains(&text.len()) && text.bytes().all(is_allowed);
        is_key.then(|| Self(text.to_owned())).ok_or(BadKey)
    }

    /// Its text, which the key file has.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The URL of the key file: with it there, the key is for all URLs below the base URL.
    fn file_below(&self, base: &BaseUrl) -> String {
        format!("{base}/{}.txt", self.0)
    }
}

impl IndexNow {
    /// What search engines get of the changes of these sites.
    pub fn new<'s>(key: Key, sites: impl IntoIterator<Item = &'s Site>) -> Self {
        let of_site = |site: &'s Site| {
            let bases =
                site.rules.locales().codes().iter().enumerate().filter_map(|(at, locale)| {
                    let base = site.hosts.base(at)?;
                    Some((locale.as_str().to_owned(), base.clone()))
                });
            (site.key.clone(), bases.collect())
        };
        Self { key, bases: sites.into_iter().map(of_site).collect() }
    }

    /// The URLs of the key files that the frontends of the sites have to serve, each once.
    pub fn key_files(&self) -> Vec<String> {
        let mut files: Vec<String> = self
            .bases
            .values()
            .flat_map(BTreeMap::values)
            .map(|base| self.key.file_below(base))
            .collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The key.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The base URL of the pages of a site in a locale, if it has one.
    pub(super) fn base(&self, site: &str, locale: &str) -> Option<&BaseUrl> {
        self.bases.get(site)?.get(locale)
    }

    /// The body of a request about paths below one base URL. Each URL is there once.
    pub(super) fn body(&self, base: &BaseUrl, paths: &[String]) -> String {
        let mut seen = HashSet::new();
        let paths = paths.iter().filter(|path| seen.insert(*path));
        let body = Body {
            host: base.host(),
            key: self.key.as_str(),
            key_location: self.key.file_below(base),
            url_list: paths.map(|path| base.join(path)).collect(),
        };
        serde_json::to_string(&body).expect("texts are JSON")
    }
}

/// The paths of a change: of the page now, and before it moved. A redirect for all paths below one has
/// none.
pub(super) fn paths_of(change: &Change<'_>) -> impl Iterator<Item = String> {
    let is_redirect = change.kind == Kind::Redirect;
    let paths = [Some(change.path), change.from].into_iter().flatten();
    paths
        .map(move |path| if is_redirect { as_written(path) } else { path.to_owned() })
        .filter(|path| !path.ends_with("/*"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_characters_and_the_length_of_the_protocol() {
        let long = "a".repeat(129);
        for (text, is_key) in [
            ("a1b2-C3D4", true),
            ("12345678", true),
            (&long[1..], true),
            ("1234567", false),
            (&*long, false),
            ("a1b2_c3d4", false),
            ("a1b2c3d\u{e9}4", false),
        ] {
            assert_eq!(Key::parse(text).is_ok(), is_key, "{text}");
        }
    }
}
