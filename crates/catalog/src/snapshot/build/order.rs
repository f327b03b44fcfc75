//! The order of a snapshot's entries.

use super::ownership::{OwnersFrom, Ownership, Undecided};
use super::sort::Sort;
use crate::snapshot::arena::Arena;
use crate::snapshot::build::NoSnapshot;
use crate::snapshot::documents::DocumentIndex;
use crate::snapshot::entry::{Entry, Flags};
use crate::snapshot::hash::document_hash;
use frontend_map_rules::without_trailing_slash;

/// The new position of an entry that does not own its path.
const NO_OWNER: u32 = u32::MAX;

/// The entries after [`arrange`].
pub(super) struct Arranged {
    /// How many of them own their paths; these are at the front.
    pub(super) owners: usize,
    /// Finds those of a document.
    pub(super) owner_index: DocumentIndex,
    /// Finds the others of a document.
    pub(super) duplicate_index: DocumentIndex,
    /// The positions of the owners that sitemaps list, by locale, then by path.
    pub(super) listed: Vec<u32>,
    /// The positions of the other owners, in the same order.
    pub(super) unlisted: Vec<u32>,
    /// The versions of paths about which the creation of their documents decides.
    pub(super) undecided: Vec<Undecided>,
}

/// Moves the entries that own their paths to the front, ordered by document, and the others behind
/// them in the same order.
/// `hosts` has the host of each locale; it is empty if there is one host.
pub(super) fn arrange(
    entries: &mut [Entry],
    arena: &Arena,
    hosts: &[u16],
    owners_from: OwnersFrom<'_, '_>,
) -> Result<Arranged, NoSnapshot> {
    let mut ownership = Ownership::new(owners_from);
    let owners = owners(entries, arena, hosts, &mut ownership)?;
    let count = u32::try_from(owners.len()).map_err(|_| NoSnapshot::TooLarge)?;
    let mut places = vec![NO_OWNER; entries.len()];
    for at in &owners {
        places[*at as usize] = 0;
    }
    // In the order of the arena, which is faster than in that of the paths.
    let (front, back): (Vec<u32>, Vec<u32>) =
        (0..).take(entries.len()).partition(|at: &u32| places[*at as usize] != NO_OWNER);
    let owner_index = place(entries, front, arena, &mut places, 0);
    let duplicate_index = place(entries, back, arena, &mut places, count);
    let (mut listed, mut unlisted): (Vec<u32>, Vec<u32>) =
        owners.into_iter().partition(|at| entries[*at as usize].flags.contains(Flags::LISTED));
    for at in listed.iter_mut().chain(&mut unlisted) {
        *at = places[*at as usize];
    }
    rearrange(entries, &mut places);
    let (owners, undecided) = (count as usize, ownership.undecided);
    Ok(Arranged { owners, owner_index, duplicate_index, listed, unlisted, undecided })
}

/// The positions of the entries that own their paths, by locale, then by path: paths are ASCII, so
/// the order of bytes is that of code points. A path is one with and without a slash at its end, and
/// belongs to a host.
fn owners(
    entries: &[Entry],
    arena: &Arena,
    hosts: &[u16],
    ownership: &mut Ownership<'_, '_>,
) -> Result<Vec<u32>, NoSnapshot> {
    let count = u32::try_from(entries.len()).map_err(|_| NoSnapshot::TooLarge)?;
    let entry = |at: u32| &entries[at as usize];
    let mut sorted = if hosts.is_empty() {
        owners_of_host(entries, arena, 0..count, ownership)
    } else {
        let host = |at: u32| hosts[usize::from(entry(at).locale)];
        let mut all: Vec<u32> = (0..count).collect();
        all.sort_by_key(|at| host(*at));
        let by_host = all.chunk_by(|one, other| host(*one) == host(*other));
        by_host
            .flat_map(|own| owners_of_host(entries, arena, own.iter().copied(), ownership))
            .collect()
    };
    // Stable: within a locale the paths stay in order.
    sorted.sort_by_key(|at| entry(*at).locale);
    Ok(sorted)
}

/// The owners of paths of one host, in the order of their paths.
fn owners_of_host(
    entries: &[Entry],
    arena: &Arena,
    own: impl Iterator<Item = u32>,
    ownership: &mut Ownership<'_, '_>,
) -> Vec<u32> {
    let text = |at: u32| entries[at as usize].path(arena);
    let choose = |same: &[u32]| ownership.owner(same, entries, arena);
    // By path first, so that equal paths of all locales are neighbours.
    if have_both_forms(entries, arena) {
        let normalized = |at| without_trailing_slash(text(at));
        let mut sorted = Sort { text: normalized, choose }.positions(own);
        sorted.sort_by(|one, other| text(*one).cmp(text(*other)));
        sorted
    } else {
        Sort { text, choose }.positions(own)
    }
}

/// Whether some paths end with a slash and others do not. Only then may two differ in it alone.
fn have_both_forms(entries: &[Entry], arena: &Arena) -> bool {
    let mut have_slash = entries
        .iter()
        .map(|entry| entry.path(arena))
        .filter(|path| *path != "/")
        .map(|path| path.ends_with('/'));
    let first = have_slash.next();
    have_slash.any(|has| Some(has) != first)
}

/// Sets the places of these entries from `start` on, and which is the first of its document.
fn place(
    entries: &mut [Entry],
    part: Vec<u32>,
    arena: &Arena,
    places: &mut [u32],
    start: u32,
) -> DocumentIndex {
    let mut before: Option<(u64, u32)> = None;
    let mut documents = 0;
    let hashed = hashed(entries, part, arena);
    for ((hash, at), place) in hashed.iter().copied().zip(start..) {
        let id = |at: u32| entries[at as usize].id(arena);
        // A comparison of hashes avoids most look-ups in the arena.
        let same = before.is_some_and(|(other, one)| other == hash && id(one) == id(at));
        let entry = &mut entries[at as usize];
        entry.flags = entry.flags.with(Flags::FIRST, !same);
        documents += usize::from(!same);
        before = Some((hash, at));
        places[at as usize] = place;
    }
    DocumentIndex::new(documents, start, hashed.iter().map(|(hash, _)| *hash))
}

/// The positions ordered by document, each with the hash of the `documentId`.
fn hashed(entries: &[Entry], positions: Vec<u32>, arena: &Arena) -> Vec<(u64, u32)> {
    let version = |at: u32| {
        let entry = &entries[at as usize];
        (entry.id(arena), entry.facts(arena))
    };
    let mut hashed: Vec<(u64, u32)> =
        positions.into_iter().map(|at| (document_hash(version(at).0), at)).collect();
    // Stable, because that is linear for what an incremental update keeps, which is in order.
    hashed.sort_by(|one, other| {
        one.0.cmp(&other.0).then_with(|| version(one.1).cmp(&version(other.1)))
    });
    hashed
}

/// Moves each entry to its place, without the memory for a second copy.
fn rearrange(entries: &mut [Entry], places: &mut [u32]) {
    for at in 0..entries.len() {
        while places[at] as usize != at {
            let place = places[at] as usize;
            entries.swap(at, place);
            places.swap(at, place);
        }
    }
}
