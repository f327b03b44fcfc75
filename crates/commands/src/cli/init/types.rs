//! What was found out about a content type.

use serde_json::{Map, Value};

use super::slug::Slug;
use frontend_map_cms::{EndpointKind, FieldSchema, Sample, TypeSchema};
use frontend_map_rules::{ContentTypeUid, Template};

/// A content type of the CMS.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) uid: ContentTypeUid,
    pub(super) kind: EndpointKind,
    /// The path below `/api`.
    pub(super) path: String,
    /// Whether the path has to be configured where the token may not read the schema.
    pub(super) needs_endpoint: bool,
    pub(super) is_localized: bool,
    pub(super) is_empty: bool,
    /// The field that names its pages.
    pub(super) slug: Option<Slug>,
    /// How the values of that field are made.
    pub(super) values: Values,
    /// The relation to a document of the same type.
    pub(super) parent: Option<String>,
}

/// How most values of a slug are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// One segment each.
    Segments,
    /// Several segments, with slashes between them.
    Paths,
    /// With a slash at the beginning or the end, which no template can take.
    OuterSlashes,
}

/// A content type without a rule.
#[derive(Debug)]
pub(super) struct LeftOut {
    pub(super) uid: ContentTypeUid,
    pub(super) reason: String,
    /// A rule that it could have; `None`: there is no such type, or nothing is known of it.
    pub(super) sketch: Option<Sketch>,
    /// Whether it could not be read.
    pub(super) is_unread: bool,
}

/// A rule for a content type whose slug is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sketch {
    pub(super) template: String,
    /// As in [`RuleGuess`](super::rules::RuleGuess).
    pub(super) endpoint: Option<(String, EndpointKind)>,
}

impl LeftOut {
    /// A type of which nothing else is known.
    pub(super) fn new(uid: &ContentTypeUid, reason: String) -> Self {
        Self { uid: uid.clone(), reason, sketch: None, is_unread: false }
    }
}

impl Sketch {
    /// A rule for a type at a path below `/api`; `None`: no template can have its name.
    pub(super) fn new(
        path: &str,
        kind: EndpointKind,
        is_localized: bool,
        needs_endpoint: bool,
    ) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let locale = if is_localized { "/{locale}" } else { "" };
        let end = if kind == EndpointKind::Collection { "/{slug}" } else { "" };
        let template = format!("{locale}/{name}{end}");
        Template::parse(&template).ok()?;
        let endpoint = needs_endpoint.then(|| (path.to_owned(), kind));
        Some(Self { template, endpoint })
    }
}

impl Type {
    /// From a schema and a page of documents with the slug alone.
    pub(super) fn of_schema(schema: &TypeSchema, slug: Option<Slug>, sample: &Sample) -> Self {
        let parent = |field: &&FieldSchema| field.is_parent && field.name == "parent";
        let parent = schema.fields.iter().find(parent).map(|field| field.name.clone());
        Self { parent, ..Self::new(&schema.uid, schema.is_localized, slug, sample) }
    }

    /// From a page of documents with all of their fields.
    pub(super) fn of_documents(uid: &ContentTypeUid, sample: &Sample) -> Self {
        let is_localized = sample.documents.iter().any(|document| locale(document).is_some());
        Self::new(uid, is_localized, Slug::of_documents(&sample.documents), sample)
    }

    fn new(uid: &ContentTypeUid, is_localized: bool, slug: Option<Slug>, sample: &Sample) -> Self {
        let values = slug.as_ref().map(|slug| Values::of(&sample.documents, &slug.field));
        Self {
            uid: uid.clone(),
            kind: sample.endpoint.kind(),
            path: sample.endpoint.path().to_owned(),
            needs_endpoint: !sample.is_guessable,
            is_localized,
            is_empty: sample.documents.is_empty(),
            values: values.unwrap_or(Values::Segments),
            slug,
            parent: None,
        }
    }

    /// The name of the type in its endpoint: the plural one of a collection.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// The locale of a document with all of its fields.
pub(super) fn locale(document: &Map<String, Value>) -> Option<&str> {
    document.get("locale")?.as_str()
}

/// The value of a field, or of a field of a component.
fn value<'d>(document: &'d Map<String, Value>, field: &str) -> Option<&'d Value> {
    match field.split_once('.') {
        Some((component, field)) => document.get(component)?.get(field),
        None => document.get(field),
    }
}

impl Values {
    fn of(documents: &[Map<String, Value>], field: &str) -> Self {
        let values: Vec<&str> =
            documents.iter().filter_map(|document| value(document, field)?.as_str()).collect();
        let most = |is: fn(&&&str) -> bool| 2 * values.iter().filter(is).count() > values.len();
        if most(|value| value.starts_with('/') || value.ends_with('/')) {
            Self::OuterSlashes
        } else if most(|value| value.contains('/')) {
            Self::Paths
        } else {
            Self::Segments
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_most_of_them_are() {
        let of = |values: &[&str]| {
            let document = |value: &&str| Map::from_iter([("slug".to_owned(), (*value).into())]);
            Values::of(&values.iter().map(document).collect::<Vec<_>>(), "slug")
        };
        assert_eq!(of(&[]), Values::Segments);
        assert_eq!(of(&["a", "b/c"]), Values::Segments);
        assert_eq!(of(&["a", "b/c", "d/e/f"]), Values::Paths);
        assert_eq!(of(&["/a", "/b/", "c/d"]), Values::OuterSlashes);
    }
}
