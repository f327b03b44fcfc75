//! Checks that the CMS has the fields that the rules name.

use std::collections::HashSet;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::config::{Cms, Config};
use crate::content::{RequestLimiters, SchemaError, Schemas, Strapi};
use crate::rules::{FieldPath, Rule, RuleSet};

/// The report about missing fields, or one line why the CMS could not be queried; and the number of
/// missing fields.
#[tokio::main(flavor = "current_thread")]
pub(super) async fn fields(config: &Config) -> Result<(String, usize), Box<dyn Error>> {
    let (mut out, mut count) = (String::new(), 0);
    if let Cms::Strapi(settings) = &config.cms {
        let limiters = RequestLimiters::new(config.limits.cms_requests);
        let strapi = Strapi::new(settings.clone(), Arc::default(), &limiters)?;
        if let Err(error) = write_fields(&mut out, &mut count, config, &strapi).await {
            writeln!(out, "\nthe fields of the rules are not checked: {error}")?;
        }
    }
    Ok((out, count))
}

async fn write_fields(
    out: &mut String,
    count: &mut usize,
    config: &Config,
    strapi: &Strapi,
) -> Result<(), SchemaError> {
    let mut schemas = Schemas::default();
    for site in config.sites.iter() {
        for uid in site.rules.content_types() {
            let mut reported = HashSet::new();
            for fields in field_groups(&site.rules, uid.as_str()) {
                for field in fields {
                    if strapi.has_field(&mut schemas, uid, field).await? {
                        continue;
                    }
                    if reported.insert(field) {
                        *count += 1;
                        // Writing to a string cannot fail.
                        let _ = writeln!(
                            out,
                            "\nsite {}: a field that the CMS does not have",
                            site.key
                        );
                        let _ = writeln!(out, "  type   {uid}\n  field  {field}");
                    }
                    break;
                }
            }
        }
    }
    Ok(())
}

/// The fields of a content type's rules, grouped by placeholder: if the first field of a group is
/// missing, so are the others, such as the slugs of all ancestors.
fn field_groups<'r>(rules: &'r RuleSet, uid: &'r str) -> impl Iterator<Item = Vec<&'r FieldPath>> {
    let of_rule = |rule: &'r Rule| {
        let placeholders = rule.templates().flat_map(|(_, template)| template.placeholders());
        let of_placeholders = placeholders.map(|placeholder| placeholder.source.fields().collect());
        of_placeholders.chain(rule.conditions.iter().map(|condition| vec![&condition.field]))
    };
    rules.of_type(uid).flat_map(of_rule)
}
