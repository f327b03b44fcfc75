//! Drafts whose own path is the pathname (D41).

use super::{Candidates, Known, Owned, Read, TOO_MANY, Wanted};
use crate::http::response::error::ApiError;
use crate::rules::{Match, Pathname};
use crate::snapshot::PublicUrl;

impl Known<'_> {
    /// The first candidates of which one has the path as its own; and the first of which one is not
    /// localized and has it in the site's first locale.
    pub(super) async fn with_own_path<'p>(
        &'p self,
        read: &mut Read<'p>,
        pathname: &'p Pathname<'_>,
        host: Option<usize>,
    ) -> Result<[Option<Owned<'p>>; 2], ApiError> {
        let (rules, path) = (&self.site.rules, pathname.normalized());
        let mut not_localized = None;
        for rule in rules.with_path_field().map(|at| &rules.rules()[at]) {
            let is_on_host = |at| host.is_none_or(|host| self.site.hosts.host_of(at) == host);
            for (value, locales) in rules.own_path_values(pathname, rule, is_on_host) {
                let wanted: Wanted<'_> =
                    (&rule.content_type, locales, Candidates::with_own_path(rule, &value));
                let (candidates, are_all) = self.candidates(wanted, read).await?;
                let own = candidates.owner_on(&path, host).filter(|url| url.has_own_path());
                if let Some(found) = own.map(|url| self.own_match(pathname, url, url.locale())) {
                    let own = Owned { found, candidates, path, host, is_elsewhere: false };
                    return Ok([Some(own), None]);
                }
                let other = rules.own_path_in_default_locale(pathname);
                // A path without a locale is the same on the host of the first locale.
                let other = other.or_else(|| host.map(|_| (0, path.clone())));
                let other = other.and_then(|(locale, path)| {
                    let url = candidates.owner_on(&path, candidates.first_host());
                    let url = url.filter(|url| url.has_own_path())?;
                    let found = self.own_match(pathname, url, locale);
                    (!url.is_localized()).then_some((found, path))
                });
                match other {
                    Some((found, path)) => {
                        let (host, is_elsewhere) = (candidates.first_host(), true);
                        let own = Owned { found, candidates, path, host, is_elsewhere };
                        not_localized.get_or_insert(own);
                    }
                    None if are_all => {}
                    None => return Err(TOO_MANY.into()),
                }
            }
        }
        Ok([None, not_localized])
    }

    fn own_match<'p>(
        &'p self,
        pathname: &'p Pathname<'_>,
        url: PublicUrl<'_>,
        locale: usize,
    ) -> Match<'p> {
        self.site.rules.own_path_match(pathname, url.rule(), locale)
    }
}
