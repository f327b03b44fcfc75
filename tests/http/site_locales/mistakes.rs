//! Mistakes in `locales`: each is named with its place and its cure, with exit status 78.

use super::settings;
use crate::support::service::{Ended, Setup};

fn check(locales: &str) -> Ended {
    let settings = settings().locales(&["LOCALES"]).toml().replace(r#"["LOCALES"]"#, locales);
    Setup::new(&settings).file("content.json", "{}").run(&["check"])
}

#[test]
fn mistake_is_a_problem_with_its_place_and_its_cure() {
    for (locales, expected) in [
        (
            r#"["en", { code = "de", segment = "en" }]"#,
            "site \"main\": the locales `en` and `de` have the same segment, `en`: give one of them another `segment`",
        ),
        (
            r#"["en", { code = "de", hreflang = "EN" }]"#,
            "site \"main\": the locales `en` and `de` have the same hreflang, `EN`: give one of them another `hreflang`",
        ),
        (
            r#"["pt_BR", "pt-BR"]"#,
            "site \"main\": the locales `pt_BR` and `pt-BR` have the same hreflang, `pt-BR`: give one of them another `hreflang`",
        ),
        (
            r#"["de", { code = "de", segment = "deutsch" }]"#,
            "site \"main\": `locales` lists `de` twice",
        ),
        (
            r#"[{ code = "de", segment = "" }]"#,
            "site \"main\", locale `de`, segment: `segment` is empty: leave it out for the code of the locale, or write one segment of a path",
        ),
        (
            r#"[{ code = "de", segment = "/de" }]"#,
            "site \"main\", locale `de`, segment: `/de` is not one segment of a path: write it without `/`",
        ),
        (
            r#"[{ code = "de", segment = ".." }]"#,
            "site \"main\", locale `de`, segment: `..` is a relative reference: write a name, such as `deutsch`",
        ),
        (
            r#"[{ code = "de", segment = "d%65" }]"#,
            "site \"main\", locale `de`, segment: `d%65` has a character that a segment cannot have",
        ),
        (
            &format!(r#"[{{ code = "de", segment = "{}" }}]"#, "a".repeat(2_100)),
            "site \"main\", locale `de`, segment: `segment` has 2100 bytes, and at most 255 are allowed: write a short name",
        ),
        (
            r#"[{ code = "de", hreflang = "de_DE" }]"#,
            "site \"main\", locale `de`, hreflang: `de_DE` is not a language tag (BCP 47): write one such as `de`, `de-DE` or `zh-Hant`",
        ),
        (
            r#"[{ code = "de", hreflang = "X-Default" }]"#,
            "site \"main\", locale `de`, hreflang: `x-default` is for readers without a matching language",
        ),
        (r#"["x-default"]"#, "site \"main\", locale `x-default`, hreflang: `x-default` is for"),
        (
            r#"[{ code = "de", segmnet = "deutsch" }]"#,
            "site \"main\", locale `de`: `segmnet` is not a setting; did you mean `segment`?",
        ),
        (r#"["en", { segment = "deutsch" }]"#, "site \"main\", locale 2: `code` is required"),
        (
            r#"[{ code = "de", segment = 1 }]"#,
            "site \"main\", locale `de`, segment: must be text in quotes, not 1",
        ),
        (
            r#"["en", 5]"#,
            "site \"main\", locale 2: must be a code in quotes, or a table such as { code = \"de\", segment = \"deutsch\" }",
        ),
        (r#"[{ code = "d e" }]"#, "site \"main\", locale `d e`: a locale is up to 35 characters"),
        (r#""en""#, "site \"main\", locales: must be a list, like [\"en\"], not \"en\""),
        (r#"{ code = "de" }"#, "site \"main\", locales: must be a list in brackets"),
    ] {
        let ended = check(locales);
        assert_eq!(
            (ended.status, ended.stdout.as_str()),
            (Some(78), ""),
            "{locales}: {}",
            ended.stderr
        );
        // The line of `locales`.
        let expected = format!("- line 11, {expected}");
        assert!(ended.stderr.contains(&expected), "{expected} is missing in\n{}", ended.stderr);
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let locales = r#"[{ code = "de", segment = "/", hreflang = "d" }, { code = "e n" }, { code = "fr", segment = "..", segmnet = "f" }]"#;
    let ended = check(locales);
    for expected in [
        "locale `de`, segment: ",
        "locale `de`, hreflang: ",
        "locale `e n`: ",
        "locale `fr`, segment: ",
        "`segmnet`",
    ] {
        assert!(ended.stderr.contains(expected), "{expected} is missing in\n{}", ended.stderr);
    }
}

#[test]
fn code_that_is_no_language_tag_is_a_warning() {
    let ended = check(r#"["en", "a1"]"#);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let warning = "site \"main\", locale `a1`, hreflang: `a1` is not a language tag (BCP 47): write one such as";
    assert!(
        (ended.stdout.clone() + &ended.stderr).contains(warning),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
    let cured = check(r#"["en", { code = "a1", hreflang = "en-AU" }]"#);
    assert!(!cured.stdout.contains("language tag"), "{}", cured.stdout);
}

#[test]
fn template_for_a_locale_names_its_code() {
    let settings = settings().rule("api::page.page", r#"{ english = "/{locale}/{slug}" }"#);
    let ended = settings.run(&["check"]);
    assert_eq!(ended.status, Some(78));
    let expected = "template.english: the site has no locale `english`";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}
