//! With a token that may not read the schema: the types that the command line names.

use super::{
    LOCALES, denied, documents, init, locales, not_found, printed, setup, without_comments,
};
use crate::support::cms::Cms;
use crate::support::front_of_cms::list;
use crate::support::script::Script;

/// A CMS whose schema and locales the token may not read.
fn cms(answers: impl Fn(&str) -> Script + Send + Sync + 'static) -> Cms {
    Cms::start(move |target| {
        let is_denied = target.starts_with("/api/content-type-builder/") || target == LOCALES;
        if is_denied { denied() } else { answers(target) }
    })
}

/// Articles in three locales of which `de` is the default, authors without a locale, a home page and
/// people with an irregular plural.
fn blog(target: &str) -> Script {
    let (path, query) = target.split_once('?').expect("a query");
    match path {
        "/api/articles" if query.contains("locale=%2A") => list(
            &[
                ("a", r#","title":"x","slug":null,"handle":"h","locale":"de""#),
                ("a", r#","title":"x","slug":"b","locale":"en""#),
                ("c", r#","title":"x","slug":"d","locale":"fr""#),
            ],
            100,
            3,
        ),
        "/api/articles" => list(&[("a", r#","locale":"de""#)], 1, 1),
        "/api/authors" => list(&[("a", r#","slug":"jane","locale":null"#)], 100, 1),
        "/api/people" => list(&[("a", r#","slug":"joe""#)], 100, 1),
        "/api/homepage" => Script::json(
            200,
            r#"{"data":{"id":1,"documentId":"h","slug":"home","locale":"de"},"meta":{}}"#,
        ),
        _ => not_found(),
    }
}

#[test]
fn named_types_are_read_and_their_locales_found_in_documents() {
    let cms = cms(blog);
    let types = [
        "--type",
        "api::article.article",
        "--type",
        "api::author.author",
        "--type",
        "api::homepage.homepage",
        "--type",
        "api::person.person=people",
    ];
    let (settings, said) = printed(&cms, &types);
    assert_eq!(
        without_comments(&settings),
        [
            "[cms]",
            "url = \"http://CMS\"",
            "[[site]]",
            "key = \"main\"",
            "locales = [\"de\", \"en\", \"fr\"]",
            "[[site.rule]]",
            "content_type = \"api::article.article\"",
            "template = \"/{locale}/articles/{slug}\"",
            "[[site.rule]]",
            "content_type = \"api::author.author\"",
            "template = \"/authors/{slug}\"",
            "[[site.rule]]",
            "content_type = \"api::homepage.homepage\"",
            "template = \"/{locale}\"",
            "[[site.rule]]",
            "content_type = \"api::person.person\"",
            "template = \"/people/{slug}\"",
            "[[content_type]]",
            "uid = \"api::person.person\"",
            "endpoint = \"people\"",
        ],
        "{settings}"
    );
    let locales = "Guess: the locales of the first documents, because the CMS did not return its list of locales. Add";
    assert!(settings.replace("\n# ", " ").contains(locales), "{settings}");
    assert_eq!(said, "4 rules, locales de, en, fr\n");
    let targets = cms.targets();
    let pages = targets.iter().filter(|target| target.contains("locale=%2A"));
    assert_eq!(pages.filter(|target| target.starts_with("/api/articles?")).count(), 1);
}

#[test]
fn locales_of_the_command_line_or_of_the_cms_win_over_those_of_documents() {
    let (settings, _) = printed(&cms(blog), &["--type", "api::article.article", "--locales", "fr"]);
    assert!(settings.contains("locales = [\"fr\"]\n"), "{settings}");
    let listed = Cms::start(|target| match target {
        LOCALES => locales(&["en", "de"], "en"),
        target if target.starts_with("/api/content-type-builder/") => denied(),
        target => blog(target),
    });
    let (settings, _) = printed(&listed, &["--type", "api::article.article"]);
    assert!(settings.contains("locales = [\"en\", \"de\"]\n"), "{settings}");
}

#[test]
fn site_without_localized_types_has_a_guessed_locale() {
    let (settings, _) = printed(&cms(blog), &["--type", "api::author.author"]);
    let locales = "# Guess: no document has a locale, and a site needs one. Write the language of your pages.\nlocales = [\"en\"]\n";
    assert!(settings.contains(locales), "{settings}");
    assert!(!settings.contains("locale_prefix"), "{settings}");
}

#[test]
fn drafts_show_the_fields_if_nothing_is_published() {
    let cms = cms(|target| {
        if target.contains("status=draft") { documents("slug", &["a"]) } else { list(&[], 100, 0) }
    });
    let (settings, _) = printed(&cms, &["--type", "api::post.post"]);
    assert!(settings.contains("template = \"/posts/{slug}\"\n"), "{settings}");
}

#[test]
fn type_without_documents_or_slug_has_no_rule() {
    for (answer, reason) in [
        (list(&[], 100, 0), "it has no document that shows its fields"),
        (documents("title", &["a"]), "none of its fields looks like a slug"),
    ] {
        let cms = cms(move |_| answer.clone());
        let ended = init(&setup(), &cms, &["--type", "api::post.post"]);
        let message = format!(
            "frontend-map: no content types to write rules for: none of them can have a rule; create one with a field `slug` in Strapi, or write the settings by hand, as docs/configuration.md describes\n- api::post.post: {reason}\n"
        );
        assert_eq!((ended.status, ended.stderr), (Some(1), message));
    }
}

#[test]
fn slug_in_a_component_is_found_in_documents() {
    let cms = cms(|target| {
        let seo =
            r#","title":"x","seo":{"id":1,"slug":"a"},"category":{"documentId":"c","slug":"c"}"#;
        let is_populated = target.contains("&populate=*");
        list(&[("a", if is_populated { seo } else { r#","title":"x""# })], 100, 1)
    });
    let (settings, _) = printed(&cms, &["--type", "api::post.post"]);
    assert!(settings.contains("template = \"/posts/{seo.slug}\"\n"), "{settings}");
}
