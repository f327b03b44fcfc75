//! The values that a path was built from.

use std::sync::Arc;

use super::world::Known;
use crate::snapshot::PublicUrl;
use frontend_map_rules::frontend_url::path_by_rule;
use frontend_map_rules::{
    AncestorStep, DatePart, Document, DocumentLocale, FieldPath, FieldValue, Literal, Pathname,
    Rule, Source, Template,
};

/// Fields with their values.
pub(super) type Values = Vec<(FieldPath, FieldValue<'static>)>;

/// A date from its parts. Parts that are not known are those of a day that every month has.
#[derive(Default)]
struct DateParts {
    year: Option<String>,
    month: Option<String>,
    day: Option<String>,
}

impl DateParts {
    fn set(&mut self, part: DatePart, value: &str) {
        let own = match part {
            DatePart::Year => &mut self.year,
            DatePart::Month => &mut self.month,
            DatePart::Day => &mut self.day,
        };
        *own = Some(value.to_owned());
    }

    fn text(self) -> String {
        let or = |part: Option<String>, default: &str| part.unwrap_or_else(|| default.to_owned());
        // A leap year, for the 29th of February.
        format!("{}-{}-{}", or(self.year, "2000"), or(self.month, "01"), or(self.day, "01"))
    }
}

/// The id of an ancestor of a document, whose real one is not known. No document has it.
fn unknown_id(of: &str, up: usize) -> FieldValue<'static> {
    FieldValue::Text(format!("{of}?{up}").into())
}

impl Known<'_> {
    /// The values from which the path of a version was built. `None`: they cannot be told from the path.
    pub(super) fn values(&self, url: PublicUrl<'_>) -> Option<Values> {
        let rules = &self.world.site.rules;
        let rule = &rules.rules()[url.rule()];
        let code = &rules.locales().codes()[url.locale()];
        let mut values: Values = rule.conditions.iter().map(required).collect();
        let pathname = Pathname::parse(url.path());
        if url.has_own_path() {
            let own = rules.own_path_values(&pathname, rule, |at| at == url.locale());
            let value = own.into_iter().next()?.0;
            values.push((rule.path_field.clone()?, FieldValue::Text(value.into())));
            return Some(values);
        }
        values.extend(rule.path_field.clone().map(|field| (field, FieldValue::Missing)));
        let template = rule.template(code)?;
        let found = rules.match_of_rule(&self.patterns, &pathname, url.rule(), url.locale())?;
        let captured: Vec<(&str, &str)> = found.params.iter().collect();
        values.extend(of_template(template, &captured, url.document_id()));
        Some(values)
    }

    /// A version as a document with the values of its path; the others are absent. `None`: they do not
    /// build its path.
    pub(super) fn document(&self, url: PublicUrl<'_>) -> Option<Document<'static>> {
        let site = self.world.site;
        let rule = &site.rules.rules()[url.rule()];
        let fields = &self.fields[self.type_at(rule.content_type.as_str())?];
        let known = self.values(url)?;
        let value = |field: &FieldPath| {
            let own = known.iter().find(|(own, _)| own == field);
            own.map_or(FieldValue::Absent(0), |(_, value)| value.clone())
        };
        let code = &site.rules.locales().codes()[url.locale()];
        let locale = if url.is_localized() {
            DocumentLocale::Named(code.to_string().into())
        } else {
            DocumentLocale::None
        };
        let document = Document {
            id: url.document_id().to_owned().into(),
            locale,
            unpublished: false,
            values: fields.iter().map(value).collect(),
            fields: Arc::clone(fields),
        };
        let built = path_by_rule(&site.rules, &site.hosts, rule, &document, false);
        built.is_ok_and(|built| built.path == url.path()).then_some(document)
    }
}

/// The value that a condition requires.
fn required(condition: &frontend_map_rules::Condition) -> (FieldPath, FieldValue<'static>) {
    let value = match &condition.equals {
        Literal::Text(text) => FieldValue::Text(text.clone().into()),
        Literal::Boolean(value) => FieldValue::Boolean(*value),
    };
    (condition.field.clone(), value)
}

fn of_template(template: &Template, captured: &[(&str, &str)], id: &str) -> Values {
    let mut values = Values::new();
    let mut dates: Vec<(&FieldPath, DateParts)> = Vec::new();
    for placeholder in template.placeholders() {
        let value = captured.iter().find(|(name, _)| *name == placeholder.name);
        let value = value.map(|(_, value)| *value);
        match (&placeholder.source, value) {
            (Source::Locale | Source::DocumentId, _) => {}
            (Source::Field(field), Some(value)) => {
                values.push((field.clone(), FieldValue::Text(value.to_owned().into())));
            }
            (Source::Date(field, part), Some(value)) => {
                if !dates.iter().any(|(own, _)| *own == field) {
                    dates.push((field, DateParts::default()));
                }
                let date = dates.iter_mut().find(|(own, _)| *own == field);
                date.expect("it was added").1.set(*part, value);
            }
            // The path omits it.
            (Source::Field(field) | Source::Date(field, _), None) => {
                values.push((field.clone(), FieldValue::Missing));
            }
            (Source::Ancestors(steps), value) => {
                values.extend(value.into_iter().flat_map(|value| of_chain(steps, value, id)));
            }
        }
    }
    values.extend(
        dates
            .into_iter()
            .map(|(field, parts)| (field.clone(), FieldValue::Text(parts.text().into()))),
    );
    values
}

/// The values of a document and its ancestors, from the segments of its path.
fn of_chain(steps: &[AncestorStep], value: &str, document_id: &str) -> Values {
    let parts: Vec<&str> = value.rsplit('/').collect();
    let mut values = Values::new();
    for (up, step) in steps.iter().enumerate() {
        let (id, value) = match parts.get(up) {
            Some(part) => {
                (unknown_id(document_id, up), FieldValue::Text((*part).to_owned().into()))
            }
            None => (FieldValue::Missing, FieldValue::Missing),
        };
        let id = if up > 0 { id } else { FieldValue::Text(document_id.to_owned().into()) };
        values.push((step.id.clone(), id));
        values.push((step.value.clone(), value));
    }
    values
}

/// The fields that a rule reads from a single related document, so that null in place of the relation
/// means that there is none: those of its placeholders, and its path field.
pub(super) fn path_fields(rule: &Rule) -> impl Iterator<Item = &FieldPath> {
    let placeholders = rule.templates().flat_map(|(_, template)| template.placeholders());
    placeholders.flat_map(|placeholder| placeholder.source.fields()).chain(&rule.path_field)
}
