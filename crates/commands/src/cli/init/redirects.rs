//! Guesses which content types have redirects, and their fields.

use frontend_map_cms::{EndpointKind, FieldSchema, Sample, TypeSchema};
use frontend_map_rules::{ContentTypeUid, FieldPath};

/// What the name of such a content type has in it.
const NAME: &str = "redirect";

/// Names of fields in lower case without `_` and `-`; the likeliest first.
const FROM: [&str; 14] = [
    "from",
    "source",
    "frompath",
    "fromurl",
    "sourcepath",
    "sourceurl",
    "oldpath",
    "oldurl",
    "old",
    "requestpath",
    "redirectfrom",
    "redirectsource",
    "path",
    "url",
];
const TO: [&str; 15] = [
    "to",
    "target",
    "destination",
    "topath",
    "tourl",
    "targetpath",
    "targeturl",
    "destinationpath",
    "destinationurl",
    "newpath",
    "newurl",
    "new",
    "redirectto",
    "redirecttarget",
    "redirecturl",
];
const DOCUMENT: [&str; 7] =
    ["target", "document", "to", "destination", "page", "targetpage", "article"];
const STATUS: [&str; 6] =
    ["code", "statuscode", "httpstatus", "redirectstatus", "redirectcode", "httpcode"];
const FORCE: [&str; 2] = ["force", "forced"];

/// A content type whose documents are probably redirects.
#[derive(Debug)]
pub(super) struct RedirectGuess {
    pub(super) uid: ContentTypeUid,
    /// The keys of the settings, each with the name of a field.
    pub(super) fields: Vec<(&'static str, String)>,
    /// As in [`RuleGuess`](super::rules::RuleGuess).
    pub(super) endpoint: Option<(String, EndpointKind)>,
}

/// Fields of a schema that probably make its documents redirects.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RedirectFields(Vec<(&'static str, String)>);

impl RedirectFields {
    /// The fields of a collection whose name says that it has redirects; `None`: it has another name, or no
    /// field for the path, or none for a target.
    pub(super) fn of_schema(schema: &TypeSchema) -> Option<Self> {
        let is_list = schema.endpoint.as_ref()?.kind() == EndpointKind::Collection;
        let is_named = schema.uid.as_str().to_lowercase().contains(NAME);
        let fields = |()| Self::of_fields(&schema.fields);
        (is_list && is_named).then_some(()).and_then(fields)
    }

    fn of_fields(fields: &[FieldSchema]) -> Option<Self> {
        let find = |names: &[&str], is: fn(&FieldSchema) -> bool| {
            let fields = fields.iter().filter(|field| is(field));
            let named = fields.filter_map(|field| Some((likeness(&field.name, names)?, field)));
            let found = named.min_by_key(|(likeness, _)| *likeness);
            found.map(|(_, field)| field.name.clone())
        };
        let is_text =
            |field: &FieldSchema| matches!(field.kind.as_str(), "string" | "text" | "uid");
        let from = find(&FROM, is_text)?;
        let to = find(&TO, is_text);
        let document = find(&DOCUMENT, |field| field.is_to_one);
        if to.is_none() && document.is_none() {
            return None;
        }
        // The values of an enumeration may be none that can be read, such as `permanent`.
        let status = find(&STATUS, |field| field.kind == "integer");
        let force = find(&FORCE, |field| field.kind == "boolean");
        let all = [
            ("from", Some(from)),
            ("to", to),
            ("document", document),
            ("status", status),
            ("force", force),
        ];
        Some(Self(all.into_iter().filter_map(|(key, name)| Some((key, name?))).collect()))
    }

    /// The field with the path.
    pub(super) fn from(&self) -> &str {
        &self.0[0].1
    }

    /// The guess for a type with a page of its documents.
    pub(super) fn guess(self, schema: &TypeSchema, sample: &Sample) -> RedirectGuess {
        let Sample { endpoint, is_guessable, .. } = sample;
        let needs_endpoint = (!is_guessable).then(|| (endpoint.path().to_owned(), endpoint.kind()));
        RedirectGuess { uid: schema.uid.clone(), fields: self.0, endpoint: needs_endpoint }
    }
}

/// The place of a name in a list; `None`: it is not there, or settings cannot have it.
fn likeness(name: &str, names: &[&str]) -> Option<usize> {
    let plain = name.to_lowercase().replace(['_', '-'], "");
    FieldPath::parse(name)?;
    names.iter().position(|known| *known == plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields as `name kind`, where `one` is a relation to one document and `many` to several.
    fn of(fields: &[&str]) -> Option<String> {
        let field = |text: &&str| {
            let (name, kind) = text.split_once(' ').unwrap();
            let is_to_one = kind == "one";
            let kind = if matches!(kind, "one" | "many") { "relation" } else { kind };
            FieldSchema {
                name: name.to_owned(),
                kind: kind.to_owned(),
                is_unique: false,
                is_parent: false,
                is_to_one,
                component: None,
            }
        };
        let fields: Vec<FieldSchema> = fields.iter().map(field).collect();
        let found = RedirectFields::of_fields(&fields)?.0;
        let found: Vec<String> =
            found.into_iter().map(|(key, name)| format!("{key}={name}")).collect();
        Some(found.join(" "))
    }

    #[test]
    fn each_key_has_one_field_of_its_type() {
        for (fields, expected) in [
            (&["from string", "to string"][..], Some("from=from to=to")),
            (
                &["from string", "to string", "target one", "code integer", "force boolean"],
                Some("from=from to=to document=target status=code force=force"),
            ),
            (
                &["source string", "target many", "destination text"],
                Some("from=source to=destination"),
            ),
            (&["old_path uid", "newPath string", "note text"], Some("from=old_path to=newPath")),
            (&["url string", "source-url string", "to string"], Some("from=source-url to=to")),
            (&["from string", "page one", "article one"], Some("from=from document=page")),
            (
                &["from string", "to string", "code enumeration", "force string"],
                Some("from=from to=to"),
            ),
            (&["from one", "to string"], None),
            (&["from string", "target many"], None),
            (&["from string", "title string"], None),
            (&["title string", "to string"], None),
            (&[], None),
        ] {
            assert_eq!(of(fields).as_deref(), expected, "{fields:?}");
        }
    }
}
