//! The text of `frontend-map.d.ts`: the interface `Sites` of the package `frontend-map-client`, with a
//! member for each site.

use std::collections::BTreeMap;
use std::sync::Arc;

use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::PublicUrl;
use frontend_map_rules::{ContentTypeUid, Locale, Segment, Template};

const HEAD: &str = "\
// Written by `frontend-map types`. Do not edit it: run the command again when the settings change.
import \"frontend-map-client\";

declare module \"frontend-map-client\" {
  interface Sites {
";

/// The types of these sites. All names are sorted: the types do not depend on the order in the settings.
pub(super) fn of_sites(mut sites: Vec<&Arc<Site>>) -> String {
    sites.sort_by_key(|site| &site.key);
    sites.dedup_by_key(|site| &site.key);
    let sites: String = sites.into_iter().map(|site| of_site(site)).collect();
    format!("{HEAD}{sites}  }}\n}}\n")
}

fn of_site(site: &Site) -> String {
    let rules = &site.rules;
    let mut locales: Vec<&str> = rules.locales().codes().iter().map(Locale::as_str).collect();
    locales.sort_unstable();
    let mut pages: Vec<&str> = site.pages.snapshot().urls().map(PublicUrl::document_id).collect();
    pages.sort_unstable();
    pages.dedup();
    let mut uids = rules.content_types();
    uids.sort_unstable();
    let types: String = uids.into_iter().map(|uid| of_type(site, uid)).collect();
    format!(
        "    {}: {{\n      locales: {};\n      pages: {};\n      contentTypes: {{\n{types}      }};\n    }};\n",
        name(&site.key),
        union(&locales),
        union(&pages),
    )
}

/// The templates of a content type, each with the params of its paths.
fn of_type(site: &Site, uid: &ContentTypeUid) -> String {
    // With each template, whether a document may have a path of its own, without the params.
    let mut templates = BTreeMap::<&str, (&Template, bool)>::new();
    for rule in site.rules.of_type(uid.as_str()) {
        for (_, template) in rule.templates() {
            let entry = templates.entry(template.as_str()).or_insert((template, false));
            entry.1 |= rule.path_field.is_some();
        }
    }
    let locale = format!("locale: Sites[{}][\"locales\"]", literal(&site.key));
    let line = |(text, (template, own_path)): (&str, (&Template, bool))| {
        let params = params(template, own_path);
        format!("          {}: {{ {locale}{params} }};\n", literal(text))
    };
    let lines: String = templates.into_iter().map(line).collect();
    format!("        {}: {{\n{lines}        }};\n", literal(uid.as_str()))
}

/// The params of a template beside the locale: optional if a path may lack them.
fn params(template: &Template, own_path: bool) -> String {
    let mut marks = BTreeMap::<&str, &str>::new();
    for segment in template.segments() {
        if let Some(placeholder) = segment.placeholder().filter(|_| !segment.is_locale()) {
            let is_optional = own_path || matches!(segment, Segment::Optional(_));
            marks.insert(&placeholder.name, if is_optional { "?" } else { "" });
        }
    }
    let members = marks.into_iter().map(|(key, mark)| format!("; {}{mark}: string", name(key)));
    members.collect::<String>()
}

/// One of these texts; none has no value.
fn union(texts: &[&str]) -> String {
    if texts.is_empty() {
        return "never".to_owned();
    }
    let literals: Vec<String> = texts.iter().copied().map(literal).collect();
    literals.join(" | ")
}

/// A name of a member: in quotes unless it is an identifier.
fn name(text: &str) -> String {
    let starts = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_identifier = text.bytes().next().is_some_and(starts)
        && text.bytes().all(|byte| starts(byte) || byte.is_ascii_digit());
    if is_identifier { text.to_owned() } else { literal(text) }
}

/// A string literal: those of JSON are valid in TypeScript.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
