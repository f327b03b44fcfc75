//! What sitemaps leave out of a snapshot: the pages that a redirect with `force` hides.

#[cfg(test)]
mod tests;

use xxhash_rust::xxh3::Xxh3Default;

use crate::moved::entries::RedirectWorld;
use crate::snapshot::{PublicUrl, Snapshot};
use frontend_map_rules::ENCODED_REST;

/// The listed URLs of a snapshot that a redirect with `force` hides; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenUrls {
    /// Their positions among [`Snapshot::urls`], in order.
    urls: Box<[u32]>,
    /// Their positions among [`Snapshot::listed`], in order.
    listed: Box<[u32]>,
    /// The length of all their paths, in bytes.
    bytes: usize,
    /// A hash of their paths in order.
    hash: u128,
}

/// The URLs of a snapshot that sitemaps list.
#[derive(Clone, Copy, Debug)]
pub struct ListedUrls<'s> {
    snapshot: &'s Snapshot,
    hidden: Option<&'s HiddenUrls>,
}

impl HiddenUrls {
    /// The listed URLs of a snapshot that redirects of its site hide; `None` without one. A redirect that
    /// leads nowhere hides none, nor does one of which it is not known where it leads.
    ///
    /// # Panics
    /// Never: a snapshot has fewer than 2³² URLs.
    pub fn find(world: &RedirectWorld<'_>, snapshot: &Snapshot) -> Option<Self> {
        let mut listed: Vec<usize> = Vec::new();
        for entry in world.entries.forced() {
            let path = entry.path();
            match path.strip_suffix(ENCODED_REST) {
                Some(start) => {
                    listed.extend(snapshot.listed_at(if start.is_empty() { "/" } else { start }));
                    listed.extend(snapshot.listed_below(&format!("{start}/")));
                }
                None => listed.extend(snapshot.listed_at(path)),
            }
        }
        listed.sort_unstable();
        listed.dedup();
        listed.retain(|at| world.hides(snapshot.nth_listed(*at)).is_some());
        (!listed.is_empty()).then(|| Self::new(snapshot, &listed))
    }

    /// The listed URLs of a snapshot at these positions. `None`: there is no such position, or they are not
    /// in order.
    pub fn of_listed(snapshot: &Snapshot, positions: &[u32]) -> Option<Self> {
        let last = *positions.last()?;
        let is_valid = positions.is_sorted_by(|one, next| one < next)
            && (last as usize) < snapshot.listed_count();
        let positions: Vec<usize> = positions.iter().map(|at| *at as usize).collect();
        is_valid.then(|| Self::new(snapshot, &positions))
    }

    /// Their positions among [`Snapshot::listed`], in order.
    pub fn listed(&self) -> &[u32] {
        &self.listed
    }

    fn new(snapshot: &Snapshot, listed: &[usize]) -> Self {
        let position = |at: usize| u32::try_from(at).expect("a snapshot has fewer than 2³² URLs");
        let (mut bytes, mut hash) = (0, Xxh3Default::new());
        let mut urls: Vec<u32> = Vec::with_capacity(listed.len());
        for url in listed.iter().map(|at| snapshot.nth_listed(*at)) {
            bytes += url.path_len();
            hash.update(url.path().as_bytes());
            hash.update(b"\n");
            urls.push(position(url.position()));
        }
        urls.sort_unstable();
        let listed = listed.iter().map(|at| position(*at)).collect();
        Self { urls: urls.into(), listed, bytes, hash: hash.digest128() }
    }

    /// Whether a URL of the snapshot is hidden.
    pub(super) fn has(&self, url: PublicUrl<'_>) -> bool {
        self.urls.binary_search_by_key(&url.position(), |at| *at as usize).is_ok()
    }
}

impl<'s> ListedUrls<'s> {
    /// The listed URLs of a snapshot, without the hidden ones.
    pub fn new(snapshot: &'s Snapshot, hidden: Option<&'s HiddenUrls>) -> Self {
        Self { snapshot, hidden }
    }

    /// Whether a URL of the snapshot is among them.
    pub fn has(self, url: PublicUrl<'_>) -> bool {
        url.is_listed() && self.hidden.is_none_or(|hidden| !hidden.has(url))
    }

    /// Their number.
    pub fn count(self) -> usize {
        self.snapshot.listed_count() - self.hidden.map_or(0, |hidden| hidden.listed.len())
    }

    /// The length of all their paths together, in bytes.
    pub fn bytes(self) -> usize {
        self.snapshot.listed_bytes() - self.hidden.map_or(0, |hidden| hidden.bytes)
    }

    /// A hash of their paths in order: equal hashes are of equal lists.
    pub fn hash(self) -> u128 {
        let all = self.snapshot.listing_hash();
        self.hidden.map_or(all, |hidden| {
            let mut hash = Xxh3Default::new();
            hash.update(&all.to_le_bytes());
            hash.update(&hidden.hash.to_le_bytes());
            hash.digest128()
        })
    }

    /// The URLs after the first `start` ones, in the order of [`Snapshot::listed`].
    pub fn from(self, start: usize) -> impl Iterator<Item = PublicUrl<'s>> + Clone + Send {
        let hidden = self.hidden;
        let urls = self.snapshot.listed_from(self.position(start));
        urls.filter(move |url| hidden.is_none_or(|hidden| !hidden.has(*url)))
    }

    /// The URL at a position, which is less than [`ListedUrls::count`].
    pub fn nth(self, position: usize) -> PublicUrl<'s> {
        self.snapshot.nth_listed(self.position(position))
    }

    /// The positions of the URLs of a document, in the order of the site's locales.
    pub fn positions_of(self, document_id: &str) -> impl Iterator<Item = usize> {
        let listed: &[u32] = self.hidden.map_or(&[], |hidden| hidden.listed());
        let positions = self.snapshot.listed_positions(document_id);
        positions.filter_map(|at| {
            let before = listed.partition_point(|hidden| (*hidden as usize) < at);
            (listed.get(before) != Some(&u32::try_from(at).ok()?)).then_some(at - before)
        })
    }

    /// The position among all listed URLs of one among these.
    fn position(self, position: usize) -> usize {
        let Some(HiddenUrls { listed, .. }) = self.hidden else { return position };
        // How many hidden ones come before it: a hidden one does if fewer than `position` others do.
        let (mut before, mut until) = (0, listed.len());
        while before < until {
            let middle = before.midpoint(until);
            if listed[middle] as usize - middle <= position {
                before = middle + 1;
            } else {
                until = middle;
            }
        }
        position + before
    }
}
