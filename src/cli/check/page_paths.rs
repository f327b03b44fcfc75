//! Notes about pages outside the CMS whose paths a rule can build as well.

use std::fmt::{self, Write as _};

use frontend_map_catalog::site::Site;
use frontend_map_rules::Pathname;

/// Writes a note for each of their paths. A document with such a path has no URL, which may be wanted.
pub(super) fn write(out: &mut String, site: &Site) -> fmt::Result {
    for page in site.pages.snapshot().owners() {
        let pathname = Pathname::parse(page.path());
        let host = site.hosts.host_if_several(page.locale());
        let Some(found) = site.rules.find_on(&pathname, host) else { continue };
        let (key, name, path) = (&site.key, page.document_id(), page.path());
        let (uid, template) = (&found.rule.content_type, found.template.as_str());
        writeln!(out, "\nnote: site {key}: a rule can build the path of the page {name}")?;
        writeln!(out, "  path   {path}")?;
        writeln!(out, "  rule   {uid} {template}")?;
        writeln!(out, "  so     a document with this path has no URL: path_taken_by_page")?;
    }
    Ok(())
}
