//! One walk for all sites that list a content type, and the part of each site in it.

use super::{paths, walks};
use crate::support::cms::Cms;
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::refusal;
use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const UID: &str = "plugin::cms.article";

fn list(service: &Service, site: &str) -> Response {
    let target = format!("/api/build-sitemap?site={site}&contentType=plugin::cms.article");
    http::get(service.addr(), &target)
}

fn listed(service: &Service, site: &str) -> Vec<String> {
    let response = list(service, site);
    assert_eq!(response.header("x-skipped-documents").as_deref(), Some("0"), "{site}");
    paths(&response)
}

#[test]
fn four_sites_on_one_type_cause_one_walk() {
    let content = Content::many(&["en"], 250);
    let cms = content.start();
    let keys = ["a", "b", "c", "d"];
    let with =
        |settings: Settings, key: &&str| settings.site(key).rule(UID, &format!("/{key}/{{slug}}"));
    let service = keys.iter().fold(Settings::new(), with).strapi(&cms).start();
    for key in keys {
        let listed = listed(&service, key);
        assert_eq!(listed.len(), 250);
        assert!(listed.iter().all(|path| path.starts_with(&format!("/{key}/"))), "{key}");
    }
    assert_eq!(walks(&cms, "en"), 1);
    // The log is written after the response.
    let built = || service.log().matches("a snapshot is built").count();
    until_so("one snapshot for each site", || built() == 4);
}

#[test]
fn walk_reads_the_fields_and_locales_of_all_sites_and_each_site_gets_its_own() {
    let content = Content::default();
    for (locale, id, section) in
        [("en", "a", "news"), ("de", "a", "news"), ("en", "b", "blog"), ("fr", "c", "blog")]
    {
        let fields =
            format!(r#","slug":"{id}-{locale}","name":"n{id}{locale}","section":"{section}""#);
        content.put(locale, id, &fields);
    }
    let cms = content.start();
    let news = site("news").rule(UID, "/{slug}").with("where = { section = \"news\" }");
    let both = news.site("both").locales(&["de", "en"]).rule(UID, "/{locale}/{name}");
    let french = both.site("french").locales(&["fr"]).rule(UID, "/{slug}");
    let service = french.strapi(&cms).start();
    assert_eq!(listed(&service, "news"), ["/a-en"]);
    assert_eq!(listed(&service, "both"), ["/de/nade", "/en/naen", "/en/nben"]);
    assert_eq!(listed(&service, "french"), ["/c-fr"]);
    for locale in ["en", "de", "fr"] {
        assert_eq!(walks(&cms, locale), 1, "{locale}");
    }
    let targets = cms.targets();
    let pages = targets.iter().filter(|target| Query::parse(target).is_some_and(|q| q.size > 1));
    for page in pages {
        let has_all = ["=slug", "=name", "=section"].iter().all(|field| page.contains(field));
        assert!(has_all && !page.contains("filters[section]"), "{page}");
    }
}

#[test]
fn cms_filters_only_where_each_rule_of_each_site_has_conditions() {
    let content = Content::default();
    content.put("en", "a", r#","slug":"a","section":"news""#);
    content.put("en", "b", r#","slug":"b","section":"blog""#);
    let cms = content.start();
    let news = site("news").rule(UID, "/{slug}").with("where = { section = \"news\" }");
    let blog = news.site("blog").rule(UID, "/{slug}").with("where = { section = \"blog\" }");
    let service = blog.strapi(&cms).start();
    // This CMS ignores filters: each site applies its own.
    assert_eq!(listed(&service, "news"), ["/a"]);
    assert_eq!(listed(&service, "blog"), ["/b"]);
    assert_eq!(walks(&cms, "en"), 1);
    let both = "filters[$or][0][section][$eq]=news&filters[$or][1][section][$eq]=blog";
    assert!(cms.targets().iter().all(|target| target.contains(both)), "{:?}", cms.targets());
}

#[test]
fn type_without_locales_is_walked_once_for_sites_with_different_locales() {
    let cms =
        Cms::start(|_| crate::support::front_of_cms::list(&[("a", r#","slug":"x""#)], 100, 1));
    let english = site("english").locales(&["en", "de"]).rule(UID, "/{locale}/{slug}");
    let french = english.site("french").locales(&["fr"]).rule(UID, "/{locale}/{slug}");
    let service = french.strapi(&cms).start();
    assert_eq!(listed(&service, "english"), ["/en/x"]);
    assert_eq!(listed(&service, "french"), ["/fr/x"]);
    let first = |target: &String| Query::parse(target).is_some_and(|query| query.size > 1);
    assert_eq!(cms.targets().iter().filter(|target| first(target)).count(), 1);
}

#[test]
fn field_that_the_cms_does_not_know_affects_its_own_site_alone() {
    let content = Content::new(&[("en", "a", "x")]);
    content.fail(|target| {
        let details = r#"{"key":"unknown"}"#;
        target.contains("unknown").then(|| refusal(400, "ValidationError", details))
    });
    let cms = content.start();
    let good = site("good").rule(UID, "/{slug}");
    let service = good.site("bad").rule(UID, "/{unknown}").strapi(&cms).start();
    assert_eq!(listed(&service, "good"), ["/x"]);
    assert_eq!(list(&service, "bad").status, 502);
    assert_eq!(listed(&service, "good"), ["/x"]);
}

#[test]
fn value_that_cannot_be_read_affects_the_site_that_needs_it_alone() {
    let content = Content::default();
    content.put("en", "a", r#","slug":"x","name":"\ud800""#);
    let cms = content.start();
    let good = site("good").rule(UID, "/{slug}");
    let service = good.site("bad").rule(UID, "/{name}").strapi(&cms).start();
    assert_eq!(listed(&service, "good"), ["/x"]);
    let bad = list(&service, "bad");
    assert_eq!(bad.header("x-skipped-documents").as_deref(), Some("1"));
    assert!(paths(&bad).is_empty());
    assert_eq!(walks(&cms, "en"), 1);
}

#[test]
fn item_that_is_not_a_document_is_counted_for_each_site_after_one_walk() {
    let content = Content::default();
    content.put("en", "a", r#","slug":"y","name":"n","\ud800":1"#);
    content.put("en", "b", r#","slug":"x","name":"m""#);
    let cms = content.start();
    let one = site("one").rule(UID, "/{slug}");
    let service = one.site("two").rule(UID, "/two/{name}").strapi(&cms).start();
    for (site, path) in [("one", "/x"), ("two", "/two/m")] {
        let list = list(&service, site);
        assert_eq!(paths(&list), [path]);
        assert_eq!(list.header("x-skipped-documents").as_deref(), Some("1"));
    }
    assert!(service.logs("not_a_document"), "{}", service.log());
    assert_eq!(walks(&cms, "en"), 1);
}

#[test]
fn site_that_a_reload_adds_during_a_walk_gets_its_own_and_the_other_one_its_list() {
    let content = Content::default();
    content.put("en", "a", r#","slug":"x","name":"n""#);
    let cms = content.start();
    let main = site("main").rule(UID, "/{slug}").strapi(&cms);
    let service = main.start();
    content.close();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| listed(&service, "main"));
        until_so("the walk is in flight", || walks(&cms, "en") == 1);
        service.rewrite("settings.toml", &main.site("more").rule(UID, "/more/{name}").toml());
        service.send_signal("HUP");
        assert!(service.logs("the settings are reloaded"));
        let second = scope.spawn(|| listed(&service, "more"));
        until_so("the walk in flight lacks a field", || walks(&cms, "en") == 2);
        content.open();
        assert_eq!(first.join().expect("a list"), ["/x"]);
        assert_eq!(second.join().expect("a list"), ["/more/n"]);
    });
    assert_eq!(listed(&service, "main"), ["/x"]);
    assert_eq!(walks(&cms, "en"), 2);
    assert!(!cms.targets()[0].contains("=name") && cms.targets()[1].contains("=name"));
}
