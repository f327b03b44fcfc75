//! `--compare`: what has changed since a previous report.

use super::{pages, settled, setup, validate};
use crate::support::front_end::{FrontEnd, refusing};
use crate::support::service::Setup;

async fn start() -> (FrontEnd, Setup, String) {
    let peer = FrontEnd::start(pages).await;
    let (_socket, down) = refusing();
    let base = peer.url("http", "");
    let setup = setup(&base, down);
    (peer, setup, base)
}

/// A previous report in which the URLs of posts had these statuses.
fn earlier(base: &str, posts: &[(&str, &str)]) -> String {
    let entry = |(path, status): &(&str, &str)| {
        format!(r#"{{"url": "{base}{path}", "status": {status}, "ok": false}}"#)
    };
    let entries: Vec<String> = posts.iter().map(entry).collect();
    format!(
        r#"{{"validated": true, "site": "main", "contentType": "api::post.post", "results": [{}]}}"#,
        entries.join(", ")
    )
}

const POSTS: [(&str, &str); 5] = [
    ("/en/posts/broken", "200"),
    ("/en/posts/missing", "404"),
    ("/de/posts/moved", "null"),
    ("/en/posts/away", "200"),
    ("/en/posts/worse", "500"),
];

const CHANGED: &str = "
since 2026-01-02T03:04:05Z
  broke: 1 URL
    5xx    http://127.0.0.1:PORT/en/posts/broken  p3
  healed: 1 URL
    3xx    http://127.0.0.1:PORT/de/posts/moved  p1
  new: 1 URL
    2xx    http://127.0.0.1:PORT/en/posts/ok  p1
  gone: 2 URLs
    5xx    http://127.0.0.1:PORT/en/posts/worse
    2xx    http://127.0.0.1:PORT/en/posts/away
  api::page.page was not checked then
";

#[tokio::test(flavor = "multi_thread")]
async fn urls_that_broke_healed_are_new_or_gone_are_listed() {
    let (_peer, setup, base) = start().await;
    let part = earlier(&base, &POSTS);
    let whole = format!(
        r#"{{"site": "main", "checkedAt": "2026-01-02T03:04:05Z", "contentTypes": [{part}]}}"#
    );
    let answer = format!(r#"{{"data": {part}, "meta": {{}}}}"#);
    let setup = setup.file("earlier.json", &whole).file("answer.json", &answer);
    let changed = |file: &str| {
        let ended = validate(&setup, "main", &["--compare", file]);
        assert_eq!(ended.status, Some(1), "{}", ended.stderr);
        let at = ended.stdout.find("\nsince ").unwrap();
        ended.stdout[at..].replace(&base, "http://127.0.0.1:PORT")
    };
    assert_eq!(changed("earlier.json"), CHANGED);
    let since = "since 2026-01-02T03:04:05Z";
    assert_eq!(changed("answer.json"), CHANGED.replace(since, "since the earlier check"));
}

#[tokio::test(flavor = "multi_thread")]
async fn url_that_was_not_checked_before_is_neither_new_nor_healed() {
    let (_peer, setup, base) = start().await;
    let paths = ["/en/posts/ok", "/en/posts/missing", "/en/posts/broken", "/de/posts/moved"];
    let late = r#"null, "reason": "not checked: deadline""#;
    let part = earlier(&base, &paths.map(|path| (path, late)));
    let setup = setup.file("earlier.json", &format!(r#"{{"data": {part}}}"#));
    let args = ["--content-type", "api::post.post", "--compare", "earlier.json"];
    let summary = validate(&setup, "main", &args).stdout;
    assert!(summary.ends_with("\nsince the earlier check\n  nothing has changed\n"), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn report_compared_with_itself_has_not_changed() {
    let (_peer, setup, base) = start().await;
    let args = ["--format", "json", "--out", "report.json"];
    assert_eq!(validate(&setup, "main", &args).status, Some(1));
    // The file is read before it is replaced.
    let ended = validate(&setup, "main", &[&args[..], &["--compare", "report.json"]].concat());
    let summary = settled(&ended.stdout, &base);
    assert!(
        summary.ends_with("\nsince 0000-00-00T00:00:00Z\n  nothing has changed\n"),
        "{summary}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn html_report_lists_the_changes() {
    let (_peer, setup, base) = start().await;
    let part = earlier(&base, &POSTS);
    let setup = setup.file("earlier.json", &format!(r#"{{"data": {part}}}"#));
    let args = ["--compare", "earlier.json", "--format", "html"];
    let page = validate(&setup, "main", &args).stdout;
    assert!(page.contains("<select id=\"change\">"), "{page}");
    let numbers = [(1, "broke, "), (1, "healed, "), (1, "new, "), (2, "gone")]
        .map(|(count, name)| format!("<span data-number>{count}</span> {name}"));
    let numbers = format!("<h2>Since the earlier check</h2>\n<p>{}</p>\n", numbers.concat());
    assert!(page.contains(&numbers), "{page}");
    let gone = format!("<li>{base}/en/posts/worse <span class=\"soft\">5xx</span></li>\n");
    assert!(page.contains(&gone), "{page}");
    for row in [
        r#"[0,0,"p2","/en/posts/missing",404,"","","Lost \u003cb>","https://cms.example.com/admin/content-manager/collection-types/api::post.post/p2?plugins[i18n][locale]=en"]"#,
        r#"[0,0,"p3","/en/posts/broken",500,"","broke","","https://cms.example.com/admin/content-manager/collection-types/api::post.post/p3?plugins[i18n][locale]=en"]"#,
        r#"[0,0,"p1","/en/posts/ok",200,"","new","",""]"#,
        r#"[1,0,"home","/ok",200,"","","",""]"#,
    ] {
        assert!(page.contains(row), "{row} is missing in\n{page}");
    }
}
