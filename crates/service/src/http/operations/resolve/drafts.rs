//! Drafts by their pathname: the candidates that the CMS has, and which of them has the path, its own
//! one (D41) or that of its template.

use std::sync::Arc;

use super::candidates::Candidates;
use super::from_cms::Known;
use crate::app::log_unread_documents;
use crate::http::operations::no_match::no_match;
use crate::http::response::envelope::{HttpResponse, success};
use crate::http::response::error::ApiError;
use frontend_map_catalog::resolve::{PathMatch, Requested};
use frontend_map_catalog::snapshot::{PublicUrl, Snapshot};
use frontend_map_cms::{ContentError, Status, Versions};
use frontend_map_rules::{ContentTypeUid, Locale, Match, Pathname};

const TOO_MANY: ContentError =
    ContentError::Unusable("more than 100 documents that could have this path");

/// Which drafts could have a path: their content type, their locales, and conditions.
type Wanted<'a> = (&'a ContentTypeUid, Vec<Locale>, Candidates);

/// The candidates that were read from the CMS: the documents, and whether these are all.
type ReadCandidates<'a> = Vec<(Wanted<'a>, Arc<Snapshot>, bool)>;

/// Candidates of which one has the path.
struct Owned<'a> {
    /// The rule for the pathname, of the content type of the candidates.
    found: Match<'a>,
    candidates: Arc<Snapshot>,
    /// The path of the document.
    path: String,
    /// The host on which the document was searched.
    host: Option<usize>,
    /// Whether the path is that in the site's first locale, of a document that is not localized.
    is_other_path: bool,
}

impl Known<'_> {
    /// The draft with this path: the one whose own path it is, else one of the rules that match with
    /// the precedence of the first match. As for published documents, a path in which only the locale
    /// differs from that of a document that is not localized leads to this document, unless another
    /// one has the path.
    pub(super) async fn by_pathname(
        &self,
        pathname: &str,
        locale: Option<&Locale>,
        host: Option<usize>,
    ) -> Result<HttpResponse, ApiError> {
        let site = self.paths.site;
        let parsed = Pathname::parse(pathname);
        let matches = self.matches(&parsed, host);
        let Some(owned) = self.owned_on_first_host(&parsed, host).await? else {
            let Some(first) = matches.first() else {
                return Err(no_match(site, pathname, &parsed, false));
            };
            let found = PathMatch::new(site, Requested { pathname, locale, host }, first);
            return Ok(success(self.answer(found, None, host)));
        };
        let drafts = self.all_drafts(&owned).await?;
        let Owned { found, candidates, path, host: on, .. } = owned;
        let drafts = drafts.as_ref().unwrap_or(&candidates);
        let url = drafts.owner_on(&path, on);
        let localized = url.filter(|url| url.is_localized());
        let own_host =
            localized.and_then(|url| self.paths.site.hosts.host_if_several(url.locale()));
        let host = host.or(own_host);
        let found = self.paths.site.rules.with_locale_of_host(found, host);
        let found = PathMatch::new(site, Requested { pathname, locale, host }, &found);
        Ok(success(self.answer(found, url, host)))
    }

    /// Without a host in the request, the first of the site's hosts on which a draft has the path.
    async fn owned_on_first_host<'p>(
        &'p self,
        pathname: &'p Pathname<'_>,
        host: Option<usize>,
    ) -> Result<Option<Owned<'p>>, ApiError> {
        let mut hosts = vec![host];
        let is_any_host = host.is_none() && self.paths.site.hosts.are_several();
        if is_any_host {
            hosts = (0..self.paths.site.rules.host_count()).map(Some).collect();
        }
        let (mut read, mut own_not_localized, mut not_localized) = (Vec::new(), None, None);
        for host in hosts {
            let [own, other] = self.by_own_path(&mut read, pathname, host).await?;
            if own.is_some() {
                return Ok(own);
            }
            own_not_localized = own_not_localized.or(other);
            let may_match = |host| self.paths.site.rules.may_match_on(pathname, host);
            if is_any_host && !host.is_some_and(may_match) {
                continue;
            }
            match self.by_template(&mut read, pathname, host).await? {
                Some(owned) if !owned.is_other_path => return Ok(Some(owned)),
                other => not_localized = not_localized.or(other),
            }
        }
        let Some(other_path) = own_not_localized.or(not_localized) else { return Ok(None) };
        let is_hidden = self.is_hidden(&mut read, pathname, host).await?;
        Ok(Some(other_path).filter(|_| !is_hidden))
    }

    /// Whether a draft has a path that a more specific rule hides. Such a path leads to no other draft.
    async fn is_hidden<'p>(
        &'p self,
        read: &mut ReadCandidates<'p>,
        pathname: &'p Pathname<'_>,
        host: Option<usize>,
    ) -> Result<bool, ApiError> {
        for found in self.paths.site.rules.matches(pathname) {
            let found = self.paths.site.rules.with_locale_of_host(found, host);
            let wanted: Wanted<'_> =
                (&found.rule.content_type, self.locales(&found), Candidates::of(&found));
            let (candidates, are_all) = self.candidates(wanted, read).await?;
            if candidates.owner_on(&pathname.normalized(), host).is_some() {
                return Ok(true);
            }
            if !are_all {
                return Err(TOO_MANY.into());
            }
        }
        Ok(false)
    }

    /// The matches that decide, in the order of the settings; behind them those of other rules of the
    /// first match's type, whose documents may have built the path too.
    fn matches<'p>(&'p self, pathname: &'p Pathname<'_>, host: Option<usize>) -> Vec<Match<'p>> {
        let rules = &self.paths.site.rules;
        let mut matches = rules.ties(pathname, host);
        if let Some(first) = matches.first() {
            let uid = first.rule.content_type.as_str();
            matches.extend(rules.matches_of_type(pathname, uid));
        }
        matches
            .into_iter()
            .map(|found| self.paths.site.rules.with_locale_of_host(found, host))
            .collect()
    }

    /// The first candidates of which one has the path; if there are none, the first of which one is
    /// not localized and has the path in the site's first locale.
    async fn by_template<'p>(
        &'p self,
        read: &mut ReadCandidates<'p>,
        pathname: &'p Pathname<'_>,
        host: Option<usize>,
    ) -> Result<Option<Owned<'p>>, ApiError> {
        let rules = &self.paths.site.rules;
        let matches = self.matches(pathname, host);
        let Some(first) = matches.first() else { return Ok(None) };
        // Of a document that another rule has built, only one of the first match's type counts.
        let is_of_first = |url: PublicUrl<'_>| {
            let uid = &rules.rules()[url.rule()].content_type;
            (first.rule.content_type == *uid).then(|| first.clone())
        };
        let match_of = |url: PublicUrl<'_>| {
            let (rule, locale) = (url.rule(), url.locale());
            let of_first =
                || Some(rules.first_for_version(pathname, is_of_first(url)?, rule, locale));
            rules.tie_of_version(pathname, rule, locale, host).or_else(of_first)
        };
        let match_elsewhere = |url: PublicUrl<'_>| {
            rules.tie_on(pathname, url.rule(), host).or_else(|| is_of_first(url))
        };
        let mut not_localized = None;
        for found in &matches {
            let wanted: Wanted<'_> =
                (&found.rule.content_type, self.locales(found), Candidates::of(found));
            let (candidates, are_all) = self.candidates(wanted, read).await?;
            let path = pathname.normalized();
            if let Some(found) = candidates.owner_on(&path, host).and_then(match_of) {
                let path = path.into_owned();
                return Ok(Some(Owned { found, candidates, path, host, is_other_path: false }));
            }
            let other = rules.in_default_locale(found, pathname, host).and_then(|path| {
                let url = candidates.owner_on(&path, candidates.first_host());
                let url = url.filter(|url| !url.is_localized())?;
                Some((match_elsewhere(url)?, path))
            });
            match other {
                // Nor is any other document of the type localized, so that none has the path itself.
                Some((found, path)) => {
                    let (host, is_other_path) = (candidates.first_host(), true);
                    let own = Owned { found, candidates, path, host, is_other_path };
                    not_localized.get_or_insert(own);
                }
                None if are_all => {}
                None => return Err(TOO_MANY.into()),
            }
        }
        Ok(not_localized)
    }

    /// The locales that a document with a matching path can have.
    fn locales(&self, found: &Match<'_>) -> Vec<Locale> {
        match (found.locale, found.shared) {
            (Some(locale), _) => vec![locale.code().clone()],
            (None, []) => self.paths.site.rules.locales().codes().to_vec(),
            (None, shared) => shared.to_vec(),
        }
    }

    /// The candidates that the CMS has, and whether these are all; each is read once.
    async fn candidates<'p>(
        &self,
        wanted: Wanted<'p>,
        read: &mut ReadCandidates<'p>,
    ) -> Result<(Arc<Snapshot>, bool), ApiError> {
        if let Some((_, candidates, are_all)) = read.iter().find(|(own, ..)| *own == wanted) {
            return Ok((Arc::clone(candidates), *are_all));
        }
        let (uid, locales, candidates) = &wanted;
        let documents = &self.app.documents;
        let (alternatives, selection) = candidates.query();
        let found =
            documents.candidates(self.paths.site, uid, alternatives, selection, locales).await;
        let Versions { documents, are_all } =
            found.inspect_err(|error| log_unread_documents(self.app, uid.as_str(), error))?;
        let candidates = Arc::new(self.snapshot(uid, documents).await?);
        read.push((wanted, Arc::clone(&candidates), are_all));
        Ok((candidates, are_all))
    }

    /// All drafts of the candidate with this path; `None` if it has changed in between.
    async fn all_drafts(&self, owned: &Owned<'_>) -> Result<Option<Snapshot>, ApiError> {
        let Owned { found, candidates, path, host, .. } = owned;
        let uid = &found.rule.content_type;
        let id = candidates.owner_on(path, *host).map(PublicUrl::document_id);
        let all = self.versions(uid, id.unwrap_or_default(), Status::Draft).await?;
        let all = self.snapshot(uid, all).await?;
        let is_same = all.owner_on(path, *host).map(PublicUrl::document_id) == id;
        Ok(is_same.then_some(all))
    }
}

impl Known<'_> {
    /// The first candidates of which one has the path as its own; and the first of which one is not
    /// localized and has it in the site's first locale.
    async fn by_own_path<'p>(
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
                    let path = path.into_owned();
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
                        let (path, host) = (path.into_owned(), candidates.first_host());
                        let is_other_path = true;
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
