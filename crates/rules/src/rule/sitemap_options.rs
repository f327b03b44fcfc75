//! How sitemaps list the documents of a rule.

use super::absent_key::AbsentKey;
use super::condition::Condition;
use crate::document::Document;
use crate::template::FieldPath;

/// Strapi's field for the time of the last edit of a version.
const UPDATED_AT: &str = "updatedAt";

/// Which URLs of a rule are listed, and the source of their modification dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitemapOptions {
    /// Whether any URL is listed.
    pub listed: bool,
    /// Documents for which one of these holds are not listed.
    pub exclude_when: Vec<Condition>,
    /// The field with the date of the last modification.
    pub modified: FieldPath,
}

impl Default for SitemapOptions {
    /// All URLs are listed, with `updatedAt`.
    fn default() -> Self {
        let modified = FieldPath::parse(UPDATED_AT).expect("the name of a field");
        Self { listed: true, exclude_when: Vec::new(), modified }
    }
}

impl SitemapOptions {
    /// Whether a document for which the rule builds a URL is listed.
    pub fn lists(&self, document: &Document<'_>) -> bool {
        let excludes = |condition: &Condition| condition.holds(document.field(&condition.field));
        self.listed && !self.exclude_when.iter().any(excludes)
    }

    /// An absent key that decides whether a document is listed, or with which date. `None`: that is
    /// known.
    pub fn absent_key(&self, document: &Document<'_>) -> Option<AbsentKey> {
        let mut absent = None;
        for condition in self.exclude_when.iter().take_while(|_| self.listed) {
            let value = document.field(&condition.field);
            match condition.outcome(value) {
                // The document is excluded, whatever the other values are.
                Some(true) => return None,
                Some(false) => {}
                None => absent = absent.or_else(|| AbsentKey::of(&condition.field, value)),
            }
        }
        let modified = AbsentKey::of(&self.modified, document.field(&self.modified));
        // Permissions are by content type, so only a controller can leave out the document's own
        // date. The entry then has no date.
        absent.or(modified.filter(|key| self.listed && key.leads_on()))
    }

    /// The fields that the options need.
    pub fn fields(&self) -> impl Iterator<Item = &FieldPath> {
        let excluding = self.exclude_when.iter().map(|condition| &condition.field);
        excluding.chain([&self.modified])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{field, text};
    use crate::{DocumentLocale, FieldValue, Literal};

    fn options(listed: bool, exclude_when: &[(&str, bool)]) -> SitemapOptions {
        let condition = |(path, value): &(&str, bool)| Condition {
            field: field(path),
            equals: Literal::Boolean(*value),
        };
        let exclude_when = exclude_when.iter().map(condition).collect();
        SitemapOptions { listed, exclude_when, ..SitemapOptions::default() }
    }

    #[test]
    fn document_is_listed_unless_its_rule_or_a_field_excludes_it() {
        let document = Document {
            id: "id".into(),
            locale: DocumentLocale::None,
            unpublished: false,
            fields: ["hidden", "draft", "slug"].map(field).into(),
            values: vec![FieldValue::Boolean(true), FieldValue::Boolean(false), text("a")],
        };
        for (listed, exclude_when, expected) in [
            (true, &[][..], true),
            (false, &[], false),
            (false, &[("draft", true)], false),
            (true, &[("hidden", true)], false),
            (true, &[("hidden", false)], true),
            (true, &[("draft", true), ("hidden", true)], false),
            (true, &[("draft", true), ("other", true)], true),
        ] {
            let lists = options(listed, exclude_when).lists(&document);
            assert_eq!(lists, expected, "{listed} {exclude_when:?}");
        }
    }

    #[test]
    fn absent_key_is_one_that_decides_about_the_list() {
        let document = Document {
            id: "id".into(),
            locale: DocumentLocale::None,
            unpublished: false,
            fields: ["hidden", "seo.noindex", "updatedAt", "page.updatedAt"].map(field).into(),
            values: vec![
                FieldValue::Boolean(true),
                FieldValue::Absent(0),
                FieldValue::Absent(0),
                FieldValue::Absent(0),
            ],
        };
        for (listed, exclude_when, modified, expected) in [
            (true, &[][..], "updatedAt", None),
            (true, &[], "page.updatedAt", Some("page")),
            (false, &[], "page.updatedAt", None),
            (true, &[("seo.noindex", true)], "updatedAt", Some("seo")),
            (true, &[("seo.noindex", true), ("hidden", true)], "page.updatedAt", None),
            (true, &[("seo.noindex", true), ("hidden", false)], "updatedAt", Some("seo")),
            (false, &[("seo.noindex", true)], "updatedAt", None),
        ] {
            let modified = field(modified);
            let options = SitemapOptions { modified, ..options(listed, exclude_when) };
            let absent = options.absent_key(&document).map(|key| key.to_string());
            assert_eq!(absent.as_deref(), expected, "{listed} {exclude_when:?}");
        }
    }
}
