//! Where sites and rules are written in the settings file, for findings about them.

use std::collections::BTreeMap;

use super::value::{Table, Value};

/// The lines, counted from 1, of each site and of its rules. Settings of the environment have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(BTreeMap<String, SiteLines>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SiteLines {
    line: Option<usize>,
    rules: Vec<Option<usize>>,
}

impl Lines {
    /// Of a table that has its sites still.
    pub(super) fn of(table: &Table) -> Self {
        let sites = entries(table.get("site")).filter_map(|site| {
            let table = site.table()?;
            let rules = entries(table.get("rule")).map(|rule| rule.origin.line()).collect();
            Some((
                table.get("key")?.text()?.to_owned(),
                SiteLines { line: site.origin.line(), rules },
            ))
        });
        Self(sites.collect())
    }

    /// The line of the header of a site.
    #[must_use]
    pub fn site(&self, key: &str) -> Option<usize> {
        self.0.get(key)?.line
    }

    /// The line of the header of a rule, by its position from 0.
    #[must_use]
    pub fn rule(&self, site: &str, at: usize) -> Option<usize> {
        *self.0.get(site)?.rules.get(at)?
    }
}

fn entries(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::list).into_iter().flatten()
}
