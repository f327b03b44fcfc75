//! Sorts texts with long common prefixes, such as paths: a radix sort by eight bytes at a time.

/// Fewer texts than this are sorted by comparison.
const FEW: usize = 16;
/// The bytes of a text that are compared at a time.
const KEY: usize = size_of::<u64>();

/// Sorts positions by their texts, each text once.
pub(super) struct Sort<T, F> {
    /// The text at a position. It has no NUL.
    pub(super) text: T,
    /// Which of several positions with the same text stays.
    pub(super) choose: F,
}

/// A position with eight bytes of its text, which are contiguous in memory unlike the texts.
struct Keyed {
    key: u64,
    at: u32,
}

impl<'t, T: Fn(u32) -> &'t str, F: FnMut(&[u32]) -> u32> Sort<T, F> {
    /// These positions in order, one for each text.
    pub(super) fn positions(&mut self, all: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut all: Vec<Keyed> = all.map(|at| Keyed { key: 0, at }).collect();
        let mut sorted = Vec::with_capacity(all.len());
        self.sort(&mut all, 0, &mut sorted);
        sorted
    }

    /// Sorts a run of texts that are equal up to `start`.
    fn sort(&mut self, run: &mut [Keyed], start: usize, sorted: &mut Vec<u32>) {
        if run.len() < FEW {
            return self.compare(run, sorted);
        }
        let start = start + self.common(run, start);
        for keyed in &mut *run {
            keyed.key = key(self.rest(keyed, start));
        }
        run.sort_unstable_by_key(|keyed| keyed.key);
        for same in run.chunk_by_mut(|one, other| one.key == other.key) {
            match same {
                [one] => sorted.push(one.at),
                // All texts of the run have ended.
                [one, ..] if one.key.to_be_bytes()[KEY - 1] == 0 => self.compare(same, sorted),
                _ => self.sort(same, start + KEY, sorted),
            }
        }
    }

    fn compare(&mut self, run: &mut [Keyed], sorted: &mut Vec<u32>) {
        let text = |keyed: &Keyed| (self.text)(keyed.at);
        run.sort_unstable_by(|one, other| text(one).cmp(text(other)));
        for same in run.chunk_by(|one, other| text(one) == text(other)) {
            sorted.push(match same {
                [one] => one.at,
                same => (self.choose)(&same.iter().map(|one| one.at).collect::<Vec<u32>>()),
            });
        }
    }

    /// The length of the common prefix of all texts from `start` on.
    fn common(&self, run: &[Keyed], start: usize) -> usize {
        let mut common = run.first().map_or(&[][..], |first| self.rest(first, start));
        for keyed in run {
            let rest = self.rest(keyed, start);
            if !rest.starts_with(common) {
                let same = common.iter().zip(rest).take_while(|(one, other)| one == other);
                common = &common[..same.count()];
            }
        }
        common.len()
    }

    fn rest(&self, keyed: &Keyed, start: usize) -> &'t [u8] {
        (self.text)(keyed.at).as_bytes().get(start..).unwrap_or_default()
    }
}

/// The first eight bytes as a number in the same order; a shorter text comes first.
fn key(text: &[u8]) -> u64 {
    text.first_chunk().map_or_else(
        || {
            let mut key = [0; KEY];
            key[..text.len()].copy_from_slice(text);
            u64::from_be_bytes(key)
        },
        |key| u64::from_be_bytes(*key),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn positions_are_sorted_and_unique_by_text(
            texts in prop::collection::vec("(/en/a-long-beginning-)?[ab]{0,3}(-long-)?[a-c]{0,12}", 0..300)
        ) {
            let text = |at: u32| texts[at as usize].as_str();
            // The later one stays.
            let last = |same: &[u32]| same.iter().copied().max().unwrap();
            let mut sort = Sort { text, choose: last };
            let sorted = sort.positions(0..u32::try_from(texts.len()).unwrap());
            let mut expected: Vec<u32> = (0..).take(texts.len()).collect();
            expected.sort_by_key(|at| (text(*at), std::cmp::Reverse(*at)));
            expected.dedup_by_key(|at| text(*at));
            prop_assert_eq!(sorted, expected);
        }
    }
}
