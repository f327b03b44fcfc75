//! What the sites and the CMS of some settings were made of, to tell whether others make the same.

use std::collections::HashMap;

use config::Value;
use secrecy::ExposeSecret;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::Cms;
use super::table::Table;
use crate::frontend_url::BaseUrl;
use crate::site::Site;

/// Equal numbers mean equal settings. They say nothing about the settings themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// How the CMS is asked: where documents come from, and the limits toward it; or what is in the
    /// file.
    pub client: u128,
    /// By key, each site's own settings with where its documents come from.
    sites: HashMap<String, u128>,
}

impl Fingerprint {
    /// What the site with this key was made of, documents included.
    #[must_use]
    pub fn site(&self, key: &str) -> Option<u128> {
        self.sites.get(key).copied()
    }

    /// Whether all sites were made of the same.
    #[must_use]
    pub fn has_sites_of(&self, other: &Self) -> bool {
        self.sites == other.sites
    }
}

/// What is written, before the sections are taken out of the table.
pub(super) struct Written {
    cms: String,
    /// Toward the CMS. A copy does not depend on them: a walk is complete or there is none.
    limits: String,
    sites: Vec<String>,
}

/// Settings that neither a walk nor the client of the CMS depends on change nothing here.
pub(super) fn written(table: &Table) -> Written {
    let section = |name: &str| table.get(name).cloned().map(canonical).unwrap_or_default();
    let limits = table.get("limits").cloned().and_then(|limits| limits.into_table().ok());
    // The in-flight limit is fixed until a restart.
    let is_of_client = |key: &str| key.starts_with("cms_") && key != "cms_requests";
    let limits = limits.unwrap_or_default().into_iter().filter(|(key, _)| is_of_client(key));
    let mut limits: Vec<_> = limits.map(|(key, value)| (key, canonical(value))).collect();
    limits.sort_unstable();
    let cms = format!("{}\n{}", section("cms"), section("content_type"));
    let sites = table.get("site").cloned().and_then(|sites| sites.into_array().ok());
    let sites = sites.unwrap_or_default().into_iter().map(canonical).collect();
    Written { cms, limits: format!("{limits:?}"), sites }
}

/// The same for what was read; `sites` are those that were written, in their order.
pub(super) fn fingerprint(written: &Written, cms: &Cms, sites: &[Site]) -> Fingerprint {
    let mut hash = Xxh3::new();
    hash.update(written.cms.as_bytes());
    match cms {
        Cms::Strapi(settings) => {
            hash.update(settings.url.as_str().as_bytes());
            hash.update(&[u8::from(settings.token.is_some())]);
            let token = settings.token.as_ref().map(ExposeSecret::expose_secret);
            hash.update(token.unwrap_or_default().as_bytes());
        }
        Cms::Files(files) => hash.update(&files.hash().to_le_bytes()),
    }
    let cms = hash.digest128();
    let of_site = |(site, text): (&Site, &String)| {
        let base = site.base.as_ref().map(BaseUrl::as_str);
        (site.key.clone(), xxh3_128(format!("{cms} {base:?} {text}").as_bytes()))
    };
    let client = xxh3_128(format!("{cms} {}", written.limits).as_bytes());
    Fingerprint { client, sites: sites.iter().zip(&written.sites).map(of_site).collect() }
}

/// The keys in one order, whatever order the table has.
fn canonical(value: Value) -> String {
    value.try_deserialize::<serde_json::Value>().map(|json| json.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Environment, parse};

    const SITE: &str = "[[site]]\nkey = \"a\"\nlocales = [\"en\"]\n[[site.rule]]\n\
        content_type = \"api::a.a\"\ntemplate = \"/{slug}\"\nwhere = { b = 1, c = \"x\", d = true }\n";

    fn of(text: &str, environment: &[(&str, &str)]) -> Fingerprint {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment: Environment = environment.iter().map(own).collect();
        parse(Some(text), Path::new("settings.toml"), &environment).unwrap().fingerprint
    }

    #[test]
    fn what_changes_a_site_or_the_cms_is_seen_and_nothing_else() {
        let before = of(SITE, &[]);
        for _ in 0..20 {
            assert_eq!(of(SITE, &[]), before, "the order of a table is not a change");
        }
        let elsewhere = "[server]\ncache_control = \"no-store\"\n[limits]\nwalk_deadline_ms = 5\n";
        assert_eq!(of(&format!("{elsewhere}{SITE}"), &[]), before);
        for changed in
            [("/{slug}", "/{name}"), ("b = 1", "b = 2"), ("[\"en\"]", "[\"en\", \"de\"]")]
        {
            let after = of(&SITE.replace(changed.0, changed.1), &[]);
            assert_eq!(after.client, before.client);
            assert_ne!(after.site("a"), before.site("a"), "{changed:?}");
        }
        let based = of(SITE, &[("FRONT_END_URL_A", "https://a.example")]);
        assert_eq!(based.client, before.client);
        assert_ne!(based.site("a"), before.site("a"));
        for (text, environment) in [
            (SITE.to_owned(), [("FRONTEND_MAP__CMS__TOKEN", "t")]),
            (SITE.to_owned(), [("FRONTEND_MAP__CMS__URL", "http://cms.example")]),
            (
                format!("[[content_type]]\nuid = \"api::a.a\"\nendpoint = \"b\"\n{SITE}"),
                [("A", "b")],
            ),
        ] {
            let after = of(&text, &environment);
            assert_ne!(after.client, before.client, "{text} {environment:?}");
            assert_ne!(after.site("a"), before.site("a"), "its documents are others");
        }
        let limited = of(&format!("[limits]\ncms_request_ms = 3\n{SITE}"), &[]);
        assert_ne!(limited.client, before.client);
        assert_eq!(limited.site("a"), before.site("a"), "its documents are the same");
    }
}
