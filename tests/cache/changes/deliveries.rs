//! Readers of changes while editors work and the service restarts: one with cursors, and a receiver of
//! webhooks that fails half of the time.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::restarts::{folder, until_walked, with_store};
use super::{article, content, cursor, read, report, settings};
use crate::support::content::Content;
use crate::support::http;
use crate::support::service::Service;
use crate::support::wait::until_so;

/// How many edits there are: `TEST_CHANGES_EDITS=200 cargo test --test cache -- changes::deliveries`.
const EDITS: &str = "TEST_CHANGES_EDITS";
/// The seed of a run that is repeated; each run prints its own.
const SEED: &str = "TEST_CHANGES_SEED";
const RESTARTS: usize = 3;
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A receiver of webhooks that takes about half of them. Its thread ends with the test.
struct Receiver {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    requests: usize,
    /// The changes of each request that was taken.
    taken: Vec<Vec<Value>>,
    resets: usize,
}

impl Receiver {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let seen = Arc::<Mutex<Seen>>::default();
        let own = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // One connection at a time is enough: requests come one after another.
                let _ = serve(stream, &own);
            }
        });
        Self { address, seen }
    }

    fn taken(&self) -> Vec<Vec<Value>> {
        self.seen.lock().expect("no panic").taken.clone()
    }
}

/// Takes one request of a connection, or fails: with a status, or without a response.
fn serve(mut stream: TcpStream, seen: &Mutex<Seen>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("text");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.expect("a length").parse().expect("a number")];
    stream.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(body["type"], "frontend-map.changes");
    let number = {
        let mut seen = seen.lock().expect("no panic");
        seen.requests += 1;
        seen.requests
    };
    let takes = match number % 5 {
        0 => false,
        1 => {
            stream.write_all(
                b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            )?;
            return Ok(());
        }
        // The response is lost, although the request was taken.
        2 => {
            record(seen, &body);
            return Ok(());
        }
        _ => true,
    };
    if takes {
        record(seen, &body);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
    }
    Ok(())
}

fn record(seen: &Mutex<Seen>, body: &Value) {
    let mut seen = seen.lock().expect("no panic");
    let changes = body["data"]["changes"].as_array().expect("a list").clone();
    seen.resets += usize::from(body["data"]["reset"] == true);
    seen.taken.push(changes);
}

/// A reader that keeps a copy of the pages up to date.
struct Consumer {
    cursor: String,
    /// Paths by document.
    pages: BTreeMap<String, String>,
    changes: Vec<Value>,
    resets: usize,
}

impl Consumer {
    fn start(service: &Service) -> Self {
        let cursor = cursor(service);
        let pages = listed(service);
        Self { cursor, pages, changes: Vec::new(), resets: 0 }
    }

    /// Takes all changes since the last time. Each must fit the page that is known.
    fn poll(&mut self, service: &Service) {
        loop {
            let read = read(service, &self.cursor, &[]);
            self.resets += usize::from(read["reset"] == true);
            read["cursor"].as_str().expect("text").clone_into(&mut self.cursor);
            for change in read["changes"].as_array().expect("a list") {
                self.take(change);
                self.changes.push(change.clone());
            }
            if read["more"] == false {
                return;
            }
        }
    }

    fn poll_until(&mut self, service: &Service, pages: &BTreeMap<String, String>) {
        until_so("the consumer knows the pages", || {
            self.poll(service);
            self.pages == *pages
        });
    }

    fn take(&mut self, change: &Value) {
        let text = |name: &str| change[name].as_str().unwrap_or_default().to_owned();
        let (id, path) = (text("documentId"), text("path"));
        let before = match &*text("type") {
            "gone" => {
                let before = self.pages.remove(&id);
                assert_eq!(before.as_ref(), Some(&path), "{change}");
                return;
            }
            kind => (kind.to_owned(), self.pages.insert(id, path.clone())),
        };
        match (&*before.0, before.1) {
            ("added", None) => {}
            ("moved", Some(before)) => assert_eq!(before, text("from"), "{change}"),
            ("updated", Some(before)) => assert_eq!(before, path, "{change}"),
            (_, before) => panic!("{change} after {before:?}"),
        }
    }
}

/// The paths of all listed pages by document.
fn listed(service: &Service) -> BTreeMap<String, String> {
    let pages = http::get(service.addr(), "/api/pages?site=main").json()["data"]["pages"].clone();
    let page = |page: &Value| {
        let text = |name: &str| page[name].as_str().expect("text").to_owned();
        (text("documentId"), text("path"))
    };
    pages.as_array().expect("a list").iter().map(page).collect()
}

/// The documents that editors change, as they are in the CMS.
struct Editors {
    content: Content,
    listed: BTreeMap<String, String>,
    count: usize,
    random: fastrand::Rng,
}

impl Editors {
    /// Publishes, renames, hides or withdraws a document. Returns its id.
    fn edit(&mut self) -> String {
        self.count += 1;
        let (n, id) = (self.count, format!("e{}", self.random.usize(0..12)));
        if self.random.u8(0..4) == 0 {
            self.content.unpublish("en", &id);
            self.listed.remove(&id);
            return id;
        }
        let hidden = self.random.u8(0..6) == 0;
        let slug = if self.random.bool() { format!("{id}-{n}") } else { id.clone() };
        article(&self.content, &id, &slug, &format!("Title {n}"), hidden);
        self.listed.remove(&id);
        if !hidden {
            self.listed.insert(id.clone(), format!("/en/articles/{slug}"));
        }
        id
    }

    /// What the site lists now.
    fn oracle(&self) -> BTreeMap<String, String> {
        let mut all = self.listed.clone();
        all.insert("a".to_owned(), "/en/articles/one".to_owned());
        all.insert("b".to_owned(), "/en/articles/two".to_owned());
        all
    }
}

/// Its seed is printed, so that a run can be repeated.
fn random() -> fastrand::Rng {
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("{SEED}={seed}");
    fastrand::Rng::with_seed(seed)
}

#[test]
fn readers_miss_nothing_and_get_nothing_twice_over_edits_and_restarts() {
    let edits = std::env::var(EDITS).ok().and_then(|edits| edits.parse().ok()).unwrap_or(24);
    let random = random();
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let receiver = Receiver::start();
    let target = format!("http://{}/hook", receiver.address);
    let notify = format!("[[notify]]\nurl = \"{target}\"\nsecret_file = \"secret\"\n");
    let settings = settings().more(&notify).strapi(&cms);
    let start = || with_store(&settings, &store).file("secret", SECRET).start();
    let mut service = start();
    until_walked(&service);
    let mut consumer = Consumer::start(&service);
    let first = consumer.cursor.clone();
    let mut editors = Editors { content, listed: BTreeMap::new(), count: 0, random };
    let begun = Instant::now();
    for edit in 1..=edits {
        let id = editors.edit();
        report(&service, &id);
        match editors.random.u8(0..4) {
            0 => consumer.poll(&service),
            1 => consumer.poll_until(&service, &editors.oracle()),
            _ => {}
        }
        if edit % (edits / (RESTARTS + 1)).max(1) == 0 && edit < edits {
            // A reader gets only what is stored.
            if editors.random.bool() {
                consumer.poll_until(&service, &editors.oracle());
            }
            service.signal(if editors.random.bool() { "KILL" } else { "TERM" });
            service = start();
            until_walked(&service);
        }
    }
    let oracle = editors.oracle();
    consumer.poll_until(&service, &oracle);
    assert_eq!((consumer.resets, listed(&service)), (0, oracle));
    // The changes are equal when read again from the first cursor, so none was missing or repeated in between.
    let again = read(&service, &first, &[]);
    assert_eq!((&again["reset"], &again["changes"]), (&json!(false), &json!(consumer.changes)));
    // The receiver has them in order; what it got twice was sent again, with all behind it.
    let is_complete = || {
        let mut next = 0;
        for batch in receiver.taken() {
            let starts = (0..=next).rev();
            let fits = |from: &usize| consumer.changes[*from..].starts_with(&batch);
            let from =
                starts.into_iter().find(fits).expect("the changes of a webhook are in order");
            next = next.max(from + batch.len());
        }
        next == consumer.changes.len()
    };
    until_so("all changes are sent", is_complete);
    let seen = receiver.seen.lock().expect("no panic");
    assert_eq!(seen.resets, 0);
    println!(
        "{edits} edits, {RESTARTS} restarts, {:.1} s: {} changes, 0 missing, 0 repeated, 0 resets; {} webhooks taken of {} sent",
        begun.elapsed().as_secs_f64(),
        consumer.changes.len(),
        seen.taken.len(),
        seen.requests
    );
}
