use std::sync::Arc;

use super::*;
use crate::moved::entries::{Destination, EntryRedirect};
use crate::moved::redirects::Redirect;
use crate::path_index::TypePaths;
use crate::site::{ResolveBy, SitePages};
use crate::snapshot::{Builder, Listing, Snapshot};
use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{
    Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales, Rule, RuleSet,
    Template,
};

const ARTICLE: &str = "api::article.article";
const PAGE: &str = "api::page.page";

fn uid(text: &str) -> ContentTypeUid {
    ContentTypeUid::parse(text).unwrap()
}

/// A site whose two content types have paths of equal shape, articles first.
fn site() -> Site {
    let rule = |text| Rule::new(uid(text), Template::parse("/{slug}").unwrap());
    let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
    Site {
        key: "main".to_owned(),
        rules: RuleSet::new(locales, LocalePrefix::Always, vec![rule(ARTICLE), rule(PAGE)]),
        hosts: Hosts::default(),
        resolve: ResolveBy::Documents,
        sitemap_path: String::new(),
        pages: SitePages::default(),
        redirects: None,
        links: Vec::new(),
        links_fingerprint: 0,
        fingerprint: 0,
        source: 0,
    }
}

/// The snapshot of documents whose ids are their slugs.
fn snapshot(site: &Site, content_type: &str, slugs: &[&str]) -> Arc<Snapshot> {
    let Site { rules, hosts, .. } = site;
    let mut part = Listing { rules, hosts, uid: content_type }.part();
    for slug in slugs {
        part.add(&Document {
            id: (*slug).into(),
            locale: DocumentLocale::None,
            unpublished: false,
            fields: Arc::new([FieldPath::parse("slug").unwrap()]),
            values: vec![FieldValue::Text((*slug).into())],
        });
    }
    Arc::new((Builder { path_table: true }).finish(vec![part]).unwrap())
}

fn index(site: &Site, articles: TypePaths, pages: TypePaths) -> PathIndex {
    let [article, page] = [ARTICLE, PAGE].map(uid);
    PathIndex::new(&site.rules, [(&article, articles), (&page, pages)])
}

/// What a path resolves to in a word, by what, and whether that is stale. `forced` is the entry that comes
/// before a live page, `former` what is known of a path that no document has.
fn resolved(
    site: &Site,
    index: &PathIndex,
    path: &str,
    [forced, former]: [&FormerOwner<'_>; 2],
) -> (String, &'static str, bool) {
    let pathname = Pathname::parse(path);
    let Resolution { found, resolved_by, is_stale } =
        resolve(site, index, &pathname, None, forced.clone(), || former.clone());
    let of_former = |former: FormerOwner<'_>| match former {
        FormerOwner::None => "none".to_owned(),
        FormerOwner::Moved(redirect) => format!("redirect to {}", redirect.to.path()),
        FormerOwner::Gone { since } => format!("gone since {since}"),
        FormerOwner::NotKnown(uid) => format!("former owner of {uid} not known"),
        FormerOwner::Entry(entry) => format!("entry to {}", entry.path().unwrap_or_default()),
    };
    let found = match found {
        Found::Page(page) => format!("page {}", page.document_id()),
        Found::NotKnown(uid) => format!("{uid} not known"),
        Found::Rule { matched, document: Some(document), .. } => {
            format!("{} {}", matched.rule.content_type, document.document_id())
        }
        Found::Rule { matched, former, .. } => {
            format!("{} {}", matched.rule.content_type, of_former(former))
        }
        Found::NoRule(former) => format!("no rule, {}", of_former(former)),
    };
    (found, resolved_by.as_str(), is_stale)
}

#[test]
fn path_resolves_to_its_document_and_is_not_known_while_an_earlier_type_is_not() {
    use TypePaths::{Expired, Fresh, Missing, Stale};
    let site = site();
    let [a, p] = [(ARTICLE, "a"), (PAGE, "p")].map(|(uid, slug)| snapshot(&site, uid, &[slug]));
    let article = |found: &str| format!("{ARTICLE} {found}");
    let page = |found: &str| format!("{PAGE} {found}");
    for (articles, pages, path, expected) in [
        (Fresh(a.clone()), Fresh(p.clone()), "/a", (article("a"), "documents", false)),
        (Fresh(a.clone()), Fresh(p.clone()), "/p", (page("p"), "documents", false)),
        (Fresh(a.clone()), Fresh(p.clone()), "/x", (article("none"), "rules", false)),
        (Fresh(a.clone()), Fresh(p.clone()), "/x/y", ("no rule, none".to_owned(), "rules", false)),
        (Stale(a.clone()), Fresh(p.clone()), "/a", (article("a"), "rules; index=stale", true)),
        (Stale(a.clone()), Fresh(p.clone()), "/p", (page("p"), "documents; index=stale", true)),
        (Fresh(a.clone()), Missing, "/a", (article("a"), "documents", false)),
        (Missing, Fresh(p.clone()), "/p", (article("not known"), "rules; index=missing", false)),
        (Expired, Fresh(p.clone()), "/p", (article("not known"), "rules; index=stale", false)),
        (Fresh(a.clone()), Missing, "/x", (page("not known"), "rules; index=missing", false)),
    ] {
        let index = index(&site, articles, pages);
        assert_eq!(resolved(&site, &index, path, [&FormerOwner::None; 2]), expected, "{path}");
    }
}

#[test]
fn former_owner_counts_only_where_no_document_has_the_path() {
    let site = site();
    let articles = snapshot(&site, ARTICLE, &["a"]);
    let paths = TypePaths::Fresh(Arc::clone(&articles));
    let index = index(&site, paths, TypePaths::Fresh(Arc::default()));
    let moved = |is_stale| {
        let to = articles.owner("/a").unwrap();
        FormerOwner::Moved(Redirect { to, since: 7, is_stale })
    };
    let article = |found: &str| format!("{ARTICLE} {found}");
    let not_known = FormerOwner::NotKnown(uid(PAGE));
    for (path, former, expected) in [
        ("/a", moved(false), (article("a"), "documents", false)),
        ("/old", moved(false), (article("redirect to /a"), "history", false)),
        ("/old", moved(true), (article("redirect to /a"), "history; index=stale", true)),
        ("/x/y", moved(false), ("no rule, redirect to /a".to_owned(), "history", false)),
        ("/old", FormerOwner::Gone { since: 7 }, (article("gone since 7"), "rules", false)),
        ("/old", not_known, (format!("{PAGE} not known"), "rules", false)),
    ] {
        assert_eq!(
            resolved(&site, &index, path, [&FormerOwner::None, &former]),
            expected,
            "{path} {former:?}"
        );
    }
}

#[test]
fn entry_comes_before_a_live_page_only_if_it_is_forced() {
    let site = site();
    let articles = snapshot(&site, ARTICLE, &["a", "b"]);
    let paths = TypePaths::Fresh(Arc::clone(&articles));
    let index = index(&site, paths, TypePaths::Missing);
    let document = articles.owner("/b").unwrap();
    let entry = |is_stale| {
        FormerOwner::Entry(EntryRedirect {
            entry: document,
            destination: Some(Destination::Document(document)),
            suffix: String::new(),
            status: 308,
            is_stale,
        })
    };
    let article = |found: &str| format!("{ARTICLE} {found}");
    let (none, fresh, stale) = (FormerOwner::None, entry(false), entry(true));
    let not_known = FormerOwner::NotKnown(uid(PAGE));
    for (path, former, expected) in [
        ("/a", [&none, &fresh], (article("a"), "documents", false)),
        ("/a", [&fresh, &none], (article("entry to /b"), "redirects", false)),
        ("/a", [&stale, &none], (article("entry to /b"), "redirects; index=stale", true)),
        ("/a", [&not_known, &none], (format!("{PAGE} not known"), "rules", false)),
        ("/x/y", [&none, &fresh], ("no rule, entry to /b".to_owned(), "redirects", false)),
        // A page may have the path of an entry that is not forced.
        ("/x", [&none, &fresh], (format!("{PAGE} not known"), "rules; index=missing", false)),
        ("/x", [&fresh, &none], (article("entry to /b"), "redirects", false)),
    ] {
        assert_eq!(resolved(&site, &index, path, former), expected, "{path} {former:?}");
    }
}

#[test]
fn rule_of_a_path_is_that_of_its_document_unless_the_index_is_too_old() {
    use TypePaths::{Fresh, Missing, Stale};
    let site = site();
    let p = snapshot(&site, PAGE, &["p"]);
    let rule = |index: Option<&PathIndex>| {
        let pathname = Pathname::parse("/p");
        let found = resolve_rule(&site, index, &pathname, None);
        let matched = found.matched.map(|matched| matched.rule.content_type.to_string());
        (matched.unwrap(), found.resolved_by.map(ResolvedByHeader::as_str))
    };
    assert_eq!(rule(None), (ARTICLE.to_owned(), None));
    for (articles, pages, expected) in [
        (Fresh(Arc::default()), Fresh(p.clone()), (PAGE, "documents")),
        (Fresh(Arc::default()), Stale(p.clone()), (ARTICLE, "rules; index=stale")),
        (Missing, Fresh(p.clone()), (ARTICLE, "rules; index=missing")),
    ] {
        let index = index(&site, articles, pages);
        assert_eq!(rule(Some(&index)), (expected.0.to_owned(), Some(expected.1)));
    }
}

#[test]
fn miss_is_definite_if_no_type_could_have_the_path_now_or_later() {
    use TypePaths::{Fresh, Missing, Stale};
    let site = site();
    let a = snapshot(&site, ARTICLE, &["a"]);
    let moved =
        FormerOwner::Moved(Redirect { to: a.owner("/a").unwrap(), since: 7, is_stale: false });
    let (none, gone) = (FormerOwner::None, FormerOwner::Gone { since: 7 });
    let not_known = FormerOwner::NotKnown(uid(PAGE));
    let (no_pages, old_pages) = (Fresh(Arc::default()), Stale(Arc::default()));
    for (pages, path, former, leads_to_page, is_definite_miss) in [
        (no_pages.clone(), "/a", &none, true, false),
        (no_pages.clone(), "/x", &none, false, true),
        (no_pages.clone(), "/x/y", &none, false, true),
        (no_pages.clone(), "/x", &gone, false, true),
        (no_pages.clone(), "/x/y", &gone, false, true),
        (no_pages.clone(), "/x", &moved, true, false),
        (no_pages.clone(), "/x/y", &moved, true, false),
        (no_pages, "/x", &not_known, false, false),
        (Missing, "/x", &none, false, false),
        (old_pages.clone(), "/x", &none, false, false),
        (old_pages, "/a", &none, true, false),
    ] {
        let (index, pathname) = (index(&site, Fresh(a.clone()), pages), Pathname::parse(path));
        let found = resolve(&site, &index, &pathname, None, FormerOwner::None, || former.clone());
        let of_path = (found.leads_to_page(), found.is_definite_miss());
        assert_eq!(of_path, (leads_to_page, is_definite_miss), "{path} {former:?}");
    }
}

#[test]
fn path_without_a_redirect_is_stale_while_the_redirects_are() {
    use TypePaths::Fresh;
    let site = site();
    let [a, p] = [(ARTICLE, "a"), (PAGE, "p")].map(|(uid, slug)| snapshot(&site, uid, &[slug]));
    let index = index(&site, Fresh(Arc::clone(&a)), Fresh(p));
    let to = a.owner("/a").unwrap();
    let moved = FormerOwner::Moved(Redirect { to, since: 1, is_stale: false });
    let gone = FormerOwner::Gone { since: 1 };
    for (path, former, resolved_by, is_stale) in [
        ("/x", FormerOwner::None, "rules; index=stale", true),
        ("/x/y", FormerOwner::None, "rules; index=stale", true),
        ("/x", gone, "rules; index=stale", true),
        ("/x", moved, "history; index=stale", true),
        // Redirects do not affect a live page.
        ("/a", FormerOwner::None, "documents", false),
    ] {
        let pathname = Pathname::parse(path);
        let found = resolve(&site, &index, &pathname, None, FormerOwner::None, || former.clone());
        let found = found.with_stale_redirects();
        assert_eq!((found.resolved_by.as_str(), found.is_stale), (resolved_by, is_stale), "{path}");
        assert!(!found.is_definite_miss(), "{path}");
    }
}

#[test]
fn answer_says_what_has_the_path_where_it_leads_and_what_decided() {
    use TypePaths::{Fresh, Missing};
    let site = site();
    let articles = snapshot(&site, ARTICLE, &["a", "b"]);
    let missing = index(&site, Missing, Fresh(Arc::default()));
    let index = index(&site, Fresh(Arc::clone(&articles)), Fresh(Arc::default()));
    let [a, b] = ["/a", "/b"].map(|path| articles.owner(path).unwrap());
    let moved = FormerOwner::Moved(Redirect { to: a, since: 7, is_stale: false });
    let entry = |destination, status| {
        let suffix = String::new();
        FormerOwner::Entry(EntryRedirect { entry: b, destination, suffix, status, is_stale: false })
    };
    let to_a = || entry(Some(Destination::Document(a)), 308);
    let gone = FormerOwner::Gone { since: 7 };
    let paths = SitePaths { site: &site, index: &index, redirects: None, redirect_status: 301 };
    let redirect = |status, since, by| {
        format!(
            r#""kind":"redirect","redirect":{{"to":null,"path":"/a","status":{status},"documentId":"a","locale":"en",{since}}},"resolvedBy":"{by}""#
        )
    };
    let none = FormerOwner::None;
    for (path, former, expected) in [
        ("/a", &none, r#""kind":"document","resolvedBy":"documents""#.to_owned()),
        (
            "//a",
            &none,
            redirect(301, r#""since":null"#, "documents").replace(r#":"redirect","#, r#":"document","#),
        ),
        ("/x", &none, r#""kind":"none","resolvedBy":"rules""#.to_owned()),
        ("/x", &moved, redirect(301, r#""since":"1970-01-01T00:00:00.007Z""#, "history")),
        ("/x/y", &moved, redirect(301, r#""since":"1970-01-01T00:00:00.007Z""#, "history")),
        ("/x", &to_a(), redirect(308, r#""since":null,"entry":"b""#, "redirects")),
        (
            "/x/y",
            &entry(None, 410),
            r#""kind":"none","gone":{"since":null,"status":410,"entry":"b"},"resolvedBy":"redirects""#
                .to_owned(),
        ),
        (
            "/x",
            &gone,
            r#""kind":"none","gone":{"since":"1970-01-01T00:00:00.007Z"},"resolvedBy":"rules""#
                .to_owned(),
        ),
    ] {
        let pathname = Pathname::parse(path);
        let found = resolve(&site, &index, &pathname, None, FormerOwner::None, || former.clone());
        let requested = Requested { pathname: path, locale: None, host: None };
        let answer = found.answer(paths, requested, |_| None).unwrap();
        let text = crate::json::to_text(&answer);
        assert!(text.contains(&expected), "{path} {former:?}: {text}");
    }
    let unresolved = |index: &PathIndex, path: &str, former: &FormerOwner<'_>| {
        let pathname = Pathname::parse(path);
        let found = resolve(&site, index, &pathname, None, FormerOwner::None, || former.clone());
        let requested = Requested { pathname: path, locale: None, host: None };
        let paths = SitePaths { index, ..paths };
        found.answer(paths, requested, |_| None).unwrap_err()
    };
    assert_eq!(unresolved(&index, "/x/y", &none), Unresolved::NoMatch { gone: None });
    assert_eq!(unresolved(&index, "/x/y", &gone), Unresolved::NoMatch { gone: Some(7) });
    assert_eq!(unresolved(&missing, "/a", &none), Unresolved::NotKnown(uid(ARTICLE)));
}

#[test]
fn locale_is_that_of_the_parameter_if_the_path_has_none_and_the_site_has_it() {
    let codes = ["en", "de"].map(|code| Locale::parse(code).unwrap());
    let rule = |template| Rule::new(uid(ARTICLE), Template::parse(template).unwrap());
    let rules = |template| {
        let locales = Locales::new(codes.to_vec()).unwrap();
        RuleSet::new(locales, LocalePrefix::Always, vec![rule(template)])
    };
    for (template, path, parameter, expected) in [
        ("/{slug}", "/x", None, "en"),
        ("/{slug}", "/x", Some("de"), "de"),
        ("/{slug}", "/x", Some("fr"), "en"),
        ("/{locale}/{slug}", "/de/x", Some("en"), "de"),
    ] {
        let site = Site { rules: rules(template), ..site() };
        let pathname = Pathname::parse(path);
        let found = site.rules.find(&pathname).unwrap();
        let locale = parameter.map(|code| Locale::parse(code).unwrap());
        let requested = Requested { pathname: path, locale: locale.as_ref(), host: None };
        let found = PathMatch::new(&site, requested, &found);
        assert_eq!(found.locale, expected, "{template} {path} {parameter:?}");
        let params = crate::json::to_text(&found.matched.params);
        assert!(params.starts_with(&format!(r#"{{"locale":"{expected}""#)), "{params}");
    }
}
