//! The edges with text, in one open-addressing hash table.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// A slot that holds no edge.
const EMPTY: u32 = u32::MAX;
/// How many bytes of a text a slot holds itself.
const HEAD: usize = 8;
/// A multiplier for Fibonacci hashing: 2^64 divided by the golden ratio, odd.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// A node and a kind of its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Edges with static text.
    Static(u32),
    /// Edges with text before or after a placeholder.
    Mixed(u32),
}

/// Maps an owner and two texts to a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    /// Their number is a power of two; at most half of them are in use.
    slots: Box<[Slot]>,
    used: usize,
    texts: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Slot {
    /// The first bytes of the first text, which decide most comparisons without reading `texts`.
    head: u64,
    tag: u32,
    owner: u32,
    start: u32,
    middle: u32,
    end: u32,
    value: u32,
}

const NO_EDGE: Slot = Slot { head: 0, tag: 0, owner: 0, start: 0, middle: 0, end: 0, value: EMPTY };

/// The first bytes of a text, padded with zeros.
#[inline]
fn head(text: &[u8]) -> u64 {
    text.first_chunk().map_or_else(
        || text.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        |word| u64::from_le_bytes(*word),
    )
}

#[inline]
fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

impl Owner {
    fn number(self) -> u32 {
        match self {
            Self::Static(node) => node << 1,
            Self::Mixed(node) => node << 1 | 1,
        }
    }
}

impl Edges {
    /// The number stored for these texts.
    #[inline]
    pub(super) fn get(&self, owner: Owner, texts: [&[u8]; 2]) -> Option<u32> {
        let (owner, head) = (owner.number(), head(texts[0]));
        let (tag, mut at) = self.start(owner, texts);
        loop {
            let slot = self.slots.get(at)?;
            if slot.value == EMPTY {
                return None;
            }
            let alike = slot.tag == tag && slot.owner == owner && slot.head == head;
            if alike && self.has_texts(slot, texts) {
                return Some(slot.value);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Stores a number for texts that have none yet.
    pub(super) fn insert(&mut self, owner: Owner, texts: [&[u8]; 2], value: u32) {
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow();
        }
        self.used += 1;
        let owner = owner.number();
        let start = self.texts.len();
        let [middle, end] = [start + texts[0].len(), start + texts[0].len() + texts[1].len()];
        self.texts.extend(texts.into_iter().flatten());
        let (tag, at) = self.start(owner, texts);
        let [start, middle, end] = [start, middle, end].map(offset);
        let head = head(texts[0]);
        self.put(at, Slot { head, tag, owner, start, middle, end, value });
    }

    fn put(&mut self, mut at: usize, slot: Slot) {
        while self.slots[at].value != EMPTY {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = slot;
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(8);
        let old = std::mem::replace(&mut self.slots, vec![NO_EDGE; size].into());
        for slot in old.into_iter().filter(|slot| slot.value != EMPTY) {
            let (_, at) = self.start(slot.owner, self.texts(&slot));
            self.put(at, slot);
        }
    }

    /// Whether a slot has these texts, given that its `head` equals that of the first. Compares only
    /// what `head` leaves open.
    #[inline]
    fn has_texts(&self, slot: &Slot, [first, second]: [&[u8]; 2]) -> bool {
        let lengths = [slot.middle - slot.start, slot.end - slot.middle].map(|n| n as usize);
        if lengths != [first.len(), second.len()] {
            return false;
        }
        let rest = slot.start as usize + HEAD..slot.middle as usize;
        (first.len() <= HEAD || self.texts[rest] == first[HEAD..])
            && (second.is_empty() || self.texts(slot)[1] == second)
    }

    fn texts(&self, slot: &Slot) -> [&[u8]; 2] {
        let [start, middle, end] = [slot.start, slot.middle, slot.end].map(|at| at as usize);
        [&self.texts[start..middle], &self.texts[middle..end]]
    }

    /// The tag of a key and the slot at which its run begins.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the halves of the hash")]
    fn start(&self, owner: u32, texts: [&[u8]; 2]) -> (u32, usize) {
        let mixed = texts_hash(texts) ^ u64::from(owner).wrapping_mul(SPREAD);
        ((mixed >> 32) as u32, mixed as usize & self.slots.len().wrapping_sub(1))
    }

    pub(super) fn shrink(&mut self) {
        self.texts.shrink_to_fit();
    }

    /// The most slots that a look-up can read.
    #[cfg(test)]
    pub(super) fn longest_run(&self) -> usize {
        let runs = self.slots.split(|slot| slot.value == EMPTY);
        runs.map(<[Slot]>::len).max().unwrap_or_default()
    }
}

/// The hash of the two texts of an edge.
#[inline]
fn texts_hash([first, second]: [&[u8]; 2]) -> u64 {
    if second.is_empty() { hash(first) } else { hash(first) ^ hash(second).rotate_left(32) }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("settings have less than 4 GiB of text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn get_finds_each_inserted_edge_within_a_short_run() {
        let mut edges = Edges::default();
        let texts = |n: u32| [format!("topic-{n}"), format!(".{}", n % 7)];
        for n in 0..100_000 {
            let [first, second] = texts(n);
            edges.insert(Owner::Static(n % 5), [first.as_bytes(), b""], n);
            edges.insert(Owner::Mixed(n % 3), [first.as_bytes(), second.as_bytes()], n);
        }
        for n in 0..100_000 {
            let [first, second] = texts(n);
            let get = |owner, second: &[u8]| edges.get(owner, [first.as_bytes(), second]);
            assert_eq!(get(Owner::Static(n % 5), b""), Some(n));
            assert_eq!(get(Owner::Static((n + 1) % 5), b""), None);
            assert_eq!(get(Owner::Mixed(n % 3), second.as_bytes()), Some(n));
            assert_eq!(get(Owner::Mixed(n % 3), b".x"), None);
        }
        assert!(edges.longest_run() < 200, "{}", edges.longest_run());
    }
}
