//! Paths to the fields of a document.

use std::fmt;
use std::sync::Arc;

/// The path to a field: `slug`, or `category.slug` through a relation. Never empty.
///
/// Cheap to clone, and equal clones compare by pointer first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Arc<[Box<str>]>);

impl FieldPath {
    /// Parses dotted field names: a letter or `_`, then letters, digits, `_` and `-`. `None` for
    /// anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let starts = |b: u8| b.is_ascii_alphabetic() || b == b'_';
        let goes_on = |b: u8| starts(b) || b.is_ascii_digit() || b == b'-';
        let name =
            |name: &str| name.bytes().next().is_some_and(starts) && name.bytes().all(goes_on);
        text.split('.').all(name).then(|| Self(text.split('.').map(Into::into).collect()))
    }

    /// The names: relations first, the field last.
    pub fn segments(&self) -> &[Box<str>] {
        &self.0
    }

    /// The path that ends with the name at this position, counted from 0.
    pub fn up_to(&self, at: usize) -> Self {
        Self(Arc::from(&self.0[..self.0.len().min(at + 1)]))
    }

    /// The relations that the path follows: `a` and `a.b` of `a.b.c`. One of them may be a component
    /// instead.
    pub fn relations(&self) -> impl Iterator<Item = Self> + '_ {
        (1..self.0.len()).map(|end| Self(self.0[..end].into()))
    }

    /// Whether the path follows these relations and leads on to a field of the document behind them.
    pub fn is_behind(&self, relation: &Self) -> bool {
        self.0.len() > relation.0.len() && self.0.starts_with(&relation.0)
    }

    /// The rest of the path behind these relations: the path to the field of the document there. `None`:
    /// it does not follow them.
    pub fn behind(&self, relation: &Self) -> Option<Self> {
        self.is_behind(relation).then(|| Self(self.0[relation.0.len()..].into()))
    }

    /// The path to the `documentId` of the document that this path leads to.
    pub fn document_id(&self) -> Self {
        Self(self.0.iter().cloned().chain(["documentId".into()]).collect())
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

impl FieldPath {
    /// The field `name` after following this path `times` times.
    pub(crate) fn repeated(&self, times: usize, name: &Self) -> Self {
        let steps = std::iter::repeat_n(&*self.0, times).flatten();
        Self(steps.chain(name.0.iter()).cloned().collect())
    }
}
