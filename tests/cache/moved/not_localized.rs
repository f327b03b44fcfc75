//! Documents that are not localized: their only URL is in the site's first locale, and a former path
//! leads to it in whichever locale it is requested.

use super::{apply, assert_leads, edit, pages, settings, start};

/// `n` is not localized; `a` is published in the first locale alone.
fn content(slug: &str) -> String {
    pages(&[("n", "", slug), ("a", "en", &format!("a-{slug}"))])
}

#[test]
fn former_path_leads_to_the_document_in_each_locale() {
    let service = start(&settings("/{locale}/{slug}"), &content("x"));
    edit(&service, &content("y"));
    assert_leads(
        &service,
        &[
            ("/en/x", "redirect /en/y"),
            ("/de/x", "redirect /en/y"),
            ("/de/y", "document n"),
            ("/en/a-x", "redirect /en/a-y"),
            ("/de/a-x", "none"),
            ("/fr/x", "404"),
        ],
    );
    // No rule matches the former paths.
    apply(&service, &settings("/{locale}/p/{slug}"));
    assert_leads(
        &service,
        &[
            ("/en/x", "redirect /en/p/y"),
            ("/de/x", "redirect /en/p/y"),
            ("/de/y", "redirect /en/p/y"),
            ("/de/a-y", "404"),
        ],
    );
    // Whether a document that is gone was localized is not known.
    edit(&service, &pages(&[("a", "en", "a")]));
    assert_leads(&service, &[("/en/x", "404 gone"), ("/de/x", "404"), ("/en/p/y", "gone")]);
}

#[test]
fn former_path_without_the_segment_of_the_first_locale_is_found() {
    let settings = settings("/{locale}/{slug}").set("locale_prefix = \"except-default\"");
    let service = start(&settings, &content("x"));
    edit(&service, &content("y"));
    assert_leads(&service, &[("/x", "redirect /y"), ("/de/x", "redirect /y"), ("/de/a-x", "none")]);
}

#[test]
fn locale_may_be_anywhere_in_the_path() {
    let service = start(&settings("/news/{locale}/{slug}"), &content("x"));
    edit(&service, &content("y"));
    assert_leads(
        &service,
        &[("/news/en/x", "redirect /news/en/y"), ("/news/de/x", "redirect /news/en/y")],
    );
}

#[test]
fn former_path_on_the_host_of_another_locale_is_found() {
    let settings = settings("/{slug}")
        .front_end_url(r#"{ en = "https://a.example", de = "https://b.example" }"#);
    let service = start(&settings, &content("x"));
    edit(&service, &content("y"));
    assert_leads(
        &service,
        &[
            ("/x&host=a.example", "redirect /y"),
            ("/x&host=b.example", "redirect /y"),
            ("/x", "redirect /y"),
            ("/a-x&host=a.example", "redirect /a-y"),
            ("/a-x&host=b.example", "none"),
        ],
    );
}
