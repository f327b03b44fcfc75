//! An arena: many short texts in blocks that never move.

use std::ops::Range;

/// The size of a block, in bytes; no text is longer.
pub(super) const BLOCK: usize = 1 << 20;

/// Where a text begins: four bytes reach 4 GiB.
pub(super) type Offset = u32;

/// The arena. It grows without a copy, and two arenas are joined by moving their blocks.
#[derive(Debug, Default)]
pub(super) struct Arena {
    blocks: Vec<String>,
}

impl Arena {
    /// Adds texts, one right behind the other. `None` if they are longer than a block, or if the
    /// arena would have more than 4 GiB.
    pub(super) fn push<const N: usize>(&mut self, texts: [&str; N]) -> Option<Offset> {
        let length = texts.iter().map(|text| text.len()).sum();
        let full = |block: &String| block.len() + length > BLOCK;
        if self.blocks.last().is_none_or(full) {
            if length > BLOCK {
                return None;
            }
            // The first block is small, so that a small list stays small.
            let capacity = if self.blocks.is_empty() { length } else { BLOCK };
            self.blocks.push(String::with_capacity(capacity));
        }
        let number = self.blocks.len() - 1;
        let block = self.blocks.last_mut()?;
        let at = Offset::try_from(number * BLOCK + block.len()).ok()?;
        block.extend(texts);
        Some(at)
    }

    /// A part, in bytes, of the texts that begin there.
    pub(super) fn get(&self, at: Offset, part: Range<usize>) -> &str {
        let (block, start) = (at as usize / BLOCK, at as usize % BLOCK);
        &self.blocks[block][start + part.start..start + part.end]
    }

    /// Moves all texts of another arena into this one; returns by how much their offsets grow.
    /// `None` if the arena would have more than 4 GiB.
    pub(super) fn append(&mut self, mut other: Self) -> Option<Offset> {
        let shift = Offset::try_from(self.blocks.len() * BLOCK).ok()?;
        Offset::try_from((self.blocks.len() + other.blocks.len()) * BLOCK).ok()?;
        if let Some(last) = other.blocks.last_mut() {
            last.shrink_to_fit();
        }
        self.blocks.extend(other.blocks);
        Some(shift)
    }

    /// The memory that it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.iter().map(String::capacity).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_stay_valid_when_the_arena_grows_and_is_joined() {
        let mut texts = Arena::default();
        let long = "x".repeat(60_000);
        let pushed: Vec<_> = (0..40).map(|n| (n, texts.push([&format!("{n}"), &long]))).collect();
        let mut others = Arena::default();
        let other = others.push(["other"]).unwrap();
        let shift = texts.append(others).unwrap();
        assert_eq!(texts.get(other + shift, 0..5), "other");
        for (n, at) in pushed {
            let expected = format!("{n}{long}");
            assert_eq!(texts.get(at.unwrap(), 0..expected.len()), expected);
        }
        assert_eq!(texts.push([&"x".repeat(BLOCK), "x"]), None);
        let last = texts.push(["last"]).unwrap();
        assert_eq!(texts.get(last, 0..4), "last");
    }
}
