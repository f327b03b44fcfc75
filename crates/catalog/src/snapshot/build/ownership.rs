//! Which of the versions with one path on one host owns it (D22).

use rustc_hash::FxHashMap;

use crate::snapshot::arena::Arena;
use crate::snapshot::entry::{Entry, Flags, OwnedBefore, Precedence};
use crate::snapshot::{PublicUrl, Snapshot};
use frontend_map_rules::without_trailing_slash;

/// The most versions of a snapshot whose dates of creation are asked for.
const MAX_UNDECIDED: usize = 10_000;

/// When documents were created, in milliseconds since 1970, by `documentId`. `None`: it was asked for,
/// and is not known.
pub type CreationDates = FxHashMap<Box<str>, Option<i64>>;

/// The owners in a snapshot before, which keep their paths, and come first at the paths to which they
/// move.
#[derive(Clone, Debug)]
pub struct PreviousOwners<'s> {
    /// The snapshot before.
    pub snapshot: &'s Snapshot,
    /// If it was built by other settings: for each locale of the site, the position that it has in the
    /// snapshot before, on the same host.
    pub locales: Option<Vec<Option<usize>>>,
}

impl PreviousOwners<'_> {
    /// What a version owned in this snapshot, which is at a position of the snapshots before.
    fn owned(&self, position: usize, id: &str, locale: usize, path: &str) -> OwnedBefore {
        let locale = match &self.locales {
            None => Some(locale),
            Some(locales) => locales.get(locale).copied().flatten(),
        };
        let path = without_trailing_slash(path);
        let owned = self.snapshot.versions_of(id).filter(|url| Some(url.locale()) == locale);
        let owned = owned.map(|url| {
            let is_kept = url.normalized_path() == path;
            if is_kept { OwnedBefore::Path(position) } else { OwnedBefore::OtherPath }
        });
        owned.min().unwrap_or(OwnedBefore::Nothing)
    }
}

/// What decides about the owner of a shared path, beside the versions themselves.
#[derive(Clone, Debug, Default)]
pub struct Claims<'s> {
    /// The owners before: those of the first snapshot come before those of the next one.
    pub before: Vec<PreviousOwners<'s>>,
    /// Dates of creation, of documents about whose shared path nothing else decides.
    pub created: CreationDates,
}

impl<'s> Claims<'s> {
    /// The claims of the owners in a snapshot of the same settings.
    pub fn after(before: &'s Snapshot) -> Self {
        let before = PreviousOwners { snapshot: before, locales: None };
        Self { before: vec![before], ..Self::default() }
    }
}

/// What decides which of two versions with one path owns it, in the order of D22.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// It is the own path of one of them (D41).
    OwnPath,
    /// Sitemaps list one of them.
    Listed,
    /// One of them owned the path before.
    OwnedBefore,
    /// One of them owned another path before.
    MovedBefore,
    /// The document that was created first.
    Created,
    /// The order of locales, then of `documentId`.
    Order,
}

impl Claims<'_> {
    /// What decides between two versions with one path.
    pub fn criterion<'u>(&self, one: PublicUrl<'u>, other: PublicUrl<'u>) -> Criterion {
        let ownership = Ownership::new(OwnersFrom::Claims(self));
        let [a, b] = [one, other].map(|url| ownership.precedence(url.entry(), &url.snapshot.arena));
        match () {
            () if a.is_built != b.is_built => Criterion::OwnPath,
            () if a.is_unlisted != b.is_unlisted => Criterion::Listed,
            () if a.owned != b.owned => match a.owned.min(b.owned) {
                OwnedBefore::Path(_) => Criterion::OwnedBefore,
                OwnedBefore::OtherPath | OwnedBefore::Nothing => Criterion::MovedBefore,
            },
            () if a.is_decided_by_creation(&b) => Criterion::Created,
            () => Criterion::Order,
        }
    }
}

/// Where the owners of paths from before stand.
#[derive(Clone, Copy, Debug)]
pub(in crate::snapshot) enum OwnersFrom<'c, 's> {
    /// In the snapshot before.
    Claims(&'c Claims<'s>),
    /// In the flags of the entries.
    Flags,
}

/// A version whose place in the order of owners depends on the creation of its document: the
/// `documentId`, and the position of its locale.
pub type Undecided = (Box<str>, usize);

/// Decides about the paths of a snapshot, one after another.
pub(super) struct Ownership<'c, 's> {
    from: OwnersFrom<'c, 's>,
    /// The versions of paths that the creation of documents would decide, if it were known.
    pub(super) undecided: Vec<Undecided>,
}

impl<'c, 's> Ownership<'c, 's> {
    pub(super) fn new(from: OwnersFrom<'c, 's>) -> Self {
        Self { from, undecided: Vec::new() }
    }

    /// The owner among versions with one path on one host: the positions of at least one of them.
    pub(super) fn owner(&mut self, same: &[u32], entries: &[Entry], arena: &Arena) -> u32 {
        let precedence = |at: &u32| self.precedence(&entries[*at as usize], arena);
        let facts = |at: u32| entries[at as usize].facts(arena);
        let all = same.iter().map(|at| (precedence(at), *at));
        // Facts decide between two rows of one version, which only a damaged source has.
        let first = all.clone().min_by(|one, other| {
            one.0.cmp(&other.0).then_with(|| facts(one.1).cmp(&facts(other.1)))
        });
        let (first, owner) = first.expect("there is at least one");
        if let OwnersFrom::Claims(Claims { created, .. }) = self.from {
            let is_rival = |one: &Precedence<'_>| first.is_decided_by_creation(one);
            let rivals: Vec<Precedence<'_>> =
                all.map(|(one, _)| one).filter(|one| is_rival(one)).collect();
            let unknown = (!rivals.is_empty()).then_some(first).into_iter().chain(rivals);
            let unknown: Vec<Undecided> = unknown
                .filter(|one| !created.contains_key(one.id))
                .map(|one| (one.id.into(), one.locale.into()))
                .collect();
            if self.undecided.len() + unknown.len() <= MAX_UNDECIDED {
                self.undecided.extend(unknown);
            }
        }
        owner
    }

    fn precedence<'a>(&self, entry: &Entry, arena: &'a Arena) -> Precedence<'a> {
        match self.from {
            OwnersFrom::Flags => {
                let owned = OwnedBefore::of_flag(entry.flags.contains(Flags::OWNER));
                Precedence::new(entry, arena, owned, None)
            }
            OwnersFrom::Claims(Claims { before, created }) => {
                let (id, path) = (entry.id(arena), entry.path(arena));
                let owned = before.iter().enumerate();
                let owned = owned.map(|(at, one)| one.owned(at, id, entry.locale.into(), path));
                let owned = owned.min().unwrap_or(OwnedBefore::Nothing);
                let created = created.get(id).copied().flatten();
                Precedence::new(entry, arena, owned, created)
            }
        }
    }
}
