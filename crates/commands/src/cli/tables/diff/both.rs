//! The sites of two settings, for one walk.

use std::sync::Arc;

use frontend_map_catalog::site::{Site, Sites};

/// The suffix of the key of a site of the earlier settings. No key has a space.
const BEFORE: &str = " before";

/// The sites of both settings.
pub(super) struct BothSites {
    /// In the order of the later settings, then those that only the earlier ones have.
    pub(super) pairs: Vec<SitePair>,
}

/// A site in both settings, or in one of them.
pub(super) struct SitePair {
    pub(super) key: String,
    pub(super) before: Option<Arc<Site>>,
    pub(super) after: Option<Arc<Site>>,
}

impl BothSites {
    /// The sites by their keys, or only the one with this key.
    pub(super) fn new(before: &Sites, after: &Sites, only: Option<&str>) -> Result<Self, String> {
        let mut keys: Vec<&str> = after.iter().map(|site| site.key.as_str()).collect();
        let others = before.iter().map(|site| site.key.as_str());
        keys.extend(others.filter(|key| after.get(key).is_none()));
        if let Some(only) = only {
            keys.retain(|key| *key == only);
        }
        let pair = |key: &&str| SitePair {
            key: (*key).to_owned(),
            before: before.get(key).map(|site| renamed(site)),
            after: after.get(key).cloned(),
        };
        match only {
            Some(only) if keys.is_empty() => Err(format!("neither settings have a site `{only}`")),
            _ => Ok(Self { pairs: keys.iter().map(pair).collect() }),
        }
    }

    /// All of them, each with a key of its own.
    pub(super) fn all(&self) -> Sites {
        let sites = self.pairs.iter().flat_map(|pair| [&pair.after, &pair.before]);
        Sites::new(sites.flatten().map(|site| Site::clone(site)).collect())
    }
}

fn renamed(site: &Site) -> Arc<Site> {
    let redirects = site.redirects.as_deref().map(renamed);
    Arc::new(Site { key: format!("{}{BEFORE}", site.key), redirects, ..site.clone() })
}
