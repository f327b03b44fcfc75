//! Lists of allowed values.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashSet};

/// The allowed values of a placeholder. Cheap to clone: each pattern of a template has a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSet(Arc<Values>);

#[derive(Debug, PartialEq, Eq)]
struct Values {
    /// Hashed: a binary search would cost a cache miss for each step.
    all: FxHashSet<Box<str>>,
    /// In bytes: longer values are not hashed.
    longest: usize,
    /// Equal for equal sets.
    hash: u64,
}

impl ValueSet {
    pub(super) fn new(values: impl IntoIterator<Item = String>) -> Self {
        let all: FxHashSet<Box<str>> = values.into_iter().map(String::into_boxed_str).collect();
        let longest = all.iter().map(|value| value.len()).max().unwrap_or(0);
        let hashes = all.iter().map(|value| FxBuildHasher.hash_one(value));
        let hash = hashes.fold(0, u64::wrapping_add);
        Self(Arc::new(Values { all, longest, hash }))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.all.is_empty()
    }

    /// Whether the value is in the set.
    pub fn contains(&self, value: &str) -> bool {
        value.len() <= self.0.longest && self.0.all.contains(value)
    }

    /// All values, sorted.
    pub fn sorted(&self) -> Vec<&str> {
        let mut values: Vec<&str> = self.0.all.iter().map(|value| &**value).collect();
        values.sort_unstable();
        values
    }
}

impl Hash for ValueSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}
