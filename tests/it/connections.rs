//! Clients that say nothing, half a request, or read nothing; what the stop means to them; and more
//! of them than there is room for.
//!
//! No test waits for less than what it asks for, and none depends on how fast the machine is: what
//! has to happen soon has a minute, and what must not happen would be seen by a later answer.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{ID, in_front_of, one_url, setup};
use crate::support::http;
use crate::support::script::{Act, Script};
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

/// How long anything may take before the test gives up.
const PATIENCE: Duration = Duration::from_mins(1);
/// A limit that a test waits for.
const SHORT: Duration = Duration::from_millis(800);
/// A limit that no test lives to see.
const LONG: Duration = Duration::from_mins(10);

const REQUEST: &[u8] = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
const RESOLVE: &[u8] = b"GET /api/get-content-type?site=main&pathname=/en/articles/x HTTP/1.1\r\n\
    Host: localhost\r\n\r\n";

fn start(head: Duration, idle: Duration, write: Duration) -> Service {
    let limits = [("HEAD", head), ("IDLE", idle), ("WRITE", write)];
    let setup = limits.iter().fold(Setup::fixture(), |setup, (name, limit)| {
        let name = format!("FRONTEND_MAP__LIMITS__{name}_TIMEOUT_MS");
        setup.env(&name, &limit.as_millis().to_string())
    });
    setup.start()
}

fn connect(service: &Service) -> TcpStream {
    let stream = TcpStream::connect(service.addr()).expect("the service accepts");
    stream.set_nodelay(true).expect("a socket");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream
}

/// Reads one answer; false when the connection is closed instead.
fn answered(stream: &mut TcpStream) -> bool {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    while http::split(&bytes, false, false).is_none() {
        match stream.read(&mut buffer) {
            Ok(read @ 1..) => bytes.extend_from_slice(&buffer[..read]),
            Err(error) if is_timeout(&error) => panic!("neither an answer nor a close"),
            _ => return false,
        }
    }
    true
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// A connection on which these bytes got an answer. On a busy machine the first try may be late.
fn used(service: &Service, bytes: &[u8]) -> (TcpStream, Instant) {
    for _ in 0..100 {
        let mut stream = connect(service);
        let sent = Instant::now();
        if stream.write_all(bytes).is_ok() && answered(&mut stream) {
            return (stream, sent);
        }
    }
    panic!("no answer at all");
}

/// Sends these bytes one by one, and on and on, until the connection is closed.
fn drip(stream: &mut TcpStream, bytes: &[u8]) {
    let begun = Instant::now();
    stream.set_read_timeout(Some(SHORT / 8)).expect("a socket");
    for byte in bytes.iter().cycle() {
        let closed = match stream.read(&mut [0; 1]) {
            Err(error) => !is_timeout(&error),
            Ok(read) => {
                assert_eq!(read, 0, "nothing to answer");
                true
            }
        };
        if closed || stream.write_all(&[*byte]).is_err() {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "the connection stays");
    }
}

#[test]
fn a_first_head_has_its_time_from_the_connection() {
    let service = start(SHORT, LONG, LONG);
    for bytes in ["", "GET /livez HT", "GET /livez HTTP/1.1\r\nHost: a\r\n", "\r\n"] {
        let begun = Instant::now();
        let mut stream = connect(&service);
        stream.write_all(bytes.as_bytes()).expect("sent");
        assert!(!answered(&mut stream));
        assert!(begun.elapsed() >= SHORT, "{bytes:?}");
    }
}

#[test]
fn dripping_bytes_buys_no_time() {
    let service = start(SHORT, LONG, LONG);
    drip(&mut connect(&service), b"X-A: b\r\n");
    let (mut stream, _) = used(&service, RESOLVE);
    drip(&mut stream, b"GET /livez HTTP/1.1\r\nX-A");
    let (mut stream, _) = used(&service, RESOLVE);
    // Each is an empty line or a half of one.
    drip(&mut stream, b"\r\n\n");
}

#[test]
fn a_later_head_has_its_time_from_its_first_byte() {
    let service = start(SHORT, LONG, LONG);
    for request in [REQUEST, RESOLVE] {
        // Behind a whole request, in one write.
        let (mut stream, sent) = used(&service, &[request, b"GET /livez HT"].concat());
        assert!(!answered(&mut stream));
        assert!(sent.elapsed() >= SHORT);
        // And after its answer.
        let (mut stream, _) = used(&service, request);
        let sent = Instant::now();
        stream.write_all(b"G").expect("sent");
        assert!(!answered(&mut stream));
        assert!(sent.elapsed() >= SHORT);
    }
}

#[test]
fn an_idle_connection_is_kept_for_longer_than_a_head() {
    let service = start(SHORT, LONG, LONG);
    let with_body = b"GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    let resolve_with_body =
        [&RESOLVE[..RESOLVE.len() - 2], b"Content-Length: 2\r\n\r\nab"].concat();
    let kept: Vec<_> = [REQUEST, RESOLVE, with_body, &resolve_with_body]
        .map(|request| used(&service, request).0)
        .into();
    thread::sleep(SHORT * 2);
    for mut stream in kept {
        stream.write_all(RESOLVE).expect("sent");
        assert!(answered(&mut stream), "the connection was closed");
    }
}

#[test]
fn an_idle_connection_is_closed_in_the_end() {
    let service = start(LONG, SHORT, LONG);
    for request in [REQUEST, RESOLVE] {
        let (mut stream, sent) = used(&service, request);
        assert!(!answered(&mut stream));
        assert!(sent.elapsed() >= SHORT);
    }
}

#[test]
fn who_does_not_read_is_cut_off() {
    let service = start(LONG, LONG, SHORT);
    let pathname = "/x".repeat(1000);
    let request = format!(
        "GET /api/get-content-type?site=main&pathname={pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    );
    let mut stream = connect(&service);
    stream.set_write_timeout(Some(PATIENCE)).expect("a socket");
    let begun = Instant::now();
    // The answers fill both ends' buffers, then the requests do: writing waits for the close.
    let error = loop {
        if let Err(error) = stream.write_all(request.as_bytes()) {
            break error;
        }
        assert!(begun.elapsed() < PATIENCE, "there is no end of the buffers");
    };
    assert!(!is_timeout(&error), "{error}");
    assert!(begun.elapsed() >= SHORT);
}

/// With a list of a hundred kilobytes.
fn with_a_long_list() -> Setup {
    let documents: Vec<String> = (0..2000)
        .map(|n| format!(r#"{{"documentId":"d{n}","locale":"en","slug":"a-slug-{n}"}}"#))
        .collect();
    let content = format!(r#"{{"plugin::cms.article":[{}]}}"#, documents.join(","));
    Setup::fixture().file("content.json", &content)
}

/// A client that asks for more than all buffers hold. Its requests are read at once, so that it is
/// not unread ones that a close answers with a reset.
fn who_does_not_read(service: &Service) -> TcpStream {
    let list = "GET /api/build-sitemap?site=main&contentType=plugin::cms.article HTTP/1.1\r\n\
                Host: localhost\r\n\r\n";
    let mut stream = connect(service);
    stream.write_all(list.repeat(60).as_bytes()).expect("sent");
    stream
}

#[test]
fn nothing_is_kept_for_who_does_not_read() {
    let short = SHORT.as_millis().to_string();
    let service = with_a_long_list().env("FRONTEND_MAP__LIMITS__WRITE_TIMEOUT_MS", &short).start();
    let stream = who_does_not_read(&service);
    let begun = Instant::now();
    let error = loop {
        if let Some(error) = stream.take_error().expect("a socket") {
            break error;
        }
        assert!(begun.elapsed() < PATIENCE, "the connection is not reset");
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert!(begun.elapsed() >= SHORT);
}

/// What the system holds of answers on the way to this client, in bytes (proc(5), `/proc/net/tcp`).
#[cfg(target_os = "linux")]
fn queued(client: &TcpStream) -> u64 {
    let ours = format!(":{:04X}", client.peer_addr().expect("connected").port());
    let theirs = format!(":{:04X}", client.local_addr().expect("connected").port());
    let table = std::fs::read_to_string("/proc/net/tcp").expect("a table");
    let queue = table.lines().find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        (columns[1].ends_with(&ours) && columns[2].ends_with(&theirs)).then_some(columns[4])
    });
    let (sending, _) = queue.expect("the connection is there").split_once(':').expect("two");
    u64::from_str_radix(sending, 16).expect("a number")
}

#[cfg(target_os = "linux")]
#[test]
fn the_system_holds_little_for_who_does_not_read() {
    let service = with_a_long_list().start();
    let stream = who_does_not_read(&service);
    let mut last = 0;
    until_so("no more is taken", || {
        let before = std::mem::replace(&mut last, queued(&stream));
        last > 0 && last == before
    });
    assert!(last < 512 << 10, "{last} bytes");
}

#[test]
fn who_does_not_read_delays_the_stop_for_seconds_only() {
    let mut service = with_a_long_list().start();
    let stream = who_does_not_read(&service);
    // The beginning of an answer is there, and nobody takes the rest.
    assert_ne!(stream.peek(&mut [0]).expect("an answer"), 0);
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(!service.log().contains("still in flight"), "it waited until the end");
}

#[test]
fn nobody_who_waits_delays_the_stop() {
    let mut service = start(LONG, LONG, LONG);
    let silent = connect(&service);
    let mut half = connect(&service);
    half.write_all(b"GET /livez HTTP/1.1\r\nHost: loc").expect("sent");
    let (idle, _) = used(&service, REQUEST);
    let (mut half_of_second, _) = used(&service, RESOLVE);
    half_of_second.write_all(b"GET /").expect("sent");
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(!service.log().contains("still in flight"), "it waited until the end");
    drop((silent, half, idle, half_of_second));
}

#[test]
fn who_waits_for_an_answer_gets_it_before_the_stop() {
    let document = format!(r#"{{"id":1,"documentId":"{ID}","locale":"en","slug":"s"}}"#);
    let Script { acts } = Script::json(200, &format!(r#"{{"data":{document}}}"#));
    let cms = Cms::start(move |_| Script {
        acts: [Act::Pause(SHORT)].into_iter().chain(acts.clone()).collect(),
    });
    let mut service = in_front_of(&cms);
    let mut stream = connect(&service);
    let request = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", one_url());
    stream.write_all(request.as_bytes()).expect("sent");
    let begun = Instant::now();
    while cms.heads().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "the CMS is not asked");
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(service.signal("TERM"), Some(0));
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let (answer, _) = http::split(&bytes, false, true).expect("an answer");
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// So many connections that say nothing, the oldest first.
fn silent(service: &Service, count: usize) -> Vec<TcpStream> {
    (0..count).map(|_| connect(service)).collect()
}

/// In place of the limit that the test binary has.
fn with_descriptors(limit: usize) -> Setup {
    let shell = format!("ulimit -n {limit}; exec \"$0\" \"$@\"");
    Setup::fixture().behind(&["sh", "-c", &shell])
}

#[test]
fn a_silent_crowd_gives_way_to_who_has_something_to_say() {
    let service = Setup::fixture().env("FRONTEND_MAP__SERVER__CONNECTIONS", "8").start();
    let mut crowd = silent(&service, 100);
    for _ in 0..20 {
        assert_eq!(http::get(service.addr(), "/livez").status, 200);
    }
    let first = crowd.first_mut().expect("there is one");
    assert!(!answered(first), "the oldest was closed");
}

#[test]
fn who_waits_for_us_keeps_its_seat() {
    let content = Content::new(&[("en", ID, "s")]);
    content.close();
    let cms = content.start();
    let service = setup(&format!("http://{}", cms.addr()), r#""en""#, true)
        .env("FRONTEND_MAP__SERVER__CONNECTIONS", "2")
        .start();
    let mut waits = connect(&service);
    let request = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", one_url());
    waits.write_all(request.as_bytes()).expect("sent");
    until_so("the CMS is asked", || !cms.heads().is_empty());
    let crowd = silent(&service, 20);
    assert_eq!(http::get(service.addr(), "/livez").status, 200);
    content.open();
    assert!(answered(&mut waits), "it was closed");
    drop(crowd);
}

#[test]
fn who_sends_a_webhook_slowly_gives_way_and_who_sends_it_at_once_does_not() {
    let service = Setup::fixture()
        .env("FRONTEND_MAP__SERVER__CONNECTIONS", "4")
        .env("FRONTEND_MAP__HOOKS__SECRET", "a-secret-of-the-test")
        .start();
    let bodies: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = connect(&service);
            let _ = stream
                .write_all(b"POST /hooks/cms HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{");
            stream
        })
        .collect();
    assert_eq!(http::get(service.addr(), "/livez").status, 200);
    let given_way = |mut stream: TcpStream| !answered(&mut stream);
    // Nobody waits for as long as a body may take: all but the last few were closed, unanswered.
    assert!(bodies.into_iter().take(90).all(given_way), "a webhook without its body was answered");
    let headers = [("Authorization", "Bearer a-secret-of-the-test"), ("Content-Length", "0")];
    assert_eq!(http::send(service.addr(), "POST", "/hooks/cms", &headers).status, 202);
}

#[test]
fn few_descriptors_are_enough_to_serve_in_a_crowd() {
    let service = with_descriptors(64).start();
    let crowd = silent(&service, 300);
    let sitemap = "/api/build-sitemap?site=main&contentType=plugin::cms.article";
    for target in ["/livez", sitemap].into_iter().cycle().take(40) {
        assert_eq!(http::get(service.addr(), target).status, 200, "{target}");
    }
    assert!(!service.log().contains("could not be accepted"), "{}", service.log());
    drop(crowd);
}

#[test]
fn a_setting_beyond_the_descriptors_is_lowered_and_told() {
    let service = with_descriptors(64).env("FRONTEND_MAP__SERVER__CONNECTIONS", "5000").start();
    assert!(service.logs("wanted=5000 possible=16 limit=64"));
    let crowd = silent(&service, 100);
    assert_eq!(http::get(service.addr(), "/livez").status, 200);
    drop(crowd);
}
