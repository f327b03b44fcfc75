//! `/api/sites`: the sites of the settings.

use serde_json::json;

use crate::support::api::get;
use crate::support::http;
use crate::support::settings::site;

const REDIRECTS: &str = r#"
[[site.redirects]]
content_type = "api::redirect.redirect"
from = "from"
to = "to"
document = "target"
[[site.redirects]]
content_type = "api::moved.moved"
from = "seo.old"
document = "page"
"#;

#[test]
fn sites_are_listed_with_their_locales_content_types_and_redirects_for_the_token() {
    let token = "canary-5b70-validate";
    let settings = site("main")
        .locales(&["en", "de"])
        .rule("api::page.page", "/{locale}/{slug}")
        .rule("api::author.author", "/authors/{slug}")
        .site("shop")
        .locales(&["fr"])
        .resolve("documents")
        .set(REDIRECTS)
        .rule("api::page.page", "/{slug}")
        .files("{}");
    let service = settings.env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", token).start();
    let bearer = format!("Bearer {token}");
    let send =
        |value: &str| http::send(service.addr(), "GET", "/api/sites", &[("Authorization", value)]);
    let response = send(&bearer);
    let expected = json!([
        {"key": "main", "locales": ["en", "de"], "contentTypes": ["api::page.page", "api::author.author"],
            "redirects": []},
        {"key": "shop", "locales": ["fr"], "contentTypes": ["api::page.page"], "redirects": [
            {"contentType": "api::redirect.redirect", "from": "from", "to": "to", "document": "target"},
            {"contentType": "api::moved.moved", "from": "seo.old", "document": "page"},
        ]},
    ]);
    assert_eq!((response.status, &response.json()["data"]["sites"]), (200, &expected));
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    assert_eq!(send("Bearer x").status, 403);
    assert_eq!(get(&service, "/api/sites").status, 401);
    assert_eq!(
        http::send(service.addr(), "GET", "/api/sites?x=1", &[("Authorization", &*bearer)]).status,
        200
    );
}
