//! Takes the links out of documents.

use frontend_map_catalog::links::{AddressKind, KnownHosts, LinkTable, Missing, NewLink};
use frontend_map_catalog::site::Site;
use frontend_map_cms::links::{RawLink, find_links};
use frontend_map_cms::{BadItem, Document, DocumentLocale, DocumentSink};
use frontend_map_rules::FieldValue;

/// Adds the links of documents of one content type to a table.
pub(super) struct LinkSink<'s> {
    pub(super) site: &'s Site,
    pub(super) hosts: &'s KnownHosts,
    /// The position of the content type.
    pub(super) source: usize,
    pub(super) table: LinkTable,
    /// The links of one field, to use the memory again.
    pub(super) found: Vec<RawLink>,
}

impl LinkSink<'_> {
    fn add(&mut self, document: &Document<'_>) {
        let locale = match &document.locale {
            DocumentLocale::None => None,
            DocumentLocale::Named(code) => match self.site.rules.locales().position(code) {
                Some(at) => Some(at),
                // A version of another site.
                None => return,
            },
            DocumentLocale::NotText => return,
        };
        for (field, value) in document.values.iter().enumerate() {
            self.add_field(&document.id, locale, field, value);
        }
    }

    fn add_field(&mut self, id: &str, locale: Option<usize>, field: usize, value: &FieldValue<'_>) {
        match value {
            FieldValue::Text(json) => {
                self.found.clear();
                let mut missing = Missing::default();
                missing.unreadable += u64::from(find_links(json, &mut self.found).is_err());
                let kept =
                    self.found.iter().filter_map(|link| match self.hosts.classify(&link.address) {
                        AddressKind::Internal(address) => Some((address, &*link.text)),
                        AddressKind::TooLong => {
                            missing.left_out += 1;
                            None
                        }
                        AddressKind::External | AddressKind::Nothing => None,
                    });
                let kept: Vec<_> = kept.collect();
                let links =
                    kept.iter().map(|(address, text)| NewLink { locale, field, address, text });
                self.table.add(self.source, id, links);
                self.table.count(self.source, Some(id), missing);
            }
            // The parts of a dynamic zone, or a repeatable component.
            FieldValue::List(values) => {
                for value in values {
                    self.add_field(id, locale, field, value);
                }
            }
            FieldValue::Missing
            | FieldValue::NullAt(_)
            | FieldValue::Absent(_)
            | FieldValue::Boolean(_)
            | FieldValue::NotText => {}
        }
    }
}

impl DocumentSink for LinkSink<'_> {
    fn push(&mut self, item: Result<&Document<'_>, BadItem>) {
        match item {
            Ok(document) if document.unpublished => {}
            Ok(document) => self.add(document),
            Err(_) => {
                self.table.count(self.source, None, Missing { left_out: 0, unreadable: 1 });
            }
        }
    }
}
