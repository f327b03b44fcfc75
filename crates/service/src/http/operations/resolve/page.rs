//! Responses without a match: to the path of a page outside the CMS, which no document can have, so
//! that neither the CMS nor a snapshot is needed, and to a path that a document had before, or that a redirect
//! of the CMS has.

use super::former::Note;
use super::resolution::{ResolvedData, ResolvedDocument};
use crate::http::response::envelope::success_text;
use frontend_map_catalog::moved::entries::RedirectWorld;
use frontend_map_catalog::path_index::PathIndex;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::PublicUrl;
use frontend_map_rules::Locale;

/// A pathname as a request has it.
pub(super) struct Requested<'r> {
    pub(super) pathname: &'r str,
    pub(super) locale: Option<&'r Locale>,
    pub(super) host: Option<usize>,
}

/// The text of the response to the path of a page, with a redirect of this status for another spelling
/// of the path.
pub(super) fn page_text(
    site: &Site,
    index: &PathIndex,
    redirects: Option<RedirectWorld<'_>>,
    requested: &Requested<'_>,
    page: PublicUrl<'_>,
    redirect_status: u16,
) -> Vec<u8> {
    let Requested { pathname, locale, host } = *requested;
    let codes = site.rules.locales().codes();
    let mut locales = site.pages.locales_of(page, codes.len()).map(|at| &codes[at]);
    let own = locales.find(|own| locale == Some(own)).unwrap_or(&codes[page.locale()]);
    let document = ResolvedDocument::page(site, index, page, pathname, host);
    let document = document.with_redirects(redirects);
    let note = document.note(redirect_status);
    let document = Some(document);
    without_match(pathname, own, &ResolvedData { site, resolved_by: "pages", document, note })
}

/// The text of the response to a path that no rule matches, and that a document had or a redirect of the
/// CMS has. The locale is that at this position.
pub(super) fn redirect_text(
    site: &Site,
    requested: &Requested<'_>,
    resolved_by: &'static str,
    note: Note<'_>,
    locale: usize,
) -> Vec<u8> {
    let locale = &site.rules.locales().codes()[locale];
    let data = ResolvedData { site, resolved_by, document: None, note };
    without_match(requested.pathname, locale, &data)
}

fn without_match(pathname: &str, locale: &Locale, data: &ResolvedData<'_>) -> Vec<u8> {
    success_text(|json| {
        json.raw(r#"{"site":"#).word(&data.site.key);
        json.raw(r#","pathname":"#).text(pathname);
        json.raw(r#","locale":"#).word(locale.as_str());
        json.raw(r#","matched":null"#);
        data.write(json);
        json.raw("}");
    })
}
