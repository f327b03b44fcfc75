//! Drafts by their pathname: the candidates that the CMS has, and which of them has the path.

use super::candidates::Candidates;
use super::from_cms::{Known, log};
use crate::content::{ContentError, Status, Versions};
use crate::http::operations::match_result::{MatchResult, no_match};
use crate::http::response::envelope::HttpResponse;
use crate::http::response::error::ApiError;
use crate::rules::{ContentTypeUid, Locale, Match, Pathname};
use crate::snapshot::{PublicUrl, Snapshot};

const TOO_MANY: ContentError =
    ContentError::Unusable("more than 100 documents that could have this path");

/// Which drafts could have a path: their content type, their locales, and conditions.
type Wanted<'a> = (&'a ContentTypeUid, Vec<Locale>, Candidates);

/// Candidates of which one has the path.
struct Owned<'a> {
    /// The rule for the pathname, of the content type of the candidates.
    found: Match<'a>,
    candidates: Snapshot,
    /// The path of the document.
    path: String,
}

impl Known<'_> {
    /// The draft with this path, of the rules that match with the precedence of the first match. As
    /// for published documents, a path in which only the locale differs from that of a document that
    /// is not localized leads to this document, unless another one has the path.
    pub(super) async fn by_pathname(
        &self,
        pathname: &str,
        locale: Option<&Locale>,
    ) -> Result<HttpResponse, ApiError> {
        let parsed = Pathname::parse(pathname);
        let matches = self.matches(&parsed);
        let Some(first) = matches.first() else {
            return Err(no_match(self.site, pathname, &parsed, false));
        };
        let Some(owned) = self.owned(&matches, first, &parsed).await? else {
            let result = MatchResult::new(self.site, pathname, first, locale);
            let path = parsed.normalized();
            return Ok(self.response(&result, &Snapshot::default(), &path, pathname));
        };
        let Owned { found, candidates, path } = owned;
        let drafts = self.all_drafts(&found.rule.content_type, &candidates, &path).await?;
        let result = MatchResult::new(self.site, pathname, &found, locale);
        Ok(self.response(&result, drafts.as_ref().unwrap_or(&candidates), &path, pathname))
    }

    /// The matches that decide, in the order of the settings; behind them those of other rules of the
    /// first match's type, whose documents may have built the path too.
    fn matches<'p>(&'p self, pathname: &'p Pathname<'_>) -> Vec<Match<'p>> {
        let rules = &self.site.rules;
        let mut matches = rules.ties(pathname);
        if let Some(first) = matches.first() {
            let uid = first.rule.content_type.as_str();
            matches.extend(rules.matches_of_type(pathname, uid));
        }
        matches
    }

    /// The first candidates of which one has the path; if there are none, the first of which one is
    /// not localized and has the path in the site's first locale.
    async fn owned<'p>(
        &'p self,
        matches: &[Match<'p>],
        first: &Match<'p>,
        pathname: &'p Pathname<'_>,
    ) -> Result<Option<Owned<'p>>, ApiError> {
        let rules = &self.site.rules;
        // Of a document that another rule has built, only one of the first match's type counts.
        let rule_of = |url: PublicUrl<'_>| {
            let uid = &rules.rules()[url.rule()].content_type;
            let is_first = first.rule.content_type == *uid;
            rules.tie(pathname, url.rule()).or_else(|| is_first.then(|| first.clone()))
        };
        let (mut tried, mut not_localized) = (Vec::new(), None);
        for found in matches {
            let wanted: Wanted<'_> =
                (&found.rule.content_type, self.locales(found), Candidates::of(found));
            if tried.contains(&wanted) {
                continue;
            }
            let (candidates, are_all) = self.candidates(&wanted).await?;
            let path = pathname.normalized();
            if let Some(found) = candidates.owner(&path).and_then(rule_of) {
                return Ok(Some(Owned { found, candidates, path }));
            }
            let other = rules.in_default_locale(found, pathname).and_then(|path| {
                let url = candidates.owner(&path).filter(|url| !url.is_localized())?;
                Some((rule_of(url)?, path))
            });
            match other {
                // Nor is any other document of the type localized, so that none has the path itself.
                Some((found, path)) => {
                    not_localized.get_or_insert(Owned { found, candidates, path });
                }
                None if are_all => {}
                None => return Err(TOO_MANY.into()),
            }
            tried.push(wanted);
        }
        Ok(not_localized)
    }

    /// The locales that a document with a matching path can have.
    fn locales(&self, found: &Match<'_>) -> Vec<Locale> {
        match (found.locale, found.shared) {
            (Some(locale), _) => vec![locale.code().clone()],
            (None, []) => self.site.rules.locales().codes().to_vec(),
            (None, shared) => shared.to_vec(),
        }
    }

    /// The candidates that the CMS has, and whether these are all.
    async fn candidates(
        &self,
        (uid, locales, candidates): &Wanted<'_>,
    ) -> Result<(Snapshot, bool), ApiError> {
        let documents = &self.app.documents;
        let found = documents.candidates(self.site, uid, candidates.query(), locales).await;
        let Versions { documents, are_all } = found.inspect_err(|error| log(uid, error))?;
        Ok((self.snapshot(uid, documents).await?, are_all))
    }

    /// All drafts of the candidate with this path; `None` if it has changed in between.
    async fn all_drafts(
        &self,
        uid: &ContentTypeUid,
        candidates: &Snapshot,
        path: &str,
    ) -> Result<Option<Snapshot>, ApiError> {
        let id = candidates.owner(path).map(PublicUrl::document_id);
        let all = self.versions(uid, id.unwrap_or_default(), Status::Draft).await?;
        let all = self.snapshot(uid, all).await?;
        let is_same = all.owner(path).map(PublicUrl::document_id) == id;
        Ok(is_same.then_some(all))
    }
}
