//! `frontend-map redirects`: the list of a service.

use std::path::Path;

use super::{TEMPLATE, content, folder, list, settings, until_stored, with_store, written};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::hook::post_body;
use crate::support::http;
use crate::support::script::Script;
use crate::support::service::{Ended, Service, Setup};
use crate::support::settings::Settings;
use crate::support::wait::until_so;

const TOKEN: &str = "canary-9c1f-validate";

/// A service that has seen a document with two slugs before, its CMS, and the settings.
fn service(content: &Content, store: &Path) -> (Service, Cms, Settings) {
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let service = setup(&settings, store).start();
    until_stored(&service);
    for (writes, slug) in [(2.0, "uno"), (3.0, "un")] {
        content.publish("en", "d1", slug);
        let event = r#"{"event":"entry.publish","uid":"api::article.article","entry":{"documentId":"d1","publishedAt":"2024-03-06T22:19:54.649Z"}}"#;
        assert!(post_body(&service, event.as_bytes()).starts_with("HTTP/1.1 202"));
        let url = format!("/en/articles/{slug}\"");
        // The copy of the history is a write, too.
        until_so("the update is served and stored", || {
            list(&service).text().contains(&url) && written(&service) >= writes
        });
    }
    (service, cms, settings)
}

fn setup(settings: &Settings, store: &Path) -> Setup {
    with_store(settings, store).env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", TOKEN)
}

fn ok(ended: Ended) -> String {
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    ended.stdout
}

#[track_caller]
fn assert_fails(ended: &Ended, message: &str) {
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
    assert!(ended.stderr.contains(message), "{}", ended.stderr);
    assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
}

#[test]
fn redirects_are_those_of_the_service_in_each_format() {
    let (content, (_folder, store)) = (content(), folder());
    let (mut service, _cms, settings) = service(&content, &store);
    let url = format!("http://{}", service.addr());
    let setup = setup(&settings, &store);
    let of_service = ["redirects", "--site", "main", "--service", &url];
    let json = ok(setup.run(&of_service));
    let response = http::send(
        service.addr(),
        "GET",
        "/api/redirects?site=main",
        &[("Authorization", &format!("Bearer {TOKEN}"))],
    );
    assert_eq!(json, response.text());
    assert!(json.ends_with(r#""count":2,"gone":0},"meta":{}}"#), "{json}");
    let next = ok(setup.run(&[&of_service[..], &["--format", "next"]].concat()));
    let expected = "[
{\"source\":\"/en/articles/one\",\"destination\":\"/en/articles/un\",\"statusCode\":308,\"locale\":false},
{\"source\":\"/en/articles/uno\",\"destination\":\"/en/articles/un\",\"statusCode\":308,\"locale\":false}
]
";
    assert_eq!(next, expected);
    let netlify = ok(setup.run(&[&of_service[..], &["--format", "netlify"]].concat()));
    let expected = "/en/articles/one /en/articles/un 301\n/en/articles/uno /en/articles/un 301\n";
    assert_eq!(netlify, expected);
    let csv = ok(setup.run(&[&of_service[..], &["--format", "csv"]].concat()));
    let row = "\r\n/en/articles/one,https://www.example.com/en/articles/un,308,,/en/articles/un,api::article.article,d1,en,";
    assert!(csv.contains(row), "{csv}");
    let nginx = ok(setup.run(&[&of_service[..], &["--format", "nginx"]].concat()));
    let line =
        "\n    \"/en/articles/one\" \"/en/articles/one https://www.example.com/en/articles/un\";\n";
    assert!(nginx.contains(line) && nginx.contains("return 308 "), "{nginx}");

    let out = setup.path().join("redirects.json");
    let out = out.to_str().expect("text");
    assert_eq!(ok(setup.run(&[&of_service[..], &["--out", out]].concat())), "");
    assert_eq!(std::fs::read_to_string(out).expect("a file"), json);
    let without_token = with_store(&settings, &store);
    assert_fails(&without_token.run(&of_service), "status 401");
    assert_fails(&without_token.run(&of_service), "FRONTEND_MAP__AUTH__VALIDATE_TOKEN");
    service.signal("TERM");
    assert_fails(&setup.run(&[&of_service[..], &["--out", out]].concat()), &format!("{url}: "));
    assert_eq!(std::fs::read_to_string(out).expect("a file"), json, "it stays as it was");
}

#[test]
fn list_of_a_service_that_is_cut_off_is_not_used() {
    let row = r#"{"from":"/a","to":null,"path":"/b","status":308,"documentId":"d","contentType":"api::a.a","locale":"en","since":"x"}"#;
    let body = |lines: &str| {
        Script::raw(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: {}\r\n\r\n{lines}",
            lines.len()
        ))
    };
    let (_folder, store) = folder();
    for (lines, message) in [
        (format!("{row}\n"), "not complete"),
        (format!("{row}\n{{\"count\":2,\"gone\":0}}\n"), "not complete"),
        ("<html></html>".to_owned(), "cannot be read"),
        (String::new(), "not complete"),
    ] {
        let peer = Cms::start(move |_| body(&lines));
        let url = format!("http://{}", peer.addr());
        let setup = setup(&settings(TEMPLATE).strapi_at("http://127.0.0.1:1"), &store);
        let ended = setup.run(&["redirects", "--site", "main", "--service", &url]);
        assert_fails(&ended, message);
    }
    let peer = Cms::start(|_| {
        Script::raw(
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
        )
    });
    let setup = setup(&settings(TEMPLATE).strapi_at("http://127.0.0.1:1"), &store);
    let url = format!("http://{}", peer.addr());
    let ended = setup.run(&["redirects", "--site", "main", "--service", &url]);
    assert_fails(&ended, "status 302");
    for service in ["127.0.0.1:8080", "http://user:canary@127.0.0.1:1"] {
        let ended = setup.run(&["redirects", "--site", "main", "--service", service]);
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(1), ""));
        assert!(ended.stderr.contains("is not a URL"), "{}", ended.stderr);
    }
}
