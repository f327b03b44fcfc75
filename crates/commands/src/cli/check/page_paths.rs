//! Notes about pages outside the CMS whose paths a rule can build as well.

use super::findings::{Check, Finding, Level, Place};
use frontend_map_catalog::site::Site;
use frontend_map_rules::Pathname;

/// A note for each of their paths. A document with such a path has no URL, which may be wanted.
pub(super) fn find(site: &Site) -> Vec<Finding> {
    let mut findings = Vec::new();
    for page in site.pages.snapshot().owners() {
        let pathname = Pathname::parse(page.path());
        let host = site.hosts.host_if_several(page.locale());
        let Some(found) = site.rules.find_on(&pathname, host) else { continue };
        let (key, name) = (&site.key, page.document_id());
        let text = format!("site {key}: a rule can build the path of the page {name}");
        let place = Place::of_rule(site, found.rule);
        let mut finding = Finding::new(Check::PagePath, Level::Note, place, text);
        finding.detail("path", page.path());
        finding.detail(
            "rule",
            format_args!("{} {}", found.rule.content_type, found.template.as_str()),
        );
        finding.detail("so", "a document with this path has no URL: path_taken_by_page");
        findings.push(finding);
    }
    findings
}
