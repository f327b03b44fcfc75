//! The pages of a site outside the CMS: their paths, and that no document may have one of them.

use super::RuleSet;
use crate::locale::SiteLocale;
use crate::page_paths::{PagePaths, PageValues};
use crate::template::Template;

impl RuleSet {
    /// These rules for a site with these pages outside the CMS.
    #[must_use]
    pub fn with_pages(self, pages: PagePaths) -> Self {
        Self { pages, ..self }
    }

    /// The paths that no document may have.
    #[must_use]
    pub fn pages(&self) -> &PagePaths {
        &self.pages
    }

    /// The path of a page outside the CMS under one of the site's locales. Its template has no
    /// placeholder but `{locale}`.
    #[must_use]
    pub fn page_path(&self, template: &Template, locale: &SiteLocale) -> Option<String> {
        let (mut path, values) = (String::new(), PageValues(locale));
        template.write_path(self.path_form(), locale.code(), &values, &mut path).ok()?;
        Some(path)
    }
}
