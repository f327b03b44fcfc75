//! A site whose pages a test changes, and its change log.

use std::collections::BTreeMap;
use std::sync::Arc;

use frontend_map_catalog::changes::difference::LocaleNames;
use frontend_map_catalog::changes::log::{Baseline, ChangeLog, Recorder};
use frontend_map_catalog::snapshot::{Builder, Listing};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template,
};

const UID: &str = "api::a.a";

pub(super) struct Site {
    rules: RuleSet,
    hosts: Hosts,
    pub(super) log: Arc<ChangeLog>,
    pub(super) recorder: Recorder,
}

impl Site {
    /// Without a snapshot yet.
    pub(super) fn new() -> Self {
        let log = Arc::<ChangeLog>::default();
        let recorder = Recorder::new(Arc::clone(&log));
        recorder.set_types("main", vec![UID.to_owned()]);
        let template = Template::parse("/articles/{slug}").unwrap();
        let rule = Rule::new(ContentTypeUid::parse(UID).unwrap(), template);
        let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
        let rules = RuleSet::new(locales, LocalePrefix::Always, vec![rule]);
        let hosts = Hosts::new(vec![BaseUrl::parse("https://example.com").ok()]);
        Self { rules, hosts, log, recorder }
    }

    /// The site has these pages, by id and slug, from this source.
    pub(super) fn set(&self, pages: &BTreeMap<String, String>, source: u128) {
        let mut part = Listing { rules: &self.rules, hosts: &self.hosts, uid: UID }.part();
        let fields: Arc<[FieldPath]> = Arc::new([FieldPath::parse("slug").unwrap()]);
        for (id, slug) in pages {
            part.add(&Document {
                id: id.into(),
                locale: DocumentLocale::None,
                unpublished: false,
                fields: Arc::clone(&fields),
                values: vec![FieldValue::Text(slug.into())],
            });
        }
        let snapshot = Arc::new(Builder { path_table: true }.finish(vec![part]).unwrap());
        let locales = LocaleNames::of(self.rules.locales(), &self.hosts);
        let baseline = Baseline { snapshot, locales, fingerprint: 1, source, is_stored: false };
        self.recorder.record("main", UID, Some(baseline), 1_700_000_000_000);
    }
}
