//! `docs/openapi.yaml`: it is served, its errors are those of the page, and each example is the
//! response to its request.
//!
//! An example with `x-request` is sent: to the demo, or with the settings that `x-settings` names.
//! `x-accept` and `x-authorization` are headers of the request, and `x-body` is its body.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::front_end::{FrontEnd, answer};
use crate::support::http::{self, Response};
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;
use crate::support::yaml;

use super::pages::page;
use super::responses::{DEMO, DEMO_FRONT_END};

/// Settings that an example may name, and the demo's settings without a name.
const VARIANTS: [&str; 10] = [
    "",
    "documents",
    "hosts",
    "own paths",
    "moved",
    "missed",
    "no base URL",
    "secrets",
    "no CMS",
    "validated",
];

/// The demo's content.
const CONTENT: &str = include_str!("../../config/demo/content.json");

/// Pages outside the CMS, and the field of own paths of the rule for pages, the last one.
const OWN_PATHS: &str = r#"
path_field = "customPath"

[[site.page]]
name = "contact"
path = { en = "/en/contact", de = "/de/kontakt" }
lastmod = 2024-03-06

[[site.page]]
name = "search"
path = "/{locale}/search"
sitemap = false
"#;

/// Redirects in the CMS, and links in content.
const REDIRECTS: &str = r#"
[[site.redirects]]
content_type = "api::redirect.redirect"
from = "from"
to = "to"
document = "target"

[[site.links]]
content_type = "plugin::cms.page"
fields = ["body"]
"#;

/// One service for each of [`VARIANTS`], and their frontends.
struct Services {
    /// In the order of [`VARIANTS`].
    running: Vec<Service>,
    /// Answers 200 to everything.
    front_end: FrontEnd,
    /// The frontend of `validated`: one of its pages is missing.
    incomplete: FrontEnd,
}

impl Services {
    async fn start() -> Self {
        let front_end = FrontEnd::start(|_| answer("200 OK", "", 0)).await;
        let incomplete = FrontEnd::start(|target| match target {
            "/en/imprint" => answer("404 Not Found", "", 0),
            _ => answer("200 OK", "", 0),
        })
        .await;
        let services = VARIANTS.map(|variant| {
            let peer = if variant == "validated" { &incomplete } else { &front_end };
            variant_of_demo(variant, &peer.url("http", "")).start()
        });
        let services = Self { running: services.into(), front_end, incomplete };
        let target = "/api/resolve?site=main&pathname=/de/ueber-uns";
        for variant in ["documents", "hosts", "own paths", "moved", "missed"] {
            until_so("the index is there", || {
                services.send(variant, "GET", target, &[], "").text().contains("p1about")
            });
        }
        let headers = [("Authorization", "Bearer validation-token")];
        until_so("the content is read", || {
            services.send("missed", "GET", "/api/links?site=main", &headers, "").status == 200
        });
        services.edit();
        for path in ["/en/articles/Welcome", "/en/typo", "/wp-login.php"] {
            let target = format!("/api/resolve?site=main&pathname={path}");
            services.send("missed", "GET", &target, &[], "");
        }
        let page = "contentType=plugin::cms.page";
        let target = format!("/api/build-sitemap?site=main&{page}&validate=true");
        let run = services.send("validated", "GET", &target, &[], "");
        assert_eq!(run.status, 200, "{}", run.text());
        services
    }

    /// Renames a page and withdraws another one.
    fn edit(&self) {
        let at = VARIANTS.iter().position(|known| *known == "moved").expect("one of them");
        let imprint = CONTENT.lines().find(|line| line.contains("imprint")).expect("a page");
        let others = CONTENT.replace(&format!(",\n{imprint}"), "");
        assert_ne!(others, CONTENT);
        let renamed = others.replace(r#""slug": "about""#, r#""slug": "about-us""#);
        self.running[at].rewrite("content.json", &renamed);
        self.running[at].send_signal("HUP");
        let target = "/api/resolve?site=main&pathname=/en/about";
        until_so("the page is renamed", || {
            self.send("moved", "GET", target, &[], "").text().contains("/en/about-us")
        });
    }

    fn send(
        &self,
        variant: &str,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let at = VARIANTS.iter().position(|known| *known == variant).expect(variant);
        http::send_with(self.running[at].addr(), method, target, headers, body)
    }

    /// The body, with the frontend at the demo's address.
    fn text(&self, response: &Response) -> String {
        let urls = [&self.front_end, &self.incomplete].map(|peer| peer.url("http", ""));
        urls.iter().fold(response.text().to_owned(), |text, url| text.replace(url, DEMO_FRONT_END))
    }
}

fn variant_of_demo(variant: &str, base: &str) -> Setup {
    let documents = "key = \"main\"\nresolve = \"documents\"";
    let settings = match variant {
        "documents" | "hosts" | "moved" => DEMO.replace("key = \"main\"", documents),
        "missed" => DEMO.replace("key = \"main\"", documents) + REDIRECTS,
        "own paths" => DEMO.replace("key = \"main\"", documents) + OWN_PATHS,
        "no CMS" => DEMO
            .replace("key = \"main\"", documents)
            .replace("source = \"files\"", "url = \"http://127.0.0.1:1\""),
        _ => DEMO.to_owned(),
    };
    let settings = match variant {
        "own paths" | "moved" | "missed" => {
            settings.replace("# path = \"content.json\"", "path = \"content.json\"")
        }
        _ => settings,
    };
    let base = if variant == "no base URL" { "" } else { base };
    let setup = Setup::new(&settings)
        .env("FRONTEND_MAP__SERVER__LISTEN", "127.0.0.1:0")
        .env("FRONT_END_URL_MAIN", base);
    match variant {
        "own paths" => setup.file("content.json", &with_own_paths()),
        "moved" => setup.file("content.json", CONTENT),
        "hosts" => setup.env("FRONT_END_URL_MAIN_DE", "https://example.de"),
        "secrets" => with_secrets(setup),
        "missed" => {
            let content = CONTENT.replacen('{', "{\"api::redirect.redirect\": [],", 1);
            let body = r#""slug": "about", "body": "See [our team](/en/team#board)"}"#;
            let content = content.replace(r#""slug": "about"}"#, body);
            with_secrets(setup.file("content.json", &content))
        }
        "no CMS" => setup.env("FRONTEND_MAP__HOOKS__SECRET", "webhook-secret"),
        _ => setup,
    }
}

/// The demo's content, with a path of its own for one version, and an unusable one for another.
fn with_own_paths() -> String {
    let with = |content: &str, slug: &str, own: &str| {
        let slug = format!(r#""slug": "{slug}"}}"#);
        assert_eq!(content.matches(&slug).count(), 1, "{slug}");
        content
            .replace(&slug, &format!(r#"{}, "customPath": "{own}"}}"#, slug.trim_end_matches('}')))
    };
    with(&with(CONTENT, "about", "/company/about"), "imprint", "legal//imprint")
}

fn with_secrets(setup: Setup) -> Setup {
    setup
        .env("FRONTEND_MAP__HOOKS__SECRET", "webhook-secret")
        .env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", "validation-token")
        .env("FRONTEND_MAP__AUTH__DRAFT_TOKEN", "draft-token")
}

/// The description as the service serves it.
fn description(services: &Services) -> Value {
    services.send("", "GET", "/openapi.json", &[], "").json()
}

fn resolved<'d>(description: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(reference) => description.pointer(&reference[1..]).expect(reference),
        None => value,
    }
}

/// An example of a response.
struct Example<'d> {
    status: &'d str,
    media_type: &'d str,
    value: &'d Value,
}

/// All examples of responses.
fn examples(description: &Value) -> Vec<Example<'_>> {
    let mut found = Vec::new();
    let operations = description["paths"].as_object().unwrap().values();
    for operation in operations.flat_map(|methods| methods.as_object().unwrap().values()) {
        for (status, response) in operation["responses"].as_object().unwrap() {
            let content = resolved(description, response)["content"].as_object();
            for (media_type, content) in content.into_iter().flatten() {
                let examples = content["examples"].as_object().into_iter().flatten();
                found.extend(examples.map(|(_, value)| Example { status, media_type, value }));
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn each_example_is_the_response_to_its_request() {
    let services = Services::start().await;
    let description = description(&services);
    let examples = examples(&description);
    assert!(examples.len() >= 30, "{}", examples.len());
    for example in examples {
        let text = |member: &str| example.value[member].as_str();
        let request = text("x-request").expect("each example has a request");
        let (method, target) = request.split_once(' ').expect(request);
        let body = text("x-body").unwrap_or_default();
        let length = body.len().to_string();
        let headers = [
            ("Accept", text("x-accept")),
            ("Authorization", text("x-authorization")),
            ("Content-Length", text("x-body").map(|_| length.as_str())),
        ];
        let headers: Vec<_> =
            headers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let variant = text("x-settings").unwrap_or_default();
        let response = services.send(variant, method, target, &headers, body);
        assert_eq!(response.status.to_string(), example.status, "{request}");
        let media_type = response.header("content-type").unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default();
        assert_eq!(media_type, example.media_type, "{request}");
        let (found, expected) = (services.text(&response), &example.value["value"]);
        match (expected.as_str(), example.media_type) {
            (Some(expected), "application/x-ndjson") => {
                assert_eq!(lines(&found), lines(expected), "{request}");
            }
            (Some(expected), "text/event-stream") => {
                assert_eq!(events(&found), events(expected), "{request}");
            }
            (Some(expected), media_type) => {
                if media_type == "application/xml" {
                    roxmltree::Document::parse(expected).expect("well-formed XML");
                }
                assert_eq!(found, expected, "{request}");
            }
            (None, _) => {
                let found: Value = serde_json::from_str(&found).expect(request);
                assert_eq!(without_times(found), without_times(expected.clone()), "{request}");
            }
        }
    }
}

/// The lines of a body, each of them JSON, without the progress of a run and in a fixed order: both
/// depend on the clock.
fn lines(body: &str) -> Vec<String> {
    let lines = body.lines().map(|line| serde_json::from_str(line).expect(line));
    let lines = lines.filter(|line: &Value| line.get("progress").is_none());
    let mut lines: Vec<_> = lines.map(|line| without_times(line).to_string()).collect();
    assert!(body.ends_with('\n') && !lines.is_empty(), "{body}");
    lines.sort();
    lines
}

/// The events of a body in the same way; the data of each of them is JSON.
fn events(body: &str) -> Vec<&str> {
    let (events, rest) = body.rsplit_once("\n\n").expect("an event has an end");
    assert_eq!(rest.trim_end(), "", "the last event has an end");
    let mut events: Vec<_> = events.split("\n\n").collect();
    for event in &events {
        let (_, data) = event.split_once("data: ").expect(event);
        serde_json::from_str::<Value>(data).expect(data);
    }
    events.retain(|event| !event.starts_with("event: progress\n"));
    events.sort_unstable();
    events
}

/// The value with one text in place of each RFC 3339 time, and of each cursor.
fn without_times(value: Value) -> Value {
    match value {
        Value::String(text) if is_time(&text) => Value::String("a time".to_owned()),
        Value::String(text) if is_cursor(&text) => Value::String("a cursor".to_owned()),
        Value::Array(items) => items.into_iter().map(without_times).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, without_times(value))).collect()
        }
        value => value,
    }
}

/// Each process has a change log of its own.
fn is_cursor(text: &str) -> bool {
    text.len() == 17 && text.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
}

fn is_time(text: &str) -> bool {
    let digits = text.replace(|c: char| c.is_ascii_digit(), "0");
    ["0000-00-00T00:00:00Z", "0000-00-00T00:00:00.000Z"].contains(&digits.as_str())
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_those_of_the_page() {
    let services = Services::start().await;
    let description = description(&services);
    let schemas = description["components"]["schemas"].as_object().unwrap();
    let mut described = BTreeSet::new();
    for schema in schemas.values() {
        let error = &schema["properties"]["error"]["properties"];
        if let Some(name) = error["name"]["const"].as_str() {
            described.insert((error["status"]["const"].to_string(), name.to_owned()));
        }
    }
    let api = page("docs/http-api.md");
    let rows = api.table("Status").into_iter().filter(|row| row[1] != "(no body)");
    let listed: BTreeSet<_> = rows.map(|row| (row[0].to_owned(), row[1].to_owned())).collect();
    assert_eq!(described, listed);
    // Each response with an error has a schema of its own status.
    for methods in description["paths"].as_object().unwrap().values() {
        for operation in methods.as_object().unwrap().values() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let content = &resolved(&description, response)["content"]["application/json"];
                let schema = resolved(&description, &content["schema"]);
                let error = &schema["properties"]["error"]["properties"]["status"]["const"];
                let same = error.as_u64().is_some_and(|error| status.parse() == Ok(error));
                assert!(error.is_null() || same, "{operation}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn description_is_that_of_the_file_for_people() {
    let [written] = &yaml::documents(include_str!("../../docs/openapi.yaml"))[..] else {
        panic!("one document")
    };
    let sent = description(&Services::start().await);
    assert!(sent == *written, "run `npm ci && npm run generate` in clients/js");
}

#[tokio::test(flavor = "multi_thread")]
async fn description_is_cached_by_its_tag() {
    let services = Services::start().await;
    let target = "/openapi.json";
    let first = services.send("", "GET", target, &[], "");
    assert_eq!(first.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(first.header("cache-control").as_deref(), Some("no-cache"));
    let tag = first.header("etag").expect("a tag");
    let again = services.send("", "GET", target, &[("If-None-Match", &tag)], "");
    assert_eq!((again.status, again.body.len()), (304, 0));
    let head = services.send("", "HEAD", target, &[], "");
    let length = first.body.len().to_string();
    assert_eq!((head.status, head.header("content-length")), (200, Some(length)));
    let other = services.send("secrets", "GET", target, &[("Authorization", "Bearer x")], "");
    assert_eq!(other.body, first.body);
    let refused = services.send("", "POST", target, &[], "");
    assert_eq!(refused.status, 405);
}
