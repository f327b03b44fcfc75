//! Webhooks about documents that others read: what they cost the CMS, and what they change.

mod long_lists;
mod many;
mod order_of_updates;
mod relation_targets;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{paths, sitemap};
use crate::support::cms::Cms;
use crate::support::content::selected;
use crate::support::front_of_cms::{TOKEN, list, refusal};
use crate::support::hook::{SECRET, post_body};
use crate::support::script::Script;
use crate::support::service::Service;
use crate::support::settings::site;
use crate::support::wait::until_so;

pub(super) const CATEGORY: &str = "api::category.category";

/// `(documentId, category, its slug)` of each article; without a category, its slug is empty.
type Article<'a> = (&'a str, &'static str, &'static str);
type Articles = Arc<Mutex<Vec<(String, &'static str, &'static str)>>>;
/// Gets the target of a request and the response as it would be now, and may wait.
type Between = Arc<dyn Fn(&str, Script) -> Script + Send + Sync>;

/// A service in front of articles with categories.
pub(super) struct Fixture {
    pub(super) articles: Articles,
    /// Filters are ignored, as by an old version.
    pub(super) ignores: Arc<AtomicBool>,
    /// Lists with a filter fail.
    fails: Arc<AtomicBool>,
    between: Arc<Mutex<Option<Between>>>,
    pub(super) cms: Cms,
    pub(super) service: Service,
}

impl Fixture {
    pub(super) fn start(articles: &[Article<'_>]) -> Self {
        Self::with_share(articles, "1", Duration::ZERO)
    }

    /// Each article has a version in each of these locales, which its path begins with.
    fn in_locales(articles: &[Article<'_>], locales: &'static [&'static str]) -> Self {
        Self::with(articles, locales, "1", Duration::ZERO)
    }

    /// With this share of the CMS for walks in the background, and this time for each list.
    fn with_share(articles: &[Article<'_>], share: &str, time: Duration) -> Self {
        Self::with(articles, &["en"], share, time)
    }

    fn with(
        articles: &[Article<'_>],
        locales: &'static [&'static str],
        share: &str,
        time: Duration,
    ) -> Self {
        let articles: Articles = Arc::new(Mutex::new(owned(articles)));
        let (ignores, fails) = <(Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        let between = Arc::<Mutex<Option<Between>>>::default();
        let cms = {
            let (articles, ignores, fails) = (articles.clone(), ignores.clone(), fails.clone());
            let between = between.clone();
            Cms::start(move |target| {
                let is_filtered = filters(target) > 0;
                if is_filtered && fails.load(Ordering::Relaxed) {
                    return Script::reset();
                }
                std::thread::sleep(time);
                let ignores = ignores.load(Ordering::Relaxed);
                let own = articles.lock().expect("no panic").clone();
                let script = respond(&own, locales, target, ignores);
                let between = between.lock().expect("no panic").clone();
                match between {
                    Some(between) => between(target, script),
                    None => script,
                }
            })
        };
        let prefix = if locales.len() > 1 { "/{locale}" } else { "" };
        let service = site("main")
            .locales(locales)
            .rule("plugin::cms.article", &format!("{prefix}/{{category.slug}}/{{slug}}"))
            .strapi(&cms)
            .env("FRONTEND_MAP__CMS__TOKEN", TOKEN)
            .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
            .env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "3600")
            .env("FRONTEND_MAP__SNAPSHOTS__CMS_SHARE", share)
            .env("RUST_LOG", "debug")
            .start();
        assert_eq!(sitemap(&service).status, 200);
        Self { articles, ignores, fails, between, cms, service }
    }

    pub(super) fn set(&self, articles: &[Article<'_>]) {
        *self.articles.lock().expect("no panic") = owned(articles);
    }

    /// From now on each response passes through this.
    pub(super) fn intercept(
        &self,
        between: impl Fn(&str, Script) -> Script + Send + Sync + 'static,
    ) {
        *self.between.lock().expect("no panic") = Some(Arc::new(between));
    }

    /// Sends a webhook.
    pub(super) fn send(&self, event: &str, uid: &str, id: &str) {
        let published = if event == "entry.update" { "null" } else { "\"2026-01-01\"" };
        let body = format!(
            r#"{{"event":"{event}","uid":"{uid}","entry":{{"id":1,"documentId":"{id}","publishedAt":{published}}}}}"#
        );
        let response = post_body(&self.service, body.as_bytes());
        assert!(response.starts_with("HTTP/1.1 202 "), "{response}");
    }

    /// Sends a webhook and waits until its updates begin.
    pub(super) fn hint(&self, event: &str, uid: &str, id: &str) {
        let followed = "something may have changed in the CMS";
        let before = self.service.log().matches(followed).count();
        self.send(event, uid, id);
        if event != "entry.update" {
            until_so("it is applied", || self.service.log().matches(followed).count() > before);
        }
    }

    pub(super) fn lists(&self, expected: &[&str]) {
        until_so("the list", || paths(&sitemap(&self.service)) == expected);
    }

    /// The targets of requests for lists of articles with a filter so far.
    pub(super) fn filtered(&self) -> Vec<String> {
        let is_own = |target: &String| target.contains("/cms/articles") && filters(target) > 0;
        self.cms.targets().into_iter().filter(is_own).collect()
    }

    /// The number of walks so far.
    pub(super) fn walks(&self) -> usize {
        let first =
            |target: &&String| target.contains("pageSize]=100") && !target.contains("filters[");
        self.cms.targets().iter().filter(first).count()
    }
}

fn owned(articles: &[Article<'_>]) -> Vec<(String, &'static str, &'static str)> {
    articles.iter().map(|(id, category, slug)| ((*id).into(), *category, *slug)).collect()
}

fn filters(target: &str) -> usize {
    target.matches("[documentId][$eq]").count() + target.matches("[documentId][$in]").count()
}

fn respond(
    articles: &[(String, &'static str, &'static str)],
    locales: &[&str],
    target: &str,
    ignores: bool,
) -> Script {
    let Some((_, query)) = target.split_once('?').filter(|_| target.contains("/cms/articles"))
    else {
        return refusal(403, "ForbiddenError", "{}");
    };
    let ids = selected(query);
    let values = |start: &str| -> Vec<&str> {
        let own = query.split('&').filter(|pair| pair.starts_with(start));
        own.filter_map(|pair| Some(pair.split_once('=')?.1)).collect()
    };
    let category = values("filters[category][documentId]");
    let is_unrelated = query.contains("filters[category][documentId][$null]=true");
    let after = values("filters[documentId][$gt]");
    let requested = values("locale=");
    let is_requested = |locale: &&&str| requested.contains(*locale) || requested.contains(&"%2A");
    let locales: Vec<&&str> = locales.iter().filter(is_requested).collect();
    let mut rows: Vec<(&str, String)> = articles
        .iter()
        .filter(|(id, own, slug)| {
            ignores
                || (is_unrelated && slug.is_empty())
                || ((ids.is_empty() || ids.contains(id))
                    && (category.is_empty() || category.contains(own)))
        })
        .filter(|(id, ..)| after.iter().all(|after| &**id > *after))
        .flat_map(|article| locales.iter().map(move |locale| (article, locale)))
        .map(|((id, category, slug), locale)| {
            let category = match *slug {
                "" => "null".to_owned(),
                slug => format!(r#"{{"id":1,"documentId":"{category}","slug":"{slug}"}}"#),
            };
            let dates = r#""publishedAt":"2026-01-01","updatedAt":"2026-01-01""#;
            let fields = format!(r#","locale":"{locale}",{dates},"slug":"{id}""#);
            (&**id, format!(r#"{fields},"category":{category}"#))
        })
        .collect();
    rows.sort();
    let rows: Vec<(&str, &str)> = rows.iter().map(|(id, more)| (*id, more.as_str())).collect();
    let size = if query.contains("pageSize]=1&") { 1 } else { 100 };
    list(&rows[..rows.len().min(size)], size, rows.len())
}

#[test]
fn renamed_document_updates_those_that_read_it_without_a_walk() {
    let fixture = Fixture::start(&[("a", "c1", "old"), ("b", "c2", "two"), ("c", "c1", "old")]);
    fixture.lists(&["/old/a", "/old/c", "/two/b"]);
    fixture.set(&[("a", "c1", "new"), ("b", "c2", "two"), ("c", "c1", "new")]);
    fixture.hint("entry.publish", CATEGORY, "c1");
    fixture.lists(&["/new/a", "/new/c", "/two/b"]);
    let filtered = fixture.filtered();
    assert_eq!(filtered.len(), 1, "{filtered:?}");
    assert!(filtered[0].contains("filters[category][documentId][$eq]=c1"), "{filtered:?}");
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn documents_that_have_lost_a_relation_without_an_event_are_read_again() {
    let fixture = Fixture::start(&[("a", "c1", "one"), ("b", "c1", "one"), ("c", "c1", "one")]);
    // Published again while the draft of "b" has moved: Strapi drops the relation.
    fixture.set(&[("a", "c1", "new"), ("b", "", ""), ("c", "c1", "new")]);
    fixture.hint("entry.publish", CATEGORY, "c1");
    fixture.lists(&["/new/a", "/new/c"]);
    assert!(fixture.filtered().iter().any(|target| target.contains("filters[documentId][$eq]=b")));
    for event in ["entry.unpublish", "entry.delete"] {
        fixture.set(&[("a", "c2", "two"), ("b", "c1", "one"), ("c", "c2", "two")]);
        fixture.hint("entry.publish", CATEGORY, "c2");
        fixture.lists(&["/two/a", "/two/c"]);
        fixture.set(&[("a", "", ""), ("b", "c1", "one"), ("c", "", "")]);
        fixture.hint(event, CATEGORY, "c2");
        fixture.lists(&[]);
    }
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn webhook_about_a_draft_costs_no_request() {
    let fixture = Fixture::start(&[("a", "c1", "one")]);
    fixture.hint("entry.update", CATEGORY, "c1");
    // The next one comes behind it.
    fixture.set(&[("a", "c1", "two")]);
    fixture.hint("entry.publish", CATEGORY, "c1");
    fixture.lists(&["/two/a"]);
    let filtered = fixture.filtered();
    assert_eq!(filtered.len(), 1, "{filtered:?}");
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn cms_that_ignores_the_filter_is_walked() {
    let fixture = Fixture::start(&[("a", "c1", "old"), ("b", "c2", "two")]);
    fixture.ignores.store(true, Ordering::Relaxed);
    fixture.set(&[("a", "c1", "new"), ("b", "c2", "two")]);
    fixture.hint("entry.publish", CATEGORY, "c1");
    fixture.lists(&["/new/a", "/two/b"]);
    assert_eq!(fixture.walks(), 2);
}

#[test]
fn walks_for_a_cms_that_ignores_the_filter_wait_for_the_share() {
    let articles = [("a", "c1", "old"), ("b", "c2", "two")];
    let fixture = Fixture::with_share(&articles, "0.001", Duration::from_millis(250));
    fixture.ignores.store(true, Ordering::Relaxed);
    for round in 1..=5 {
        fixture.hint("entry.publish", CATEGORY, "c1");
        until_so("the filter is tried", || fixture.filtered().len() >= round);
    }
    assert!(fixture.walks() <= 2, "{} walks", fixture.walks());
}

#[test]
fn reread_that_fails_is_repeated() {
    let fixture = Fixture::start(&[("a", "c1", "old"), ("b", "c2", "two")]);
    fixture.fails.store(true, Ordering::Relaxed);
    fixture.set(&[("a", "c1", "new"), ("b", "c2", "two")]);
    fixture.hint("entry.publish", CATEGORY, "c1");
    assert!(fixture.service.logs("documents could not be updated"));
    fixture.fails.store(false, Ordering::Relaxed);
    fixture.lists(&["/new/a", "/two/b"]);
}

#[test]
fn documents_that_are_named_together_are_read_together() {
    let fixture = Fixture::start(&[("a", "c1", "one"), ("b", "c1", "one"), ("c", "c1", "one")]);
    fixture.set(&[("a", "c2", "two"), ("b", "c2", "two"), ("c", "c1", "one")]);
    let event = |id| {
        format!(
            r#"{{"event":"entry.publish","uid":"plugin::cms.article","entry":{{"documentId":"{id}"}}}}"#
        )
    };
    for id in ["a", "b", "nowhere"] {
        for _ in 0..20 {
            let response = post_body(&fixture.service, event(id).as_bytes());
            assert!(response.starts_with("HTTP/1.1 202 "), "{response}");
        }
    }
    fixture.lists(&["/one/c", "/two/a", "/two/b"]);
    // At most three rounds, each with one request for the documents and one for the relation.
    assert!(fixture.filtered().len() <= 6, "{:?}", fixture.filtered());
    assert_eq!(fixture.walks(), 1);
}

#[test]
fn schema_that_the_token_may_not_read_is_requested_once() {
    let fixture = Fixture::start(&[("a", "c1", "one")]);
    let schemas = || {
        let targets = fixture.cms.targets();
        targets.iter().filter(|target| target.contains("content-types/plugin::cms")).count()
    };
    for round in 1..=3 {
        // Where the relation leads stays unknown.
        fixture.hint("entry.publish", &format!("api::tag.t{round}"), "t");
        until_so("a request", || fixture.filtered().len() == round);
    }
    assert_eq!(schemas(), 1, "{:?}", fixture.cms.targets());
}

#[test]
fn relation_that_led_nowhere_is_tried_again_when_a_document_has_filled_it() {
    let fixture = Fixture::start(&[("a", "", "")]);
    fixture.lists(&[]);
    fixture.hint("entry.publish", CATEGORY, "c1");
    // The path may lead through a component: a walk finds out, instead of a filter.
    until_so("a walk", || fixture.walks() == 2);
    assert!(fixture.filtered().is_empty(), "{:?}", fixture.filtered());
    fixture.set(&[("a", "c1", "one")]);
    fixture.hint("entry.publish", "plugin::cms.article", "a");
    fixture.lists(&["/one/a"]);
    // Publishing the category fills the relation of "b" as well, without an event.
    fixture.set(&[("a", "c1", "one"), ("b", "c2", "two")]);
    fixture.hint("entry.publish", CATEGORY, "c2");
    fixture.lists(&["/one/a", "/two/b"]);
}
