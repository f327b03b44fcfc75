//! What came of one URL, with where the URL comes from: for people who have to act on it.

use serde::Serialize;

use super::CheckResult;
use super::report::Entry;
use super::targets::Target;

/// An entry of the specified results, and what leads to the document at fault. Written as one flat
/// object: the members of specification 2.7 first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding<'t> {
    /// What came of the URL.
    #[serde(flatten)]
    pub entry: Entry,
    /// The content-type UID.
    pub content_type: &'t str,
    /// The document.
    pub document_id: &'t str,
    /// The locale that the URL stands under.
    pub locale: &'t str,
    /// The template that built the URL, as written in the settings.
    pub rule: &'t str,
}

impl<'t> Finding<'t> {
    /// The finding about one URL.
    #[must_use]
    pub fn new(target: Target<'t>, checked: CheckResult) -> Self {
        let Target { content_type, document_id, locale, rule, .. } = target;
        let entry = Entry::new(target.url(), checked);
        Self { entry, content_type, document_id, locale, rule }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend_url::BaseUrl;
    use crate::validator::Failure;

    #[test]
    fn a_finding_is_an_entry_with_more() {
        let base = BaseUrl::parse("https://www.example.com").unwrap();
        let target = Target {
            base: &base,
            path: "/en/articles/hello",
            content_type: "api::article.article",
            document_id: "a1",
            locale: "en",
            rule: "/{locale}/articles/{slug}",
        };
        let finding = Finding::new(target, CheckResult::Failed(Failure::Refused));
        assert_eq!(
            serde_json::to_string(&finding).unwrap(),
            concat!(
                r#"{"url":"https://www.example.com/en/articles/hello","status":null,"ok":false,"#,
                r#""reason":"fetch failed: refused","contentType":"api::article.article","#,
                r#""documentId":"a1","locale":"en","rule":"/{locale}/articles/{slug}"}"#
            )
        );
    }
}
