//! A path as it is compared: decoded, in lower case, with its locale and its slug.

use xxhash_rust::xxh3::xxh3_64;

use crate::snapshot::PublicUrl;
use frontend_map_rules::{Locales, percent_decode};

/// The fewest characters of a slug that says which page is meant.
const MIN_SLUG: usize = 3;
/// The longest ending of a file, without its dot, as in `.xhtml`.
const MAX_ENDING: usize = 5;
/// Last segments that stand for the one in front of them.
const INDEXES: [&str; 3] = ["index", "default", "home"];

/// A path with its parts.
#[derive(Clone, Debug, Default)]
pub(super) struct ComparedPath {
    whole: String,
    /// Where the path behind its locale begins.
    behind_locale: usize,
    /// Where the last segment begins, that of the slug, without the slash.
    last: usize,
    /// The last segment without its ending, as words with hyphens between.
    slug: String,
    /// The position of its locale in those of the site.
    pub(super) locale: Option<usize>,
    host: Option<usize>,
}

/// Reads paths, without an allocation for each.
pub(super) struct Reader {
    /// The segment of each locale in lower case.
    segments: Vec<String>,
    url: ComparedPath,
}

/// A hash of a part of a path.
pub(super) fn hash(part: &str) -> u64 {
    xxh3_64(part.as_bytes())
}

impl Reader {
    pub(super) fn new(locales: &Locales) -> Self {
        let segments = locales.as_slice().iter().map(|locale| locale.segment().to_lowercase());
        Self { segments: segments.collect(), url: ComparedPath::default() }
    }

    /// A path that was not found. It may have the code of a locale that the site does not have.
    pub(super) fn missed(&self, host: Option<usize>, path: &str) -> ComparedPath {
        let mut read = ComparedPath { host, ..ComparedPath::default() };
        read.read(path);
        let first = read.first_segment();
        let locale = self.segments.iter().position(|segment| segment == first);
        if locale.is_some() || is_like_locale(first) {
            read.behind_locale = first.len() + 1;
        }
        read.locale = locale;
        read
    }

    pub(super) fn url(&mut self, url: PublicUrl<'_>) -> &ComparedPath {
        let read = &mut self.url;
        read.read(url.normalized_path());
        read.locale = Some(url.locale());
        read.host = Some(url.host());
        let first = read.first_segment();
        if self.segments.iter().any(|segment| segment == first) {
            read.behind_locale = first.len() + 1;
        }
        read
    }
}

impl ComparedPath {
    /// The whole path.
    pub(super) fn whole(&self) -> &str {
        &self.whole
    }

    /// The path behind its locale; empty for a home page.
    pub(super) fn behind_locale(&self) -> &str {
        self.whole[self.behind_locale..].trim_end_matches('/')
    }

    /// The words of the slug.
    pub(super) fn slug(&self) -> &str {
        &self.slug
    }

    /// The slug, unless it is so short or so general that pages with it need not be alike: that of the
    /// second page of a list, for example.
    pub(super) fn distinct_slug(&self) -> Option<&str> {
        let is_distinct =
            self.slug.chars().count() >= MIN_SLUG && self.slug.contains(char::is_alphabetic);
        is_distinct.then_some(&*self.slug)
    }

    /// How alike the other parts of two paths are, in thousandths: folders, locale and host.
    pub(super) fn closeness(&self, url: &Self) -> u32 {
        let (own, other) = (self.folders(), url.folders());
        let shared = own.clone().filter(|folder| other.clone().any(|other| other == *folder));
        let (shared, all) = (shared.count(), own.count().max(other.count()));
        let folders = (400 * shared).checked_div(all).unwrap_or(400);
        let locale =
            if self.locale.is_none_or(|locale| Some(locale) == url.locale) { 400 } else { 0 };
        let host = if self.host.is_none_or(|host| Some(host) == url.host) { 200 } else { 0 };
        u32::try_from(folders).expect("at most 400") + locale + host
    }

    /// Whether the request named another host than that of a URL.
    pub(super) fn is_for_other_host(&self, url: PublicUrl<'_>) -> bool {
        self.host.is_some_and(|host| host != url.host())
    }

    /// The segments between locale and slug.
    fn folders(&self) -> impl Iterator<Item = &str> + Clone {
        let folders = self.whole.get(self.behind_locale..self.last).unwrap_or_default();
        folders.split('/').filter(|folder| !folder.is_empty())
    }

    fn first_segment(&self) -> &str {
        self.whole[1..].split('/').next().unwrap_or_default()
    }

    fn read(&mut self, path: &str) {
        let Self { whole, slug, .. } = self;
        whole.clear();
        if path.is_ascii() && !path.contains('%') {
            whole.push_str(path);
            whole.make_ascii_lowercase();
        } else {
            let decoded =
                percent_decode(path).and_then(|bytes| String::from_utf8(bytes.into()).ok());
            *whole = decoded.as_deref().unwrap_or(path).to_lowercase();
        }
        if !whole.starts_with('/') {
            whole.insert(0, '/');
        }
        let begin = |text: &str| text.rfind('/').map_or(0, |slash| slash + 1);
        let mut end = whole.len();
        self.last = begin(whole);
        let is_index = |text: &str| INDEXES.contains(&without_ending(text));
        if self.last > 1 && is_index(&whole[self.last..]) {
            end = self.last - 1;
            self.last = begin(&whole[..end]);
        }
        self.behind_locale = 0;
        slug.clear();
        for c in without_ending(&whole[self.last..end]).chars() {
            if c.is_alphanumeric() {
                slug.push(c);
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        slug.truncate(slug.trim_end_matches('-').len());
    }
}

/// A segment without the ending of a file.
fn without_ending(segment: &str) -> &str {
    let is_ending = |ending: &str| {
        (2..=MAX_ENDING).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    match segment.rsplit_once('.') {
        Some((name, ending)) if !name.is_empty() && is_ending(ending) => name,
        _ => segment,
    }
}

/// Whether a segment in lower case is like `pt` or `pt-br`.
fn is_like_locale(segment: &str) -> bool {
    let (language, region) = segment.split_once(['-', '_']).unwrap_or((segment, "xx"));
    [language, region]
        .iter()
        .all(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend_map_rules::Locale;

    fn read(path: &str) -> ComparedPath {
        let codes = ["en", "pt-BR"].map(|code| Locale::parse(code).unwrap());
        Reader::new(&Locales::new(codes.to_vec()).unwrap()).missed(None, path)
    }

    #[test]
    fn slug_is_the_last_segment_as_words_without_an_ending() {
        for (path, expected) in [
            ("/", ""),
            ("/en/Hello_World.HTML", "hello-world"),
            ("/en/a/caf%C3%A9%20bar", "café-bar"),
            ("/a/b/index.html", "b"),
            ("/index.html", "index"),
            ("/v1.2", "v1-2"),
            ("/a.b-c", "a-b-c"),
            ("/.well-known", "well-known"),
            ("/--x--", "x"),
            ("/%zz<b>", "zz-b"),
        ] {
            assert_eq!(read(path).slug(), expected, "{path}");
        }
    }

    #[test]
    fn behind_locale_is_the_path_without_one_of_the_site_or_a_code_like_one() {
        for (path, expected, locale) in [
            ("/", "", None),
            ("/en", "", Some(0)),
            ("/PT-BR/About", "/about", Some(1)),
            ("/fr/about", "/about", None),
            ("/fr_ca/about", "/about", None),
            ("/english/about", "/english/about", None),
            ("/about", "/about", None),
        ] {
            let read = read(path);
            assert_eq!((read.behind_locale(), read.locale), (expected, locale), "{path}");
        }
    }

    #[test]
    fn distinct_slug_has_three_characters_and_a_letter() {
        for (path, expected) in
            [("/a/2", None), ("/a/2024", None), ("/ab", None), ("/abc", Some("abc"))]
        {
            assert_eq!(read(path).distinct_slug(), expected, "{path}");
        }
    }
}
