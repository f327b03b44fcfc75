//! Gives each link of a table its verdict.

use rustc_hash::FxHashMap;

use super::known_hosts::{AddressTarget, KnownHosts, LinkingVersion, SitePath};
use super::table::{DocumentKey, LinkRow, LinkTable, NOT_LOCALIZED};
use super::verdict::{Target, Verdict, leads_elsewhere, verdict};
use crate::path_index::{DocumentLocation, PathIndex, VersionId};
use crate::resolve::{Found, Resolution};
use crate::site::Site;
use crate::snapshot::PublicUrl;
use frontend_map_rules::{ContentTypeUid, Locale, Pathname, without_trailing_slash};

/// Looks up paths and documents in what is known of the pages of all sites at one moment.
pub trait PageLookup {
    /// The hosts of all sites.
    fn hosts(&self) -> &KnownHosts;

    /// What a pathname of the site at this position resolves to, on a host if it has several; `None`: the
    /// site has no path index.
    fn resolve<'a>(
        &'a self,
        site: usize,
        pathname: &'a Pathname<'_>,
        host: Option<usize>,
    ) -> Option<Resolution<'a, 'a>>;

    /// The path index of that site, if it has one.
    fn index(&self, site: usize) -> Option<&PathIndex>;
}

/// Which links are judged.
#[derive(Clone, Debug, Default)]
pub struct LinkFilter {
    /// Only links in the content of this document.
    pub document_id: Option<String>,
    /// Only links that lead to this pathname of the site: directly, in another spelling or by a redirect.
    pub to: Option<String>,
    /// Only links with one of these verdicts; empty: all links.
    pub verdicts: Vec<Verdict>,
}

/// The links that a filter lets through, in the order of the table.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    pub(super) rows: Vec<JudgedRow>,
    pub(super) outcomes: Vec<Outcome>,
    /// For each verdict of [`Verdict::ALL`], the links of the documents and targets that were asked for.
    pub(super) counts: [usize; Verdict::ALL.len()],
    /// The documents whose links are among the rows.
    pub(super) documents: Vec<DocumentKey>,
}

/// A link.
#[derive(Clone, Copy, Debug)]
pub(super) struct JudgedRow {
    /// The position of the document in [`Judged::documents`].
    pub(super) document: u32,
    /// The position of the link among those of the document.
    pub(super) link: u32,
    pub(super) outcome: u32,
}

/// What was found about an address.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) verdict: Verdict,
    /// Boxed, because there may be a million outcomes, most of them without one.
    pub(super) target: Option<Box<Target>>,
    /// Whether the filter wants links to it.
    is_wanted: bool,
}

impl Judged {
    /// The number of links that lead to no page, among those of the documents and targets that were asked
    /// for.
    pub fn broken(&self) -> usize {
        let of = |verdict: &Verdict| self.counts[verdict.position()];
        Verdict::ALL.iter().filter(|verdict| verdict.is_broken()).map(of).sum()
    }

    /// The number of links with this verdict, among those of the documents and targets that were asked for.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.counts[verdict.position()]
    }
}

/// The verdicts about the links of a site, which is at this position among the sites of its hosts. Links
/// that lead to no site of the settings are left out.
pub fn judge(
    table: &LinkTable,
    pages: &impl PageLookup,
    site: usize,
    filter: &LinkFilter,
) -> Judged {
    let wanted = filter.to.as_deref().map(|to| Pathname::parse(to).normalized().into_owned());
    let mut judge = Judge {
        table,
        pages,
        site,
        own: &pages.hosts().sites()[site],
        wanted: wanted.as_deref(),
        known: FxHashMap::default(),
        own_url: None,
        judged: Judged::default(),
    };
    for (key, rows) in &table.documents {
        if filter.document_id.as_ref().is_some_and(|id| **id != *key.id) {
            continue;
        }
        let before = judge.judged.rows.len();
        for (link, row) in rows.iter().enumerate() {
            judge.add(key, *row, link, &filter.verdicts);
        }
        if judge.judged.rows.len() > before {
            judge.judged.documents.push(key.clone());
        }
    }
    judge.judged
}

/// The URL of the version with a link, whose locale has this position; `None`: it has none, or that is not
/// known.
pub(super) fn url_of<'i>(
    site: &Site,
    index: &'i PathIndex,
    uid: &ContentTypeUid,
    document_id: &str,
    locale: Option<usize>,
) -> Option<PublicUrl<'i>> {
    let locale = site.rules.locales().codes().get(locale.unwrap_or_default())?.as_str();
    let version = VersionId { uid: uid.as_str(), document_id, locale };
    let host = |locale| site.hosts.host_if_several(locale);
    match index.locate(&site.rules, version, host) {
        DocumentLocation::At { url, .. } => Some(url),
        DocumentLocation::None | DocumentLocation::NotKnown(_) => None,
    }
}

struct Judge<'w, W> {
    table: &'w LinkTable,
    pages: &'w W,
    site: usize,
    own: &'w Site,
    /// The normalized path that links have to lead to.
    wanted: Option<&'w str>,
    /// The outcomes of addresses that depend on no URL of a document, by address and locale; `None`: it
    /// leads to no site.
    known: FxHashMap<(u32, u16), Option<u32>>,
    /// The URL of the version whose links are judged: its document and locale.
    own_url: Option<(&'w DocumentKey, u16, Option<PublicUrl<'w>>)>,
    judged: Judged,
}

impl<'w, W: PageLookup> Judge<'w, W> {
    fn add(&mut self, key: &'w DocumentKey, row: LinkRow, link: usize, verdicts: &[Verdict]) {
        let Some(outcome) = self.outcome_of(key, row) else { return };
        let own = &self.judged.outcomes[outcome as usize];
        if !own.is_wanted {
            return;
        }
        self.judged.counts[own.verdict.position()] += 1;
        if (verdicts.is_empty() || verdicts.contains(&own.verdict))
            && let Ok(document) = u32::try_from(self.judged.documents.len())
            && let Ok(link) = u32::try_from(link)
        {
            self.judged.rows.push(JudgedRow { document, link, outcome });
        }
    }

    /// The position of the outcome of a link.
    fn outcome_of(&mut self, key: &'w DocumentKey, row: LinkRow) -> Option<u32> {
        if let Some(known) = self.known.get(&(row.address, row.locale)) {
            return *known;
        }
        let locale = (row.locale != NOT_LOCALIZED).then_some(usize::from(row.locale));
        let version = LinkingVersion { site: self.site, locale, path: None };
        let address = self.table.texts.get(row.address);
        let place = self.pages.hosts().locate(address, version);
        if place != AddressTarget::NotKnown {
            let outcome = self.judge(place, locale);
            self.known.insert((row.address, row.locale), outcome);
            return outcome;
        }
        let url = match self.own_url {
            Some((of, locale, url)) if std::ptr::eq(of, key) && locale == row.locale => url,
            _ => {
                let uid = &self.own.links.get(usize::from(key.content_type))?.content_type;
                let index = self.pages.index(self.site);
                let url = index.and_then(|index| url_of(self.own, index, uid, &key.id, locale));
                self.own_url = Some((key, row.locale, url));
                url
            }
        };
        let version = LinkingVersion { path: url.map(PublicUrl::path), ..version };
        self.judge(self.pages.hosts().locate(address, version), locale)
    }

    fn judge(&mut self, place: AddressTarget<'_>, locale: Option<usize>) -> Option<u32> {
        let outcome = match place {
            AddressTarget::Outside => return None,
            AddressTarget::NotKnown => Outcome {
                verdict: Verdict::Unknown,
                target: None,
                is_wanted: self.wanted.is_none(),
            },
            AddressTarget::At(place) => self.at(&place, locale),
        };
        let at = u32::try_from(self.judged.outcomes.len()).ok()?;
        self.judged.outcomes.push(outcome);
        Some(at)
    }

    fn at(&self, place: &SitePath<'_>, locale: Option<usize>) -> Outcome {
        let code = locale.and_then(|locale| self.own.rules.locales().codes().get(locale));
        let code = code.map(Locale::as_str);
        let (verdict, target) = self.found(place, code);
        let is_wanted = self.wanted.is_none_or(|wanted| {
            let target = target.as_ref().filter(|target| target.is_reached);
            let target = target.map(|target| without_trailing_slash(&target.path));
            let is_target = target == Some(wanted);
            place.site == self.site
                && (is_target || Pathname::parse(&place.path).normalized() == wanted)
        });
        Outcome { verdict, target: target.map(Box::new), is_wanted }
    }

    fn found(&self, place: &SitePath<'_>, code: Option<&str>) -> (Verdict, Option<Target>) {
        let (found, leads_elsewhere) = self.found_directly(place, code);
        let (Verdict::Moved, Some(target)) = &found else { return found };
        if !leads_elsewhere {
            return found;
        }
        // Redirects are followed to their end: what is there decides whether the link is broken.
        let address = target.url.as_deref().unwrap_or(&target.path);
        let version = LinkingVersion { site: place.site, locale: None, path: None };
        let AddressTarget::At(end) = self.pages.hosts().locate(address, version) else {
            return found;
        };
        match self.found_directly(&end, None).0.0 {
            verdict @ (Verdict::NoSuchPage | Verdict::Unknown) => (verdict, found.1),
            _ => found,
        }
    }

    /// The verdict about a path, and whether a redirect of the CMS leads from it to an address that is not
    /// that of a document or a page of the site.
    fn found_directly(
        &self,
        place: &SitePath<'_>,
        code: Option<&str>,
    ) -> ((Verdict, Option<Target>), bool) {
        let site = &self.pages.hosts().sites()[place.site];
        let pathname = Pathname::parse(&place.path);
        let Some(resolution) = self.pages.resolve(place.site, &pathname, place.host) else {
            return ((Verdict::Unknown, None), false);
        };
        let found = verdict(site, place, &resolution, code);
        if found.0 != Verdict::NoSuchPage || !place.path.contains(|c: char| c.is_ascii_uppercase())
        {
            return (found, leads_elsewhere(&resolution));
        }
        // Some servers and databases do not tell the letter cases apart.
        let lower = SitePath { path: place.path.to_ascii_lowercase().into(), ..place.clone() };
        let pathname = Pathname::parse(&lower.path);
        let resolution = self.pages.resolve(place.site, &pathname, place.host);
        let live = resolution.and_then(|resolution| match resolution.found {
            Found::Page(url) | Found::Rule { document: Some(url), .. } => Some((url, resolution)),
            _ => None,
        });
        let Some((url, resolution)) = live else { return (found, false) };
        let found = match verdict(site, &lower, &resolution, code) {
            (Verdict::OtherLocale, target) => (Verdict::OtherLocale, target),
            _ => (Verdict::NotCanonical, Some(Target::of(site, url))),
        };
        (found, false)
    }
}
