//! Changed settings count like changed documents; and the limits of the history.

use super::{apply, assert_leads, documents, edit, pages, settings, start};

const TEMPLATE: &str = "/{locale}/{slug}";

#[test]
fn rule_that_is_edited_twice_leaves_no_chain() {
    let content = pages(&[("a", "en", "x"), ("b", "de", "y")]);
    let service = start(&settings(TEMPLATE), &content);
    apply(&service, &settings("/{locale}/news/{slug}"));
    apply(&service, &settings("/{locale}/blog/{slug}.html"));
    assert_leads(
        &service,
        &[
            ("/en/x", "redirect /en/blog/x.html"),
            ("/en/news/x", "redirect /en/blog/x.html"),
            ("/de/y", "redirect /de/blog/y.html"),
            ("/de/news/y", "redirect /de/blog/y.html"),
            ("/en/blog/x.html", "document a"),
            ("/en/y", "404"),
        ],
    );
    // Back to the first rule.
    apply(&service, &settings(TEMPLATE));
    assert_leads(
        &service,
        &[
            ("/en/x", "document a"),
            ("/en/news/x", "redirect /en/x"),
            ("/en/blog/x.html", "redirect /en/x"),
        ],
    );
}

#[test]
fn locale_that_is_dropped_takes_its_versions_along_until_it_is_back() {
    let content = pages(&[("a", "en", "x"), ("a", "de", "y"), ("n", "", "n")]);
    let service = start(&settings(TEMPLATE), &content);
    apply(&service, &settings(TEMPLATE).locales(&["en"]));
    assert_leads(
        &service,
        &[("/de/y", "404 gone"), ("/en/x", "document a"), ("/en/n", "document n")],
    );
    apply(&service, &settings("/{locale}/p/{slug}"));
    assert_leads(&service, &[("/de/y", "redirect /de/p/y"), ("/en/x", "redirect /en/p/x")]);
    // A document that is not localized follows the first locale.
    apply(&service, &settings(TEMPLATE).locales(&["de", "en"]));
    assert_leads(
        &service,
        &[("/de/n", "document n"), ("/en/p/n", "redirect /de/n"), ("/de/p/y", "redirect /de/y")],
    );
}

#[test]
fn type_without_a_rule_loses_its_paths_until_it_has_one_again() {
    let both = settings(TEMPLATE).rule("api::story.story", "/{locale}/stories/{slug}");
    let content = format!(
        r#"{{"api::page.page": {}, "api::story.story": {}}}"#,
        documents(&[("p", "en", "x")]),
        documents(&[("s", "en", "y")])
    );
    let service = start(&both, &content);
    apply(&service, &settings(TEMPLATE));
    assert_leads(&service, &[("/en/stories/y", "404 gone"), ("/en/x", "document p")]);
    apply(&service, &settings(TEMPLATE).rule("api::story.story", "/{locale}/tales/{slug}"));
    assert_leads(&service, &[("/en/stories/y", "redirect /en/tales/y")]);
}

#[test]
fn another_base_url_or_status_changes_nothing_about_the_history() {
    let service = start(&settings(TEMPLATE), &pages(&[("a", "en", "x")]));
    edit(&service, &pages(&[("a", "en", "y")]));
    apply(&service, &settings(TEMPLATE).front_end_url("https://other.example/base"));
    assert_leads(&service, &[("/en/x", "redirect /en/y"), ("/en/y", "document a")]);
    apply(&service, &settings(TEMPLATE).more("[moved]\nstatus = 301"));
    assert_leads(&service, &[("/en/x", "redirect /en/y")]);
}

#[test]
fn history_is_as_long_as_the_settings_say() {
    let limited = |paths| settings(TEMPLATE).more(&format!("[moved]\nmax_paths = {paths}"));
    let service = start(&limited(1), &pages(&[("a", "en", "x")]));
    edit(&service, &pages(&[("a", "en", "y")]));
    assert_leads(&service, &[("/en/x", "redirect /en/y")]);
    edit(&service, &pages(&[("a", "en", "z")]));
    assert_leads(&service, &[("/en/x", "none"), ("/en/y", "redirect /en/z")]);
    apply(&service, &limited(0));
    assert_leads(&service, &[("/en/y", "none")]);
}
