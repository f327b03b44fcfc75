//! A part of the snapshot that an update would bring: the versions at some paths. It says who would own
//! them without the cost of the whole snapshot.

use rustc_hash::FxHashMap;

use super::build::{Builder, Claims, Draft, NoSnapshot, OwnersFrom};
use super::entry::{Entry, Flags};
use super::{PublicUrl, Snapshot};
use frontend_map_rules::without_trailing_slash;

/// Paths, each on the hosts at these positions of the site's hosts; 0 if there is one host.
#[derive(Clone, Debug, Default)]
pub struct PathsOnHosts(FxHashMap<String, Vec<usize>>);

impl PathsOnHosts {
    /// Adds a path, with or without a slash at its end.
    pub fn add(&mut self, path: &str, host: usize) {
        let hosts = self.0.entry(without_trailing_slash(path).to_owned()).or_default();
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }

    /// Whether `holds` is true for one of the paths.
    pub fn any(&self, mut holds: impl FnMut(&str, usize) -> bool) -> bool {
        self.0.iter().any(|(path, hosts)| hosts.iter().any(|host| holds(path, *host)))
    }

    /// Whether a path, with or without a slash at its end, is one of them.
    pub fn has(&self, path: &str, host: usize) -> bool {
        let hosts = self.0.get(without_trailing_slash(path));
        hosts.is_some_and(|hosts| hosts.contains(&host))
    }
}

/// A version of a snapshot with the path that it would have.
#[derive(Clone, Debug)]
pub struct Rebuilt<'s> {
    /// The version as it is.
    pub url: PublicUrl<'s>,
    /// Its path afterwards.
    pub path: String,
    /// The position in the settings of the rule that builds the path.
    pub rule: usize,
    /// Whether it is the document's own path (D41).
    pub is_own: bool,
}

/// What an update replaces, and by what.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'r, 's> {
    /// Versions that were read.
    pub own: &'r Snapshot,
    /// Versions whose paths alone change.
    pub rebuilt: &'r [Rebuilt<'s>],
}

impl Snapshot {
    /// The versions after an update: all of `with`, and those of this snapshot for which `is_replaced` does
    /// not hold. `paths` limits the latter to some paths, among which those of `with` are expected; `None`:
    /// all paths. Owners keep their paths.
    ///
    /// # Errors
    /// [`NoSnapshot::TooLarge`].
    pub fn affected(
        &self,
        paths: Option<&PathsOnHosts>,
        is_replaced: impl Fn(&str, usize) -> bool,
        with: Replacement<'_, '_>,
    ) -> Result<Self, NoSnapshot> {
        let hosts = if self.hosts.is_empty() { with.own.hosts.clone() } else { self.hosts.clone() };
        let mut draft = Draft { hosts, ..Draft::default() };
        let is_kept = |url: &PublicUrl<'_>| !is_replaced(url.document_id(), url.locale());
        let Some(paths) = paths else {
            for url in self.urls().filter(is_kept) {
                draft.keep(url)?;
            }
            return self.finish_affected(draft, with);
        };
        for (path, on) in &paths.0 {
            let owners = on.iter().filter_map(|host| self.owner_at(path, *host));
            for url in owners.filter(is_kept) {
                draft.keep(url)?;
            }
        }
        for url in self.duplicates().filter(|url| paths.has(url.path(), url.host()) && is_kept(url))
        {
            draft.keep(url)?;
        }
        self.finish_affected(draft, with)
    }

    fn finish_affected(
        &self,
        mut draft: Draft,
        with: Replacement<'_, '_>,
    ) -> Result<Self, NoSnapshot> {
        for url in with.own.urls() {
            draft.keep(url)?;
        }
        for rebuilt in with.rebuilt {
            draft.rebuild(rebuilt)?;
        }
        let claims = Claims::after(self);
        Builder { path_table: true }.finish_draft(draft, OwnersFrom::Claims(&claims))
    }

    /// The owner of a path on the host at a position, with or without a path table.
    pub fn owner_at(&self, path: &str, host: usize) -> Option<PublicUrl<'_>> {
        let host = (!self.hosts.is_empty()).then_some(host);
        if self.has_path_table() {
            self.owner_on(path, host)
        } else {
            self.owner_by_order(path, host)
        }
    }
}

impl Draft {
    fn rebuild(&mut self, rebuilt: &Rebuilt<'_>) -> Result<(), NoSnapshot> {
        let entry = self.rebuilt(rebuilt).ok_or(NoSnapshot::TooLarge)?;
        self.entries.push(entry);
        Ok(())
    }

    fn rebuilt(&mut self, Rebuilt { url, path, rule, is_own }: &Rebuilt<'_>) -> Option<Entry> {
        let texts = [path, url.document_id(), url.title().unwrap_or_default()];
        Some(Entry {
            text: self.arena.push(texts)?,
            path_len: u16::try_from(path.len()).ok()?,
            rule: u32::try_from(*rule).ok()?,
            flags: url.entry().flags.with(Flags::OWN_PATH, *is_own),
            ..*url.entry()
        })
    }
}
