//! IndexNow: search engines get the URLs of changes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::restarts::{folder, until_walked, with_store};
use super::{article, content, cursor, read, report, settings, setup};
use crate::support::content::Content;
use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const KEY: &str = "a1b2c3d4e5f6";
/// How many edits there are: `TEST_INDEXNOW_EDITS=200 cargo test --test cache -- changes::indexnow`.
const EDITS: &str = "TEST_INDEXNOW_EDITS";
const RESTARTS: usize = 3;

/// A search engine that replies by the number of the request. Its thread ends with the test.
struct SearchEngine {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
}

/// A request, and whether it was accepted.
#[derive(Clone)]
struct Request {
    head: String,
    body: Value,
    is_accepted: bool,
}

impl SearchEngine {
    /// `status` is a status with its headers; an empty one closes the connection instead.
    fn start(status: impl Fn(usize) -> &'static str + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let own = Arc::clone(&seen);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let Some((head, body)) = request(&mut stream) else { continue };
                let status = {
                    let mut seen = own.lock().expect("no panic");
                    let status = status(seen.len());
                    let is_accepted = status.starts_with('2');
                    seen.push(Request { head, body, is_accepted });
                    status
                };
                if !status.is_empty() {
                    let end = "Content-Length: 0\r\nConnection: close\r\n\r\n";
                    let _ = write!(stream, "HTTP/1.1 {status}\r\n{end}");
                }
            }
        });
        Self { address, seen }
    }

    fn requests(&self) -> Vec<Request> {
        self.seen.lock().expect("no panic").clone()
    }

    fn accepted(&self) -> Vec<Value> {
        let accepted = self.requests().into_iter().filter(|request| request.is_accepted);
        accepted.map(|request| request.body).collect()
    }

    /// The settings that name it.
    fn target(&self) -> String {
        let url = format!("http://{}/indexnow", self.address);
        format!("[[notify]]\nkind = \"indexnow\"\nurl = \"{url}\"\nkey = \"{KEY}\"\n")
    }
}

/// The head and the body of the one request of a connection.
fn request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("text");
    // A request of another program, to the port that a peer of its own had before, has none.
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.parse().expect("a number")];
    stream.read_exact(&mut body).ok()?;
    Some((head, serde_json::from_slice(&body).expect("JSON")))
}

/// The URLs of changes, as `/api/changes` lists them.
fn urls(changes: &[Value], base: &str) -> Vec<String> {
    let of = |change: &Value| {
        let paths = ["path", "from"].map(|name| change[name].as_str().map(str::to_owned));
        paths.into_iter().flatten().map(|path| format!("{base}{path}")).collect::<Vec<_>>()
    };
    let mut urls: Vec<String> = Vec::new();
    for url in changes.iter().flat_map(of) {
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    urls
}

fn url_list(request: &Value) -> Vec<String> {
    let urls = request["urlList"].as_array().expect("a list").iter();
    urls.map(|url| url.as_str().expect("text").to_owned()).collect()
}

/// Whether the requests have the URLs of all changes in order, each change once.
fn are_complete(requests: &[Value], changes: &[Value], base: &str) -> bool {
    let mut rest = changes;
    for request in requests {
        let sent = url_list(request);
        let count = (1..=rest.len()).find(|count| urls(&rest[..*count], base) == sent);
        let count = count.unwrap_or_else(|| panic!("{sent:?} are not the next of {rest:?}"));
        rest = &rest[count..];
    }
    rest.is_empty()
}

/// Renames a document.
fn rename(content: &Content, service: &Service, id: &str, slug: &str) {
    article(content, id, slug, id, false);
    report(service, id);
}

fn has_path(service: &Service, path: &str) -> bool {
    let pages = http::get(service.addr(), "/api/pages?site=main");
    pages.text().contains(&format!("\"{path}\""))
}

#[test]
fn urls_of_changes_arrive_once_over_edits_and_restarts() {
    let edits = std::env::var(EDITS).ok().and_then(|edits| edits.parse().ok()).unwrap_or(24);
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let engine = SearchEngine::start(|number| match number % 6 {
        0 => "500 Oops",
        1 => "429 Too Many Requests\r\nRetry-After: 0",
        2 => "",
        3 => "202 Accepted",
        _ => "200 OK",
    });
    let settings = settings().more(&engine.target()).strapi(&cms);
    let start = || with_store(&settings, &store).start();
    let mut service = start();
    until_walked(&service);
    let first = cursor(&service);
    for edit in 1..=edits {
        // Each path is new, so that no URL is left out as a repeated one.
        rename(&content, &service, &format!("e{}", edit % 7), &format!("e{edit}"));
        until_so("the edit is noticed", || has_path(&service, &format!("/en/articles/e{edit}")));
        if edit % (edits / (RESTARTS + 1)).max(1) == 0 && edit < edits {
            service.signal("TERM");
            service = start();
            until_walked(&service);
        }
    }
    let changes = || {
        let read = read(&service, &first, &[]);
        assert_eq!((&read["reset"], &read["more"]), (&json!(false), &json!(false)));
        read["changes"].as_array().expect("a list").clone()
    };
    let base = "https://www.example.com";
    until_so("all URLs are sent", || are_complete(&engine.accepted(), &changes(), base));
    let requests = engine.requests();
    for Request { head, body, .. } in &requests {
        assert!(head.starts_with("POST /indexnow HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("content-type: application/json; charset=utf-8\r\n"), "{head}");
        assert!(!head.contains("webhook-"), "{head}");
        assert_eq!(body["host"], "www.example.com");
        assert_eq!(body["key"], KEY);
        assert_eq!(body["keyLocation"], format!("{base}/{KEY}.txt"));
    }
    println!(
        "{edits} edits, {RESTARTS} restarts: {} changes, 0 lost, 0 twice; {} requests accepted of {} sent",
        changes().len(),
        engine.accepted().len(),
        requests.len()
    );
}

#[test]
fn request_has_the_urls_of_one_host() {
    let content = Content::default();
    article(&content, "a", "one", "One", false);
    let cms = content.start();
    let engine = SearchEngine::start(|_| "200 OK");
    let hosts = r#"{ en = "https://example.com/shop", de = "https://example.de" }"#;
    let settings = site("main")
        .locales(&["en", "de"])
        .front_end_url(hosts)
        .rule("api::article.article", "/{locale}/articles/{slug}")
        .more(&engine.target())
        .strapi(&cms);
    let service = setup(&settings).start();
    until_walked(&service);
    for id in ["b", "c"] {
        for locale in ["en", "de"] {
            content.put(locale, id, &format!(r#","slug":"{id}-{locale}""#));
        }
        report(&service, id);
    }
    until_so("all are sent", || engine.accepted().iter().flat_map(url_list).count() == 4);
    let mut sent = Vec::new();
    for request in engine.accepted() {
        let base = match request["host"].as_str().expect("text") {
            "example.com" => "https://example.com/shop",
            "example.de" => "https://example.de",
            other => panic!("{other}"),
        };
        assert_eq!(request["keyLocation"], format!("{base}/{KEY}.txt"));
        let urls = url_list(&request);
        assert!(urls.iter().all(|url| url.starts_with(&format!("{base}/"))), "{request}");
        sent.extend(urls);
    }
    sent.sort_unstable();
    let expected = [
        "https://example.com/shop/en/articles/b-en",
        "https://example.com/shop/en/articles/c-en",
        "https://example.de/de/articles/b-de",
        "https://example.de/de/articles/c-de",
    ];
    assert_eq!(sent, expected);
}

#[test]
fn refused_key_stops_the_requests_until_the_next_start() {
    for status in ["403 Forbidden", "422 Unprocessable Entity"] {
        let (content, (_folder, store)) = (content(), folder());
        let cms = content.start();
        let refusing = SearchEngine::start(move |_| status);
        let receiver = SearchEngine::start(|_| "200 OK");
        let url = format!("http://{}/hook", receiver.address);
        // Another target, to know when the changes have been sent.
        let other = format!("[[notify]]\nurl = \"{url}\"\nsecret_file = \"secret\"\n");
        let start = |engine: &SearchEngine| {
            let own = settings().more(&(engine.target() + &other)).strapi(&cms);
            let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
            with_store(&own, &store).file("secret", secret).start()
        };
        let service = start(&refusing);
        until_walked(&service);
        rename(&content, &service, "a", "uno");
        until_so("the URL is refused", || refusing.requests().len() == 1);
        rename(&content, &service, "a", "due");
        until_so("the webhooks are sent", || receiver.accepted().len() == 2);
        assert_eq!(refusing.requests().len(), 1);
        until_so("the log says why", || {
            service.log().contains("the search engine refused the URLs; correct the cause")
        });
        drop(service);
    }
}

/// The settings of a site with this base URL.
fn site_at(address: SocketAddr) -> Settings {
    let base = format!("\"http://{address}\"");
    let target = format!("[[notify]]\nkind = \"indexnow\"\nkey = \"{KEY}\"\n");
    settings().front_end_url(&base).more(&target)
}

/// A frontend that sends this to each request.
fn frontend(response: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let length = stream.read(&mut head).unwrap_or_default();
            let file = format!("GET /{KEY}.txt HTTP/1.1\r\n");
            assert!(head[..length].starts_with(file.as_bytes()));
            let _ = write!(stream, "HTTP/1.1 {response}");
        }
    });
    address
}

#[test]
fn check_says_whether_the_key_file_is_served() {
    let content = r#"{"api::article.article":
        [{"documentId": "a", "locale": "en", "slug": "one", "title": "One", "hidden": false}]}"#;
    for (response, expected) in [
        ("200 OK\r\nContent-Length: 13\r\n\r\na1b2c3d4e5f6\n", "has the key"),
        ("200 OK\r\nContent-Length: 5\r\n\r\nother", "does not have the key; let the frontend"),
        ("404 Not Found\r\nContent-Length: 0\r\n\r\n", "returned status 404; let the frontend"),
        (
            "302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
            "returned status 302; let the frontend",
        ),
        ("", "cannot be read: "),
    ] {
        let address = frontend(response);
        let ended = site_at(address).files(content).run(&["check", "--strict"]);
        let text = format!("{}{}", ended.stdout, ended.stderr);
        assert!(
            text.contains(&format!("IndexNow: http://{address}/{KEY}.txt {expected}")),
            "{text}"
        );
        let is_served = expected == "has the key";
        assert_eq!(ended.status, Some(i32::from(!is_served)), "{text}");
        assert_eq!(text.contains("there is 1 problem with IndexNow"), !is_served, "{text}");
    }
}
