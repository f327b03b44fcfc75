//! Traces: the spans that a collector gets, without an effect on requests.
#![expect(clippy::float_cmp, reason = "counts are whole numbers")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::support::cms::Cms;
use crate::support::front_of_cms::{ID, RESOLVE, SITEMAP, TOKEN, articles, list, one_url, setup};
use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

/// A caller's trace and span, as text and as bytes.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// A head, in lower case, and a body.
type Batch = (String, Vec<u8>);

/// A collector on a raw socket.
struct Collector {
    addr: SocketAddr,
    batches: Arc<Mutex<Vec<Batch>>>,
}

impl Collector {
    /// Gives this answer to each batch; with none it hangs.
    fn start(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("bound");
        let batches = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&batches);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || {
                    while let Some(batch) = batch(&mut stream) {
                        seen.lock().expect("no panic").push(batch);
                        if stream.write_all(answer.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { addr, batches }
    }

    fn endpoint(&self) -> String {
        format!("http://{}", self.addr)
    }

    fn batches(&self) -> Vec<Batch> {
        self.batches.lock().expect("no panic").clone()
    }

    /// How often these bytes are in what it got.
    fn count(&self, part: &[u8]) -> usize {
        let in_body = |body: &[u8]| body.windows(part.len()).filter(|bytes| *bytes == part).count();
        self.batches().iter().map(|(_, body)| in_body(body)).sum()
    }
}

fn batch(stream: &mut TcpStream) -> Option<Batch> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.extend_from_slice(&byte);
    }
    let head = String::from_utf8(head).ok()?.to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}

const TAKEN: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

fn traced(setup: Setup, endpoint: &str, ratio: &str) -> Service {
    setup
        .env("FRONTEND_MAP__TRACES__OTLP_ENDPOINT", endpoint)
        .env("FRONTEND_MAP__TRACES__SAMPLE_RATIO", ratio)
        .start()
}

fn ask(service: &Service, target: &str, traceparent: &[&str]) {
    let headers: Vec<_> = traceparent.iter().map(|text| ("traceparent", *text)).collect();
    assert_eq!(http::send(service.addr(), "GET", target, &headers).status, 200, "{target}");
}

#[test]
fn client_s_trace_is_continued_and_exported_at_shutdown() {
    let collector = Collector::start(TAKEN);
    let mut service = traced(Setup::fixture(), &(collector.endpoint() + "/otlp/"), "0");
    ask(&service, RESOLVE, &[]);
    ask(&service, RESOLVE, &[&format!("00-{TRACE}-{SPAN}-00")]);
    let sampled = format!("00-{TRACE}-{SPAN}-01");
    let headers = [("traceparent", sampled.as_str()), ("X-Request-Id", "from.the-edge")];
    assert_eq!(http::send(service.addr(), "GET", RESOLVE, &headers).status, 200);
    assert_eq!(service.signal("TERM"), Some(0));
    let batches = collector.batches();
    assert_eq!(batches.len(), 1);
    let head = &batches[0].0;
    assert!(head.starts_with("post /otlp/v1/traces http/1.1\r\n"), "{head}");
    assert!(head.contains("\r\ncontent-type: application/x-protobuf\r\n"), "{head}");
    for (part, times) in [
        (bytes(TRACE), 1),
        (bytes(SPAN), 1),
        // The name and the attribute.
        (b"/api/get-content-type".to_vec(), 2),
        (b"http.route".to_vec(), 1),
        (b"http.request.method".to_vec(), 1),
        (b"http.response.status_code".to_vec(), 1),
        (b"from.the-edge".to_vec(), 1),
        (b"frontend-map".to_vec(), 2),
        (b"frontend-map-".to_vec(), 0),
        (b"articles".to_vec(), 0),
    ] {
        assert_eq!(collector.count(&part), times, "{}", String::from_utf8_lossy(&part));
    }
}

#[test]
fn invalid_traceparent_is_ignored() {
    let collector = Collector::start(TAKEN);
    let mut service = traced(Setup::fixture(), &collector.endpoint(), "1.0");
    let (zero, good) = ("0".repeat(32), format!("00-{TRACE}-{SPAN}-01"));
    let wrong = [
        String::new(),
        format!("ff-{TRACE}-{SPAN}-01"),
        format!("00-{TRACE}-{SPAN}-01-more"),
        format!("00-{TRACE}-{SPAN}"),
        format!("00-{TRACE}-0000000000000000-01"),
        format!("00-{zero}-{SPAN}-01"),
        format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
        "é".to_owned(),
    ];
    for text in &wrong {
        ask(&service, RESOLVE, &[text]);
    }
    ask(&service, RESOLVE, &[&good, &good]);
    assert_eq!(service.signal("TERM"), Some(0));
    assert_eq!(collector.count(b"http.route"), wrong.len() + 1, "each has a trace of its own");
    assert_eq!((collector.count(&bytes(TRACE)), collector.count(&bytes(SPAN))), (0, 0));
}

#[test]
fn requests_to_the_cms_are_child_spans_and_carry_no_trace_header() {
    let document =
        format!(r#"{{"data":{{"documentId":"{ID}","slug":"canary-slug","locale":"en"}}}}"#);
    let cms = Cms::start(move |target| {
        if target.contains(ID) { Script::json(200, &document) } else { list(&[], 100, 0) }
    });
    let collector = Collector::start(TAKEN);
    let setup = setup(&articles().strapi(&cms));
    let mut service = traced(setup, &collector.endpoint(), "1.0");
    ask(&service, &one_url(), &[&format!("00-{TRACE}-{SPAN}-01")]);
    ask(&service, SITEMAP, &[]);
    assert_eq!(service.signal("TERM"), Some(0));
    assert_eq!(collector.count(&bytes(TRACE)), 2, "the request and what it asked the CMS");
    assert_eq!(collector.count(b"outcome"), cms.targets().len());
    assert_eq!(collector.count(b"walk"), 1);
    assert_eq!(collector.count(b"plugin::cms.article"), 1, "of the walk");
    for secret in [TOKEN, ID, "canary-slug"] {
        assert_eq!(collector.count(secret.as_bytes()), 0, "{secret}");
    }
}

#[test]
fn collector_that_hangs_delays_neither_requests_nor_the_shutdown() {
    let collector = Collector::start("");
    let mut service = traced(Setup::fixture(), &collector.endpoint(), "1.0");
    ask(&service, RESOLVE, &[]);
    until_so("it has a batch", || !collector.batches().is_empty());
    ask(&service, RESOLVE, &[]);
    assert_eq!(service.signal("TERM"), Some(0));
    assert_eq!(collector.batches().len(), 1, "what was left is dropped");
    assert!(service.logs("stopped"), "{}", service.log());
}

#[test]
fn collector_that_fails_is_logged_once_without_its_address() {
    let away = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refusing =
        Collector::start("HTTP/1.1 503 X\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n");
    for (endpoint, reason) in
        [(format!("http://{away}/hidden"), "Refused"), (refusing.endpoint() + "/hidden", "503")]
    {
        let mut service = traced(Setup::fixture(), &endpoint, "1.0");
        ask(&service, RESOLVE, &[]);
        assert!(service.logs("traces cannot be exported"), "{}", service.log());
        ask(&service, RESOLVE, &[]);
        assert_eq!(service.signal("TERM"), Some(0));
        let log = service.log();
        assert_eq!(log.matches("traces ").count(), 1, "{log}");
        assert!(log.contains(reason) && !log.contains("hidden"), "{log}");
    }
    assert_eq!(refusing.batches().len(), 2, "no retries");
}

#[test]
fn export_succeeds_however_the_body_of_the_response_ends() {
    let collector = Collector::start("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n");
    let mut service = traced(Setup::fixture(), &collector.endpoint(), "1.0");
    for batches in 1..=2 {
        ask(&service, RESOLVE, &[]);
        // The next one comes when what became of the one before is known.
        until_so("it has a batch", || collector.batches().len() == batches);
    }
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(!service.log().contains("traces "), "{}", service.log());
}

#[test]
fn spans_that_are_not_exported_are_counted() {
    let refusing = Collector::start("HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n");
    // Only those of callers: nothing that goes on by itself.
    let service = traced(Setup::fixture(), &refusing.endpoint(), "0");
    let dropped = || scrape(service.admin()).of("traces_dropped_total");
    assert_eq!(dropped(), 0.0);
    for _ in 0..3 {
        ask(&service, RESOLVE, &[&format!("00-{TRACE}-{SPAN}-01")]);
    }
    until_so("all are counted", || dropped() == 3.0);
}

#[test]
fn without_the_setting_there_are_no_spans() {
    let collector = Collector::start(TAKEN);
    let setup = Setup::fixture().env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint());
    let mut service = traced(setup, "", "1.0");
    ask(&service, RESOLVE, &[&format!("00-{TRACE}-{SPAN}-01")]);
    assert_eq!(service.signal("TERM"), Some(0));
    assert_eq!(collector.batches(), []);
}
