//! Texts in one block of memory, each once.

use std::fmt;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The texts, each with a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    block: String,
    /// The end of each text in the block.
    ends: Vec<u32>,
    by_text: HashTable<u32>,
}

impl Texts {
    /// Interns a text: returns its number, and adds it if it is new. `None`: there is no room for it.
    pub(super) fn intern(&mut self, text: &str) -> Option<u32> {
        let hash = FxBuildHasher.hash_one(text);
        let known = self.by_text.find(hash, |number| self.get(*number) == text);
        if let Some(known) = known {
            return Some(*known);
        }
        let number = u32::try_from(self.ends.len()).ok()?;
        let end = u32::try_from(self.block.len() + text.len()).ok()?;
        self.block.push_str(text);
        self.ends.push(end);
        let Self { block, ends, by_text } = self;
        let hash_of = |number: &u32| FxBuildHasher.hash_one(text_at(block, ends, *number));
        by_text.insert_unique(hash, number, hash_of);
        Some(number)
    }

    /// The text with a number, which [`Texts::intern`] has returned.
    pub(super) fn get(&self, number: u32) -> &str {
        text_at(&self.block, &self.ends, number)
    }

    /// All of them, in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..).take(self.len()).map(|number| self.get(number))
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The memory that they take once they are [shrunk](Texts::shrink), in bytes.
    pub(super) fn bytes(&self) -> usize {
        // The hash table has between seven eighths and seven sixteenths of its places in use.
        let table = self.ends.len() * 2 * (size_of::<u32>() + 1);
        self.block.len() + self.ends.len() * size_of::<u32>() + table
    }

    /// Gives back what is not used.
    pub(super) fn shrink(&mut self) {
        self.block.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Texts {
    /// Each text is interned as it is read: bytes of another origin may have one a million times.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(EachOnce)
    }
}

/// Reads texts, none of which is there twice.
struct EachOnce;

impl<'de> Visitor<'de> for EachOnce {
    type Value = Texts;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("texts, each once")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Texts, A::Error> {
        let mut read = Texts::default();
        while let Some(text) = texts.next_element::<&str>()? {
            let number = read.len();
            if read.intern(text).map(|added| added as usize) != Some(number) {
                return Err(A::Error::custom("a text is there twice"));
            }
        }
        Ok(read)
    }
}

fn text_at<'t>(block: &'t str, ends: &[u32], number: u32) -> &'t str {
    let at = number as usize;
    let start = at.checked_sub(1).map_or(0, |before| ends[before] as usize);
    &block[start..ends[at] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::serialized::{decode, encode};

    #[test]
    fn text_that_is_there_twice_is_refused() {
        for (texts, is_read) in [(["a", "b"], true), (["a", "a"], false), (["", ""], false)] {
            let bytes = encode(&texts.to_vec());
            assert_eq!(decode::<Texts>(&bytes).is_ok(), is_read, "{texts:?}");
        }
    }
}
