//! The user of Redis on the page about deployment: its rights suffice, and instances send no
//! other command.

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_end::{FrontEnd, answer};
use crate::support::front_of_cms::{SITEMAP, TOKEN, articles, urls};
use crate::support::hook::SECRET;
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::wait::until_so;
use crate::support::yaml;

use super::instances::changed;

const COMPOSE: &str = include_str!("../../config/instances/compose.yaml");
const PASSWORD: &str = "canary-5d1c3e-password";
const ADMIN: &str = "hunter2";

/// A Redis with the arguments of the page, and a user for the test.
fn client() -> Redis {
    let compose = yaml::documents(COMPOSE).remove(0);
    let words = compose["services"]["redis"]["command"].as_array().expect("words").clone();
    let words = words.iter().skip(1).map(|word| word.as_str().expect("a word"));
    let words: Vec<_> = words.map(|word| word.replace("${REDIS_PASSWORD}", PASSWORD)).collect();
    let admin = ["--user", "admin", "on", &format!(">{ADMIN}"), "~*", "&*", "+@all"];
    let words: Vec<&str> = words.iter().map(String::as_str).chain(admin).collect();
    Redis::with(&words).of_user("admin", ADMIN)
}

fn instance(cms: &Cms, front_end: &FrontEnd, redis: &Redis) -> Service {
    let (front_end, target) = (front_end.url("http", ""), front_end.url("http", "/hook"));
    let url = redis.url().replace("redis://", "redis://frontend-map@");
    articles()
        .front_end_url(&front_end)
        .resolve("documents")
        .strapi(cms)
        .more(&format!("[shared]\nurl = \"{url}\"\nkey_file = \"key\""))
        .more(&format!("[[notify]]\nurl = \"{target}\"\nsecret_file = \"secret\""))
        .file("key", "0123456789abcdef0123456789abcdef")
        .file("secret", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
        .env("FRONTEND_MAP__CMS__TOKEN", TOKEN)
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("FRONTEND_MAP__SHARED__PASSWORD", PASSWORD)
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .start()
}

#[tokio::test(flavor = "multi_thread")]
async fn user_of_the_page_may_send_all_commands_of_the_instances() {
    let (content, redis) = (Content::many(&["en"], 40), client());
    let cms = content.start();
    let front_end = FrontEnd::start(|_| answer("200 OK", "", 0)).await;
    let [one, other] = [0; 2].map(|_| instance(&cms, &front_end, &redis));
    let all = [&one, &other];
    let path = |slug: &str| format!("/en/articles/{slug}");
    let has = |service: &Service, slug: &str| {
        let list = http::get(service.addr(), SITEMAP);
        list.status == 200 && urls(&list).iter().any(|url| url.ends_with(&path(slug)))
    };
    for service in all {
        until_so("the list", || has(service, "s0"));
    }
    // A webhook, a changed list, a former path, and a webhook that is sent.
    content.publish("en", "d00000", "renamed");
    changed(&one, "d00000");
    for service in all {
        until_so("the edit", || has(service, "renamed"));
        let former = format!("/api/resolve?site=main&pathname={}", path("s0"));
        until_so("the redirect", || {
            http::get(service.addr(), &former).json()["data"]["kind"] == "redirect"
        });
        let changes = http::get(service.addr(), "/api/changes?site=main");
        assert_eq!(changes.status, 200, "{}", changes.text());
    }
    let sent = || front_end.heads().iter().any(|head| head.starts_with("POST /hook"));
    until_so("the webhook is sent", sent);
    // URL checks on both.
    for service in all {
        let report = http::get(service.addr(), &format!("{SITEMAP}&validate=true"));
        assert_eq!(report.status, 200, "{}", report.text());
        assert_eq!(http::get(service.addr(), "/api/validations?site=main").status, 200);
    }
    // A graceful stop, after which the other one leads; and a new instance.
    let mut one = one;
    assert_eq!(one.signal("TERM"), Some(0));
    until_so("the other instance leads", || super::instances::role(&other) == "leader");
    let third = instance(&cms, &front_end, &redis);
    until_so("the list of the fleet", || has(&third, "renamed"));
    let denied: Vec<Vec<redis::Value>> = redis.command(&["ACL", "LOG"]);
    assert!(denied.is_empty(), "{denied:?}");
    assert!(!redis.keys("frontend-map:*").is_empty());
    let other_keys: Vec<String> =
        redis.keys("*").into_iter().filter(|key| !key.starts_with("frontend-map:")).collect();
    assert!(other_keys.is_empty(), "{other_keys:?}");
}
