//! A map with prefixes as keys, searched for the prefixes of a text and for longer keys.

use std::collections::BTreeMap;
use std::ops::Bound;

/// Maps prefixes to values. Suffixes are stored reversed.
#[derive(Default)]
pub(super) struct Affixes<T> {
    by_text: BTreeMap<Vec<u8>, T>,
    /// The distinct lengths of the prefixes.
    lengths: Vec<usize>,
}

impl<T: Default> Affixes<T> {
    pub(super) fn entry(&mut self, text: Vec<u8>) -> &mut T {
        if !self.lengths.contains(&text.len()) {
            self.lengths.push(text.len());
        }
        self.by_text.entry(text).or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_text.is_empty()
    }

    /// All values.
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.by_text.values()
    }

    /// The values of all prefixes of this text; with `longer`, also of those that begin with it.
    pub(super) fn sharing<'t>(
        &'t self,
        text: &'t [u8],
        longer: bool,
    ) -> impl Iterator<Item = &'t T> {
        let shorter = self
            .lengths
            .iter()
            .filter(move |length| **length < text.len() || (**length == text.len() && !longer));
        let shorter = shorter.filter_map(|length| self.by_text.get(&text[..*length]));
        let range = (Bound::Included(text), Bound::Unbounded);
        let longer = longer.then(|| self.by_text.range::<[u8], _>(range));
        let longer = longer.into_iter().flatten();
        shorter.chain(longer.take_while(|(own, _)| own.starts_with(text)).map(|(_, value)| value))
    }
}
