//! URL checks of a site with several hosts: each URL is requested from its own host.

use serde_json::json;

use super::{OF_OWN_SEGMENTS, settings};
use crate::support::front_end::{Answer, FrontEnd, answer};
use crate::support::http;

fn found(path: &str) -> Answer {
    answer(if path.contains("only") { "404 Not Found" } else { "200 OK" }, "", 5)
}

/// The targets of the requests that a frontend got, in order.
fn targets(peer: &FrontEnd) -> Vec<String> {
    let heads = peer.heads();
    let target = |head: &String| head.split(' ').nth(1).unwrap().to_owned();
    let mut targets: Vec<String> = heads.iter().map(target).collect();
    targets.sort_unstable();
    targets
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_are_requested_from_their_own_hosts() {
    let (com, de) = (FrontEnd::start(found).await, FrontEnd::start(found).await);
    let [com_url, de_url] = [&com, &de].map(|peer| peer.url("http", ""));
    let bases = format!(
        r#"{{ en = "{com_url}", fr = "{com_url}", de = "{de_url}/start", at = "{de_url}/start" }}"#
    );
    let setup = settings().front_end_url(&bases).locales(&OF_OWN_SEGMENTS).setup();
    let uid = "api::post.post";
    let ended = setup.run(&["validate", "--site", "main", "--content-type", uid]);
    assert_eq!(ended.status, Some(1), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(targets(&com), ["/posts/un", "/posts/x"]);
    assert_eq!(targets(&de), ["/start/posts/only", "/start/posts/x"]);
    let service = setup.start();
    let target = format!("/api/build-sitemap?site=main&contentType={uid}&validate=true");
    let response = tokio::task::block_in_place(|| http::get(service.addr(), &target));
    let data = &response.json()["data"];
    let urls: Vec<_> =
        data["results"].as_array().unwrap().iter().map(|result| &result["url"]).collect();
    let expected = [
        format!("{com_url}/posts/x"),
        format!("{com_url}/posts/un"),
        format!("{de_url}/start/posts/x"),
        format!("{de_url}/start/posts/only"),
    ];
    assert_eq!(json!(urls), json!(expected));
    assert_eq!(data["byClass"]["4xx"], 1);
}
