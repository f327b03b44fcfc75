//! `frontend-map refresh`, and the event that it sends.

use std::net::TcpListener;

use crate::snapshots::paths;
use crate::support::cms::Cms;
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::{assert_failure, refusal};
use crate::support::hook::{SECRET, post_body};
use crate::support::http;
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::settings::site;
use crate::support::wait::until_so;

/// Two sites; documents of the type `page` have their path through a relation.
fn setup(cms: &Cms) -> Setup {
    without_secret(cms).env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
}

fn without_secret(cms: &Cms) -> Setup {
    site("main")
        .rule("plugin::cms.article", "/articles/{slug}")
        .rule("plugin::cms.page", "/pages/{parent.slug}/{slug}")
        .site("town")
        .rule("plugin::cms.event", "/events/{slug}")
        .strapi(cms)
        .without_endpoints()
        .env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "3600")
        .env("FRONTEND_MAP__SNAPSHOTS__CMS_SHARE", "1.0")
        .env("RUST_LOG", "trace")
}

/// The settings of `setup`, with the address of the running service.
fn beside(cms: &Cms, service: &Service) -> Setup {
    setup(cms).env("FRONTEND_MAP__SERVER__LISTEN", &service.addr().to_string())
}

/// The document `a`, with this slug and that of its parent.
fn put(content: &Content, slug: &str) {
    let parent = r#""parent":{"documentId":"p","slug":"parent"}"#;
    content.put("en", "a", &format!(r#","slug":"{slug}",{parent}"#));
}

fn list(service: &Service, site: &str, uid: &str) -> Vec<String> {
    let target = format!("/api/build-sitemap?site={site}&contentType=plugin::cms.{uid}");
    paths(&http::get(service.addr(), &target))
}

/// The lists of articles, pages and events.
fn lists(service: &Service) -> [Vec<String>; 3] {
    [("main", "article"), ("main", "page"), ("town", "event")]
        .map(|(site, uid)| list(service, site, uid))
}

fn walks(cms: &Cms, endpoint: &str) -> usize {
    let targets = cms.targets();
    let own = targets.iter().filter(|target| target.contains(endpoint));
    own.filter_map(|target| Query::parse(target)).filter(|query| query.size > 1).count()
}

#[test]
fn refresh_walks_the_selected_content_types_and_those_that_may_read_them() {
    let content = Content::default();
    put(&content, "one");
    let cms = content.start();
    let service = setup(&cms).start();
    let shows = |slugs: [&str; 3]| {
        let [article, page, event] = slugs;
        let expected = [
            [format!("/articles/{article}")],
            [format!("/pages/parent/{page}")],
            [format!("/events/{event}")],
        ];
        until_so("the lists", || lists(&service) == expected);
    };
    shows(["one", "one", "one"]);
    let command = beside(&cms, &service);
    for (slug, args, number, expected) in [
        ("two", &["--type", "plugin::cms.article"][..], "1 content type", ["two", "two", "one"]),
        ("three", &["--site", "main"], "2 content types", ["three", "three", "one"]),
        (
            "four",
            &["--site", "main", "--type", "plugin::cms.page"],
            "1 content type",
            ["three", "four", "one"],
        ),
        ("five", &[], "3 content types", ["five", "five", "five"]),
    ] {
        put(&content, slug);
        let ended = command.run(&[&["refresh"], args].concat());
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        let said = format!("{number} will be refreshed, as snapshots.cms_share permits\n");
        assert_eq!(ended.stdout, said);
        shows(expected);
    }
    assert_eq!(["articles", "pages", "events"].map(|endpoint| walks(&cms, endpoint)), [4, 5, 2]);
}

/// What `docs/http-api.md` says about an event without a document, and about one that selects.
#[test]
fn event_without_a_document_reads_all_lists_and_site_and_type_select_for_a_refresh_alone() {
    let content = Content::default();
    put(&content, "one");
    let cms = content.start();
    let service = site("main")
        .rule("plugin::cms.article", "/articles/{slug}")
        .rule("plugin::cms.page", "/pages/{slug}")
        .site("town")
        .rule("plugin::cms.page", "/town/{slug}")
        .strapi(&cms)
        .without_endpoints()
        .env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "3600")
        .env("FRONTEND_MAP__SNAPSHOTS__CMS_SHARE", "1.0")
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .start();
    let slugs = || {
        [("main", "article"), ("main", "page"), ("town", "page")].map(|(site, uid)| {
            let paths = list(&service, site, uid);
            paths[0].rsplit('/').next().unwrap_or_default().to_owned()
        })
    };
    until_so("the first walks", || slugs() == ["one"; 3]);
    let (mut n, mut known) = (0, ["one".to_owned(), "one".to_owned(), "one".to_owned()]);
    for (body, are_read) in [
        ("", [true; 3]),
        ("not JSON", [true; 3]),
        (r#"{"event":"media.update","media":{"documentId":"a"}}"#, [true; 3]),
        (r#"{"event":"entry.publish","uid":"plugin::cms.page"}"#, [true; 3]),
        (r#"{"event":"entry.publish","uid":"plugin::cms.page","entry":null}"#, [true; 3]),
        (r#"{"event":"entry.publish","uid":"plugin::cms.none"}"#, [true; 3]),
        (r#"{"event":"entry.update","entry":{"documentId":"a","publishedAt":null}}"#, [true; 3]),
        (r#"{"event":"frontend-map.refresh"}"#, [true; 3]),
        (r#"{"event":"frontend-map.refresh","site":null,"uid":null}"#, [true; 3]),
        // A type of the site is read for all sites.
        (r#"{"event":"frontend-map.refresh","site":"town"}"#, [false, true, true]),
        (r#"{"event":"frontend-map.refresh","uid":"plugin::cms.article"}"#, [true, false, false]),
    ] {
        n += 1;
        let next = format!("slug{n}");
        put(&content, &next);
        assert!(post_body(&service, body.as_bytes()).starts_with("HTTP/1.1 202"), "{body}");
        for (known, _) in known.iter_mut().zip(are_read).filter(|(_, is_read)| *is_read) {
            known.clone_from(&next);
        }
        until_so(body, || slugs() == known);
    }
    for refused in [
        r#"{"event":"frontend-map.refresh","entry":{"documentId":"a"}}"#,
        r#"{"event":"frontend-map.refresh","site":"town""#,
        r#"{"event":"frontend-map.refresh","site":"town","uid":"plugin::cms.article"}"#,
    ] {
        let answer = post_body(&service, refused.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 400"), "{refused}: {answer}");
    }
}

#[test]
fn refresh_names_what_is_wrong_and_what_to_do_with_exit_status_1() {
    let cms = Content::default().start();
    let service = setup(&cms).start();
    let fails = |setup: Setup, args: &[&str], expected: &str| {
        let ended = setup.run(&[&["refresh"], args].concat());
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(1), ""), "{args:?}");
        assert!(ended.stderr.contains(expected), "{args:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains(SECRET), "{}", ended.stderr);
    };
    let beside = || beside(&cms, &service);
    fails(beside(), &["--site", "mian"], "unknown site `mian`; did you mean `main`?");
    let mistyped = ["--type", "plugin::cms.artikle"];
    let meant = "`plugin::cms.artikle`; did you mean `plugin::cms.article`?";
    fails(beside(), &mistyped, &format!("no site has a rule for {meant}"));
    let site = [&["--site", "main"], &mistyped[..]].concat();
    fails(beside(), &site, &format!("site \"main\" has no rule for {meant}"));
    fails(beside(), &["--service", "127.0.0.1:8080"], "--service is not a URL such as");
    let wrong = beside().env("FRONTEND_MAP__HOOKS__SECRET", "wrong");
    let remedy = "status 401: the bearer token is missing or wrong; set hooks.secret_file or \
                  FRONTEND_MAP__HOOKS__SECRET to its token";
    fails(wrong, &[], remedy);
    fails(without_secret(&cms), &[], "no secret is set: set hooks.");
    let unconfigured = without_secret(&cms).start();
    let at = |address: &str| ["--service".to_owned(), format!("http://{address}")];
    let at_service = |address: &str, expected: &str| {
        let args = at(address);
        fails(beside(), &args.each_ref().map(String::as_str), expected);
    };
    let not_configured = "status 501: the secret of the webhook is not configured";
    at_service(&unconfigured.addr().to_string(), not_configured);
    let busy = Cms::start(|_| refusal(503, "ServiceUnavailableError", "{}"));
    at_service(&busy.addr().to_string(), "status 503: ");
    let old = Cms::start(|_| Script::json(202, r#"{"data":{"accepted":true},"meta":{}}"#));
    at_service(&old.addr().to_string(), "is its version the same?");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    at_service(&free.to_string(), "Refused; does the service run at this address?");
}

#[test]
fn service_with_a_content_file_refreshes_nothing_and_says_so() {
    let fixture = || Setup::fixture().env("FRONTEND_MAP__HOOKS__SECRET", SECRET);
    let service = fixture().start();
    let address = service.addr().to_string();
    let ended = fixture().env("FRONTEND_MAP__SERVER__LISTEN", &address).run(&["refresh"]);
    assert_eq!(ended.status, Some(1));
    let message = "status 501: the content comes from a file: a reload of the service reads it";
    assert!(ended.stderr.contains(message), "{}", ended.stderr);
}

#[test]
fn event_of_a_refresh_that_selects_nothing_known_is_400() {
    let cms = Content::default().start();
    let service = setup(&cms).start();
    let bearer = format!("Bearer {SECRET}");
    for (members, message) in [
        (r#","site":"mian""#, "`site` is not a configured site: \"mian\""),
        (r#","uid":"plugin::cms.artikle""#, "no rule is for this `uid`: \"plugin::cms.artikle\""),
        (r#","site":"town","uid":"plugin::cms.page""#, "no rule is for this `uid`"),
        (r#","uid":"""#, "no rule is for this `uid`"),
        (r#","uid":7"#, "and nothing else"),
        (r#","uid":["plugin::cms.page"]"#, "and nothing else"),
        (r#","type":"plugin::cms.page""#, "and nothing else"),
        (r#","site":"main","site":"town""#, "and nothing else"),
        (r#","site":"main"#, "and nothing else"),
    ] {
        let body = format!(r#"{{"event":"frontend-map.refresh"{members}}}"#);
        let length = body.len().to_string();
        let headers = [("Authorization", bearer.as_str()), ("Content-Length", &length)];
        let response = http::send_with(service.addr(), "POST", "/hooks/cms", &headers, &body);
        assert_failure(&response, 400, "ValidationError");
        assert!(response.text().replace("\\\"", "\"").contains(message), "{}", response.text());
    }
    let response = post_body(&service, br#"{"event":"frontend-map.refresh","site":null}"#);
    assert!(response.ends_with(r#"{"data":{"accepted":true,"contentTypes":3},"meta":{}}"#));
}
