//! The paths of the needed fields as a tree of keys.

use frontend_map_rules::FieldPath;

/// What is needed of the value under a key, or of a whole document.
#[derive(Clone, Debug, Default)]
pub(super) struct PathTree {
    /// How many keys lead to the value.
    pub(super) depth: usize,
    /// The slots of the paths that end here.
    pub(super) ends: Vec<usize>,
    /// The slots of the paths that lead on from here.
    pub(super) through: Vec<usize>,
    /// The slots of `through` whose next key was not requested, so that its absence means nothing
    /// (D32).
    pub(super) sent_by_default: Vec<usize>,
    /// Whether the value is read as its JSON text, whatever it is.
    pub(super) is_json: bool,
    children: Vec<(Box<str>, Self)>,
}

impl PathTree {
    /// The path at each position fills the slot of that number.
    pub(super) fn new<'p>(paths: impl IntoIterator<Item = &'p FieldPath>) -> Self {
        let mut root = Self::default();
        for (slot, path) in paths.into_iter().enumerate() {
            root.add(path.segments(), slot);
        }
        root
    }

    /// Lets the values at the ends of these paths be read as JSON texts.
    pub(super) fn read_as_json<'p>(&mut self, paths: impl IntoIterator<Item = &'p FieldPath>) {
        for path in paths {
            let mut node = &mut *self;
            for key in path.segments() {
                let at = node.children.iter().position(|(own, _)| own == key);
                node = &mut node.children[at.expect("the path is in the tree")].1;
            }
            node.is_json = true;
        }
    }

    fn add(&mut self, path: &[Box<str>], slot: usize) {
        let [first, rest @ ..] = path else { return self.ends.push(slot) };
        self.through.push(slot);
        if rest.is_empty() && self.is_sent_by_default(first) {
            self.sent_by_default.push(slot);
        }
        let known = self.children.iter().position(|(key, _)| key == first);
        let at = known.unwrap_or_else(|| {
            let child = Self { depth: self.depth + 1, ..Self::default() };
            self.children.push((first.clone(), child));
            self.children.len() - 1
        });
        self.children[at].1.add(rest, slot);
    }

    /// Whether Strapi sends a key even if it is not requested: `documentId` wherever there is one,
    /// and the `locale` of a document whose type is localized.
    fn is_sent_by_default(&self, key: &str) -> bool {
        key == "documentId" || (key == "locale" && self.depth == 0)
    }

    /// What is needed of the value under a key; `None`: nothing.
    pub(super) fn child(&self, key: &str) -> Option<&Self> {
        self.children.iter().find(|(own, _)| **own == *key).map(|(_, child)| child)
    }
}
