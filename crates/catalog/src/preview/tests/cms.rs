//! A CMS with drafts and published versions, as Strapi keeps them: a published version reads published
//! documents, and loses a relation when the document behind it is withdrawn.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::site::{ResolveBy, Site, SitePages};
use crate::snapshot::{Builder, Listing, PageVersion, Patch, Patched, Snapshot};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    Condition, ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Literal, Locale,
    LocalePrefix, Locales, PagePaths, RedirectFields, Rule, RuleSet, TrailingSlash,
};

pub(super) const CATEGORY: &str = "api::category.category";
pub(super) const ARTICLE: &str = "api::article.article";
pub(super) const PAGE: &str = "api::page.page";
pub(super) const AUTHOR: &str = "api::author.author";
pub(super) const REDIRECT: &str = "api::redirect.redirect";
pub(super) const CODES: [&str; 2] = ["en", "de"];

/// The values of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) slug: Option<&'static str>,
    /// The own path.
    pub(super) path: Option<&'static str>,
    pub(super) kind: &'static str,
    pub(super) hidden: bool,
    /// The `documentId` behind `category` of an article, or behind `parent` of a page.
    pub(super) relation: Option<&'static str>,
}

/// Content type, `documentId`, and the position of the locale; `None`: it is not localized.
pub(super) type Key = (&'static str, &'static str, Option<usize>);

#[derive(Clone, Debug, Default)]
pub(super) struct Cms {
    pub(super) drafts: BTreeMap<Key, Fields>,
    pub(super) published: BTreeMap<Key, Fields>,
    /// Whether categories have no locale.
    pub(super) plain_categories: bool,
}

impl Cms {
    pub(super) fn is_localized(&self, uid: &str) -> bool {
        uid != AUTHOR && !(uid == CATEGORY && self.plain_categories)
    }

    pub(super) fn draft(&mut self, key: Key, fields: Fields) {
        self.drafts.insert(key, fields);
    }

    pub(super) fn publish(&mut self, key: Key) {
        let mut fields = self.drafts[&key].clone();
        if self
            .target(key, &fields)
            .is_none_or(|target| target != key && !self.published.contains_key(&target))
        {
            fields.relation = None;
        }
        self.published.insert(key, fields);
    }

    pub(super) fn unpublish(&mut self, key: Key) {
        self.published.remove(&key);
        let target_of = |own: &Key, fields: &Fields| self.target(*own, fields);
        let readers: Vec<Key> = self
            .published
            .iter()
            .filter(|(own, fields)| target_of(own, fields) == Some(key))
            .map(|(own, _)| *own)
            .collect();
        for reader in readers {
            self.published.get_mut(&reader).unwrap().relation = None;
        }
    }

    pub(super) fn delete(&mut self, uid: &str, id: &str) {
        let own: Vec<Key> =
            self.published.keys().filter(|key| (key.0, key.1) == (uid, id)).copied().collect();
        for key in own {
            self.unpublish(key);
        }
        self.drafts.retain(|key, _| (key.0, key.1) != (uid, id));
    }

    /// The version behind the relation of a version.
    fn target(&self, (uid, _, locale): Key, fields: &Fields) -> Option<Key> {
        let target = match uid {
            ARTICLE => CATEGORY,
            PAGE => PAGE,
            _ => return None,
        };
        let locale = self.is_localized(target).then_some(locale.unwrap_or(0));
        Some((target, fields.relation?, locale))
    }

    /// A value as the CMS sends it.
    fn value(
        &self,
        versions: &BTreeMap<Key, Fields>,
        key: Key,
        names: &[Box<str>],
        depth: usize,
    ) -> FieldValue<'static> {
        let text = |text: Option<&'static str>| match text {
            Some(text) => FieldValue::Text(text.into()),
            None => FieldValue::Missing,
        };
        let fields = &versions[&key];
        match (&*names[0], &names[1..]) {
            ("slug", []) => text(fields.slug),
            ("path", []) => text(fields.path),
            ("kind", []) => text(Some(fields.kind)),
            ("hidden", []) => FieldValue::Boolean(fields.hidden),
            ("documentId", []) => text(Some(key.1)),
            ("category" | "parent", rest) if !rest.is_empty() => {
                let target = self.target(key, fields).filter(|own| versions.contains_key(own));
                match target {
                    Some(target) => self.value(versions, target, rest, depth + 1),
                    None => FieldValue::NullAt(depth),
                }
            }
            (_, _) => FieldValue::Missing,
        }
    }

    fn document(
        &self,
        versions: &BTreeMap<Key, Fields>,
        key: Key,
        fields: &Arc<[FieldPath]>,
    ) -> Document<'static> {
        let value = |field: &FieldPath| self.value(versions, key, field.segments(), 0);
        Document {
            id: key.1.into(),
            locale: match key.2 {
                Some(locale) => DocumentLocale::Named(CODES[locale].into()),
                None => DocumentLocale::None,
            },
            unpublished: !std::ptr::eq(versions, &raw const self.published),
            values: fields.iter().map(value).collect(),
            fields: Arc::clone(fields),
        }
    }

    pub(super) fn read_draft(&self, key: Key, fields: Vec<FieldPath>) -> Document<'static> {
        self.document(&self.drafts, key, &fields.into())
    }

    /// A published version, as a request for a related document finds it.
    pub(super) fn read_published(
        &self,
        key: Key,
        fields: Vec<FieldPath>,
    ) -> Option<Document<'static>> {
        let is_there = self.published.contains_key(&key);
        is_there.then(|| self.document(&self.published, key, &fields.into()))
    }

    /// The published documents of a type.
    fn walk(&self, rules: &RuleSet, uid: &str) -> Vec<Document<'static>> {
        let fields: Arc<[FieldPath]> = rules.listing_fields(uid).into();
        let own = self.published.keys().filter(|key| key.0 == uid);
        own.map(|key| self.document(&self.published, *key, &fields)).collect()
    }

    pub(super) fn snapshots(&self, site: &Site) -> Vec<(ContentTypeUid, Arc<Snapshot>)> {
        let snapshot = |uid: &ContentTypeUid| {
            let mut part =
                Listing { rules: &site.rules, hosts: &site.hosts, uid: uid.as_str() }.part();
            self.walk(&site.rules, uid.as_str()).iter().for_each(|document| part.add(document));
            let snapshot = Builder { path_table: true }.finish(vec![part]).unwrap();
            (uid.clone(), Arc::new(snapshot))
        };
        site.rules.content_types().into_iter().map(snapshot).collect()
    }

    /// The snapshots after all documents have been read again.
    pub(super) fn updated(
        &self,
        site: &Site,
        before: &[(ContentTypeUid, Arc<Snapshot>)],
    ) -> Vec<(ContentTypeUid, Arc<Snapshot>)> {
        let update = |(uid, snapshot): &(ContentTypeUid, Arc<Snapshot>)| {
            let listing = Listing { rules: &site.rules, hosts: &site.hosts, uid: uid.as_str() };
            let mut by_id: BTreeMap<String, Vec<Document<'static>>> = BTreeMap::new();
            // Documents that are gone have an entry, too.
            for url in snapshot.urls() {
                by_id.insert(url.document_id().to_owned(), Vec::new());
            }
            for row in snapshot.no_url() {
                by_id.insert(row.document_id.to_owned(), Vec::new());
            }
            for document in self.walk(&site.rules, uid.as_str()) {
                by_id.entry(document.id.clone().into_owned()).or_default().push(document);
            }
            let patch = |(id, versions)| Patch { id, versions, is_partial: false };
            let patches: Vec<Patch> = by_id.into_iter().map(patch).collect();
            let snapshot = match snapshot.patched(&patches, listing, Builder { path_table: true }) {
                Patched::Unchanged => Arc::clone(snapshot),
                Patched::Changed(snapshot) => Arc::new(*snapshot),
                Patched::NeedsWalk => panic!("no key is absent"),
            };
            (uid.clone(), snapshot)
        };
        before.iter().map(update).collect()
    }
}

/// The settings of a site.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) rules: Vec<Rule>,
    pub(super) resolve: ResolveBy,
    pub(super) hosts: bool,
    pub(super) prefix: LocalePrefix,
    pub(super) slash: TrailingSlash,
    /// The path of a page outside the CMS in the first locale.
    pub(super) page: Option<&'static str>,
    pub(super) redirects: Vec<Entry>,
}

/// A redirect of the CMS.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) from: &'static str,
    /// An address, `410`, or a `documentId` after `@`.
    pub(super) to: &'static str,
    pub(super) force: bool,
    pub(super) locale: Option<usize>,
}

impl Entry {
    fn document(&self, at: usize, fields: &Arc<[FieldPath]>) -> Document<'static> {
        let text = |text: &'static str| FieldValue::Text(text.into());
        let value = |field: &FieldPath| match &*field.to_string() {
            "from" => text(self.from),
            "to" if !self.to.starts_with(['@', '4']) => text(self.to),
            "target.documentId" => self.to.strip_prefix('@').map_or(FieldValue::NullAt(0), &text),
            "code" if self.to == "410" => text(self.to),
            "force" => FieldValue::Boolean(self.force),
            _ => FieldValue::Missing,
        };
        Document {
            id: format!("r{at:02}").into(),
            locale: match self.locale {
                Some(locale) => DocumentLocale::Named(CODES[locale].into()),
                None => DocumentLocale::None,
            },
            unpublished: false,
            values: fields.iter().map(value).collect(),
            fields: Arc::clone(fields),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Rule { content_type, templates, path_field, conditions, .. } in &self.rules {
            let conditions = conditions.iter().map(|own| own.field.to_string());
            let (conditions, path) = (conditions.collect::<Vec<_>>(), path_field.is_some());
            let texts: Vec<&str> = templates.iter().map(|(_, text)| text.as_str()).collect();
            write!(f, "{content_type} {texts:?} where {conditions:?} path {path}; ")?;
        }
        let Self { resolve, hosts, prefix, slash, page, redirects, .. } = self;
        write!(f, "{resolve:?}, hosts {hosts}, {prefix:?}, slash {slash:?}, page {page:?}, ")?;
        write!(f, "{redirects:?}")
    }
}

impl Settings {
    pub(super) fn site(&self) -> Site {
        let locales = CODES.map(|code| Locale::parse(code).unwrap()).to_vec();
        let locales = Locales::new(locales).unwrap();
        let base = |text: &str| BaseUrl::parse(text).ok();
        let second = if self.hosts { "https://de.example" } else { "https://en.example" };
        let hosts = Hosts::new(vec![base("https://en.example"), base(second)]);
        let rules = RuleSet::new(locales, self.prefix, self.rules.clone());
        let rules = rules.with_trailing_slash(self.slash).with_hosts(&hosts.by_locale());
        let mut paths = PagePaths::new(hosts.by_locale());
        let uid = crate::site::PAGES;
        let mut part = Listing { rules: &rules, hosts: &hosts, uid }.part();
        if let Some(path) = self.page {
            paths.add(path, 0);
            let (name, position, locale) = ("contact", 0, 0);
            part.add_page(PageVersion {
                name,
                position,
                path,
                locale,
                listed: true,
                modified: None,
            });
        }
        let pages = SitePages::new(Builder { path_table: true }.finish(vec![part]).unwrap());
        let site = Site {
            key: "main".to_owned(),
            rules: rules.with_pages(paths),
            hosts,
            resolve: self.resolve,
            sitemap_path: String::new(),
            pages,
            redirects: None,
            links: Vec::new(),
            links_fingerprint: 0,
            fingerprint: 0,
            source: 1,
        };
        if self.redirects.is_empty() {
            return site;
        }
        let field = |name: &str| FieldPath::parse(name).unwrap();
        let fields = RedirectFields {
            to: Some(field("to")),
            document: Some(field("target.documentId")),
            status: Some(field("code")),
            force: Some(field("force")),
            hosts: vec!["other.example".to_owned()],
        };
        let rule = Rule::redirect(ContentTypeUid::parse(REDIRECT).unwrap(), field("from"), fields);
        let rules = RuleSet::new(site.rules.locales().clone(), LocalePrefix::Always, vec![rule]);
        let rules = rules.with_trailing_slash(self.slash).with_hosts(&site.hosts.by_locale());
        let redirects = Site { rules, pages: SitePages::default(), ..site.clone() };
        Site { redirects: Some(Arc::new(redirects)), ..site }
    }

    /// The snapshots of the redirects.
    pub(super) fn redirects(&self, site: &Site) -> Vec<(ContentTypeUid, Arc<Snapshot>)> {
        let Some(site) = site.redirects.as_deref() else { return Vec::new() };
        let mut part = Listing { rules: &site.rules, hosts: &site.hosts, uid: REDIRECT }.part();
        let fields: Arc<[FieldPath]> = site.rules.listing_fields(REDIRECT).into();
        let all = self.redirects.iter().enumerate();
        all.for_each(|(at, own)| part.add(&own.document(at, &fields)));
        let snapshot = Builder { path_table: true }.finish(vec![part]).unwrap();
        vec![(ContentTypeUid::parse(REDIRECT).unwrap(), Arc::new(snapshot))]
    }
}

pub(super) fn condition(field: &str, value: &str) -> Condition {
    let equals = Literal::Text(value.to_owned());
    Condition { field: FieldPath::parse(field).unwrap(), equals }
}
