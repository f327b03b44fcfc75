//! Drafts whose own path is the pathname (D41).

use super::{Candidates, Known, Owned, ReadCandidates, TOO_MANY, Wanted};
use crate::http::response::error::ApiError;
use frontend_map_catalog::snapshot::PublicUrl;
use frontend_map_rules::{Locale, Match, Pathname};

impl Known<'_> {
    /// The first candidates of which one has the path as its own; and the first of which one is not
    /// localized and has it in the site's first locale.
    pub(super) async fn by_own_path<'p>(
        &'p self,
        read: &mut ReadCandidates<'p>,
        pathname: &'p Pathname<'_>,
        host: Option<usize>,
    ) -> Result<[Option<Owned<'p>>; 2], ApiError> {
        let (rules, path) = (&self.paths.site.rules, pathname.normalized());
        let mut not_localized = None;
        for rule in rules.with_path_field().map(|at| &rules.rules()[at]) {
            for (value, locales) in rules.own_path_values(pathname, rule, |_| true) {
                let locales = self.locales_on(locales, host);
                let wanted: Wanted<'_> =
                    (&rule.content_type, locales, Candidates::with_own_path(rule, &value));
                let (candidates, are_all) = self.candidates(wanted, read).await?;
                let own = candidates.owner_on(&path, host).filter(|url| url.has_own_path());
                if let Some(found) =
                    own.map(|url| self.match_of_own_path(pathname, url, url.locale()))
                {
                    let own = Owned { found, candidates, path, host, is_other_path: false };
                    return Ok([Some(own), None]);
                }
                let mut others = rules.own_paths_in_default_locale(pathname, host);
                let other = others.find_map(|(locale, path)| {
                    let url = candidates.owner_on(&path, candidates.first_host())?;
                    let is_own = url.has_own_path() && !url.is_localized();
                    let has_locale = rules.leads_to_own_path(url.rule(), locale);
                    let found = || self.match_of_own_path(pathname, url, locale);
                    (is_own && has_locale).then(|| (found(), path))
                });
                match other {
                    Some((found, path)) => {
                        let (host, is_other_path) = (candidates.first_host(), true);
                        let own = Owned { found, candidates, path, host, is_other_path };
                        not_localized.get_or_insert(own);
                    }
                    None if are_all => {}
                    None => return Err(TOO_MANY.into()),
                }
            }
        }
        Ok([None, not_localized])
    }

    /// The locales among these that are on the host. If none is, the first: a document that is not
    /// localized is read in any locale.
    fn locales_on(&self, mut locales: Vec<Locale>, host: Option<usize>) -> Vec<Locale> {
        let rules = &self.paths.site.rules;
        let position = |own: &Locale| rules.locales().position(own.as_str());
        let is_on = |own: &Locale| position(own).is_some_and(|at| rules.has_locale_on(at, host));
        if locales.iter().any(is_on) {
            locales.retain(is_on);
        } else {
            locales.truncate(1);
        }
        locales
    }

    fn match_of_own_path<'p>(
        &'p self,
        pathname: &'p Pathname<'_>,
        url: PublicUrl<'_>,
        locale: usize,
    ) -> Match<'p> {
        self.paths.site.rules.own_path_match(pathname, url.rule(), locale)
    }
}
