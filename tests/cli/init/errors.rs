//! What `init` refuses, and what it says.

use std::net::TcpListener;

use super::{LOCALES, SCHEMAS, denied, documents, init, locales, not_found, schemas, setup};
use crate::support::cms::Cms;
use crate::support::front_of_cms::refusal;
use crate::support::script::Script;
use crate::support::service::Setup;

const TYPE: [&str; 2] = ["--type", "api::post.post"];

/// The message of a run that fails with this status.
fn message(setup: &Setup, cms: &Cms, more: &[&str], status: i32) -> String {
    let ended = init(setup, cms, more);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(status), ""), "{}", ended.stderr);
    assert!(!setup.path().join("frontend-map.toml").exists(), "nothing is written");
    ended.stderr.replace(&cms.addr().to_string(), "CMS")
}

const NAME_TYPES: &str = "name the content types, such as --type api::article.article, or use a token that may read it: one with full access, or a custom one with getContentTypes and getContentType of Content-type-builder and listLocales of I18N";

#[test]
fn each_failure_of_the_cms_says_what_to_do() {
    type Answer = fn(&str) -> Script;
    let html = |status: u16| {
        let body = "<!doctype html>";
        let length = body.len();
        Script::raw(format!(
            "HTTP/1.1 {status} X\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
    };
    let no_strapi = ": --cms must be the address of Strapi 5, without /admin";
    let cases: [(&str, Answer, &[&str], String); 9] = [
        (
            "wrong token",
            |_| refusal(401, "UnauthorizedError", "{}"),
            &[],
            format!("401 on {SCHEMAS}: the token is wrong or has expired; create an API token in Strapi and set it as FRONTEND_MAP__CMS__TOKEN or in cms.token_file (CMS at http://CMS)"),
        ),
        (
            "no permission and no types",
            |_| denied(),
            &[],
            format!("403 on {SCHEMAS}: the token may not read the schema: {NAME_TYPES}"),
        ),
        (
            "no schema and no types",
            |_| not_found(),
            &[],
            format!("the CMS at http://CMS has no schema to read: {NAME_TYPES}"),
        ),
        (
            "no permission for a named type",
            |_| denied(),
            &TYPE,
            "--type api::post.post: 403 on /api/posts: grant find and findOne to the token (CMS at http://CMS)".to_owned(),
        ),
        (
            "no endpoint of a named type",
            |target| if target.starts_with(SCHEMAS) { denied() } else { not_found() },
            &TYPE,
            "--type api::post.post: 404 on /api/posts: correct the UID, or add the path of the type below /api, which is its plural API ID in Strapi: --type api::post.post=PATH".to_owned(),
        ),
        (
            "Strapi 4 by its locales",
            |target| match target {
                SCHEMAS => schemas(&[]),
                _ => Script::json(200, r#"[{"id":1,"code":"en","isDefault":true}]"#),
            },
            &[],
            "it is Strapi 4: upgrade it to Strapi 5, whose documents have a documentId (CMS at http://CMS)".to_owned(),
        ),
        (
            "Strapi 4 by its documents",
            |target| match target.split('?').next() {
                Some("/api/posts") => Script::json(200, r#"{"data":[{"id":1,"attributes":{"slug":"a"}}],"meta":{}}"#),
                _ => denied(),
            },
            &TYPE,
            "--type api::post.post: it is Strapi 4: upgrade it to Strapi 5, whose documents have a documentId (CMS at http://CMS)".to_owned(),
        ),
        (
            "no types",
            |target| if target == LOCALES { locales(&["en"], "en") } else { schemas(&[]) },
            &[],
            "no content types to write rules for: the CMS has none; create one with a field `slug` in Strapi, or write the settings by hand, as docs/configuration.md describes".to_owned(),
        ),
        (
            "JSON of something else",
            |_| Script::json(200, r#"{"name":"x"}"#),
            &[],
            format!("the CMS sent an unusable response: a response that is not a list of content types (CMS at http://CMS){no_strapi}"),
        ),
    ];
    for (name, answer, arguments, expected) in cases {
        let found = message(&setup(), &Cms::start(answer), arguments, 1);
        assert_eq!(found, format!("frontend-map: {expected}\n"), "{name}");
    }
    for (status, why) in [
        (200, "not JSON by its content type"),
        (404, "a 400 or 404 without Strapi's error envelope"),
        (304, "a status other than 200"),
    ] {
        let found = message(&setup(), &Cms::start(move |_| html(status)), &[], 1);
        let expected = format!(
            "frontend-map: the CMS sent an unusable response: {why} (CMS at http://CMS){no_strapi}\n"
        );
        assert_eq!(found, expected);
    }
    let redirected = |_: &str| {
        Script::raw("HTTP/1.1 302 X\r\nlocation: /login?next=/api\r\ncontent-length: 0\r\n\r\n")
    };
    let found = message(&setup(), &Cms::start(redirected), &[], 1);
    assert_eq!(
        found,
        "frontend-map: the CMS redirects (302) to http://CMS/login: --cms must be an address of Strapi 5 at which /api is not redirected\n"
    );
}

#[test]
fn types_that_the_token_may_not_read_are_named_at_once_and_the_others_are_written() {
    let answers = |target: &str| match target.split('?').next() {
        Some("/api/posts") => documents("slug", &["a"]),
        Some("/api/lessons" | "/api/lesson") => not_found(),
        _ => denied(),
    };
    let of = |names: &[&'static str]| -> Vec<String> {
        names.iter().flat_map(|name| ["--type".to_owned(), format!("api::{name}.{name}")]).collect()
    };
    let run = |names: &[&'static str]| {
        let cms = Cms::start(answers);
        let setup = setup();
        let types = of(names);
        let address = format!("http://{}", cms.addr());
        let mut arguments = vec!["init", "--cms", &address, "--out", "-"];
        arguments.extend(types.iter().map(String::as_str));
        let ended = setup.run(&arguments);
        (ended.status, ended.stdout, ended.stderr)
    };
    let (status, settings, summary) = run(&["page", "post", "lesson"]);
    assert_eq!(status, Some(0), "{summary}");
    assert!(settings.contains("content_type = \"api::post.post\""), "{settings}");
    for uid in ["api::page.page", "api::lesson.lesson"] {
        assert!(settings.contains(&format!("# {uid}:")), "{settings}");
        assert!(settings.contains(&format!("# content_type = \"{uid}\"\n")), "{settings}");
        assert!(summary.contains(uid), "{summary}");
    }
    let lesson = "# uid = \"api::lesson.lesson\"\n# endpoint = \"lessons\"\n";
    assert!(settings.contains(lesson), "{settings}");
    let (status, settings, message) = run(&["page", "lesson"]);
    assert_eq!((status, settings.as_str()), (Some(1), ""));
    for line in [
        "--type api::page.page: 403 on /api/pages: grant find and findOne to the token",
        "--type api::lesson.lesson: 404 on /api/lessons: correct the UID",
    ] {
        assert!(message.contains(line), "{message}");
    }
}

#[test]
fn address_of_the_panel_is_refused_with_the_right_one() {
    for end in ["/admin", "/admin/"] {
        let ended = setup().run(&["init", "--cms", &format!("http://127.0.0.1:1337{end}")]);
        assert_eq!(ended.status, Some(2), "{}", ended.stderr);
        let wanted = "write --cms http://127.0.0.1:1337\n";
        assert!(ended.stderr.contains(wanted), "{}", ended.stderr);
    }
}

#[test]
fn missing_token_is_named() {
    let setup = Setup::without_settings().unconfigured();
    let found = message(&setup, &Cms::start(|_| denied()), &[], 1);
    let expected = format!(
        "frontend-map: 403 on {SCHEMAS}: no token is set; set FRONTEND_MAP__CMS__TOKEN or cms.token_file (CMS at http://CMS)\n"
    );
    assert_eq!(found, expected);
    let bad = setup.env("FRONTEND_MAP__CMS__TOKEN", "two words");
    let found = message(&bad, &Cms::start(|_| denied()), &[], 78);
    assert!(
        found.contains("- FRONTEND_MAP__CMS__TOKEN: the token of the CMS must have"),
        "{found}"
    );
}

#[test]
fn unreachable_cms_is_named_with_the_kind_of_failure() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    let ended = setup().run(&["init", "--cms", &format!("http://{free}")]);
    let expected = format!(
        "frontend-map: the CMS is not available: connection refused (CMS at http://{free}): start Strapi, or correct --cms\n"
    );
    assert_eq!((ended.status, ended.stderr), (Some(1), expected));
}

#[test]
fn cms_that_is_there_and_fails_need_not_be_started() {
    let log = "the log of Strapi, or of a proxy before it, says why";
    let limits = "a rate limit refused the request: try again later";
    for (status, advice) in [(429, limits), (500, log), (502, log), (503, log)] {
        let cms = Cms::start(move |_| Script::json(status, "{}"));
        let found = message(&setup(), &cms, &[], 1);
        let what = format!("the CMS is not available: it returned {status} (CMS at http://CMS)");
        assert_eq!(found, format!("frontend-map: {what}: {advice}\n"));
    }
}

#[test]
fn cms_that_fails_between_two_types_leaves_no_file() {
    let slug = r#"{"slug":{"type":"uid"}}"#;
    let cms = Cms::start(move |target| match target {
        SCHEMAS => schemas(&[
            ("api::a.a", "collectionType", ["a", "as"], false, slug),
            ("api::b.b", "collectionType", ["b", "bs"], false, slug),
        ]),
        LOCALES => locales(&["en"], "en"),
        target if target.starts_with("/api/as?") => documents("slug", &["a"]),
        _ => Script::json(503, "{}"),
    });
    let found = message(&setup(), &cms, &[], 1);
    assert!(found.contains("the CMS is not available"), "{found}");
}

#[test]
fn existing_file_is_never_overwritten() {
    let cms = Cms::start(|_| denied());
    for (name, make) in [("a file", false), ("a link to nothing", true)] {
        let setup = setup();
        let path = setup.path().join("frontend-map.toml");
        if make {
            std::os::unix::fs::symlink("nowhere", &path).expect("a link");
        } else {
            std::fs::write(&path, "mine").expect("a file");
        }
        let ended = init(&setup, &cms, &[]);
        let expected = "frontend-map: frontend-map.toml exists and is not overwritten: write another file with --out FILE, print the settings with --out -, or remove frontend-map.toml\n";
        assert_eq!((ended.status, ended.stderr.as_str()), (Some(1), expected), "{name}");
        assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), (!make).then_some("mine"));
        assert!(!setup.path().join("nowhere").exists());
    }
    assert!(cms.targets().is_empty(), "refused before the first request");
}

#[test]
fn file_in_a_folder_that_does_not_exist_is_refused() {
    let cms = Cms::start(|target| match target {
        SCHEMAS => schemas(&[(
            "api::a.a",
            "collectionType",
            ["a", "as"],
            false,
            r#"{"slug":{"type":"uid"}}"#,
        )]),
        LOCALES => locales(&["en"], "en"),
        _ => documents("slug", &["a"]),
    });
    let found = message(&setup(), &cms, &["--out", "no/where.toml"], 1);
    assert_eq!(found, "frontend-map: no/where.toml: No such file or directory (os error 2)\n");
}

#[test]
fn folder_as_the_file_is_refused() {
    let cms = Cms::start(|_| denied());
    let setup = setup();
    std::fs::create_dir(setup.path().join("my site")).expect("a folder");
    for (out, expected) in [
        (".", ". is a folder: name a file in it, such as --out ./frontend-map.toml"),
        (
            "my site",
            "my site is a folder: name a file in it, such as --out 'my site/frontend-map.toml'",
        ),
    ] {
        let found = message(&setup, &cms, &["--out", out], 1);
        assert_eq!(found, format!("frontend-map: {expected}\n"));
    }
    assert!(cms.targets().is_empty(), "refused before the first request");
}

#[test]
fn mistakes_in_the_arguments_have_status_2() {
    let cms = ["--cms", "http://127.0.0.1:1"];
    for (arguments, expected) in [
        (
            vec!["--cms", "localhost:1337"],
            "--cms: `localhost:1337`: must start with `http://` or `https://`",
        ),
        (
            vec!["--cms", "http://x/api"],
            "--cms: `http://x/api`: write it without `/api`, which is added",
        ),
        (
            vec!["--cms", "http://me:secret@x"],
            "--cms: its value: must not contain a user name or password",
        ),
        ([&cms[..], &["--type", "articles"]].concat(), "--type articles: a content-type UID is"),
        (
            [&cms[..], &["--type", "api::a.a=/a"]].concat(),
            "--type api::a.a=/a: an endpoint must be",
        ),
        ([&cms[..], &["--locales", "en,d e"]].concat(), "--locales d e: a locale is"),
        ([&cms[..], &["--locales", "en,en"]].concat(), "--locales: `locales` lists `en` twice"),
        (
            [&cms[..], &["--locales", "en,,de"]].concat(),
            "--locales: entry 2 is empty: remove a comma",
        ),
    ] {
        let ended = setup().run(&[&["init"], &arguments[..]].concat());
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        let message = format!("error: {expected}");
        assert!(ended.stderr.starts_with(&message), "{arguments:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains("secret"), "{}", ended.stderr);
    }
    let configured = Setup::new("").run(&["init", "--cms", "http://127.0.0.1:1"]);
    assert_eq!(configured.status, Some(2));
    let message =
        "error: init reads no settings: write `--out FILE` to name the file that it writes\n";
    assert!(configured.stderr.starts_with(message), "{}", configured.stderr);
}

#[test]
fn locale_that_the_cms_does_not_have_is_refused() {
    let cms = Cms::start(|target| match target {
        SCHEMAS => schemas(&[(
            "api::a.a",
            "collectionType",
            ["a", "as"],
            true,
            r#"{"slug":{"type":"uid"}}"#,
        )]),
        LOCALES => locales(&["en", "de"], "en"),
        _ => documents("slug", &["a"]),
    });
    let found = message(&setup(), &cms, &["--locales", "en,fr"], 1);
    assert_eq!(found, "frontend-map: --locales fr: the CMS has no such locale; it has: en, de\n");
}

#[test]
fn unreadable_types_need_a_permission_and_no_new_field() {
    let cms = Cms::start(|target| match target {
        SCHEMAS => schemas(&[
            ("api::a.a", "collectionType", ["a", "as"], false, r#"{"slug":{"type":"uid"}}"#),
            ("api::b.b", "collectionType", ["b", "bs"], false, r#"{"slug":{"type":"uid"}}"#),
        ]),
        LOCALES => locales(&["en"], "en"),
        _ => denied(),
    });
    let found = message(&setup(), &cms, &[], 1);
    let grant = |name: &str| {
        format!("- api::{name}.{name}: 403 on /api/{name}s: grant find and findOne to the token")
    };
    let expected = format!(
        "frontend-map: no content types to write rules for: some could not be read; do what is said \
         for each type, and run init again\n{}\n{}\n",
        grant("a"),
        grant("b")
    );
    assert_eq!(found, expected);
}
