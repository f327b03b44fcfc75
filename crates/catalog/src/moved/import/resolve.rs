//! Where the rows of files lead: to documents, or why not.

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::Reason;
use super::file::{ImportFile, ImportRow};
use super::site_path::SitePath;
use crate::moved::history::Row;
use crate::moved::redirects::{FormerOwner, SiteHistory, former_owner, is_live};
use crate::path_index::PathIndex;
use crate::site::Site;
use crate::snapshot::PublicUrl;
use frontend_map_rules::Pathname;

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

/// The result of a row.
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

/// The place of a row: its file and its number in it.
type At = (u32, u32);

/// The first row of each path.
type ByPath = FxHashMap<SitePath, At>;

/// What is known of the targets of rows.
struct Targets<'i> {
    by_path: ByPath,
    /// For each row of a chain, where the chain ends: a list that is one long chain would take minutes if
    /// it were followed from each row.
    known: FxHashMap<At, Result<PublicUrl<'i>, Reason>>,
}

/// Where a row leads.
enum Step<'i> {
    End(Result<PublicUrl<'i>, Reason>),
    /// Its target is the former path of this row.
    Row(At),
}

impl<'i> Import<'i> {
    /// Passes the result of each row to `take`, in order. `now` is in milliseconds since 1970.
    pub fn resolve(&self, now: i64, mut take: impl FnMut(Outcome<'i>)) {
        let mut targets = Targets { by_path: self.by_path(), known: FxHashMap::default() };
        for at in self.places() {
            let ImportRow { from, to, line } = self.row(at);
            let file = self.files[at.0 as usize].name.as_str();
            take(match self.row_of(at, &mut targets, now) {
                Ok(row) => Outcome::Row(row),
                Err(reason) => Outcome::LeftOut(LeftOut { file, line: *line, from, to, reason }),
            });
        }
    }

    fn places(&self) -> impl Iterator<Item = At> + use<'i> {
        let files = (0_u32..).zip(self.files);
        files.flat_map(|(at, file)| (0_u32..).take(file.rows.len()).map(move |row| (at, row)))
    }

    fn row(&self, (file, row): At) -> &'i ImportRow {
        &self.files[file as usize].rows[row as usize]
    }

    fn by_path(&self) -> ByPath {
        let mut by_path = ByPath::default();
        for at in self.places() {
            if let Ok(site_path) = SitePath::former(self.site, &self.row(at).from) {
                by_path.entry(site_path).or_insert(at);
            }
        }
        by_path
    }

    fn row_of(&self, at: At, targets: &mut Targets<'i>, now: i64) -> Result<Row, Reason> {
        let ImportRow { from, to, .. } = self.row(at);
        let from = SitePath::former(self.site, from)?;
        SitePath::parse(self.site, to)?;
        if targets.by_path.get(&from) != Some(&at) {
            return Err(Reason::Duplicate);
        }
        if is_live(self.site, self.index, &from.path, from.host) {
            return Err(Reason::Live);
        }
        let url = self.target_of(at, targets)?;
        Ok(self.history_row(from, url, now))
    }

    /// The document at the end of the chain that begins with this row.
    fn target_of(&self, at: At, targets: &mut Targets<'i>) -> Result<PublicUrl<'i>, Reason> {
        let (mut passed, mut next) = (Vec::new(), at);
        let found = loop {
            if let Some(known) = targets.known.get(&next) {
                break *known;
            }
            // The result for a chain that leads back to this row.
            targets.known.insert(next, Err(Reason::Loop));
            passed.push(next);
            match self.step(next, &targets.by_path) {
                Step::End(found) => break found,
                Step::Row(row) => next = row,
            }
        };
        if let [single] = passed[..] {
            // Most rows are not part of a chain, and keeping their results would take memory for nothing.
            targets.known.remove(&single);
        } else {
            targets.known.extend(passed.into_iter().map(|row| (row, found)));
        }
        found
    }

    /// Where the target of a row leads.
    fn step(&self, at: At, by_path: &ByPath) -> Step<'i> {
        let Ok(target) = SitePath::parse(self.site, &self.row(at).to) else {
            return Step::End(Err(Reason::NotFound));
        };
        if let Some(url) = self.document(&target) {
            return Step::End(Ok(url));
        }
        // A page outside the CMS, which is no document.
        let is_page = is_live(self.site, self.index, &target.path, target.host);
        let on_any_host = SitePath { path: target.path.clone(), host: None };
        let row = by_path.get(&target).or_else(|| by_path.get(&on_any_host));
        match row.filter(|_| !is_page) {
            Some(row) => Step::Row(*row),
            None => Step::End(Err(Reason::NotFound)),
        }
    }

    /// The document to which a path leads now, such as one that is not localized in another locale
    /// (D19), or the one that had it last.
    fn document(&self, site_path: &SitePath) -> Option<PublicUrl<'i>> {
        let pathname = Pathname::parse(&site_path.path);
        if self.site.pages.find(&site_path.path, site_path.host).is_some() {
            return None;
        }
        let decision = self.index.decide(&self.site.rules, &pathname, site_path.host);
        decision.and_then(|decision| decision.owner).or_else(|| {
            match former_owner(self.history, self.site, self.index, &pathname, site_path.host) {
                FormerOwner::Moved(redirect) => Some(redirect.to),
                _ => None,
            }
        })
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

/// The former paths of files that a site may have, whatever their targets are.
pub fn listed_paths(files: &[ImportFile], site: &Site) -> ListedPaths {
    let rows = files.iter().flat_map(|file| &file.rows);
    let paths = rows.filter_map(|row| SitePath::former(site, &row.from).ok());
    ListedPaths(paths.map(|site_path| xxh3_64(site_path.path.as_bytes())).collect())
}

/// Hashes of former paths.
#[derive(Clone, Debug, Default)]
pub struct ListedPaths(FxHashSet<u64>);

impl ListedPaths {
    /// Whether a normalized path is one of them, on any host.
    pub fn have(&self, path: &str) -> bool {
        self.0.contains(&xxh3_64(path.as_bytes()))
    }
}
