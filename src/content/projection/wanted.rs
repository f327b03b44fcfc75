//! Which keys of an object lead to a wanted field.

use crate::rules::FieldPath;

/// What is wanted of the value under a key, or of a whole document.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// The slots of the paths that end here.
    pub(super) ends: Vec<usize>,
    /// The slots of the paths that lead on from here.
    pub(super) beyond: Vec<usize>,
    below: Vec<(Box<str>, Self)>,
}

impl Wanted {
    /// The path at each position fills the slot of that number.
    pub(super) fn new<'p>(paths: impl IntoIterator<Item = &'p FieldPath>) -> Self {
        let mut root = Self::default();
        for (slot, path) in paths.into_iter().enumerate() {
            root.add(path.segments(), slot);
        }
        root
    }

    fn add(&mut self, path: &[Box<str>], slot: usize) {
        let [first, rest @ ..] = path else { return self.ends.push(slot) };
        self.beyond.push(slot);
        let known = self.below.iter().position(|(key, _)| key == first);
        let at = known.unwrap_or_else(|| {
            self.below.push((first.clone(), Self::default()));
            self.below.len() - 1
        });
        self.below[at].1.add(rest, slot);
    }

    /// What is wanted of the value under a key; `None`: nothing.
    pub(super) fn below(&self, key: &str) -> Option<&Self> {
        self.below.iter().find(|(own, _)| **own == *key).map(|(_, wanted)| wanted)
    }
}
