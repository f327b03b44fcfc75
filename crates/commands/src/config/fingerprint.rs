//! Fingerprints of the content source and of each site: equal ones mean equal settings. They are
//! hashes that do not reveal the settings.

use std::fmt::Write;
use std::sync::Arc;

use config::{Value, ValueKind};
use secrecy::ExposeSecret;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::Cms;
use super::value::{Table, entries};
use frontend_map_catalog::site::Site;
use frontend_map_rules::frontend_url::BaseUrl;

/// Settings as written, copied before the sections are removed from the table.
pub(super) struct Written {
    cms: String,
    /// The limits toward the CMS. A snapshot does not depend on them: it is complete or there is
    /// none.
    limits: String,
    sites: Vec<WrittenSite>,
}

/// A site as written.
struct WrittenSite {
    /// Without its redirects and links: with other ones, its documents have the same URLs.
    documents: String,
    /// The redirects, and what their paths depend on.
    redirects: String,
    /// The links in content, and what their positions depend on.
    links: String,
}

/// The settings of redirects.
const REDIRECTS: [&str; 2] = ["redirects", "redirect_hosts"];

/// The setting of links in content.
const LINKS: &str = "links";

/// A limit that needs a restart, and so changes no fingerprint.
const FIXED_LIMIT: &str = "cms_requests";

/// The settings that the fingerprints hash; other settings do not change a fingerprint.
pub(super) fn written(table: &Table) -> Written {
    let section = |name: &str| table.get(name).map(canonical).unwrap_or_default();
    let mut limits = table.get("limits").cloned().unwrap_or_default();
    if let ValueKind::Table(limits) = &mut limits.kind {
        limits.retain(|key, _| key.starts_with("cms_") && key != FIXED_LIMIT);
    }
    let sites = match table.get("site").map(|sites| &sites.kind) {
        Some(ValueKind::Array(sites)) => sites.iter().map(written_site).collect(),
        _ => Vec::new(),
    };
    let cms = format!("{}\n{}", section("cms"), section("content_type"));
    Written { cms, limits: canonical(&limits), sites }
}

fn written_site(site: &Value) -> WrittenSite {
    let with = |is_kept: &dyn Fn(&str) -> bool| {
        let mut site = site.clone();
        if let ValueKind::Table(table) = &mut site.kind {
            table.retain(|key, _| is_kept(key));
        }
        canonical(&site)
    };
    WrittenSite {
        documents: with(&|key| !REDIRECTS.contains(&key) && key != LINKS),
        redirects: with(&|key| REDIRECTS.contains(&key) || key == "locales"),
        links: with(&|key| [LINKS, "locales"].contains(&key)),
    }
}

/// Equal values have equal texts, wherever they are written.
fn canonical(value: &Value) -> String {
    let mut text = String::new();
    match &value.kind {
        ValueKind::Array(list) => list.iter().for_each(|value| text += &(canonical(value) + ",")),
        ValueKind::Table(table) => {
            for (key, value) in entries(table.clone()) {
                write!(text, "{key:?}:{},", canonical(&value)).expect("text grows");
            }
        }
        kind => return format!("{kind:?}"),
    }
    format!("{{{text}}}")
}

/// Sets the fingerprint of each site, from its settings and the content source, and returns the
/// fingerprint of the content source with the limits toward it. `sites` are in the order in which
/// they are written.
pub(super) fn set_fingerprints(written: &Written, cms: &Cms, sites: &mut [Site]) -> u128 {
    let source = source(cms);
    let mut hash = Xxh3::new();
    hash.update(written.cms.as_bytes());
    match cms {
        Cms::Strapi(settings) => {
            hash.update(settings.url.as_str().as_bytes());
            hash.update(&[u8::from(settings.token.is_some())]);
            let token = settings.token.as_ref().map(ExposeSecret::expose_secret);
            hash.update(token.unwrap_or_default().as_bytes());
        }
        Cms::Files { content, .. } => hash.update(&content.hash().to_le_bytes()),
    }
    // The links of a CMS do not depend on the token; a file is read again when it has changed.
    let linked = match cms {
        Cms::Strapi(_) => source,
        Cms::Files { content, .. } => content.hash(),
    };
    let cms = hash.digest128();
    // Which links are internal depends on the hosts of all sites.
    let hosts = sites.iter().flat_map(|site| site.hosts.all()).map(|host| host.base.as_str());
    let hosts = hosts.collect::<Vec<_>>().join(" ");
    for (site, written) in sites.iter_mut().zip(&written.sites) {
        let bases = (0..site.hosts.locales()).map(|at| site.hosts.base(at).map(BaseUrl::as_str));
        let bases: Vec<Option<&str>> = bases.collect();
        let of = |text: &str| xxh3_128(format!("{cms} {bases:?} {text}").as_bytes());
        let redirects = of(&written.redirects);
        (site.fingerprint, site.source) = (of(&written.documents), source);
        let links = format!("{linked} {hosts} {}", written.links);
        site.links_fingerprint = xxh3_128(links.as_bytes());
        if let Some(site) = site.redirects.as_mut().map(Arc::make_mut) {
            (site.fingerprint, site.source) = (redirects, source);
        }
    }
    xxh3_128(format!("{cms} {}", written.limits).as_bytes())
}

/// Which CMS the documents are from, whatever token and settings it is read with.
fn source(cms: &Cms) -> u128 {
    match cms {
        Cms::Strapi(settings) => xxh3_128(settings.url.as_str().as_bytes()),
        Cms::Files { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::{Environment, parse};

    const SITE: &str = "[[site]]\nkey = \"a\"\nlocales = [\"en\"]\n[[site.rule]]\n\
        content_type = \"api::a.a\"\ntemplate = \"/{slug}\"\nwhere = { b = 1, c = \"x\", d = true }\n";

    #[derive(Debug, PartialEq)]
    struct Fingerprints {
        content: u128,
        site: u128,
        source: u128,
    }

    fn fingerprints(text: &str, environment: &[(&str, &str)]) -> Fingerprints {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment: Environment = environment.iter().map(own).collect();
        let config = parse(Some(text), Path::new("settings.toml"), &environment).unwrap();
        let site = config.sites.get("a").unwrap();
        let (content, source) = (config.content_fingerprint, site.source);
        Fingerprints { content, site: site.fingerprint, source }
    }

    #[test]
    fn fingerprints_change_with_the_site_and_the_content_source_alone() {
        let before = fingerprints(SITE, &[]);
        for _ in 0..20 {
            assert_eq!(fingerprints(SITE, &[]), before, "the order of a table does not matter");
        }
        let elsewhere = "[server]\ncache_control = \"no-store\"\n[limits]\nwalk_deadline_ms = 5\n";
        assert_eq!(fingerprints(&format!("{elsewhere}{SITE}"), &[]), before);
        for changed in
            [("/{slug}", "/{name}"), ("b = 1", "b = 2"), ("[\"en\"]", "[\"en\", \"de\"]")]
        {
            let after = fingerprints(&SITE.replace(changed.0, changed.1), &[]);
            assert_eq!(after.content, before.content);
            assert_ne!(after.site, before.site, "{changed:?}");
            assert_eq!(after.source, before.source, "the documents have the same ids");
        }
        let based = fingerprints(SITE, &[("FRONT_END_URL_A", "https://a.example")]);
        assert_eq!(based.content, before.content);
        assert_ne!(based.site, before.site);
        for (text, environment) in [
            (SITE.to_owned(), [("FRONTEND_MAP__CMS__TOKEN", "t")]),
            (SITE.to_owned(), [("FRONTEND_MAP__CMS__URL", "http://cms.example")]),
            (
                format!("[[content_type]]\nuid = \"api::a.a\"\nendpoint = \"b\"\n{SITE}"),
                [("A", "b")],
            ),
        ] {
            let after = fingerprints(&text, &environment);
            assert_ne!(after.content, before.content, "{text} {environment:?}");
            assert_ne!(after.site, before.site, "its documents come from another source");
            let is_other_cms = environment[0].0 == "FRONTEND_MAP__CMS__URL";
            assert_eq!(after.source != before.source, is_other_cms, "{environment:?}");
        }
        let fixed = fingerprints(&format!("[limits]\ncms_requests = 3\n{SITE}"), &[]);
        assert_eq!(fixed, before, "it needs a restart");
        let limited = fingerprints(&format!("[limits]\ncms_request_ms = 3\n{SITE}"), &[]);
        assert_ne!(limited.content, before.content);
        assert_eq!(limited.site, before.site, "its documents are the same");
    }
}
