//! Where the rows of files lead: to documents, or why not.

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::file::ImportFile;
use crate::frontend_url::HostName;
use crate::path_history::Row;
use crate::path_index::PathIndex;
use crate::redirects::{FormerOwner, SiteHistory, former_owner, is_live};
use crate::rules::Pathname;
use crate::site::Site;
use crate::snapshot::PublicUrl;

/// The longest path that a request may have, in bytes (D3).
const MAX_PATH: usize = 2_048;

/// Files, and the site for which they are resolved. All of its content types are known.
#[derive(Clone, Copy, Debug)]
pub struct Import<'i> {
    /// The files.
    pub files: &'i [ImportFile],
    /// The site.
    pub site: &'i Site,
    /// Its paths.
    pub index: &'i PathIndex,
    /// Its former paths, to which a row may lead as well.
    pub history: SiteHistory<'i>,
}

/// What becomes of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<'i> {
    /// It leads to a document.
    Row(Row),
    /// It leads nowhere.
    LeftOut(LeftOut<'i>),
}

/// A row that leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut<'i> {
    /// The file.
    pub file: &'i str,
    /// The line.
    pub line: u32,
    /// The former path, as it is written.
    pub from: &'i str,
    /// The target, as it is written.
    pub to: &'i str,
    /// Why it leads nowhere.
    pub reason: Reason,
}

/// Why a row leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The path or the target is empty or too long, or the path has a query or an asterisk.
    Malformed,
    /// The path or the target is on a host that the site does not have.
    OtherHost,
    /// An earlier row has the same path.
    Duplicate,
    /// A document or a page has the path now.
    Live,
    /// The targets lead back to the path.
    Loop,
    /// No document has the target.
    NotFound,
}

impl Reason {
    /// A word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::OtherHost => "other_host",
            Self::Duplicate => "duplicate",
            Self::Live => "live",
            Self::Loop => "loop",
            Self::NotFound => "target_not_found",
        }
    }
}

/// The place of a row: its file and its number in it.
type At = (u32, u32);

/// The rows by the hash of their paths and hosts.
type ByPath = FxHashMap<u64, At>;

/// A path of the site.
#[derive(Debug, PartialEq, Eq)]
struct SitePath {
    /// Normalized (D7).
    path: String,
    /// The position of its host, if the site has several and the text names one.
    host: Option<usize>,
}

impl<'i> Import<'i> {
    /// Gives `take` what becomes of each row, in order. `now` is in milliseconds since 1970.
    pub fn resolve(&self, now: i64, mut take: impl FnMut(Outcome<'i>)) {
        let by_path = self.by_path();
        for at in self.places() {
            let (from, to, line) = self.row(at);
            let file = self.files[at.0 as usize].name.as_str();
            take(match self.row_of(at, &by_path, now) {
                Ok(row) => Outcome::Row(row),
                Err(reason) => Outcome::LeftOut(LeftOut { file, line, from, to, reason }),
            });
        }
    }

    fn places(&self) -> impl Iterator<Item = At> + use<'i> {
        let files = (0_u32..).zip(self.files);
        files.flat_map(|(file, rows)| (0_u32..).take(rows.len()).map(move |row| (file, row)))
    }

    fn row(&self, (file, row): At) -> (&'i str, &'i str, u32) {
        self.files[file as usize].row(row as usize)
    }

    /// The first row of each path.
    fn by_path(&self) -> ByPath {
        let mut by_path = ByPath::default();
        for at in self.places() {
            if let Ok(site_path) = former_path(self.site, self.row(at).0) {
                by_path.entry(hash(&site_path)).or_insert(at);
            }
        }
        by_path
    }

    fn row_of(&self, at: At, by_path: &ByPath, now: i64) -> Result<Row, Reason> {
        let (from, to, _) = self.row(at);
        let from = former_path(self.site, from)?;
        let mut target = parse_site_path(self.site, to)?;
        if by_path.get(&hash(&from)) != Some(&at) {
            return Err(Reason::Duplicate);
        }
        if is_live(self.site, self.index, &from.path, from.host) {
            return Err(Reason::Live);
        }
        let mut passed = vec![hash(&from)];
        loop {
            if let Some(url) = self.document(&target) {
                return Ok(self.history_row(from, url, now));
            }
            if passed.contains(&hash(&target)) {
                return Err(Reason::Loop);
            }
            // A page outside the CMS, which is no document.
            if is_live(self.site, self.index, &target.path, target.host) {
                return Err(Reason::NotFound);
            }
            let Some(next) = self.next(&target, by_path) else { return Err(Reason::NotFound) };
            // A chain is rarely longer than two, and a very long one is a mistake.
            if passed.len() == MAX_CHAIN {
                return Err(Reason::Loop);
            }
            passed.push(hash(&target));
            target = next;
        }
    }

    /// The document that has a path, or had it last.
    fn document(&self, site_path: &SitePath) -> Option<PublicUrl<'i>> {
        let pathname = Pathname::parse(&site_path.path);
        let owner = self.index.owner(&self.site.rules, &pathname, site_path.host);
        let is_page = self.site.pages.find(&site_path.path, site_path.host).is_some();
        owner.filter(|_| !is_page).or_else(|| {
            if is_page {
                return None;
            }
            match former_owner(self.history, self.site, self.index, &pathname, site_path.host) {
                FormerOwner::Moved(redirect) => Some(redirect.to),
                _ => None,
            }
        })
    }

    /// Where a row leads whose path this is.
    fn next(&self, site_path: &SitePath, by_path: &ByPath) -> Option<SitePath> {
        let on_any_host = SitePath { path: site_path.path.clone(), host: None };
        let found = [site_path, &on_any_host].into_iter().find_map(|site_path| {
            let at = *by_path.get(&hash(site_path))?;
            (former_path(self.site, self.row(at).0).as_ref() == Ok(site_path)).then_some(at)
        });
        parse_site_path(self.site, self.row(found?).1).ok()
    }

    fn history_row(&self, from: SitePath, url: PublicUrl<'_>, now: i64) -> Row {
        let host = from.host.map(|host| self.site.hosts.all()[host].base.host());
        Row {
            source: self.site.source,
            site: self.site.key.clone(),
            host: host.unwrap_or_default().to_owned(),
            path: from.path,
            uid: self.site.rules.rules()[url.rule()].content_type.as_str().to_owned(),
            document_id: url.document_id().to_owned(),
            locale: self.site.rules.locales().codes()[url.locale()].as_str().to_owned(),
            last_seen: now,
            is_imported: true,
        }
    }
}

/// A former path. One with a query stands for many pages, and one with an asterisk for many paths.
fn former_path(site: &Site, text: &str) -> Result<SitePath, Reason> {
    if text.contains(['?', '*']) {
        return Err(Reason::Malformed);
    }
    parse_site_path(site, text)
}

/// A path, or a URL on a host of the site. A path without a slash in front begins at the root, as
/// Drupal writes it.
fn parse_site_path(site: &Site, text: &str) -> Result<SitePath, Reason> {
    let hosts = &site.hosts;
    let (path, host) = match text.split_once("://") {
        Some(("http" | "https", rest)) => {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (name, path) = rest.split_at(end);
            let name = HostName::parse(name).map_err(|_| Reason::OtherHost)?;
            let at = hosts.position(&name).ok_or(Reason::OtherHost)?;
            let path = below(&hosts.all()[at].base, path).ok_or(Reason::OtherHost)?;
            (path, Some(at).filter(|_| hosts.are_several()))
        }
        Some(_) => return Err(Reason::Malformed),
        None => (text, None),
    };
    let is_rooted = path.starts_with('/');
    let rooted = if is_rooted { path.to_owned() } else { format!("/{path}") };
    let is_path = !text.is_empty() && rooted.len() <= MAX_PATH && !rooted.starts_with("//");
    if !is_path || rooted.chars().any(char::is_control) {
        return Err(Reason::Malformed);
    }
    Ok(SitePath { path: Pathname::parse(&rooted).normalized(), host })
}

/// The former paths of files that a site may have, whatever their targets are.
#[must_use]
pub fn listed_paths(files: &[ImportFile], site: &Site) -> ListedPaths {
    let rows = files.iter().flat_map(|file| (0..file.len()).map(|at| file.row(at).0));
    let paths = rows.filter_map(|from| former_path(site, from).ok());
    ListedPaths(paths.map(|site_path| xxh3_64(site_path.path.as_bytes())).collect())
}

/// Hashes of former paths.
#[derive(Clone, Debug, Default)]
pub struct ListedPaths(FxHashSet<u64>);

impl ListedPaths {
    /// Whether a normalized path is one of them, on any host.
    #[must_use]
    pub fn have(&self, path: &str) -> bool {
        self.0.contains(&xxh3_64(path.as_bytes()))
    }
}

/// The longest chain of rows that is followed.
const MAX_CHAIN: usize = 100;

/// The path below a base URL; `None`: it is not below it.
fn below<'p>(base: &crate::frontend_url::BaseUrl, path: &'p str) -> Option<&'p str> {
    let origin = base.scheme().len() + "://".len() + base.host().len();
    let rest = path.strip_prefix(&base.as_str()[origin..])?;
    (rest.is_empty() || rest.starts_with(['/', '?', '#'])).then_some(rest)
}

fn hash(site_path: &SitePath) -> u64 {
    let host = site_path.host.map_or(0, |host| host as u64 + 1);
    xxh3_64(site_path.path.as_bytes()) ^ host.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
