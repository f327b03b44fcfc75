//! Any request gets a response with a documented status, and an error has the envelope.
//!
//! The bytes are a request: a line with the method and the target, header lines, an empty line, the
//! body. What hyper would not pass on is left out.
#![no_main]

use std::path::Path;
use std::sync::{Arc, LazyLock};

use frontend_map_commands::boot;
use frontend_map_commands::config::{Environment, parse};
use frontend_map_service::http::{
    HttpResponse, RequestHandler, ResponseBody, ResponseFuture, Service,
};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{Method, Request, Uri, Version};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

/// Rules of many kinds, on the content of the tests' fixture. URL checks need a token that no
/// request has: they would use the network.
const SETTINGS: &str = r#"
[server]
cors_origins = ["https://admin.example.com"]
[cms]
source = "files"
path = "content.json"
[[site]]
key = "main"
front_end_url = "http://127.0.0.1:9/base"
locales = ["en", "de", "fr", "pt-BR"]
resolve = "documents"
[[site.rule]]
content_type = "plugin::cms.article"
template = "/{locale}/articles/{slug}"
[[site.rule]]
content_type = "plugin::cms.page"
template = "/{locale}/{slug}"
[[site.rule]]
content_type = "api::file.file"
template = "/{locale}/files/a-{slug}.html"
[[site.rule]]
content_type = "api::all.all"
template = "/{locale}/all/{*path}"
[[site]]
key = "nourl"
locales = ["en"]
[[site.rule]]
content_type = "plugin::cms.event"
template = "/{locale}/events/{slug}"
"#;

const STATUSES: [u16; 16] =
    [200, 202, 204, 304, 400, 401, 403, 404, 405, 408, 413, 414, 501, 502, 503, 504];

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
});
static SERVICE: LazyLock<Service> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/main/settings.toml");
    let variables = [
        ("FRONTEND_MAP__HOOKS__SECRET", "s"),
        ("FRONTEND_MAP__AUTH__DRAFT_TOKEN", "t"),
        ("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", "2f0c5d3a-in-no-request-91b7e64d8a"),
    ];
    let environment: Environment =
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
    let config = parse(Some(SETTINGS), Path::new(path), &environment).expect("good settings");
    Service::new(Arc::new(boot::build_alone(config).expect("an app")))
});

fn request(bytes: &[u8]) -> Option<Request<Full<Bytes>>> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let mut first = lines.next()?.splitn(2, |byte| *byte == b' ');
    let mut request = Request::new(Full::default());
    *request.method_mut() = Method::from_bytes(first.next()?).ok()?;
    *request.uri_mut() = Uri::try_from(first.next()?).ok()?;
    let mut left = bytes.len();
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        let at = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..at]).ok()?;
        let value = HeaderValue::from_bytes(line[at + 1..].trim_ascii()).ok()?;
        request.headers_mut().append(name, value);
        left -= line.len();
    }
    if left % 2 == 0 {
        *request.version_mut() = Version::HTTP_10;
    }
    let body: Vec<&[u8]> = lines.collect();
    *request.body_mut() = Full::new(body.join(&b'\n').into());
    Some(request)
}

async fn respond(request: Request<Full<Bytes>>) -> (HttpResponse, Bytes) {
    let response = match SERVICE.handle(request) {
        ResponseFuture::Ready(response) => response,
        ResponseFuture::Pending(response) => response.await,
    };
    let (head, body) = response.into_parts();
    let body = body.collect().await.expect("a whole body").to_bytes();
    (HttpResponse::from_parts(head, ResponseBody::Left(Full::default())), body)
}

fuzz_target!(|bytes: &[u8]| {
    let Some(request) = request(bytes) else { return };
    let is_head = request.method() == Method::HEAD;
    let path = request.uri().path().to_owned();
    let (response, body) = RUNTIME.block_on(respond(request));
    let status = response.status().as_u16();
    assert!(STATUSES.contains(&status), "{status}");
    assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|is| is == "application/json");
    if [204, 304].contains(&status) {
        assert!(body.is_empty());
    } else if is_head && body.is_empty() {
        // The router omits the body of a response to HEAD, as hyper would.
    } else if path == "/readyz" && status == 503 {
        // Orchestrators read the status; no background task reads the documents here.
        assert_eq!(body, "starting\n");
    } else if status >= 400 {
        let error: Value = serde_json::from_slice(&body).expect("the envelope");
        assert!(is_json && error["data"].is_null() && error["error"]["status"] == status);
        assert!(error["error"]["name"].is_string() && error["error"]["message"].is_string());
        assert_eq!(error.as_object().map(|members| members.len()), Some(2));
    } else if path == "/openapi.json" {
        assert!(is_json && (body.is_empty() || serde_json::from_slice::<Value>(&body).is_ok()));
    } else if is_json && !body.is_empty() {
        let success: Value = serde_json::from_slice(&body).expect("the envelope");
        assert!(
            success["data"].is_object() && success["meta"] == Value::Object(Default::default())
        );
    }
});
