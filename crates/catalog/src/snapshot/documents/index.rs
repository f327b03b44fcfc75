//! The index of documents: among which entries a document is, by the hash of its id.

use std::ops::Range;

/// The index of entries that are ordered by the hashes of their documents.
///
/// It divides all hashes into as many equal parts as there are documents, and has the position of the
/// first entry of each part: four bytes a document. Hashes are distributed evenly, so that a part
/// usually has the entries of one or two documents.
#[derive(Debug, Default)]
pub(in crate::snapshot) struct DocumentIndex {
    /// One more than there are parts: the last one is the position behind all entries.
    starts: Box<[u32]>,
}

impl DocumentIndex {
    /// The index of the entries of so many documents, by the hash of each entry's document in order.
    /// The first of them is at the position `start`.
    pub(in crate::snapshot) fn new(
        documents: usize,
        start: u32,
        hashes: impl Iterator<Item = u64>,
    ) -> Self {
        let mut starts = Vec::with_capacity(documents + 1);
        let mut end = start;
        for hash in hashes {
            let part = part_of(hash, documents);
            if starts.len() <= part {
                starts.resize(part + 1, end);
            }
            end += 1;
        }
        starts.resize(documents + 1, end);
        Self { starts: starts.into() }
    }

    /// The positions of the entries in whose part the hash is.
    pub(super) fn part(&self, hash: u64) -> Range<usize> {
        let part = part_of(hash, self.starts.len().saturating_sub(1));
        match self.starts.get(part..) {
            Some([start, end, ..]) => *start as usize..*end as usize,
            _ => 0..0,
        }
    }

    /// The memory that it takes, in bytes.
    pub(in crate::snapshot) fn bytes(&self) -> usize {
        size_of_val(&*self.starts)
    }
}

/// In which of `parts` equal parts of all hashes a hash is. It is computed with 32 bits of the hash,
/// because positions have 32 bits.
fn part_of(hash: u64, parts: usize) -> usize {
    let part = ((hash >> 32) * parts as u64) >> 32;
    usize::try_from(part).expect("it is less than the number of parts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_has_all_entries_of_the_hash() {
        let even = |count: u64| (0..count).map(move |n| n * (u64::MAX / count));
        for hashes in [
            Vec::new(),
            vec![0],
            vec![u64::MAX],
            vec![0, 0, u64::MAX, u64::MAX],
            vec![1 << 40; 100],
            even(1_000).flat_map(|hash| [hash; 3]).collect(),
            even(1_000).map(|hash| hash >> 20).collect(),
        ] {
            let mut documents = hashes.clone();
            documents.dedup();
            let index = DocumentIndex::new(documents.len(), 7, hashes.iter().copied());
            for (at, hash) in (7..).zip(&hashes) {
                assert!(index.part(*hash).contains(&at), "{hash} of {}", hashes.len());
            }
            let end = 7 + hashes.len();
            for hash in even(100).chain([u64::MAX]) {
                let part = index.part(hash);
                assert!(part.is_empty() || (7..end).contains(&part.start) && part.end <= end);
            }
        }
    }

    #[test]
    fn part_of_even_hashes_is_small() {
        let hashes = (0..1_000).map(|n| n * (u64::MAX / 1_000));
        let index = DocumentIndex::new(1_000, 0, hashes.clone());
        let longest = hashes.map(|hash| index.part(hash).len()).max();
        assert!(longest <= Some(2), "{longest:?}");
        assert_eq!(index.bytes(), 4 * 1_001);
    }
}
