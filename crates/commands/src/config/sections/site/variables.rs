//! Sites and locales whose environment variables would have the same name (D15).

use std::collections::{HashMap, HashSet};

use crate::config::section::{Reader, site_place};
use frontend_map_catalog::site::Site;
use frontend_map_rules::{Locale, Locales};

/// The key of a site with the codes of its locales.
pub(super) struct SiteVariables {
    key: String,
    codes: Vec<Locale>,
    /// Where the site is written.
    origin: Option<String>,
}

impl SiteVariables {
    pub(super) fn new(key: &str, locales: Option<&Locales>, origin: Option<String>) -> Self {
        let codes = locales.map(|locales| locales.codes().to_vec()).unwrap_or_default();
        Self { key: key.to_owned(), codes, origin }
    }

    /// The environment variables of its base URLs, each with the site or locale that it is for.
    fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let of_locale = |code: &Locale| {
            let variable = Site::locale_variable(&self.key, code.as_str());
            (variable, format!("the locale `{code}` of site \"{}\"", self.key))
        };
        let own = (Site::base_url_variable(&self.key), site_place(&self.key));
        std::iter::once(own).chain(self.codes.iter().map(of_locale))
    }
}

/// Sites must differ in their keys, and they and their locales in their environment variables (D15).
pub(super) fn refuse_duplicates(sites: &[SiteVariables], reader: &Reader<'_>) {
    let mut keys = HashSet::new();
    let mut owners: HashMap<String, String> = HashMap::new();
    for site in sites {
        let (origin, place) = (site.origin.as_deref(), site_place(&site.key));
        if !keys.insert(&site.key) {
            reader.add(origin, &place, "another site has the same key");
            continue;
        }
        for (variable, owner) in site.variables() {
            if let Some(other) = owners.insert(variable.clone(), owner.clone()) {
                if owner == place {
                    let what = format_args!(
                        "{other} has the same environment variable, {variable}: rename one of them"
                    );
                    reader.add(origin, &place, what);
                    // The variables of its locales may have the same names too: one problem is enough.
                    break;
                }
                let what = format_args!(
                    "{owner} and {other} have the same environment variable, {variable}: rename one of them"
                );
                reader.add(origin, &place, what);
            }
        }
    }
}
