//! A pathname that is the path of a page outside the CMS: no document can have it, so that neither the
//! CMS nor a snapshot is needed.

use super::resolution::{Resolution, ResolvedDocument};
use crate::http::response::envelope::success_text;
use crate::path_index::PathIndex;
use crate::rules::{Locale, Pathname};
use crate::site::Site;

/// A pathname as a request has it.
pub(super) struct Requested<'r> {
    pub(super) pathname: &'r str,
    pub(super) locale: Option<&'r Locale>,
    pub(super) host: Option<usize>,
}

/// The text of the response, if a page has the path.
pub(super) fn page_text(
    site: &Site,
    index: &PathIndex,
    requested: &Requested<'_>,
) -> Option<Vec<u8>> {
    if site.pages.is_empty() {
        return None;
    }
    let Requested { pathname, locale, host } = *requested;
    let page = site.pages.find(&Pathname::parse(pathname).normalized(), host)?;
    let codes = site.rules.locales().codes();
    let mut locales = site.pages.locales_of(page, codes.len()).map(|at| &codes[at]);
    let own = locales.find(|own| locale == Some(own)).unwrap_or(&codes[page.locale()]);
    let document = Some(ResolvedDocument::page(site, index, page, (pathname, host)));
    let resolution = Resolution { site, resolved_by: "pages", document };
    Some(success_text(|json| {
        json.raw(r#"{"site":"#).word(&site.key);
        json.raw(r#","pathname":"#).text(pathname);
        json.raw(r#","locale":"#).word(own.as_str());
        json.raw(r#","matched":null"#);
        resolution.write(json);
        json.raw("}");
    }))
}
