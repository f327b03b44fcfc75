//! Mistakes in the base URLs of locales: each message says where and what to do, with exit status 78.

use super::{BASES, settings};
use crate::support::service::Ended;

fn check(bases: &str, env: &[(&str, &str)], more: &str) -> Ended {
    let setup = settings().front_end_url(bases).more(more).setup();
    env.iter().fold(setup, |setup, (name, value)| setup.env(name, value)).run(&["check"])
}

#[track_caller]
fn assert_refused(ended: &Ended, expected: &str) {
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(78), ""), "{}", ended.stderr);
    assert!(ended.stderr.contains(expected), "{expected} is missing in\n{}", ended.stderr);
}

#[test]
fn mistake_in_the_table_is_a_problem_with_its_place_and_its_cure() {
    for (bases, expected) in [
        (
            r#"{ en = "https://example.com", dee = "https://example.de" }"#,
            "- line 9, site \"main\", front_end_url.dee: the site has no locale `dee`; did you mean `de`?",
        ),
        (
            r#"{ en = "example.com" }"#,
            "- line 9, site \"main\", front_end_url: `example.com` is not a base URL: must start with `http://` or `https://`",
        ),
        (r"{ en = 5 }", "- line 9, site \"main\", front_end_url.en: must be a URL in quotes"),
        (
            r#"["https://example.com"]"#,
            "- line 9, site \"main\", front_end_url: must be a URL in quotes, or a table by locale such as { en = \"https://example.com\" }",
        ),
        (
            r#"{ en = "https://example.com/en", fr = "https://example.com/fr" }"#,
            "site \"main\", front_end_url: the locales `en` and `fr` have different base URLs on the host `example.com`: a path belongs to a host; give them the same base URL, or each a host",
        ),
        (
            r#"{ en = "https://example.com", fr = "http://EXAMPLE.com" }"#,
            "the locales `en` and `fr` have different base URLs on the host `example.com`",
        ),
        (
            r#""https://example.com""#,
            "site \"main\": the locales `de` and `at` have the same segment, `de`: give one of them another `segment`",
        ),
    ] {
        assert_refused(&check(bases, &[], ""), expected);
    }
}

#[test]
fn segment_of_the_first_locale_is_its_own_where_the_prefix_is_omitted() {
    let settings = settings()
        .front_end_url(r#"{ de = "https://example.de/start", at = "http://example.at:8080" }"#)
        .locales(&["de", r#"{ code = "at", segment = "de", hreflang = "de-AT" }"#]);
    let refused = settings.clone().set("locale_prefix = \"except-default\"");
    let expected =
        "the locale `at` must not have the segment of the first, `de`: give it another `segment`";
    assert_refused(&refused.run(&["check"]), expected);
    let ended = settings.run(&["check"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
}

#[test]
fn mistake_in_a_variable_is_a_problem_of_the_variable() {
    let ended = check(BASES, &[("FRONT_END_URL_MAIN_DE", "ftp://example.de")], "");
    let expected = "- FRONT_END_URL_MAIN_DE, site \"main\": `ftp://example.de` is not a base URL: must start with";
    assert_refused(&ended, expected);
    let ended = check(BASES, &[("FRONT_END_URL_MAIN", "example.de")], "");
    let expected = "- FRONT_END_URL_MAIN, site \"main\": `example.de` is not a base URL";
    assert_refused(&ended, expected);
    assert_eq!(ended.stderr.matches("is not a base URL").count(), 1, "{}", ended.stderr);
}

#[test]
fn variables_that_collide_are_a_problem() {
    let other = "[[site]]\nkey = \"main-de\"\nlocales = [\"en\"]\n";
    let expected = "- line 21, site \"main-de\": the locale `de` of site \"main\" has the same environment variable, FRONT_END_URL_MAIN_DE";
    assert_refused(&check(BASES, &[], other), expected);
}

#[test]
fn sites_with_one_key_are_a_problem_of_the_second() {
    let other = "[[site]]\nkey = \"main\"\nlocales = [\"en\"]\n";
    let expected = "- line 21, site \"main\": another site has the same key";
    assert_refused(&check(BASES, &[], other), expected);
}

#[test]
fn variable_that_two_locales_of_a_site_share_is_a_problem() {
    let settings = settings()
        .front_end_url("https://example.com")
        .locales(&["pt-BR", r#"{ code = "pt_BR", hreflang = "pt" }"#]);
    let ended = settings.run(&["check"]);
    assert_refused(
        &ended,
        "the locale `pt_BR` of site \"main\" and the locale `pt-BR` of site \"main\" have the same environment variable, FRONT_END_URL_MAIN_PT_BR: rename one of them",
    );
}

#[test]
fn variable_of_no_locale_is_a_warning() {
    let ended = check(BASES, &[("FRONT_END_URL_MAIN_DEE", "https://example.de")], "");
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let warning =
        "FRONT_END_URL_MAIN_DEE: no site uses this variable; did you mean `FRONT_END_URL_MAIN_DE`?";
    assert!(ended.stdout.contains(warning), "{}", ended.stdout);
}
