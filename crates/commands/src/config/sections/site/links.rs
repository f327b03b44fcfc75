//! `[[site.links]]`: content types whose fields have links to list.

use crate::config::section::Section;
use crate::config::value::text;
use frontend_map_catalog::site::{LinkSource, ResolveBy};
use frontend_map_rules::{ContentTypeUid, FieldPath};

/// Fields that each document has, and that are read as text.
const SYSTEM_FIELDS: [&str; 3] = ["documentId", "locale", "publishedAt"];

/// The content types with links, in the order of the settings; `None`: one has a problem.
pub(super) fn read(site: &mut Section<'_>, resolve: Option<ResolveBy>) -> Option<Vec<LinkSource>> {
    let sources = site.entries("links", one)?;
    if !sources.is_empty() && resolve == Some(ResolveBy::Rules) {
        let fix = "add it there, or remove [[site.links]]";
        site.problem("links", format_args!("needs resolve = \"documents\" in the site: {fix}"));
    }
    let uids: Vec<&ContentTypeUid> = sources.iter().map(|source| &source.content_type).collect();
    for (at, uid) in uids.iter().enumerate() {
        if uids[..at].contains(uid) {
            site.problem("links", format_args!("{uid} is named twice"));
        }
    }
    Some(sources)
}

fn one(section: &mut Section<'_>) -> Option<LinkSource> {
    let uid = section.required("content_type", text);
    let before = section.reader.count();
    let fields = section.each("fields", |path| {
        let names = "write it as the CMS names it, such as `body` or `sections.text`";
        FieldPath::parse(path)
            .ok_or_else(|| format!("`{path}` is not the name of a field: {names}"))
    });
    if fields.is_empty() && section.reader.count() == before {
        section.problem("", "`fields` is required: name one field at least");
    }
    let content_type = uid.and_then(|uid| {
        section.title(&uid);
        section.check("", ContentTypeUid::parse(&uid))
    });
    for (at, field) in fields.iter().enumerate() {
        if SYSTEM_FIELDS.contains(&&*field.segments()[0]) {
            section.problem("fields", format_args!("`{field}` has no links: leave it out"));
        }
        let begins =
            |other: &FieldPath| other == field || other.is_behind(field) || field.is_behind(other);
        if let Some(other) = fields[..at].iter().find(|other| begins(other)) {
            section.problem(
                "fields",
                format_args!("`{field}` and `{other}` are the same field, or one is in the other"),
            );
        }
    }
    let content_type = content_type?;
    (!fields.is_empty()).then_some(LinkSource { content_type, fields })
}
