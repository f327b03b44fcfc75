//! `[[site.rule]]`: the content type, templates, params, conditions and sitemap options of a rule.

mod param;
mod patterns;
mod row_ids;

pub(super) use patterns::Patterns;

use config::{Value, ValueKind};

use super::site::by_locale;
use crate::config::section::Section;
use crate::config::value::{boolean, text};
use frontend_map_catalog::site::ResolveBy;
use frontend_map_rules::{
    Condition, ContentTypeUid, FieldPath, Literal, Locales, Rule, SitemapOptions, Template,
};

/// What the rules of a site share.
pub(super) struct Rules<'s> {
    /// Without these, which have a problem of their own, the locales of templates are not checked.
    pub(super) locales: Option<&'s Locales>,
    pub(super) resolve: Option<ResolveBy>,
    pub(super) are_of_strapi: bool,
    pub(super) patterns: &'s mut Patterns,
}

/// Does not return early, so that all problems of a rule are reported.
pub(super) fn read(rule: &mut Section<'_>, site: &mut Rules<'_>) -> Option<Rule> {
    let uid = rule.required("content_type", text);
    let templates = rule.required("template", by_locale::read("a template"));
    let params = rule.take("params");
    let has_path_field = rule.has("path_field");
    let [path_field, modified, title] =
        ["path_field", "modified", "title"].map(|key| rule.optional(key, text));
    let [conditions, exclude_when] = ["where", "exclude_when"].map(|key| rule.map(key, literal));
    let listed = rule.or("sitemap", true, boolean);
    let content_type = uid.and_then(|uid| {
        rule.title(&uid);
        rule.check("", ContentTypeUid::parse(&uid))
    });
    let mut templates = templates
        .and_then(|templates| templates.parse(rule, "template", "", site.locales, Template::parse));
    if let Some(params) = params {
        param::read(&params, templates.as_mut(), rule, site.patterns);
    }
    if let Some(templates) = templates.as_ref().filter(|_| site.are_of_strapi) {
        row_ids::refuse(templates, rule);
    }
    if has_path_field && site.resolve == Some(ResolveBy::Rules) {
        rule.problem_of(
            "path_field",
            "",
            "`path_field` needs resolve = \"documents\" in the site: add it there, or remove `path_field`",
        );
    }
    let field =
        |key: &str, text: Option<String>| text.and_then(|text| field_path(rule, key, &text));
    let path_field = field("path_field", path_field);
    let title = field("title", title);
    let modified = field("modified", modified);
    let conditions = self::conditions(rule, "where", conditions);
    let exclude_when = self::conditions(rule, "exclude_when", exclude_when);
    let modified = modified.unwrap_or_else(|| SitemapOptions::default().modified);
    let sitemap = SitemapOptions { listed: listed?, exclude_when: exclude_when?, modified };
    Some(Rule {
        content_type: content_type?,
        templates: templates?,
        path_field,
        conditions: conditions?,
        sitemap,
        title,
        redirect: None,
    })
}

/// The name of a rule within its site in problems.
pub(super) fn place(at: usize, rule: &Rule) -> String {
    format!("rule {} ({})", at + 1, rule.content_type)
}

fn literal(value: &Value) -> Result<Literal, String> {
    match &value.kind {
        ValueKind::String(text) => Ok(Literal::Text(text.clone())),
        ValueKind::I128(number) => Ok(Literal::Text(number.to_string())),
        ValueKind::Boolean(value) => Ok(Literal::Boolean(*value)),
        _ => Err("must be text, a whole number, true or false".to_owned()),
    }
}

fn conditions(
    rule: &Section<'_>,
    key: &str,
    written: Option<Vec<(String, Option<Literal>)>>,
) -> Option<Vec<Condition>> {
    let read = written?.into_iter().map(|(field, equals)| {
        let field = field_path(rule, key, &field);
        Some(Condition { field: field?, equals: equals? })
    });
    let read: Vec<Option<Condition>> = read.collect();
    read.into_iter().collect()
}

fn field_path(section: &Section<'_>, key: &str, text: &str) -> Option<FieldPath> {
    let path = FieldPath::parse(text);
    let names = "write it as the CMS names it, such as `slug` or `seo.handle`";
    section.check(key, path.ok_or_else(|| format!("`{text}` is not the name of a field: {names}")))
}
