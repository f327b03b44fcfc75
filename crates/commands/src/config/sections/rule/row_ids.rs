//! Refuses placeholders with Strapi's `id`: it is the number of a row, and each publish makes a new
//! row. In a content file `id` is a field like any other.

use crate::config::section::Section;
use frontend_map_rules::{Source, Templates};

const ROW_ID: &str = "id";

/// Adds a problem if a placeholder of the rule is for `id`.
pub(super) fn refuse(templates: &Templates, rule: &Section<'_>) {
    let mut placeholders = templates.iter().flat_map(|(_, template)| template.placeholders());
    if let Some(placeholder) = placeholders.find(|placeholder| is_row_id(&placeholder.source)) {
        let name = &placeholder.name;
        rule.problem(
            "",
            format_args!(
                "`{{{name}}}`: the `id` of Strapi changes at each publish; use `documentId` or another field"
            ),
        );
    }
}

fn is_row_id(source: &Source) -> bool {
    let is_id = |name: Option<&Box<str>>| name.is_some_and(|name| **name == *ROW_ID);
    match source {
        Source::Field(path) | Source::Date(path, _) => is_id(path.segments().last()),
        Source::Ancestors(steps) => steps.iter().any(|step| is_id(step.value.segments().last())),
        Source::Locale | Source::DocumentId => false,
    }
}
