//! The redirect in the CMS that an editor would create for a missed path.

use serde::Serialize;

use crate::site::Site;
use crate::snapshot::PublicUrl;
use frontend_map_rules::text_for_path;

/// The values of a new document of the CMS that redirects a missed path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewRedirect {
    /// The value of the field `from`, which stands for exactly the missed path.
    pub from: String,
    /// The value of the field `to`, if a page was perhaps meant: its path, or its URL if it is on another
    /// host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The code of the locale that a localized document needs: the only one of the host, or the one with
    /// which the path begins. `None`: neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
}

impl NewRedirect {
    /// The redirect from a normalized path on the host at a position, if the site has several and the
    /// requests named one. `None`: the site has no redirects in the CMS, or `from` cannot name the path.
    pub(super) fn of(
        site: &Site,
        host: Option<usize>,
        path: &str,
        meant: Option<PublicUrl<'_>>,
    ) -> Option<Self> {
        site.redirects.as_ref()?;
        Some(Self {
            from: text_for_path(path)?,
            to: meant.and_then(|url| target(site, host, url)),
            locale: locale(site, host, path),
        })
    }
}

fn target(site: &Site, host: Option<usize>, url: PublicUrl<'_>) -> Option<String> {
    let text = text_for_path(frontend_map_rules::without_trailing_slash(url.path()))?;
    if site.hosts.host_if_several(url.locale()) == host {
        return Some(text);
    }
    Some(site.hosts.base(url.locale())?.as_str().to_owned() + &text)
}

fn locale(site: &Site, host: Option<usize>, path: &str) -> Option<String> {
    let locales = site.rules.locales();
    let is_on_host = |at: &usize| host.is_none() || site.hosts.host_if_several(*at) == host;
    let possible: Vec<usize> = (0..locales.codes().len()).filter(is_on_host).collect();
    let first = path[1..].split('/').next().unwrap_or_default();
    let begins_with =
        || possible.iter().copied().find(|at| locales.as_slice()[*at].segment() == first);
    let at = if let [only] = possible[..] { Some(only) } else { begins_with() }?;
    Some(locales.codes()[at].as_str().to_owned())
}
