//! Refuses placeholders with Strapi's `id`: it is the number of a row, and each publish makes a new
//! row. In a content file `id` is a field like any other.

use crate::config::{Cms, Problems};
use frontend_map_catalog::site::Site;
use frontend_map_rules::Source;

const ROW_ID: &str = "id";

/// Adds a problem for each rule with a placeholder for `id`.
pub(in crate::config) fn refuse(cms: &Cms, sites: &[Site], problems: &mut Problems) {
    if !matches!(cms, Cms::Strapi(_)) {
        return;
    }
    for site in sites {
        for (at, rule) in site.rules.rules().iter().enumerate() {
            let placeholders = rule.templates().flat_map(|(_, template)| template.placeholders());
            let of_rows = placeholders.filter(|placeholder| is_row_id(&placeholder.source));
            let names: Vec<&str> = of_rows.map(|placeholder| placeholder.name.as_str()).collect();
            if let Some(name) = names.first() {
                let place =
                    format!("site \"{}\", rule {} ({})", site.key, at + 1, rule.content_type);
                problems.add(
                    &place,
                    format!(
                        "`{{{name}}}`: the `id` of Strapi changes at each publish; use `documentId` or another field"
                    ),
                );
            }
        }
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
