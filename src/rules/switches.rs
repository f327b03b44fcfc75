//! What a rule says about its documents in sitemaps.

use super::condition::Condition;
use super::document::Document;
use super::template::FieldPath;

/// Strapi's own: when a version was last edited.
const UPDATED_AT: &str = "updatedAt";

/// Whether the URLs that a rule builds are listed, and when their pages changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Whether any of them is.
    pub listed: bool,
    /// Documents for which one of these holds are not.
    pub exclude_when: Vec<Condition>,
    /// The field with the date of the last modification.
    pub modified: FieldPath,
}

impl Default for Switches {
    /// All are listed, with `updatedAt`.
    fn default() -> Self {
        let modified = FieldPath::parse(UPDATED_AT).expect("the name of a field");
        Self { listed: true, exclude_when: Vec::new(), modified }
    }
}

impl Switches {
    /// Whether a document that the rule gives a URL is listed.
    #[must_use]
    pub fn lists(&self, document: &Document<'_>) -> bool {
        let excludes = |condition: &Condition| condition.holds(document.field(&condition.field));
        self.listed && !self.exclude_when.iter().any(excludes)
    }

    /// The fields that they need.
    pub fn fields(&self) -> impl Iterator<Item = &FieldPath> {
        let excluding = self.exclude_when.iter().map(|condition| &condition.field);
        excluding.chain([&self.modified])
    }
}
