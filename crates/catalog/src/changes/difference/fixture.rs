//! Snapshots from short rows, for unit tests of what is built on differences.

use std::sync::Arc;

use super::{LocaleNames, Side};
use crate::snapshot::{Builder, Listing, Snapshot};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template, TrailingSlash,
};

pub(crate) const UID: &str = "api::a.a";

/// `(documentId, locale, slug, updatedAt)`. Without a locale, the document is not localized.
pub(crate) type Row<'a> = (&'a str, &'a str, &'a str, &'a str);

/// The settings of a site with one rule for [`UID`].
pub(crate) struct Settings {
    rules: RuleSet,
    hosts: Hosts,
    names: LocaleNames,
}

impl Settings {
    /// With this template, and these locales, each with its base URL or an empty text.
    pub(crate) fn new(template: &str, locales: &[(&str, &str)]) -> Self {
        let codes = locales.iter().map(|(code, _)| Locale::parse(code).unwrap()).collect();
        let base = |(_, base): &(&str, &str)| BaseUrl::parse(base).ok();
        let rule =
            Rule::new(ContentTypeUid::parse(UID).unwrap(), Template::parse(template).unwrap());
        let hosts = Hosts::new(locales.iter().map(base).collect());
        let rules = RuleSet::new(Locales::new(codes).unwrap(), LocalePrefix::Always, vec![rule]);
        let names = LocaleNames::of(rules.locales(), &hosts);
        Self { rules, hosts, names }
    }

    /// With a slash at the end of each path.
    pub(crate) fn with_trailing_slash(self) -> Self {
        Self { rules: self.rules.with_trailing_slash(TrailingSlash::Always), ..self }
    }

    /// With a path table.
    pub(crate) fn snapshot(&self, rows: &[Row<'_>]) -> Snapshot {
        self.build(rows, true)
    }

    pub(crate) fn build(&self, rows: &[Row<'_>], path_table: bool) -> Snapshot {
        let mut part = Listing { rules: &self.rules, hosts: &self.hosts, uid: UID }.part();
        for row in rows {
            part.add(&document(*row));
        }
        Builder { path_table }.finish(vec![part]).unwrap()
    }

    pub(crate) fn rules(&self) -> &RuleSet {
        &self.rules
    }

    pub(crate) fn side<'s>(&'s self, snapshot: &'s Snapshot) -> Side<'s> {
        Side { snapshot, locales: &self.names }
    }
}

fn document((id, locale, slug, modified): Row<'_>) -> Document<'_> {
    let fields = ["slug", "updatedAt"].map(|name| FieldPath::parse(name).unwrap());
    let locale = match locale {
        "" => DocumentLocale::None,
        locale => DocumentLocale::Named(locale.into()),
    };
    let values = [slug, modified].map(|text| FieldValue::Text(text.into())).to_vec();
    Document { id: id.into(), locale, unpublished: false, fields: Arc::new(fields), values }
}
