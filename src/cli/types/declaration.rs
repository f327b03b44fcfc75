//! The text of `frontend-map.d.ts`: the interface `Sites` of the package `frontend-map-client`, with a
//! member for each site.

use std::collections::BTreeMap;

use crate::rules::{ContentTypeUid, Locale, Rule, RuleSet, Segment, Template};
use crate::site::Site;

const HEAD: &str = "\
// Written by `frontend-map types`. Do not edit it: run the command again when the settings change.
import \"frontend-map-client\";

declare module \"frontend-map-client\" {
  interface Sites {
";

/// The types of these sites. All names are sorted: the types do not depend on the order in the settings.
pub(super) fn of_sites(mut sites: Vec<&Site>) -> String {
    sites.sort_by_key(|site| &site.key);
    sites.dedup_by_key(|site| &site.key);
    let sites: String = sites.into_iter().map(of_site).collect();
    format!("{HEAD}{sites}  }}\n}}\n")
}

fn of_site(site: &Site) -> String {
    let rules = &site.rules;
    let mut locales: Vec<&str> = rules.locales().codes().iter().map(Locale::as_str).collect();
    locales.sort_unstable();
    let locales: Vec<String> = locales.into_iter().map(literal).collect();
    let mut uids = rules.content_types();
    uids.sort_unstable();
    let params = |uid: &ContentTypeUid| {
        format!("        {}: {};\n", literal(uid.as_str()), params(site, uid))
    };
    let types: String = uids.into_iter().map(params).collect();
    format!(
        "    {}: {{\n      locales: {};\n      contentTypes: {{\n{types}      }};\n    }};\n",
        name(&site.key),
        locales.join(" | "),
    )
}

/// The params of the paths of a content type. Any of its rules may have built a path, so that a param is
/// optional unless all paths have it.
fn params(site: &Site, uid: &ContentTypeUid) -> String {
    let own_path = site.rules.of_type(uid.as_str()).any(|rule| rule.path_field.is_some());
    let templates: Vec<&Template> = templates(&site.rules, uid).collect();
    // For each name, how many templates always have a value for it.
    let mut required = BTreeMap::<&str, usize>::new();
    for segment in templates.iter().flat_map(|template| template.segments()) {
        if let Some(placeholder) = segment.placeholder().filter(|_| !segment.is_locale()) {
            let is_required = !matches!(segment, Segment::Optional(_));
            *required.entry(&placeholder.name).or_default() += usize::from(is_required);
        }
    }
    let mark = |count| if own_path || count < templates.len() { "?" } else { "" };
    let locale = format!("locale: Sites[{}][\"locales\"]", literal(&site.key));
    let others =
        required.into_iter().map(|(key, count)| format!("; {}{}: string", name(key), mark(count)));
    format!("{{ {locale}{} }}", others.collect::<String>())
}

fn templates<'r>(rules: &'r RuleSet, uid: &ContentTypeUid) -> impl Iterator<Item = &'r Template> {
    let templates = |rule: &'r Rule| rule.templates().map(|(_, template)| template);
    rules.of_type(uid.as_str()).flat_map(templates)
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
