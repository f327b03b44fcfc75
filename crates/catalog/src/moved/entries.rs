//! Redirects that are documents of the CMS: the entry for a path, and where its visitors are sent. A
//! target is followed until it is a page, so that a redirect is one hop and never a loop.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use crate::moved::redirects::{
    FormerOwner, Redirect as FormerPath, SiteHistory, former_owner, is_live,
};
use crate::path_index::{DocumentLocation, PathIndex, TypePaths, VersionId};
use crate::resolve::page;
use crate::site::Site;
use crate::snapshot::{PublicUrl, Snapshot};
use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{
    ContentTypeUid, ENCODED_REST, PathSegment, Pathname, Redirect, Target, without_trailing_slash,
};

/// The most addresses that are followed. A longer chain counts as a loop.
const MAX_HOPS: usize = 10;

/// The longest target, in bytes, with what a path for all below it takes over.
const MAX_TARGET: usize = 8 * 1024;

/// The entries of a site as far as they are known.
#[derive(Clone, Copy, Debug)]
pub struct RedirectEntries<'i> {
    /// The index of their paths: [`Site::redirects`] has their content types.
    pub index: &'i PathIndex,
}

/// What decides where an entry leads.
#[derive(Clone, Copy, Debug)]
pub struct RedirectWorld<'i> {
    /// The site.
    pub site: &'i Site,
    /// Its documents.
    pub index: &'i PathIndex,
    /// Its entries.
    pub entries: RedirectEntries<'i>,
    /// The paths that its documents had.
    pub history: Option<SiteHistory<'i>>,
    /// The status of redirects that have none of their own.
    pub status: u16,
}

/// What the entries say of a path.
#[derive(Clone, Debug)]
pub enum EntryLookup<'i> {
    /// Nothing.
    None,
    /// This entry is for the path.
    Found(FoundEntry<'i>),
    /// It depends on the documents of this content type, which are not known.
    NotKnown(ContentTypeUid),
}

/// The entry for a path.
#[derive(Clone, Debug)]
pub struct FoundEntry<'i> {
    /// The entry, which owns its path among the entries.
    pub entry: PublicUrl<'i>,
    redirect: Redirect<'i>,
    /// What is behind the path of an entry for all paths below; empty for the path itself.
    rest: String,
    /// Whether its snapshot is stale.
    is_stale: bool,
}

/// Where an entry leads.
#[derive(Clone, Debug)]
pub enum EntryOutcome<'i> {
    /// To one target, or to none because the page is gone.
    Leads(EntryRedirect<'i>),
    /// It depends on the documents of this content type, which are not known.
    NotKnown(ContentTypeUid),
    /// Back to where it begins, or through too many others.
    Loop,
    /// To a document that is not published.
    NoTarget,
}

/// The redirect of an entry.
#[derive(Clone, Debug)]
pub struct EntryRedirect<'i> {
    /// The entry.
    pub entry: PublicUrl<'i>,
    /// The target; `None`: the page is gone (410).
    pub destination: Option<Destination<'i>>,
    /// Query and fragment of the target; may be empty.
    pub suffix: String,
    /// The status. One of a chain is temporary if one of its links is.
    pub status: u16,
    /// Whether this depends on a stale snapshot.
    pub is_stale: bool,
}

/// The target of a redirect.
#[derive(Clone, Debug)]
pub enum Destination<'i> {
    /// A document.
    Document(PublicUrl<'i>),
    /// A page outside the CMS.
    Page(PublicUrl<'i>),
    /// A path of the site at which neither the CMS nor the settings have a page, with the position of a
    /// locale that is on its host.
    Path {
        /// The path.
        path: String,
        /// The position of the locale.
        locale: usize,
    },
    /// A URL of another host.
    Url(String),
}

/// A row of the table of redirects.
#[derive(Debug)]
pub struct EntryRow<'i> {
    /// The path; one that ends with `/*` stands for all paths below.
    pub from: String,
    /// The URL of the target; `None` without one, or without a base URL.
    pub to: Option<String>,
    /// The path of the target on its host; `None` without one.
    pub path: Option<String>,
    /// The status.
    pub status: u16,
    /// The document of the target.
    pub document: Option<PublicUrl<'i>>,
    /// Whether it comes before a live page.
    pub is_forced: bool,
}

/// Why an entry does not do what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryFault {
    /// A live page has its path.
    Shadowed,
    /// It comes before a live page.
    HidesPage,
    /// It leads back to where it begins, or through too many others.
    Loop,
    /// It leads to a document that is not published.
    NoTarget,
}

/// Where an address leads.
enum Place {
    Outside(String),
    /// A path on a host, if the site has several, with query and fragment.
    Here {
        path: String,
        host: Option<usize>,
        suffix: String,
    },
}

impl<'i> RedirectEntries<'i> {
    /// The entry for a path: the one with this path, else the one for all paths below the longest
    /// beginning of it.
    pub fn find(&self, pathname: &Pathname<'_>, host: Option<usize>) -> EntryLookup<'i> {
        let path = pathname.normalized();
        // A path that ends with `*` is not that of the entry for all paths below.
        let is_plain = !path.ends_with(ENCODED_REST);
        if let Some(found) = is_plain.then(|| self.at(&path, host, "")).flatten() {
            return EntryLookup::Found(found);
        }
        let mut unknown = self.index.types().filter(|(_, paths)| paths.snapshot().is_none());
        if let Some((uid, _)) = unknown.next() {
            return EntryLookup::NotKnown(uid.clone());
        }
        // What no rule matches, such as `..`, must not get into a target.
        let is_unmatchable = |segment| matches!(segment, PathSegment::Unmatchable(_));
        let snapshots = self.index.types().filter_map(|(_, paths)| paths.snapshot());
        let deepest = snapshots.filter_map(|snapshot| snapshot.deepest_wildcard()).max();
        let Some(deepest) = deepest.filter(|_| !pathname.segments().any(is_unmatchable)) else {
            return EntryLookup::None;
        };
        let path_of_root = if path == "/" { "" } else { &*path };
        let end =
            path_of_root.match_indices('/').nth(deepest).map_or(path_of_root.len(), |at| at.0);
        let mut beginning = &path_of_root[..end];
        loop {
            let rest = path.strip_prefix(beginning).filter(|rest| *rest != "/").unwrap_or_default();
            if let Some(found) = self.at(&(beginning.to_owned() + ENCODED_REST), host, rest) {
                return EntryLookup::Found(found);
            }
            match beginning.rfind('/') {
                Some(at) => beginning = &beginning[..at],
                None => return EntryLookup::None,
            }
        }
    }

    /// The entry for a path that comes before a live page.
    pub fn find_forced(
        &self,
        pathname: &Pathname<'_>,
        host: Option<usize>,
    ) -> Option<FoundEntry<'i>> {
        if !self.have_forced() {
            return None;
        }
        match self.find(pathname, host) {
            EntryLookup::Found(found) if found.redirect.force => Some(found),
            EntryLookup::Found(_) | EntryLookup::None | EntryLookup::NotKnown(_) => None,
        }
    }

    /// The entry with this path. One that is not localized is for all hosts.
    fn at(self, path: &str, host: Option<usize>, rest: &str) -> Option<FoundEntry<'i>> {
        self.index.types().find_map(|(_, paths)| {
            let snapshot = paths.snapshot()?;
            let for_all = || {
                let entry = snapshot.owner_on(path, snapshot.first_host());
                entry.filter(|entry| !entry.is_localized())
            };
            let entry = snapshot.owner_on(path, host).or_else(for_all)?;
            let redirect = entry.redirect()?;
            let is_stale = matches!(paths, TypePaths::Stale(_));
            Some(FoundEntry { entry, redirect, rest: rest.to_owned(), is_stale })
        })
    }

    /// Whether an entry comes before a live page.
    pub fn have_forced(&self) -> bool {
        let mut snapshots = self.index.types().filter_map(|(_, paths)| paths.snapshot());
        snapshots.any(|snapshot| snapshot.has_forced_redirect())
    }

    /// The entries that come before a live page.
    pub(crate) fn forced(self) -> impl Iterator<Item = PublicUrl<'i>> + use<'i> {
        let snapshots = self.index.types().filter_map(|(_, paths)| paths.snapshot());
        let snapshots = snapshots.filter(|snapshot| snapshot.has_forced_redirect());
        let is_forced =
            |entry: &PublicUrl<'_>| entry.redirect().is_some_and(|redirect| redirect.force);
        snapshots.flat_map(|snapshot| snapshot.owners()).filter(is_forced)
    }

    /// All entries, each for its path.
    pub fn all(&self) -> impl Iterator<Item = PublicUrl<'i>> + use<'i> {
        let snapshots = self.index.types().filter_map(|(_, paths)| paths.snapshot());
        snapshots.flat_map(|snapshot| snapshot.owners())
    }
}

impl<'i> RedirectWorld<'i> {
    /// What the entries say of a path that no document has. An entry that leads nowhere says nothing.
    pub fn former_owner(&self, pathname: &Pathname<'_>, host: Option<usize>) -> FormerOwner<'i> {
        match self.entries.find(pathname, host) {
            EntryLookup::Found(found) => self.follow(found, pathname, host).into(),
            EntryLookup::NotKnown(uid) => FormerOwner::NotKnown(uid),
            EntryLookup::None => FormerOwner::None,
        }
    }

    /// What an entry says that comes before a live page.
    pub fn forced(&self, pathname: &Pathname<'_>, host: Option<usize>) -> FormerOwner<'i> {
        let found = self.entries.find_forced(pathname, host);
        found.map_or(FormerOwner::None, |found| self.follow(found, pathname, host).into())
    }

    /// Where a former path leads whose document is now at `moved.to`: there, or where the entry leads that
    /// comes before that page.
    pub fn of_former_path(
        &self,
        moved: FormerPath<'i>,
        pathname: &Pathname<'_>,
        host: Option<usize>,
    ) -> FormerOwner<'i> {
        let to = Pathname::parse(moved.to.path());
        let host_of_page = self.site.hosts.host_if_several(moved.to.locale());
        let Some(forced) = self.entries.find_forced(&to, host_of_page) else {
            return FormerOwner::Moved(moved);
        };
        let mut redirect = EntryRedirect::begin(&forced, self.status);
        redirect.is_stale |= moved.is_stale;
        redirect.status = self.status;
        redirect.follow(forced.redirect.status.unwrap_or(self.status));
        let begun = vec![
            (pathname.normalized().into_owned(), host),
            (to.normalized().into_owned(), host_of_page),
        ];
        match self.follow_on(forced, redirect, begun, host_of_page) {
            EntryOutcome::Leads(redirect) => FormerOwner::Entry(redirect),
            EntryOutcome::NotKnown(uid) => FormerOwner::NotKnown(uid),
            // The page is shown.
            EntryOutcome::Loop | EntryOutcome::NoTarget => FormerOwner::Moved(moved),
        }
    }

    /// The redirect that hides a live page, whose visitors never see it.
    pub fn hides(&self, page: PublicUrl<'_>) -> Option<EntryRedirect<'i>> {
        if !self.entries.have_forced() {
            return None;
        }
        let host = self.site.hosts.host_if_several(page.locale());
        match self.forced(&Pathname::parse(page.path()), host) {
            FormerOwner::Entry(redirect) => Some(redirect),
            _ => None,
        }
    }

    /// The row of an entry on a host, if the site has several; `None`: a live page comes before it, or it
    /// leads nowhere.
    pub fn row(&self, entry: PublicUrl<'i>, host: Option<usize>) -> Option<EntryRow<'i>> {
        let own = FoundEntry::of(entry)?;
        let from = as_written(entry.path());
        // Another one may have the path on this host.
        let owner = self.entries.at(entry.path(), host, "")?.entry;
        let id = |entry: PublicUrl<'i>| (entry.document_id(), entry.locale(), entry.rule());
        if id(owner) != id(entry) {
            return None;
        }
        if self.is_shadowed(&own, host) {
            return None;
        }
        let pathname = Pathname::parse(entry.path());
        let EntryOutcome::Leads(redirect) = self.follow(own, &pathname, host) else { return None };
        let document = redirect.document();
        let [to, path] = [redirect.url(self.site), redirect.path()]
            .map(|text| text.map(|text| as_written(&text)));
        let is_forced = entry.redirect().is_some_and(|redirect| redirect.force);
        Some(EntryRow { from, to, path, status: redirect.status, document, is_forced })
    }

    /// Why an entry does not do what it says on the host of its locale; `None`: it does.
    pub fn fault(&self, entry: PublicUrl<'i>) -> Option<EntryFault> {
        let (own, host) = (FoundEntry::of(entry)?, self.host_of_entry(entry));
        if self.is_shadowed(&own, host) {
            return Some(EntryFault::Shadowed);
        }
        let hides = own.redirect.force && self.is_live_on_a_host(entry);
        match self.follow(own, &Pathname::parse(entry.path()), host) {
            EntryOutcome::Loop => Some(EntryFault::Loop),
            EntryOutcome::NoTarget => Some(EntryFault::NoTarget),
            EntryOutcome::Leads(_) if hides => Some(EntryFault::HidesPage),
            EntryOutcome::Leads(_) | EntryOutcome::NotKnown(_) => None,
        }
    }

    /// Whether a page has the path of an entry on one of the hosts that the entry is for.
    fn is_live_on_a_host(&self, entry: PublicUrl<'_>) -> bool {
        hosts_of_entry(&self.site.hosts, entry).any(|host| self.is_live(entry, host))
    }

    /// The pages of a snapshot that entries for all paths below one hide, each with its entry.
    pub(crate) fn hidden_below<'p>(
        &self,
        pages: &'p Snapshot,
    ) -> impl Iterator<Item = (PublicUrl<'p>, PublicUrl<'i>)> {
        let start = |entry: PublicUrl<'i>| entry.path().strip_suffix(ENCODED_REST);
        let starts: HashSet<&str> = self.entries.forced().filter_map(start).collect();
        // Each beginning is looked up, because there may be as many entries as pages.
        let is_below = move |page: &PublicUrl<'_>| {
            let path = page.normalized_path();
            let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
            ends.into_iter().any(|end| starts.contains(&path[..end]))
        };
        let pages = pages.listed().chain(pages.unlisted()).filter(is_below);
        pages.filter_map(|page| {
            let entry = self.hides(page)?.entry;
            entry.path().ends_with(ENCODED_REST).then_some((page, entry))
        })
    }

    fn is_shadowed(&self, found: &FoundEntry<'_>, host: Option<usize>) -> bool {
        !found.redirect.force && self.is_live(found.entry, host)
    }

    /// Whether a page has the path of an entry.
    fn is_live(&self, entry: PublicUrl<'_>, host: Option<usize>) -> bool {
        !entry.path().ends_with(ENCODED_REST) && is_live(self.site, self.index, entry.path(), host)
    }

    /// Where the entry for a path leads.
    pub fn follow(
        &self,
        found: FoundEntry<'i>,
        pathname: &Pathname<'_>,
        host: Option<usize>,
    ) -> EntryOutcome<'i> {
        let redirect = EntryRedirect::begin(&found, self.status);
        self.follow_on(found, redirect, vec![(pathname.normalized().into_owned(), host)], host)
    }

    /// Follows an entry from the last of the places that a visitor has passed: each a path on a host, if the
    /// site has several. Only the first may be without a host: it stands for the path on each.
    fn follow_on(
        &self,
        found: FoundEntry<'i>,
        mut redirect: EntryRedirect<'i>,
        mut passed: Vec<(String, Option<usize>)>,
        mut host: Option<usize>,
    ) -> EntryOutcome<'i> {
        let begun = passed.len();
        let without_entry = |passed: &[(String, Option<usize>)], at, redirect, otherwise| {
            // An entry that leads nowhere itself says nothing.
            if at < begun {
                otherwise
            } else {
                self.without_entry(&passed[at], redirect, otherwise)
            }
        };
        let mut next = Next::Entry(found);
        loop {
            let (path, document) = match next {
                Next::Moved(moved) => {
                    redirect.is_stale |= moved.is_stale;
                    host = self.site.hosts.host_if_several(moved.to.locale());
                    (moved.to.path().to_owned(), Some(moved.to))
                }
                Next::Entry(current) => match &current.redirect.target {
                    Target::Gone => {
                        let status = current.redirect.status.unwrap_or(self.status);
                        return EntryOutcome::Leads(EntryRedirect { status, ..redirect });
                    }
                    Target::Document(id) => match self.locate(id, current.entry, host) {
                        DocumentLocation::None => {
                            let last = passed.len() - 1;
                            return without_entry(&passed, last, redirect, EntryOutcome::NoTarget);
                        }
                        DocumentLocation::NotKnown(uid) => return EntryOutcome::NotKnown(uid),
                        DocumentLocation::At { url, is_stale } => {
                            redirect.is_stale |= is_stale;
                            host = self.site.hosts.host_if_several(url.locale());
                            (url.path().to_owned(), Some(url))
                        }
                    },
                    Target::Address(address) => {
                        let own_host = host.or(self.host_of_entry(current.entry));
                        match self.place(with_rest(address, &current.rest), own_host) {
                            Place::Outside(url) => {
                                if url.contains(['?', '#']) {
                                    redirect.suffix.clear();
                                }
                                redirect.destination = Some(Destination::Url(url));
                                return EntryOutcome::Leads(redirect);
                            }
                            Place::Here { path, host: on, suffix } => {
                                host = on;
                                if !suffix.is_empty() {
                                    redirect.suffix = suffix;
                                }
                                (path, None)
                            }
                        }
                    }
                },
            };
            let pathname = Pathname::parse(&path);
            let place = (pathname.normalized().into_owned(), host);
            let is_same = |passed: &(String, Option<usize>)| {
                passed.0 == place.0 && (passed.1 == place.1 || passed.1.is_none())
            };
            if let Some(at) = passed.iter().position(is_same) {
                return without_entry(&passed, at, redirect, EntryOutcome::Loop);
            }
            if passed.len() > MAX_HOPS || path.len() > MAX_TARGET {
                return EntryOutcome::Loop;
            }
            passed.push(place);
            let forced = self.entries.find_forced(&pathname, host);
            let found = match forced.filter(|next| !next.leads_to(&path)) {
                Some(entry) => Ok(Next::Entry(entry)),
                None => self.end(&pathname, host, document, &path),
            };
            next = match found {
                Ok(next) => next,
                Err(End::At { destination, is_stale }) => {
                    redirect.is_stale |= is_stale;
                    redirect.destination = Some(destination);
                    return EntryOutcome::Leads(redirect);
                }
                Err(End::NoTarget) => return EntryOutcome::NoTarget,
                Err(End::NotKnown(uid)) => return EntryOutcome::NotKnown(uid),
            };
            match &next {
                Next::Entry(entry) => {
                    redirect.is_stale |= entry.is_stale;
                    redirect.follow(entry.redirect.status.unwrap_or(self.status));
                }
                Next::Moved(_) => redirect.follow(self.status),
            }
        }
    }

    /// The end of a chain at a place whose entry leads nowhere: the page there, or `otherwise`.
    fn without_entry(
        &self,
        (path, host): &(String, Option<usize>),
        redirect: EntryRedirect<'i>,
        otherwise: EntryOutcome<'i>,
    ) -> EntryOutcome<'i> {
        match self.page_at(&Pathname::parse(path), *host) {
            Some(End::At { destination, is_stale, .. }) => {
                let destination = Some(destination);
                let is_stale = redirect.is_stale || is_stale;
                EntryOutcome::Leads(EntryRedirect { destination, is_stale, ..redirect })
            }
            Some(End::NotKnown(uid)) => EntryOutcome::NotKnown(uid),
            Some(End::NoTarget) | None => otherwise,
        }
    }

    /// The live page at a path.
    fn page_at(&self, pathname: &Pathname<'_>, host: Option<usize>) -> Option<End<'i>> {
        let at = |destination, is_stale| End::At { destination, is_stale };
        if let Some(page) = page(self.site, pathname, host) {
            return Some(at(Destination::Page(page), false));
        }
        let decision = self.index.decide(&self.site.rules, pathname, host)?;
        if let Some(uid) = decision.basis.unknown_type() {
            return Some(End::NotKnown(uid.clone()));
        }
        let is_stale = decision.basis.is_stale();
        decision.owner.map(|owner| at(Destination::Document(owner), is_stale))
    }

    /// What is at a path: the next entry, or the end.
    fn end(
        &self,
        pathname: &Pathname<'_>,
        host: Option<usize>,
        document: Option<PublicUrl<'i>>,
        path: &str,
    ) -> Result<Next<'i>, End<'i>> {
        let at = |destination| End::At { destination, is_stale: false };
        if let Some(document) = document {
            return Err(at(Destination::Document(document)));
        }
        if let Some(end) = self.page_at(pathname, host) {
            return Err(end);
        }
        match self.entries.find(pathname, host) {
            EntryLookup::Found(next) if !next.leads_to(path) => return Ok(Next::Entry(next)),
            EntryLookup::NotKnown(uid) => return Err(End::NotKnown(uid)),
            // An entry that leads to itself says nothing.
            EntryLookup::Found(_) | EntryLookup::None => {}
        }
        let former = self.history.map_or(FormerOwner::None, |history| {
            former_owner(history, self.site, self.index, pathname, host)
        });
        Err(match former {
            FormerOwner::Moved(moved) => return Ok(Next::Moved(moved)),
            FormerOwner::Gone { .. } => End::NoTarget,
            FormerOwner::NotKnown(uid) => End::NotKnown(uid),
            FormerOwner::None | FormerOwner::Entry(_) => at(self.unknown_page(path, host)),
        })
    }

    /// A path at which the frontend may have a page of its own.
    fn unknown_page(&self, path: &str, host: Option<usize>) -> Destination<'i> {
        let locale = host.and_then(|host| self.site.hosts.locales_of(host).next());
        Destination::Path { path: path.to_owned(), locale: locale.unwrap_or_default() }
    }

    /// Where the target document of an entry is, in the locale of the entry. For an entry that is not
    /// localized: in the locale that its path begins with, else in one of the requested host, else in the
    /// first one that the document has.
    fn locate(
        &self,
        document_id: &str,
        entry: PublicUrl<'_>,
        host: Option<usize>,
    ) -> DocumentLocation<'i> {
        let locales = self.site.rules.locales();
        let codes = locales.codes();
        let begins_with = || {
            let first = entry.path()[1..].split('/').next().unwrap_or_default();
            locales.as_slice().iter().position(|locale| locale.segment() == first)
        };
        let first = if entry.is_localized() { Some(entry.locale()) } else { begins_with() };
        let of_host = host.into_iter().flat_map(|host| self.site.hosts.locales_of(host));
        let others =
            of_host.chain(0..codes.len()).filter(|at| !entry.is_localized() && Some(*at) != first);
        let mut unknown = None;
        for locale in first.into_iter().chain(others) {
            for (uid, _) in self.index.types() {
                let locale = codes[locale].as_str();
                let version = VersionId { uid: uid.as_str(), document_id, locale };
                let host = |locale| self.site.hosts.host_if_several(locale);
                match self.index.locate(&self.site.rules, version, host) {
                    DocumentLocation::None => {}
                    DocumentLocation::NotKnown(uid) => unknown = unknown.or(Some(uid)),
                    at @ DocumentLocation::At { .. } => return at,
                }
            }
        }
        unknown.map_or(DocumentLocation::None, DocumentLocation::NotKnown)
    }

    fn host_of_entry(&self, entry: PublicUrl<'_>) -> Option<usize> {
        self.site.hosts.host_if_several(entry.locale())
    }

    /// Where an address leads from a host. The URL of one of the site's hosts, with any scheme, is a path
    /// on it.
    fn place(&self, address: String, host: Option<usize>) -> Place {
        let here = |path: &str, host| {
            let (path, suffix) = split_suffix(path);
            let path = if path.is_empty() { "/" } else { path };
            Place::Here { path: path.to_owned(), host, suffix: suffix.to_owned() }
        };
        if address.starts_with('/') {
            return here(&address, host);
        }
        let own = self.site.hosts.all().iter().enumerate().find_map(|(at, own)| {
            let rest = without_scheme(&address).strip_prefix(without_scheme(own.base.as_str()))?;
            let is_below = rest.is_empty() || rest.starts_with(['/', '?', '#']);
            is_below.then_some((at, rest))
        });
        match own {
            Some((at, path)) => here(path, self.site.hosts.are_several().then_some(at)),
            None => Place::Outside(address),
        }
    }
}

/// What leads on from a place.
enum Next<'i> {
    Entry(FoundEntry<'i>),
    /// A former path of a document.
    Moved(FormerPath<'i>),
}

/// Where the following of an entry ends.
enum End<'i> {
    At { destination: Destination<'i>, is_stale: bool },
    NoTarget,
    NotKnown(ContentTypeUid),
}

impl<'i> From<EntryOutcome<'i>> for FormerOwner<'i> {
    fn from(outcome: EntryOutcome<'i>) -> Self {
        match outcome {
            EntryOutcome::Leads(redirect) => Self::Entry(redirect),
            EntryOutcome::NotKnown(uid) => Self::NotKnown(uid),
            EntryOutcome::Loop | EntryOutcome::NoTarget => Self::None,
        }
    }
}

impl Destination<'_> {
    /// Its path on its host, without query and fragment; those of the URL of another host are in it.
    pub fn path(&self) -> &str {
        match self {
            Self::Document(url) | Self::Page(url) => url.path(),
            Self::Path { path, .. } => path,
            Self::Url(url) => path_of_url(url),
        }
    }

    /// The position of a locale that is on its host.
    pub fn locale(&self) -> Option<usize> {
        match self {
            Self::Document(url) | Self::Page(url) => Some(url.locale()),
            Self::Path { locale, .. } => Some(*locale),
            Self::Url(_) => None,
        }
    }

    /// The document.
    pub fn document(&self) -> Option<PublicUrl<'_>> {
        match self {
            Self::Document(url) => Some(*url),
            Self::Page(_) | Self::Path { .. } | Self::Url(_) => None,
        }
    }
}

impl<'i> EntryRedirect<'i> {
    /// Before the entry is followed.
    fn begin(found: &FoundEntry<'i>, status: u16) -> Self {
        Self {
            entry: found.entry,
            destination: None,
            suffix: String::new(),
            status: found.redirect.status.unwrap_or(status),
            is_stale: found.is_stale,
        }
    }

    /// The document of the target.
    pub(crate) fn document(&self) -> Option<PublicUrl<'i>> {
        match self.destination {
            Some(Destination::Document(url)) => Some(url),
            _ => None,
        }
    }
}

impl EntryRedirect<'_> {
    /// The URL of the target; `None` without a target, or without a base URL.
    pub fn url(&self, site: &Site) -> Option<String> {
        let url = match self.destination.as_ref()? {
            Destination::Url(url) => url.clone(),
            on_site => site.hosts.url(on_site.locale()?, on_site.path())?,
        };
        Some(url + &self.suffix)
    }

    /// The path of the target on its host, with query and fragment.
    pub fn path(&self) -> Option<String> {
        Some(self.destination.as_ref()?.path().to_owned() + &self.suffix)
    }
}

impl EntryRedirect<'_> {
    /// Follows another redirect with this status.
    fn follow(&mut self, status: u16) {
        let is_temporary = |status| matches!(status, 302 | 307);
        if is_temporary(status) && !is_temporary(self.status) {
            // 308 and 307 keep the method of the request (RFC 9110, section 15.4).
            self.status = if self.status == 308 { 307 } else { 302 };
        }
    }
}

impl<'i> FoundEntry<'i> {
    /// An entry as one that was found by its path.
    fn of(entry: PublicUrl<'i>) -> Option<Self> {
        let redirect = entry.redirect()?;
        // For all paths below: each rest.
        let is_for_all = entry.path().ends_with(ENCODED_REST);
        let rest = if is_for_all { ENCODED_REST.to_owned() } else { String::new() };
        Some(Self { entry, redirect, rest, is_stale: false })
    }

    /// Whether the target of an entry is this path, as where `/a/*` leads to `/a/b`.
    fn leads_to(&self, path: &str) -> bool {
        let Target::Address(address) = &self.redirect.target else { return false };
        let address = with_rest(address, &self.rest);
        without_trailing_slash(&address) == without_trailing_slash(path)
    }
}

/// The hosts that an entry is for, as [`RedirectWorld::row`] takes them: that of its locale, or all of
/// them if it is not localized; one `None` if the site has one host.
pub fn hosts_of_entry(
    hosts: &Hosts,
    entry: PublicUrl<'_>,
) -> impl Iterator<Item = Option<usize>> + use<> {
    let several = hosts.are_several();
    let all = if several && !entry.is_localized() { 0..hosts.all().len() } else { 0..0 };
    let own = entry.is_localized() || !several;
    let own = own.then(|| hosts.host_if_several(entry.locale()));
    own.into_iter().chain(all.map(Some))
}

/// A URL from its path on; a path as it is.
fn path_of_url(url: &str) -> &str {
    let rest = without_scheme(url);
    rest.find('/').map_or("/", |at| &rest[at..])
}

fn without_scheme(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

/// A path or URL with the `*` that an editor has written at the end of its path.
pub fn as_written(address: &str) -> String {
    let (path, suffix) = split_suffix(address);
    match path.strip_suffix(ENCODED_REST) {
        Some(start) => format!("{start}/*{suffix}"),
        None => address.to_owned(),
    }
}

/// An address, and its query and fragment.
fn split_suffix(address: &str) -> (&str, &str) {
    address.split_at(address.find(['?', '#']).unwrap_or(address.len()))
}

/// The address of an entry for all paths below one, with the rest of the path that was requested.
fn with_rest(address: &str, rest: &str) -> String {
    let (path, suffix) = split_suffix(address);
    match path.strip_suffix(ENCODED_REST) {
        Some("") if rest.is_empty() => "/".to_owned() + suffix,
        Some(path) => format!("{path}{rest}{suffix}"),
        None => address.to_owned(),
    }
}
