//! `frontend-map pages` and `frontend-map problems`: the same tables without the service.

use super::{linked, settings};
use crate::support::http;
use crate::support::service::{Ended, Setup};

fn run(setup: &Setup, args: &[&str]) -> Ended {
    let ended = setup.run(args);
    assert_eq!(ended.status, Some(0), "{args:?}: {}", ended.stderr);
    ended
}

#[test]
fn pages_are_those_of_the_service() {
    let service = linked().start();
    let setup = linked().setup();
    for (args, query) in [
        (&[][..], ""),
        (
            &["--content-type", "api::help.help", "--locale", "de"],
            "&contentType=api::help.help&locale=de",
        ),
        (&["--since", "2026-02-02T03:04:06+00:00"], "&since=2026-02-02T03:04:06Z"),
        (&["--unlisted"], "&unlisted=true"),
    ] {
        let response = http::get(service.addr(), &format!("/api/pages?site=main{query}"));
        let ended = run(&setup, &[&["pages", "--site", "main"], args].concat());
        assert_eq!(ended.stdout, format!("{}\n", response.text()), "{query}");
    }
    let path = setup.path().join("pages.ndjson");
    let path = path.to_str().expect("text");
    let args = ["pages", "--site", "main", "--format", "ndjson", "--out", path];
    assert_eq!(run(&setup, &args).stdout, "");
    let written = std::fs::read_to_string(path).expect("a file");
    assert_eq!(written, super::lines(&service, "/api/pages?site=main").text());
}

#[test]
fn problems_are_those_of_the_service() {
    let service = linked().start();
    let setup = linked().setup();
    let target = "/api/problems?site=main";
    let json = run(&setup, &["problems", "--site", "main", "--format", "json"]).stdout;
    assert_eq!(json, format!("{}\n", http::get(service.addr(), target).text()));
    let lines = run(&setup, &["problems", "--site", "main", "--format", "ndjson"]).stdout;
    assert_eq!(lines, super::lines(&service, target).text());
}

#[test]
fn problems_as_csv_have_a_record_for_each_version() {
    let setup = settings().setup();
    let ended = run(&setup, &["problems", "--site", "main", "--format", "csv"]);
    let expected = [
        "kind,contentType,documentId,locale,reason,rule,path,owner,title,adminUrl",
        "no_url,api::article.article,a4,en,slug_missing,/{locale}/articles/{slug},,,\"No slug\\u{1b}\",",
        "no_url,api::article.article,a5,de,slug_has_slash,/{locale}/articles/{slug},,,5,",
        "shared_path,api::article.article,a1,en,,,/en/articles/zoo,true,Zoo,",
        "shared_path,api::article.article,a8,en,,,/en/articles/zoo,false,\"Second zoo\",",
        "shared_path,api::page.page,p1,en,,,/en/articles/zoo,false,,",
        "no_url,api::help.help,h3,en,slug_missing,\"/help/{section?}/{slug}.html\",,,,",
        "no_url,api::page.page,p2,en,path_empty_segment,/{*path},,,,",
    ];
    let found: Vec<&str> = ended.stdout.split_terminator("\r\n").collect();
    let unquoted = |text: &str| text.replace('"', "");
    assert_eq!(
        found.iter().map(|line| unquoted(line)).collect::<Vec<_>>(),
        expected.iter().map(|line| unquoted(line)).collect::<Vec<_>>()
    );
}

#[test]
fn problems_as_a_table_are_aligned_and_control_no_terminal() {
    let setup = settings().setup();
    let ended = run(&setup, &["problems", "--site", "main"]);
    let expected = "site main: 5 problems

documents without a URL
  document  locale  reason              content type          rule                          title
  a4        en      slug_missing        api::article.article  /{locale}/articles/{slug}     No slug\\u{1b}
  a5        de      slug_has_slash      api::article.article  /{locale}/articles/{slug}     5
  h3        en      slug_missing        api::help.help        /help/{section?}/{slug}.html
  p2        en      path_empty_segment  api::page.page        /{*path}

paths of several documents
  /en/articles/zoo  owner  a1  en  api::article.article  Zoo
                    other  a8  en  api::article.article  Second zoo
                    other  p1  en  api::page.page
";
    assert_eq!(ended.stdout, expected);
    let content = r#"{"api::article.article": []}"#;
    let ended = run(&setup.file("content.json", content), &["problems", "--site", "main"]);
    assert_eq!(ended.stdout, "site main: no problems\n");
}

#[test]
fn commands_refuse_what_is_unknown() {
    let setup = linked().setup();
    for (args, status, message) in [
        (&["pages", "--site", "x"][..], 1, "unknown site `x`"),
        (&["problems", "--site", "x"], 1, "unknown site `x`"),
        (
            &["pages", "--site", "main", "--locale", "fr"],
            1,
            "has no locale `fr`; there are: en, de",
        ),
        (
            &["pages", "--site", "main", "--content-type", "api::x.x"],
            1,
            "has no rule for `api::x.x`",
        ),
        (
            &["pages", "--site", "main", "--since", "today"],
            2,
            "write a time like 2026-01-31T12:00:00Z",
        ),
        (&["pages", "--site", "main", "--out", "no/such/folder/x"], 1, "no/such/folder/x"),
        (&["pages"], 2, "--site"),
    ] {
        let ended = setup.run(args);
        assert_eq!(ended.status, Some(status), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(message), "{args:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{args:?}");
    }
}
