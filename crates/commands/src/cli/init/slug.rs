//! Finds the field of a content type that names its pages.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use frontend_map_cms::FieldSchema;

/// Names of such a field, in lower case without `_` and `-`; the likeliest first.
const NAMES: [&str; 9] =
    ["slug", "path", "handle", "permalink", "urlkey", "urlname", "urlpath", "pathname", "alias"];

/// Parts of the name of a unique text that names the pages.
const PARTS: [&str; 4] = ["slug", "url", "path", "permalink"];

/// The field that names the pages of a content type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slug {
    pub(super) field: String,
    pub(super) found_by: FoundBy,
}

/// Why it is this field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundBy {
    /// Its type.
    Uid,
    /// Its name, and that its values are unique.
    UniqueText,
    /// Its name, although the schema allows documents to share a value.
    SharedText,
    /// Its name in a document.
    Name,
}

impl Slug {
    /// The likeliest field of a schema.
    pub(super) fn of_schema(fields: &[FieldSchema]) -> Option<Self> {
        let candidates = fields.iter().filter_map(|field| {
            let by_part = field.is_unique.then(|| has_part(&field.name)).flatten();
            let known = likeness(&field.name);
            let likeness = known.or(by_part);
            let found_by = match (field.kind.as_str(), field.is_unique, likeness) {
                ("uid", ..) => FoundBy::Uid,
                ("string", true, Some(_)) => FoundBy::UniqueText,
                ("string", false, Some(_)) => FoundBy::SharedText,
                _ => return None,
            };
            let is_by_part = found_by == FoundBy::UniqueText && known.is_none();
            let place = likeness.unwrap_or(usize::MAX);
            Some(((is_by_part, found_by as u8), place, &field.name, found_by))
        });
        let (.., field, found_by) = candidates.min_by_key(|(by, likeness, ..)| (*by, *likeness))?;
        Some(Self { field: field.clone(), found_by })
    }

    /// The likeliest field of documents that have all of their fields, else of components in them.
    pub(super) fn of_documents(documents: &[Map<String, Value>]) -> Option<Self> {
        let is_text =
            |(_, value): &(&String, &Value)| value.as_str().is_some_and(|s| !s.is_empty());
        let texts = |document: &Map<String, Value>| -> Vec<String> {
            document.iter().filter(is_text).map(|(name, _)| name.clone()).collect()
        };
        // Related documents and media have a `documentId`.
        let component = |value: &Value| {
            value.as_object().filter(|own| !own.contains_key("documentId")).map(texts)
        };
        let in_components = |document: &Map<String, Value>| -> Vec<String> {
            let fields =
                document.iter().filter_map(|(name, value)| Some((name, component(value)?)));
            fields
                .flat_map(|(name, fields)| fields.into_iter().map(move |f| format!("{name}.{f}")))
                .collect()
        };
        let likeliest = |names: BTreeSet<String>| {
            let candidates = names.into_iter().filter_map(|name| Some((likeness(&name)?, name)));
            candidates.min_by_key(|(likeness, _)| *likeness)
        };
        let own = likeliest(documents.iter().flat_map(texts).collect());
        let (_, field) =
            own.or_else(|| likeliest(documents.iter().flat_map(in_components).collect()))?;
        Some(Self { field, found_by: FoundBy::Name })
    }
}

/// In lower case without `_` and `-`, without the component that the field is in.
fn plain(name: &str) -> String {
    let name = name.rsplit('.').next().unwrap_or(name);
    name.to_lowercase().chars().filter(|c| !"_-".contains(*c)).collect()
}

/// After all other names: one with a part that says what the text is.
fn has_part(name: &str) -> Option<usize> {
    let plain = plain(name);
    PARTS.iter().any(|part| plain.contains(part)).then_some(NAMES.len() + 1)
}

/// How unlike the likeliest name this one is; `None`: it is none of them.
fn likeness(name: &str) -> Option<usize> {
    let plain = plain(name);
    let ends_alike = plain.ends_with(NAMES[0]).then_some(NAMES.len());
    NAMES.iter().position(|known| plain == *known).or(ends_alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, kind: &str, is_unique: bool) -> FieldSchema {
        let (name, kind) = (name.to_owned(), kind.to_owned());
        FieldSchema { name, kind, is_unique, is_parent: false, is_to_one: false, component: None }
    }

    #[test]
    fn of_schema_prefers_the_type_then_unique_values_then_the_name() {
        let all = [
            field("body", "text", true),
            field("code", "string", true),
            field("path", "string", false),
            field("slug", "string", false),
            field("seo_slug", "string", true),
            field("handle", "string", true),
            field("other", "uid", false),
            field("Slug", "uid", false),
        ];
        let found =
            |count: usize| Slug::of_schema(&all[..count]).map(|slug| (slug.field, slug.found_by));
        for (count, expected) in [
            (2, None),
            (3, Some(("path", FoundBy::SharedText))),
            (4, Some(("slug", FoundBy::SharedText))),
            (5, Some(("seo_slug", FoundBy::UniqueText))),
            (6, Some(("handle", FoundBy::UniqueText))),
            (7, Some(("other", FoundBy::Uid))),
            (8, Some(("Slug", FoundBy::Uid))),
        ] {
            assert_eq!(found(count), expected.map(|(name, by)| (name.to_owned(), by)), "{count}");
        }
    }

    #[test]
    fn of_schema_finds_a_unique_text_by_a_part_of_its_name() {
        for (name, kind, is_unique, expected) in [
            ("urlName", "string", true, Some(FoundBy::UniqueText)),
            ("urlName", "string", false, Some(FoundBy::SharedText)),
            ("seoUrl", "string", true, Some(FoundBy::UniqueText)),
            ("seoUrl", "string", false, None),
            ("seo.slug", "string", false, Some(FoundBy::SharedText)),
            ("path.code", "string", true, None),
            ("code", "string", true, None),
        ] {
            let found = Slug::of_schema(&[field(name, kind, is_unique)]);
            assert_eq!(found.map(|slug| slug.found_by), expected, "{name}");
        }
    }

    #[test]
    fn of_documents_finds_a_text_by_its_name_in_any_document() {
        let documents =
            |json: &str| -> Vec<Map<String, Value>> { serde_json::from_str(json).unwrap() };
        for (json, expected) in [
            ("[]", None),
            (r#"[{"title":"x","slug":null},{"slug":7},{"slug":""}]"#, None),
            (r#"[{"slug":null,"handle":"h"},{"slug":"s"}]"#, Some("slug")),
            (r#"[{"url_key":"k","pageSlug":"p"}]"#, Some("url_key")),
            (r#"[{"pageSlug":"p"}]"#, Some("pageSlug")),
            (
                r#"[{"seo":{"slug":"s"},"category":{"documentId":"c","slug":"c"}}]"#,
                Some("seo.slug"),
            ),
            (r#"[{"seo":{"slug":"s"},"alias":"a"}]"#, Some("alias")),
        ] {
            let found = Slug::of_documents(&documents(json)).map(|slug| slug.field);
            assert_eq!(found.as_deref(), expected, "{json}");
        }
    }
}
