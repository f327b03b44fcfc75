//! What the arguments of a command select: the site, its base URL and its content types.

use crate::frontend_url::BaseUrl;
use crate::rules::ContentTypeUid;
use crate::site::{Site, Sites};

/// The site with this key.
pub(super) fn site<'s>(sites: &'s Sites, key: &str) -> Result<&'s Site, String> {
    sites.get(key).ok_or_else(|| {
        let keys: Vec<&str> = sites.iter().map(|site| site.key.as_str()).collect();
        format!("there is no site \"{key}\"; there are: {}", keys.join(", "))
    })
}

/// The base URL of the site.
pub(super) fn base_url(site: &Site) -> Result<&BaseUrl, String> {
    let missing = || format!("{} is not configured", Site::base_url_variable(&site.key));
    site.base.as_ref().ok_or_else(missing)
}

/// The content types of the site with these UIDs, or all of them if there are none.
pub(super) fn content_types<'s>(
    site: &'s Site,
    uids: &[String],
) -> Result<Vec<&'s ContentTypeUid>, String> {
    for uid in uids {
        if !site.has_rule(uid) {
            return Err(format!("site \"{}\" has no rule for `{uid}`", site.key));
        }
    }
    let is_selected =
        |uid: &&ContentTypeUid| uids.is_empty() || uids.iter().any(|other| other == uid.as_str());
    Ok(site.rules.content_types().into_iter().filter(is_selected).collect())
}
