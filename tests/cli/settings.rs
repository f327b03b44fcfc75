//! Settings: all problems are reported at once, with exit status 78, before a port is bound; and which
//! source wins when several have a value.

use std::fmt::Write;
use std::net::TcpListener;

use crate::support::http;
use crate::support::service::{Ended, Setup};

/// `sysexits.h`: `EX_CONFIG`.
const REFUSED: Option<i32> = Some(78);

const SERVER: &str = "[server]\nlisten = \"127.0.0.1:0\"\n";
const CMS: &str = "[cms]\nsource = \"files\"\npath = \"content.json\"\n";
const SITE: &str = "[[site]]\nkey = \"main\"\nlocales = [\"en\", \"de\"]\n";
const RULE: &str = "[[site.rule]]\ncontent_type = \"plugin::cms.article\"\ntemplate = \"/{locale}/articles/{slug}\"\n";

/// Valid settings with one rule.
fn valid() -> String {
    format!("{SERVER}{CMS}{SITE}{RULE}")
}

fn setup(settings: &str) -> Setup {
    Setup::new(settings).file(
        "content.json",
        r#"{"plugin::cms.article": [{"documentId": "a", "locale": "en", "slug": "x"}]}"#,
    )
}

/// One site with one rule, whose template is this TOML value.
fn with_template(template: &str) -> String {
    format!(
        "{SERVER}{CMS}{SITE}[[site.rule]]\ncontent_type = \"plugin::cms.article\"\ntemplate = {template}\n"
    )
}

#[track_caller]
fn assert_refused(ended: &Ended, name: &str, named: &[&str]) {
    assert_eq!(ended.status, REFUSED, "{name}: {}", ended.stderr);
    assert_eq!(ended.stdout, "", "{name}: nothing on stdout, no port bound");
    for text in named {
        assert!(ended.stderr.contains(text), "{name}: {text:?} is missing in\n{}", ended.stderr);
    }
    assert!(!ended.stderr.contains("panicked"), "{name}: {}", ended.stderr);
}

/// `serve` and `check` both refuse the settings.
#[track_caller]
fn assert_both_refuse(name: &str, setup: &Setup, named: &[&str]) {
    for command in ["serve", "check"] {
        assert_refused(&setup.run(&[command]), &format!("{name} ({command})"), named);
    }
}

#[test]
fn check_accepts_valid_settings() {
    let ended = setup(&valid()).run(&["check"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
}

#[test]
fn unknown_keys_are_refused_in_every_section() {
    for (name, settings, named) in [
        ("top level", format!("colour = 1\n{}", valid()), vec!["colour"]),
        ("table", format!("{}[colours]\nred = 1\n", valid()), vec!["colours"]),
        ("server", format!("{SERVER}listne = \"x\"\n{CMS}{SITE}{RULE}"), vec!["listne"]),
        (
            "header of cache tags",
            format!("{SERVER}cache_tag_header = \"Content-Type\"\n{CMS}{SITE}{RULE}"),
            vec!["server.cache_tag_header", "`Content-Type`", "Cache-Tag, Netlify-Cache-Tag"],
        ),
        ("cms", format!("{SERVER}{CMS}pth = \"x\"\n{SITE}{RULE}"), vec!["pth"]),
        (
            "site",
            format!("{SERVER}{CMS}{SITE}frontend_url = \"https://x.example\"\n{RULE}"),
            vec!["frontend_url"],
        ),
        ("rule", format!("{}templat = \"/x\"\n", valid()), vec!["templat"]),
        (
            "content type",
            format!(
                "{}[[content_type]]\nuid = \"plugin::cms.article\"\nendpont = \"cms/articles\"\n",
                valid()
            ),
            vec!["endpont"],
        ),
        ("log", format!("{}[log]\ncolour = true\n", valid()), vec!["colour"]),
        (
            "unknown level",
            format!("{}[log]\nlevel = \"nonsense\"\n", valid()),
            vec!["log.level", "nonsense"],
        ),
        ("limits", format!("{}[limits]\ncolour = 3\n", valid()), vec!["colour"]),
    ] {
        assert_both_refuse(name, &setup(&settings), &named);
    }
}

#[test]
fn invalid_sites_are_refused_with_their_key() {
    let second = |key: &str| format!("{}[[site]]\nkey = \"{key}\"\nlocales = [\"en\"]\n", valid());
    let long = "k".repeat(65);
    for (name, settings, named) in [
        ("twice", second("main"), vec!["main"]),
        ("one name in the environment", second("MAIN"), vec!["main", "MAIN", "FRONT_END_URL_MAIN"]),
        (
            "one name for dots and dashes",
            format!("{}[[site]]\nkey = \"a.b\"\nlocales = [\"en\"]\n", second("a-b")),
            vec!["a-b", "a.b", "FRONT_END_URL_A_B"],
        ),
        ("space in the key", second("a b"), vec!["a b"]),
        ("slash in the key", second("a/b"), vec!["a/b"]),
        ("letter beyond ASCII in the key", second("größe"), vec!["größe"]),
        ("empty key", second(""), vec!["key"]),
        ("key of 65 bytes", second(&long), vec![&long]),
        ("no key", format!("{}[[site]]\nlocales = [\"en\"]\n", valid()), vec!["key"]),
        ("no locales", format!("{}[[site]]\nkey = \"bare\"\n", valid()), vec!["bare", "locale"]),
        (
            "empty locales",
            format!("{}[[site]]\nkey = \"bare\"\nlocales = []\n", valid()),
            vec!["bare", "locale"],
        ),
        (
            "malformed locale",
            format!("{}[[site]]\nkey = \"bare\"\nlocales = [\"en\", \"../x\"]\n", valid()),
            vec!["bare", "../x"],
        ),
        (
            "empty locale",
            format!("{}[[site]]\nkey = \"bare\"\nlocales = [\"\"]\n", valid()),
            vec!["bare", "locale"],
        ),
        (
            "repeated locale",
            format!("{}[[site]]\nkey = \"bare\"\nlocales = [\"en\", \"en\"]\n", valid()),
            vec!["bare", "en"],
        ),
        ("no site", format!("{SERVER}{CMS}"), vec!["site"]),
    ] {
        let setup = setup(&settings);
        if name == "no site" {
            // Only `serve` is specified to require a site (D31).
            assert_refused(&setup.run(&["serve"]), name, &named);
        } else {
            assert_both_refuse(name, &setup, &named);
        }
    }
}

#[test]
fn invalid_templates_are_refused_with_site_and_template() {
    for (name, template) in [
        ("empty", ""),
        ("no slash first", "articles/{slug}"),
        ("trailing slash", "/articles/{slug}/"),
        ("empty segment", "/articles//{slug}"),
        ("dot segment", "/./{slug}"),
        ("dot dot segment", "/articles/../{slug}"),
        ("percent", "/a%20b/{slug}"),
        ("question mark", "/articles?x={slug}"),
        ("hash", "/articles#{slug}"),
        ("backslash", "/a\\b/{slug}"),
        ("control character", "/a\tb/{slug}"),
        ("C1 control character", "/a\u{85}b/{slug}"),
        ("open brace", "/articles/{slug"),
        ("close brace", "/articles/slug}"),
        ("nested braces", "/articles/{{slug}}"),
        ("empty name", "/articles/{}"),
        ("empty catch-all name", "/articles/{*}"),
        ("two placeholders in a segment", "/articles/{slug}-{title}"),
        ("repeated name", "/{slug}/{slug}"),
        ("repeated locale", "/{locale}/x/{locale}"),
        ("catch-all not last", "/{*path}/x"),
        ("catch-all with a prefix", "/a-{*path}"),
        ("catch-all with a suffix", "/{*path}.html"),
        ("repeated name as catch-all", "/{path}/{*path}"),
        ("locale within a segment", "/x-{locale}/{slug}"),
        ("locale as catch-all", "/x/{*locale}"),
        ("space in a name", "/articles/{a slug}"),
        ("relation without a field", "/articles/{category.}"),
        ("relation without a name", "/articles/{.slug}"),
    ] {
        let settings = with_template(&toml_string(template));
        let named = if template.contains(char::is_control) || template.contains('\\') {
            vec!["main"]
        } else {
            vec!["main", template]
        };
        assert_both_refuse(name, &setup(&settings), &named);
    }
}

#[test]
fn valid_templates_are_accepted() {
    for template in [
        "/",
        "/about",
        "/{slug}",
        "/{locale}",
        "/a b/ü/{slug}.html",
        "/x-{slug}",
        "/{category.slug}/{documentId}",
        "/{locale}/{*path}",
        "/...",
        "/a.b",
    ] {
        let ended = setup(&with_template(&toml_string(template))).run(&["check"]);
        assert_eq!(ended.status, Some(0), "{template}: {}", ended.stderr);
    }
}

#[test]
fn invalid_values_are_refused_with_the_name_of_the_setting() {
    for (name, settings, named) in [
        (
            "listen is no address",
            format!("[server]\nlisten = \"nowhere\"\n{CMS}{SITE}{RULE}"),
            vec!["listen"],
        ),
        (
            "listen has a big port",
            format!("[server]\nlisten = \"127.0.0.1:99999\"\n{CMS}{SITE}{RULE}"),
            vec!["listen"],
        ),
        (
            "listen is a number",
            format!("[server]\nlisten = 8080\n{CMS}{SITE}{RULE}"),
            vec!["listen"],
        ),
        (
            "origin with a path",
            format!("{SERVER}cors_origins = [\"https://a.example/x\"]\n{CMS}{SITE}{RULE}"),
            vec!["cors_origins", "https://a.example/x"],
        ),
        (
            "origin star",
            format!("{SERVER}cors_origins = [\"*\"]\n{CMS}{SITE}{RULE}"),
            vec!["cors_origins"],
        ),
        (
            "unknown source",
            format!("{SERVER}[cms]\nsource = \"ftp\"\n{SITE}{RULE}"),
            vec!["source", "ftp"],
        ),
        (
            "strapi with an invalid URL",
            format!("{SERVER}[cms]\nsource = \"strapi\"\nurl = \"not a url\"\n{SITE}{RULE}"),
            vec!["url"],
        ),
        (
            "missing content file",
            valid().replace("content.json", "nowhere.json"),
            vec!["nowhere.json"],
        ),
        (
            "rule without a content type",
            format!("{SERVER}{CMS}{SITE}[[site.rule]]\ntemplate = \"/x\"\n"),
            vec!["content_type"],
        ),
        (
            "rule without a template",
            format!("{SERVER}{CMS}{SITE}[[site.rule]]\ncontent_type = \"api::x.x\"\n"),
            vec!["template"],
        ),
        (
            "content type that is no UID",
            valid().replace("plugin::cms.article", "articles"),
            vec!["main", "articles"],
        ),
        (
            "front_end_url is no URL",
            format!("{SERVER}{CMS}{SITE}front_end_url = \"www.example.com\"\n{RULE}"),
            vec!["main", "www.example.com"],
        ),
        (
            "front_end_url with a query",
            format!("{SERVER}{CMS}{SITE}front_end_url = \"https://x.example/?a\"\n{RULE}"),
            vec!["main", "https://x.example/?a"],
        ),
        (
            "unknown kind",
            format!(
                "{}[[content_type]]\nuid = \"api::x.x\"\nendpoint = \"xs\"\nkind = \"many\"\n",
                valid()
            ),
            vec!["kind"],
        ),
        ("not TOML", "[server\nlisten = ".to_owned(), vec!["settings.toml", "line 1"]),
        (
            "two values for one key",
            format!("{SERVER}listen = \"127.0.0.1:1\"\n{CMS}{SITE}{RULE}"),
            vec!["listen"],
        ),
    ] {
        assert_both_refuse(name, &setup(&settings), &named);
    }
    assert_both_refuse("no settings file", &Setup::without_settings(), &["settings.toml"]);
}

#[test]
fn invalid_content_files_are_refused() {
    for (name, content) in [
        ("not JSON", "{"),
        ("not an object", "[]"),
        ("not a list", r#"{"plugin::cms.article": {}}"#),
        ("unknown status", r#"{"plugin::cms.article": [{"documentId": "a", "status": "new"}]}"#),
        (
            "twice",
            r#"{"plugin::cms.article": [{"documentId": "a", "locale": "en"}, {"documentId": "a", "locale": "en", "status": "published"}]}"#,
        ),
        (
            "twice without a locale",
            r#"{"plugin::cms.article": [{"documentId": "a"}, {"documentId": "a", "locale": null}]}"#,
        ),
        ("no documentId", r#"{"plugin::cms.article": [{"slug": "x"}]}"#),
        (
            "a type twice",
            r#"{"plugin::cms.article": [{"documentId": "a"}], "plugin::cms.article": []}"#,
        ),
    ] {
        let setup = Setup::new(&valid()).file("content.json", content);
        assert_refused(&setup.run(&["serve"]), name, &["content.json"]);
    }
}

#[test]
fn content_type_that_the_content_file_lacks_is_a_finding() {
    let misspelt = r#"{"plugin::cms.artikle": [{"documentId": "a", "slug": "x"}],
        "plugin::cms.other": [{"documentId": "b"}]}"#;
    let similar = "no documents of `plugin::cms.article` in ";
    let remedy = "content.json; did you mean `plugin::cms.artikle`?\n";
    let settings = valid().replace(SITE, &format!("{SITE}front_end_url = \"https://x.example\"\n"));
    let of = |content: &str| Setup::new(&settings).file("content.json", content);
    let setup = of(misspelt);
    for args in [&["check", "--strict"][..], &["check", "--strict", "--offline"]] {
        let ended = setup.run(args);
        let first = "the settings are valid, but there is 1 problem with the content file: ";
        assert!(ended.stdout.starts_with(first), "{}", ended.stdout);
        assert!(ended.stdout.contains(similar), "{}", ended.stdout);
        assert!(ended.stdout.contains(remedy), "{}", ended.stdout);
        assert!(!ended.stdout.contains("cms.other"), "{}", ended.stdout);
        assert_eq!(ended.stderr, "frontend-map: 1 problem with the content file\n");
        assert_eq!(ended.status, Some(1));
    }
    assert_eq!(setup.run(&["check"]).status, Some(0));
    let service = setup.start();
    assert!(service.logs(similar), "{}", service.log());
    assert!(service.logs("did you mean `plugin::cms.artikle`?"), "{}", service.log());

    let empty = of("{}").run(&["check", "--strict"]);
    let remedy = "if there are none, add `\"plugin::cms.article\": []`";
    assert!(empty.stdout.contains(remedy), "{}", empty.stdout);
    assert_eq!(empty.status, Some(1));

    let intended = r#"{"plugin::cms.article": [], "plugin::cms.articles": [{"documentId": "a"}]}"#;
    let ended = of(intended).run(&["check", "--strict"]);
    assert!(ended.stdout.starts_with("the settings are fine: "), "{}", ended.stdout);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);

    let links = "[[site.links]]\ncontent_type = \"api::menu.menu\"\nfields = [\"url\"]\n";
    let documents = format!("{SITE}resolve = \"documents\"\n");
    let with_links = settings.replace(SITE, &documents) + links;
    let ended = Setup::new(&with_links).file("content.json", intended).run(&["check"]);
    let absent = "content.json; if there are none, add `\"api::menu.menu\": []`\n";
    assert!(ended.stdout.contains(absent), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn token_in_the_settings_file_is_refused_and_not_shown() {
    let settings = format!(
        "{SERVER}[cms]\nsource = \"strapi\"\nurl = \"http://127.0.0.1:1\"\ntoken = \"CANARY-TOKEN\"\n{SITE}{RULE}"
    );
    let setup = setup(&settings);
    assert_both_refuse("token", &setup, &["token"]);
    for command in ["serve", "check"] {
        assert!(!setup.run(&[command]).stderr.contains("CANARY"), "{command} shows the token");
    }
}

#[test]
fn token_in_the_environment_is_not_shown_in_problems() {
    let settings = format!(
        "{SERVER}colour = 1\n[cms]\nsource = \"strapi\"\nurl = \"http://127.0.0.1:1\"\n{SITE}{RULE}"
    );
    let setup =
        setup(&settings).env("FRONTEND_MAP__CMS__TOKEN", "CANARY-TOKEN").env("RUST_LOG", "trace");
    let ended = setup.run(&["serve"]);
    assert_refused(&ended, "token", &["colour"]);
    assert!(!ended.stderr.contains("CANARY"), "{}", ended.stderr);
}

#[test]
fn all_problems_are_reported_at_once() {
    let settings = format!(
        "[server]\nlisten = \"nowhere\"\nlistne = 1\n{CMS}{SITE}front_end_url = \"ftp://x.example\"\n\
         [[site.rule]]\ncontent_type = \"api::a.a\"\ntemplate = \"/a/{{slug\"\n\
         [[site.rule]]\ncontent_type = \"api::b.b\"\ntemplate = \"b\"\n\
         [[site]]\nkey = \"bare\"\nlocales = []\n[[site]]\nkey = \"bare\"\nlocales = [\"en\"]\n[[site]]\nkey = \"a b\"\nlocales = [\"en\"]\n"
    );
    let named =
        ["listne", "nowhere", "ftp://x.example", "/a/{slug", "api::b.b", "bare", "a b", "locale"];
    assert_both_refuse("several", &setup(&settings), &named);
}

#[test]
fn unknown_keys_in_the_environment_are_refused() {
    assert_both_refuse(
        "environment",
        &setup(&valid()).env("FRONTEND_MAP__SERVER__LISTNE", "127.0.0.1:0"),
        &["listne"],
    );
}

#[test]
fn environment_overrides_the_file() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addr = taken.local_addr().expect("an address");
    let settings = valid().replace("127.0.0.1:0", &addr.to_string());
    let service = setup(&settings).env("FRONTEND_MAP__SERVER__LISTEN", "127.0.0.1:0").start();
    assert_ne!(service.addr(), addr);
    assert_eq!(http::get(service.addr(), "/livez").status, 200);
}

#[test]
fn invalid_value_in_the_environment_is_refused() {
    assert_both_refuse(
        "listen",
        &setup(&valid()).env("FRONTEND_MAP__SERVER__LISTEN", "nowhere"),
        &["listen"],
    );
}

const DOCUMENT: &str = "/api/frontend-url?uid=plugin::cms.article&documentId=a";

#[test]
fn base_url_in_the_environment_overrides_the_file() {
    let settings = valid()
        .replace("key = \"main\"", "key = \"main\"\nfront_end_url = \"https://file.example\"");
    let service =
        setup(&settings).env("FRONT_END_URL_MAIN", "https://environment.example/").start();
    assert_eq!(
        http::get(service.addr(), DOCUMENT).json()["data"]["url"],
        "https://environment.example/en/articles/x"
    );
    let service = setup(&settings).start();
    assert_eq!(
        http::get(service.addr(), DOCUMENT).json()["data"]["url"],
        "https://file.example/en/articles/x"
    );
}

#[test]
fn variable_of_a_base_url_has_the_site_key_in_upper_case_without_punctuation() {
    let settings = valid().replace("key = \"main\"", "key = \"my-Shop.v2\"");
    let service = setup(&settings).env("FRONT_END_URL_MY_SHOP_V2", "https://shop.example").start();
    assert_eq!(
        http::get(service.addr(), DOCUMENT).json()["data"]["url"],
        "https://shop.example/en/articles/x"
    );
}

#[test]
fn empty_base_url_means_not_configured() {
    let in_file = valid().replace("key = \"main\"", "key = \"main\"\nfront_end_url = \"\"");
    for service in [
        setup(&valid()).start(),
        setup(&valid()).env("FRONT_END_URL_MAIN", "").start(),
        setup(&in_file).start(),
    ] {
        let answer = http::get(service.addr(), DOCUMENT);
        assert_eq!(answer.status, 501, "{}", answer.text());
        assert_eq!(answer.json()["error"]["details"]["path"], "/en/articles/x");
    }
}

#[test]
fn invalid_base_url_in_the_environment_is_refused_with_its_variable() {
    let setup = setup(&valid()).env("FRONT_END_URL_MAIN", "https://www.example.com/?x");
    assert_both_refuse("base URL", &setup, &["FRONT_END_URL_MAIN", "main"]);
}

#[test]
fn password_in_an_address_is_refused_and_not_shown() {
    let cms = valid().replace(CMS, "[cms]\nurl = \"http://user:CANARY@127.0.0.1:1\"\n");
    for (name, setup) in [
        ("cms.url", setup(&cms)),
        ("FRONT_END_URL_MAIN", setup(&valid()).env("FRONT_END_URL_MAIN", "https://u:CANARY@h")),
        ("front_end_url", setup(&valid().replace(RULE, "front_end_url = \"ftp://u:CANARY@h\"\n"))),
    ] {
        assert_both_refuse(name, &setup, &[name]);
        assert!(!setup.run(&["check"]).stderr.contains("CANARY"), "{name} shows the password");
    }
}

#[test]
fn invalid_collector_of_traces_is_refused_and_not_shown() {
    let traces = |line: &str| setup(&format!("{}[traces]\n{line}\n", valid()));
    for (line, named) in [
        (r#"otlp_endpoint = "http://user:CANARY@h:4318""#, "traces.otlp_endpoint"),
        (r#"otlp_endpoint = "https://h/?key=CANARY""#, "traces.otlp_endpoint"),
        (r#"otlp_endpoint = "h:4318/CANARY""#, "traces.otlp_endpoint"),
        ("sample_ratio = 1.01", "traces.sample_ratio"),
        ("sample_ratio = -0.1", "traces.sample_ratio"),
        ("sample_ratio = nan", "traces.sample_ratio"),
        ("sample_ratio = \"some\"", "traces"),
        ("ratio = 1", "`ratio` is not a setting"),
    ] {
        assert_both_refuse(line, &traces(line), &[named]);
        assert!(!traces(line).run(&["check"]).stderr.contains("CANARY"), "{line}");
    }
    let fine =
        traces("otlp_endpoint = \"http://127.0.0.1:4318/\"\nsample_ratio = 1").run(&["check"]);
    assert_eq!(fine.status, Some(0), "{}", fine.stderr);
}

#[test]
fn limits_out_of_their_range_are_refused_with_the_range() {
    for (line, problem) in [
        ("cms_requests = 9223372036854775807", "limits.cms_requests: must be between 1 and 10000"),
        ("requests = 0", "limits.requests: must be between 1 and 10000"),
        ("walk_deadline_ms = 0", "limits.walk_deadline_ms: must be at least 1"),
        ("cms_page_bytes = 0", "limits.cms_page_bytes: must be at least 1"),
        ("requests = { a = 1 }", "limits.requests: must be a whole number, not a table"),
    ] {
        let settings = format!("{}[limits]\n{line}\n", valid());
        assert_both_refuse(line, &setup(&settings), &[problem]);
    }
}

#[test]
fn invalid_shares_and_intervals_of_snapshots_are_refused() {
    for (line, problem) in [
        ("cms_share = 0", "snapshots.cms_share: must be a number from 0.001 to 1"),
        ("cms_share = 1.01", "snapshots.cms_share: must be a number from 0.001 to 1"),
        ("cms_share = \"10 %\"", "cms_share"),
        ("check_seconds = 0", "snapshots.check_seconds: must be between 1 and 31622400"),
        ("ready_seconds = 3601", "snapshots.ready_seconds: must be at most 3600"),
    ] {
        let settings = format!("{}[snapshots]\n{line}\n", valid());
        assert_both_refuse(line, &setup(&settings), &[problem]);
    }
    for line in ["cms_share = 1", "cms_share = 0.001", "check_seconds = 31622400"] {
        let setup = setup(&format!("{}[snapshots]\n{line}\n", valid()));
        assert_eq!(setup.run(&["check"]).status, Some(0), "{line}");
    }
}

#[test]
fn invalid_validation_times_and_tokens_are_refused_and_tokens_not_shown() {
    let times = "[validation]\ndeadline_seconds = 0\nreuse_seconds = 86401\n";
    let problems =
        ["validation.deadline_seconds: must be between 1 and 86400", "validation.reuse_seconds"];
    assert_both_refuse("times", &setup(&(valid() + times)), &problems);
    let written = "[auth]\nvalidate_token = \"canary-3\"\ndraft_token_file = \"nowhere\"\n";
    let setup = setup(&(valid() + written))
        .env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", "canary-4 with a space");
    let named = ["`validate_token` is not a setting", "auth.draft_token_file", "validate=true"];
    assert_both_refuse("tokens", &setup, &named);
    assert!(!setup.run(&["check"]).stderr.contains("canary"));
}

#[test]
fn paths_are_relative_to_the_settings_file() {
    // The path `content.json` in `valid()` is relative: the file is in the folder of the settings file,
    // whatever the working directory is.
    let service =
        setup(&format!("{}[log]\nlevel = \"info\"\nformat = \"json\"\naccess = true\n", valid()))
            .env("FRONT_END_URL_MAIN", "https://x.example")
            .start();
    assert_eq!(http::get(service.addr(), DOCUMENT).status, 200);
    assert!(
        service.logs("frontend-url"),
        "with `access` a request shows in the log:\n{}",
        service.log()
    );
}

/// A TOML basic string.
fn toml_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            char if char.is_control() => {
                write!(quoted, "\\u{:04X}", u32::from(char)).expect("text grows");
            }
            char => quoted.push(char),
        }
    }
    quoted + "\""
}

#[test]
fn syntax_error_is_refused_without_the_text_of_its_line() {
    let setup = setup("[cms]\ntoken = \"CANARY\nurl = 1");
    let ended = setup.run(&["check"]);
    assert_refused(&ended, "syntax", &["line 2", "not TOML"]);
    assert!(!ended.stderr.contains("CANARY"), "{}", ended.stderr);
}

#[test]
fn empty_variable_is_an_empty_list() {
    let origins = |list: &str| {
        setup(&valid()).env("FRONTEND_MAP__SERVER__CORS_ORIGINS", list).run(&["check"]).status
    };
    assert_eq!(origins(""), Some(0));
    assert_eq!(origins("https://a.example, https://b.example"), Some(0));
}

#[test]
fn truth_value_in_a_variable_may_have_any_case() {
    for (value, status) in [("TRUE", 0), ("False", 0), (" on ", 0), ("maybe", 78)] {
        let setup = setup(&valid()).env("FRONTEND_MAP__SNAPSHOTS__AT_START", value);
        assert_eq!(setup.run(&["check"]).status, Some(status), "{value}");
    }
}

#[test]
fn links_need_fields_that_differ_a_site_that_resolves_documents_and_each_type_once() {
    let documents = "resolve = \"documents\"\n";
    let of = |site: &str, links: &str| setup(&format!("{SERVER}{CMS}{SITE}{site}{RULE}{links}"));
    let links = |lines: &str| format!("[[site.links]]\n{lines}\n");
    let good = links("content_type = \"api::menu.menu\"\nfields = [\"a\", \"b.c.d.e\", \"b.d\"]");
    let ended = of(documents, &good).run(&["check"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    for (name, site, text, named) in [
        ("by rules", "", good.clone(), "links: needs resolve = \"documents\" in the site"),
        ("twice", documents, good.clone() + &good, "links: api::menu.menu is named twice"),
        ("no type", documents, links("fields = [\"a\"]"), "`content_type` is required"),
        ("no fields", documents, links("content_type = \"api::a.a\""), "`fields` is required"),
        (
            "empty fields",
            documents,
            links("content_type = \"api::a.a\"\nfields = []"),
            "`fields` is required: name one field at least",
        ),
        (
            "system field",
            documents,
            links("content_type = \"api::a.a\"\nfields = [\"a\", \"locale\"]"),
            "fields: `locale` has no links: leave it out",
        ),
        ("bad type", documents, links("content_type = \"menu\"\nfields = [\"a\"]"), "menu"),
        (
            "bad field",
            documents,
            links("content_type = \"api::a.a\"\nfields = [\"a b\"]"),
            "`a b` is not the name of a field",
        ),
        (
            "one in another",
            documents,
            links("content_type = \"api::a.a\"\nfields = [\"a\", \"a.b\"]"),
            "`a.b` and `a` are the same field, or one is in the other",
        ),
    ] {
        assert_both_refuse(name, &of(site, &text), &[named]);
    }
    for bytes in ["1048575", "4294967297"] {
        let setup = setup(&valid()).env("FRONTEND_MAP__LIMITS__LINKS_BYTES", bytes);
        assert_both_refuse(bytes, &setup, &["FRONTEND_MAP__LIMITS__LINKS_BYTES"]);
    }
}
