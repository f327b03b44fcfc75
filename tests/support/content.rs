//! A Strapi in memory: content that a test changes while it is served, lists by key as Strapi
//! answers them, a gate that lets requests wait, and faults.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Condvar, Mutex};

use super::cms::Cms;
use super::front_of_cms::{list, refusal};
use super::script::Script;

/// The parameter with the key behind which a page begins.
const AFTER: &str = "filters[documentId][$gt]=";

/// What a request gets instead of an answer.
type Fault = Arc<dyn Fn(&str) -> Option<Script> + Send + Sync>;

/// Published versions by locale and `documentId`, with the fields that a row has beside these; the
/// same ones for every content type. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Content(Arc<Inner>);

#[derive(Default)]
struct Inner {
    versions: Mutex<BTreeMap<(String, String), String>>,
    closed: Mutex<bool>,
    opened: Condvar,
    fault: Mutex<Option<Fault>>,
    /// The most rows of a page.
    max_limit: Mutex<Option<usize>>,
}

/// What a request for a list asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) locale: String,
    pub(crate) after: String,
    pub(crate) size: usize,
    /// Whether the response must have a total.
    pub(crate) with_total: bool,
    /// The documents that are asked for; empty: all of them.
    pub(crate) ids: Vec<String>,
}

impl Query {
    /// `None`: the target is not a list of all documents.
    pub(crate) fn parse(target: &str) -> Option<Self> {
        let (_, query) = target.split_once('?')?;
        let value = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        let size = value("pagination[pageSize]")?.parse().ok()?;
        let in_one_locale = value("locale").is_some_and(|locale| locale != "%2A");
        if size > 1 && !in_one_locale && !selected(query).is_empty() {
            return None;
        }
        Some(Self {
            locale: value("locale").unwrap_or_default(),
            after: value("filters[documentId][$gt]").unwrap_or_default(),
            size,
            with_total: value("pagination[withCount]")? == "true",
            ids: selected(query),
        })
    }
}

/// The ids of a list of documents by their ids; empty for any other request.
pub(crate) fn selected(query: &str) -> Vec<String> {
    let of = |pair: &str| {
        let (key, id) = pair.strip_prefix("filters[documentId]")?.split_once('=')?;
        (key.starts_with("[$in]") || key == "[$eq]").then(|| id.to_owned())
    };
    query.split('&').filter_map(of).collect()
}

impl Content {
    /// `(locale, documentId, slug)` each.
    pub(crate) fn new(versions: &[(&str, &str, &str)]) -> Self {
        let content = Self::default();
        for (locale, id, slug) in versions {
            content.publish(locale, id, slug);
        }
        content
    }

    /// This number of documents in each locale, with slugs of their own. The locale `""` is none.
    pub(crate) fn many(locales: &[&str], count: usize) -> Self {
        let content = Self::default();
        for locale in locales {
            for n in 0..count {
                content.publish(locale, &format!("d{n:05}"), &format!("s{n}"));
            }
        }
        content
    }

    pub(crate) fn publish(&self, locale: &str, id: &str, slug: &str) {
        self.put(locale, id, &format!(r#","slug":"{slug}""#));
    }

    /// Publishes a version with these fields, in JSON, each behind a comma.
    pub(crate) fn put(&self, locale: &str, id: &str, fields: &str) {
        let key = (locale.to_owned(), id.to_owned());
        self.0.versions.lock().expect("no panic").insert(key, fields.to_owned());
    }

    pub(crate) fn unpublish(&self, locale: &str, id: &str) {
        let key = (locale.to_owned(), id.to_owned());
        self.0.versions.lock().expect("no panic").remove(&key);
    }

    /// From now on pages have at most so many rows, as with Strapi's `maxLimit`.
    pub(crate) fn clamp(&self, max_limit: usize) {
        *self.0.max_limit.lock().expect("no panic") = Some(max_limit);
    }

    /// From now on requests arrive and wait.
    pub(crate) fn close(&self) {
        *self.0.closed.lock().expect("no panic") = true;
    }

    /// Lets all requests that wait go on, and later ones through.
    pub(crate) fn open(&self) {
        *self.0.closed.lock().expect("no panic") = false;
        self.0.opened.notify_all();
    }

    /// From now on requests for which `fault` has something get that.
    pub(crate) fn fail(&self, fault: impl Fn(&str) -> Option<Script> + Send + Sync + 'static) {
        *self.0.fault.lock().expect("no panic") = Some(Arc::new(fault));
    }

    pub(crate) fn heal(&self) {
        *self.0.fault.lock().expect("no panic") = None;
    }

    /// A peer with this content.
    pub(crate) fn start(&self) -> Cms {
        let content = self.clone();
        Cms::start(move |target| content.answer(target))
    }

    pub(crate) fn answer(&self, target: &str) -> Script {
        let mut closed = self.0.closed.lock().expect("no panic");
        while *closed {
            closed = self.0.opened.wait(closed).expect("no panic");
        }
        drop(closed);
        // A fault may wait; others must not wait with it.
        let fault = self.0.fault.lock().expect("no panic").clone();
        fault.and_then(|fault| fault(target)).unwrap_or_else(|| match Query::parse(target) {
            Some(query) if target.contains("sort=publishedAt:desc") => {
                self.newest("publishedAt", target.contains("[$notNull]"), query.size)
            }
            Some(query) if target.contains("sort=updatedAt:desc") => {
                self.newest("updatedAt", target.contains("[$notNull]"), query.size)
            }
            Some(query) => self.list(&query),
            None => self.one(target),
        })
    }

    fn list(&self, query: &Query) -> Script {
        let versions = self.0.versions.lock().expect("no panic");
        let key = |id: &str| (query.locale.clone(), id.to_owned());
        let own = |((locale, _), _): &(&(String, String), &String)| *locale == query.locale;
        let after = (Bound::Excluded(key(&query.after)), Bound::Unbounded);
        // As in Strapi, more than 100 ids are no filter at all.
        let filters = (1..=100).contains(&query.ids.len());
        let asked =
            |((_, id), _): &(&(String, String), &String)| !filters || query.ids.contains(id);
        let rows: Vec<_> = versions.range(after).take_while(own).filter(asked).collect();
        // As in Strapi, the key is a filter, and the total counts what the filters let through.
        let total = query.with_total.then_some(rows.len());
        let size = query.size.min(self.0.max_limit.lock().expect("no panic").unwrap_or(query.size));
        let fields = |locale: &str, fields: &str| match locale {
            "" => fields.to_owned(),
            locale => format!(r#","locale":"{locale}"{fields}"#),
        };
        let rows: Vec<(&str, String)> = rows
            .into_iter()
            .take(size)
            .map(|((locale, id), more)| (&**id, fields(locale, more)))
            .collect();
        let rows: Vec<(&str, &str)> = rows.iter().map(|(id, more)| (*id, more.as_str())).collect();
        list(&rows, size, total)
    }

    /// The newest versions in all locales, by this field. Those without a date are the first.
    fn newest(&self, field: &str, is_dated: bool, size: usize) -> Script {
        let versions = self.0.versions.lock().expect("no panic");
        let name = format!(r#""{field}":""#);
        let date = |fields: &str| {
            let date = fields.split_once(&name).map_or("", |(_, rest)| rest);
            date.split('"').next().unwrap_or_default().to_owned()
        };
        let mut rows: Vec<(String, &str, String)> = versions
            .iter()
            .map(|((locale, id), more)| {
                (date(more), &**id, format!(r#","locale":"{locale}"{more}"#))
            })
            .collect();
        rows.retain(|(date, ..)| !is_dated || !date.is_empty());
        rows.sort_by(|one, other| {
            let is_dated = |row: &(String, &str, String)| !row.0.is_empty();
            is_dated(one).cmp(&is_dated(other)).then_with(|| other.0.cmp(&one.0))
        });
        let rows: Vec<(&str, &str)> =
            rows.iter().map(|(_, id, more)| (*id, more.as_str())).collect();
        list(&rows[..rows.len().min(size)], size, rows.len())
    }

    /// The versions of these documents in a locale, as it is in a query; `%2A`: in all locales.
    pub(crate) fn some(&self, ids: &[String], locale: &str) -> Script {
        let versions = self.0.versions.lock().expect("no panic");
        let is_wanted = |own: &str| locale == "%2A" || own == locale;
        let own = versions.iter().filter(|((own, id), _)| ids.contains(id) && is_wanted(own));
        let mut rows: Vec<(&str, String)> = own
            .map(|((locale, id), more)| match &**locale {
                "" => (&**id, more.clone()),
                locale => (&**id, format!(r#","locale":"{locale}"{more}"#)),
            })
            .collect();
        rows.sort();
        let rows: Vec<(&str, &str)> = rows.iter().map(|(id, more)| (*id, more.as_str())).collect();
        list(&rows, 100, rows.len())
    }

    fn one(&self, target: &str) -> Script {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut selected = selected(query);
        let locale = query.split('&').find_map(|pair| pair.strip_prefix("locale="));
        if !selected.is_empty() {
            let after = query.split('&').find_map(|pair| pair.strip_prefix(AFTER));
            selected.retain(|id| id.as_str() > after.unwrap_or_default());
            return self.some(&selected, locale.unwrap_or_default());
        }
        let id = path.rsplit('/').next().unwrap_or_default();
        let key = (locale.unwrap_or_default().to_owned(), id.to_owned());
        match self.0.versions.lock().expect("no panic").get(&key) {
            Some(fields) => {
                let locale = &key.0;
                let row = format!(r#"{{"documentId":"{id}","locale":"{locale}"{fields}}}"#);
                Script::json(200, &format!(r#"{{"data":{row},"meta":{{}}}}"#))
            }
            None => refusal(404, "NotFoundError", "{}"),
        }
    }
}
