//! Rules: a content type, the templates of its URLs, and the documents that it is for.

mod absent_key;
mod condition;
mod redirect;
mod sitemap_options;

pub use absent_key::AbsentKey;
pub use condition::{Condition, Literal};
pub(crate) use redirect::normalized;
pub use redirect::{
    ENCODED_REST, REDIRECT_STATUSES, Redirect, RedirectFault, RedirectFields, Target, text_for_path,
};
pub use sitemap_options::SitemapOptions;

use crate::constraint::Constraint;
use crate::locale::{Locale, Locales};
use crate::template::{FieldPath, Source, Template};
use crate::uid::ContentTypeUid;

/// A content type and the templates of its URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The content type.
    pub content_type: ContentTypeUid,
    /// The templates.
    pub templates: Templates,
    /// The field with a document's own path, which it has in place of that of the template (D41).
    pub path_field: Option<FieldPath>,
    /// The rule is for documents for which all of these hold.
    pub conditions: Vec<Condition>,
    /// How sitemaps list its documents.
    pub sitemap: SitemapOptions,
    /// The field with the title of a document, for the tables of pages and problems and for reports.
    pub title: Option<FieldPath>,
    /// The fields that say where a path leads, if the documents are redirects.
    pub redirect: Option<RedirectFields>,
}

/// One template for all locales, or one for each of some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Templates {
    /// One template for all locales.
    One(Template),
    /// One for each of these locales, at least one. The rule builds no URL for other locales. In a
    /// [`RuleSet`](super::RuleSet) they are in the order of its locales.
    PerLocale(Vec<(Locale, Template)>),
}

/// The settings of one placeholder of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Param {
    /// The source, instead of the field that the name means.
    pub source: Option<Source>,
    /// Which values are allowed.
    pub constraint: Option<Constraint>,
}

impl Rule {
    /// A rule with one template and no conditions.
    pub fn new(content_type: ContentTypeUid, template: Template) -> Self {
        let (templates, conditions) = (Templates::One(template), Vec::new());
        let sitemap = SitemapOptions::default();
        Self {
            content_type,
            templates,
            path_field: None,
            conditions,
            sitemap,
            title: None,
            redirect: None,
        }
    }

    /// A rule for documents that are redirects from the path in a field.
    ///
    /// # Panics
    /// Never: the template is one.
    pub fn redirect(
        content_type: ContentTypeUid,
        from: FieldPath,
        redirect: RedirectFields,
    ) -> Self {
        // It reads no field, and builds no path: the one in the field is final.
        let template = Template::parse("/{documentId}").expect("a template");
        let (path_field, redirect) = (Some(from), Some(redirect));
        Self { path_field, redirect, ..Self::new(content_type, template) }
    }

    /// The template for documents of a locale, if there is one.
    pub fn template(&self, locale: &Locale) -> Option<&Template> {
        self.templates.get(locale)
    }

    /// All templates, with the locale that each is for.
    pub fn templates(&self) -> impl Iterator<Item = (Option<&Locale>, &Template)> {
        self.templates.iter()
    }

    /// The first template: in a rule set, that of the first locale of the site that has one.
    pub fn first_template(&self) -> &Template {
        self.nth_template(0)
    }

    /// The template at a position among [`Self::templates`].
    pub(super) fn nth_template(&self, at: usize) -> &Template {
        match &self.templates {
            Templates::One(template) => template,
            Templates::PerLocale(templates) => &templates[at].1,
        }
    }

    /// Sorts the templates by the order of a site's locales.
    pub(super) fn sort_templates(&mut self, locales: &Locales) {
        if let Templates::PerLocale(templates) = &mut self.templates {
            let place = |locale: &Locale| locales.position(locale.as_str()).unwrap_or(usize::MAX);
            templates.sort_by_cached_key(|(locale, _)| place(locale));
        }
    }

    /// The fields that the rule reads from a document, possibly repeated.
    pub fn fields(&self) -> impl Iterator<Item = &FieldPath> {
        let placeholders = self.templates().flat_map(|(_, template)| template.placeholders());
        let wanted = placeholders.flat_map(|placeholder| placeholder.source.fields());
        let conditions = self.conditions.iter().map(|condition| &condition.field);
        let redirect = self.redirect.iter().flat_map(RedirectFields::fields);
        wanted.chain(&self.path_field).chain(conditions).chain(redirect)
    }

    /// See [`Templates::set_param`].
    pub fn set_param(&mut self, name: &str, param: &Param) -> bool {
        self.templates.set_param(name, param)
    }
}

impl Templates {
    /// The template for a locale, if there is one.
    pub fn get(&self, locale: &Locale) -> Option<&Template> {
        match self {
            Self::One(template) => Some(template),
            Self::PerLocale(templates) => {
                let own = templates.iter().find(|(own, _)| own == locale);
                own.map(|(_, template)| template)
            }
        }
    }

    /// All templates, with the locale that each is for.
    pub fn iter(&self) -> impl Iterator<Item = (Option<&Locale>, &Template)> {
        let (one, more): (Option<&Template>, &[(Locale, Template)]) = match self {
            Self::One(template) => (Some(template), &[]),
            Self::PerLocale(templates) => (None, templates),
        };
        let one = one.into_iter().map(|template| (None, template));
        one.chain(more.iter().map(|(locale, template)| (Some(locale), template)))
    }

    /// Applies the settings of the placeholder `name`. False when no template has it.
    pub fn set_param(&mut self, name: &str, param: &Param) -> bool {
        let templates: Vec<&mut Template> = match self {
            Self::One(template) => vec![template],
            Self::PerLocale(templates) => templates.iter_mut().map(|(_, t)| t).collect(),
        };
        let mut found = false;
        let placeholders = templates.into_iter().flat_map(Template::placeholders_mut);
        for placeholder in placeholders.filter(|placeholder| placeholder.name == name) {
            found = true;
            placeholder.constraint.clone_from(&param.constraint);
            if let Some(source) = &param.source {
                placeholder.source = source.clone();
            }
        }
        found
    }
}
