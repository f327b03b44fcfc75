//! The fingerprint of the settings, which tells a reload what has changed.

use std::collections::HashMap;

use config::Value;
use secrecy::ExposeSecret;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::Cms;
use super::table::Table;
use crate::frontend_url::BaseUrl;
use crate::site::Site;

/// Hashes of the settings: equal hashes mean equal settings. Secrets cannot be recovered from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Of the client of the CMS: the source of documents and the limits for its requests, or the
    /// content of the file.
    pub client: u128,
    /// Of each site, by key: its own settings and the source of its documents.
    sites: HashMap<String, u128>,
}

impl Fingerprint {
    /// The hash of the site with this key; `None`: there is no such site.
    #[must_use]
    pub fn site(&self, key: &str) -> Option<u128> {
        self.sites.get(key).copied()
    }

    /// Whether the sites are the same, with the same settings.
    #[must_use]
    pub fn has_same_sites(&self, other: &Self) -> bool {
        self.sites == other.sites
    }
}

/// The settings as they are written, before the sections are taken out of the table.
pub(super) struct Written {
    cms: String,
    /// For requests to the CMS. No snapshot depends on them: a walk is complete, or it fails.
    limits: String,
    sites: Vec<String>,
}

/// What is written about the CMS and the sites; other settings do not change a fingerprint.
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

/// The fingerprint of what is written, with what comes from the environment and from other files.
/// `sites` are in the order of `written`.
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
    let site_hash = |(site, text): (&Site, &String)| {
        let base = site.base.as_ref().map(BaseUrl::as_str);
        (site.key.clone(), xxh3_128(format!("{cms} {base:?} {text}").as_bytes()))
    };
    let client = xxh3_128(format!("{cms} {}", written.limits).as_bytes());
    Fingerprint { client, sites: sites.iter().zip(&written.sites).map(site_hash).collect() }
}

/// The value with its keys in order: the order of a table is random.
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

    fn fingerprint(text: &str, environment: &[(&str, &str)]) -> Fingerprint {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment: Environment = environment.iter().map(own).collect();
        parse(Some(text), Path::new("settings.toml"), &environment).unwrap().fingerprint
    }

    #[test]
    fn fingerprint_changes_with_the_settings_of_a_site_or_the_cms_alone() {
        let before = fingerprint(SITE, &[]);
        for _ in 0..20 {
            assert_eq!(fingerprint(SITE, &[]), before, "the order of a table does not matter");
        }
        let elsewhere = "[server]\ncache_control = \"no-store\"\n[limits]\nwalk_deadline_ms = 5\n";
        assert_eq!(fingerprint(&format!("{elsewhere}{SITE}"), &[]), before);
        for changed in
            [("/{slug}", "/{name}"), ("b = 1", "b = 2"), ("[\"en\"]", "[\"en\", \"de\"]")]
        {
            let after = fingerprint(&SITE.replace(changed.0, changed.1), &[]);
            assert_eq!(after.client, before.client);
            assert_ne!(after.site("a"), before.site("a"), "{changed:?}");
        }
        let based = fingerprint(SITE, &[("FRONT_END_URL_A", "https://a.example")]);
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
            let after = fingerprint(&text, &environment);
            assert_ne!(after.client, before.client, "{text} {environment:?}");
            assert_ne!(after.site("a"), before.site("a"), "its documents come from another source");
        }
        let limited = fingerprint(&format!("[limits]\ncms_request_ms = 3\n{SITE}"), &[]);
        assert_ne!(limited.client, before.client);
        assert_eq!(limited.site("a"), before.site("a"), "its documents are the same");
    }
}
