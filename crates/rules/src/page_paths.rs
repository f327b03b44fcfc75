//! The paths of a site's pages outside the CMS: no document has a URL with one of them.

use rustc_hash::FxHashMap;

use crate::building::TemplateValues;
use crate::document::FieldValue;
use crate::locale::SiteLocale;
use crate::pathname::without_trailing_slash;
use crate::template::{FieldPath, Segment, Source, Template};

/// The paths of the pages of a site. A path belongs to a host.
#[derive(Clone, Debug, Default)]
pub struct PagePaths {
    /// The hosts on which each path is that of a page; the paths are without a slash at their end.
    hosts: FxHashMap<Box<str>, Vec<u16>>,
    /// The host of each locale; empty if there is one host.
    by_locale: Box<[u16]>,
}

impl PagePaths {
    /// No paths, for a site whose locales have these hosts; without any if there is one host.
    pub fn new(by_locale: Box<[u16]>) -> Self {
        Self { hosts: FxHashMap::default(), by_locale }
    }

    /// Adds a path in the locale at this position of the site's locales.
    pub fn add(&mut self, path: &str, locale: usize) {
        let host = self.host_of(locale);
        self.hosts.entry(without_trailing_slash(path).into()).or_default().push(host);
    }

    /// Whether the site has no pages outside the CMS.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Whether a page has this path on the host of the locale at this position.
    pub fn has(&self, path: &str, locale: usize) -> bool {
        let hosts = self.hosts.get(without_trailing_slash(path));
        hosts.is_some_and(|hosts| hosts.contains(&self.host_of(locale)))
    }

    fn host_of(&self, locale: usize) -> u16 {
        self.by_locale.get(locale).copied().unwrap_or_default()
    }
}

/// The values of the template of a page: it has no placeholder but `{locale}`.
pub(super) struct PageValues<'l>(pub(super) &'l SiteLocale);

impl TemplateValues for PageValues<'_> {
    fn locale_segment(&self) -> &str {
        self.0.segment()
    }

    fn document_id(&self) -> &'static str {
        ""
    }

    fn field(&self, _: &FieldPath) -> &FieldValue<'_> {
        &FieldValue::Missing
    }
}

impl Template {
    /// The first placeholder that is not `{locale}`, as written.
    pub fn placeholder_besides_locale(&self) -> Option<String> {
        let is_fine = |segment: &&Segment| match segment {
            Segment::Static(_) => true,
            Segment::Placeholder { placeholder, .. } => placeholder.source == Source::Locale,
            Segment::Optional(_) | Segment::CatchAll(_) => false,
        };
        self.segments().iter().find(|segment| !is_fine(segment)).map(ToString::to_string)
    }
}
