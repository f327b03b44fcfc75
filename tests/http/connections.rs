//! The timeouts, the shutdown and the eviction of connections whose clients are silent, send half a
//! request or do not read.
//!
//! No test depends on the speed of the machine: what must happen has a minute, and what must not
//! happen would show in a later answer.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{ID, articles, in_front_of, one_url, setup};
use crate::support::http;
use crate::support::script::{Act, Script};
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

/// How long anything may take before the test fails.
const TEST_TIMEOUT: Duration = Duration::from_mins(1);
/// A timeout that a test waits for.
const SHORT: Duration = Duration::from_millis(800);
/// A timeout that no test waits for.
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
    stream.set_read_timeout(Some(TEST_TIMEOUT)).expect("a socket");
    stream
}

/// Reads one answer; false: the connection was closed instead.
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

/// A connection on which these bytes got an answer. On a busy machine the first attempt may time out.
fn used(service: &Service, bytes: &[u8]) -> (TcpStream, Instant) {
    for _ in 0..100 {
        let mut stream = connect(service);
        let sent = Instant::now();
        if stream.write_all(bytes).is_ok() && answered(&mut stream) {
            return (stream, sent);
        }
    }
    panic!("no answer in 100 attempts");
}

/// Sends these bytes one by one, again and again, until the connection is closed.
fn drip(stream: &mut TcpStream, bytes: &[u8]) {
    let begun = Instant::now();
    stream.set_read_timeout(Some(SHORT / 8)).expect("a socket");
    for byte in bytes.iter().cycle() {
        let closed = match stream.read(&mut [0; 1]) {
            Err(error) => !is_timeout(&error),
            Ok(read) => {
                assert_eq!(read, 0, "there is no complete request to answer");
                true
            }
        };
        if closed || stream.write_all(&[*byte]).is_err() {
            return;
        }
        assert!(begun.elapsed() < TEST_TIMEOUT, "the connection stays");
    }
}

#[test]
fn head_timeout_of_the_first_request_counts_from_the_accept() {
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
fn head_timeout_is_not_extended_by_single_bytes() {
    let service = start(SHORT, LONG, LONG);
    drip(&mut connect(&service), b"X-A: b\r\n");
    let (mut stream, _) = used(&service, RESOLVE);
    drip(&mut stream, b"GET /livez HTTP/1.1\r\nX-A");
    let (mut stream, _) = used(&service, RESOLVE);
    // Empty lines, complete and not.
    drip(&mut stream, b"\r\n\n");
}

#[test]
fn head_timeout_of_a_later_request_counts_from_its_first_byte() {
    let service = start(SHORT, LONG, LONG);
    for request in [REQUEST, RESOLVE] {
        // Behind a complete request, in one write.
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
fn idle_connections_stay_open_beyond_the_head_timeout() {
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
fn idle_connections_are_closed_after_the_idle_timeout() {
    let service = start(LONG, SHORT, LONG);
    for request in [REQUEST, RESOLVE] {
        let (mut stream, sent) = used(&service, request);
        assert!(!answered(&mut stream));
        assert!(sent.elapsed() >= SHORT);
    }
}

#[test]
fn client_that_does_not_read_is_closed_after_the_write_timeout() {
    let service = start(LONG, LONG, SHORT);
    let pathname = "/x".repeat(1000);
    let request = format!(
        "GET /api/get-content-type?site=main&pathname={pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    );
    let mut stream = connect(&service);
    stream.set_write_timeout(Some(TEST_TIMEOUT)).expect("a socket");
    let begun = Instant::now();
    // The answers fill both ends' buffers, then the requests do: writing waits for the close.
    let error = loop {
        if let Err(error) = stream.write_all(request.as_bytes()) {
            break error;
        }
        assert!(begun.elapsed() < TEST_TIMEOUT, "writing never blocks");
    };
    assert!(!is_timeout(&error), "{error}");
    assert!(begun.elapsed() >= SHORT);
}

/// With content whose list of URLs has a hundred kilobytes.
fn with_a_long_list() -> Setup {
    let documents: Vec<String> = (0..2000)
        .map(|n| format!(r#"{{"documentId":"d{n}","locale":"en","slug":"a-slug-{n}"}}"#))
        .collect();
    let content = format!(r#"{{"plugin::cms.article":[{}]}}"#, documents.join(","));
    Setup::fixture().file("content.json", &content)
}

/// A client that requests more than all buffers hold and does not read. The service reads all its
/// requests at once, so a reset is not one for unread requests.
fn client_that_does_not_read(service: &Service) -> TcpStream {
    let list = "GET /api/build-sitemap?site=main&contentType=plugin::cms.article HTTP/1.1\r\n\
                Host: localhost\r\n\r\n";
    let mut stream = connect(service);
    stream.write_all(list.repeat(60).as_bytes()).expect("sent");
    stream
}

#[test]
fn client_that_does_not_read_is_reset_after_the_write_timeout() {
    let short = SHORT.as_millis().to_string();
    let service = with_a_long_list().env("FRONTEND_MAP__LIMITS__WRITE_TIMEOUT_MS", &short).start();
    let stream = client_that_does_not_read(&service);
    let begun = Instant::now();
    let error = loop {
        if let Some(error) = stream.take_error().expect("a socket") {
            break error;
        }
        assert!(begun.elapsed() < TEST_TIMEOUT, "the connection is not reset");
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert!(begun.elapsed() >= SHORT);
}

/// The bytes that the system has queued for this client (proc(5), `/proc/net/tcp`).
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
fn system_queues_at_most_512_kib_for_a_client_that_does_not_read() {
    let service = with_a_long_list().start();
    let stream = client_that_does_not_read(&service);
    let mut last = 0;
    until_so("the queue does not grow", || {
        let before = std::mem::replace(&mut last, queued(&stream));
        last > 0 && last == before
    });
    assert!(last < 512 << 10, "{last} bytes");
}

#[test]
fn client_that_does_not_read_delays_the_shutdown_for_seconds_only() {
    let mut service = with_a_long_list().start();
    let stream = client_that_does_not_read(&service);
    // The answer has begun, and the client does not read the rest.
    assert_ne!(stream.peek(&mut [0]).expect("an answer"), 0);
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(!service.log().contains("still in flight"), "it waited until the end");
}

#[test]
fn connections_without_a_request_in_flight_do_not_delay_the_shutdown() {
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
fn request_in_flight_is_answered_before_the_shutdown() {
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
        assert!(begun.elapsed() < TEST_TIMEOUT, "there is no request to the CMS");
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(service.signal("TERM"), Some(0));
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let (answer, _) = http::split(&bytes, false, true).expect("an answer");
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// Silent connections, the oldest first.
fn silent(service: &Service, count: usize) -> Vec<TcpStream> {
    (0..count).map(|_| connect(service)).collect()
}

/// With this limit of file descriptors.
fn with_fd_limit(limit: usize) -> Setup {
    let shell = format!("ulimit -n {limit}; exec \"$0\" \"$@\"");
    Setup::fixture().behind(&["sh", "-c", &shell])
}

#[test]
fn silent_connections_are_evicted_for_new_ones_at_the_connection_limit() {
    let service = Setup::fixture().env("FRONTEND_MAP__SERVER__CONNECTIONS", "8").start();
    let mut silent_connections = silent(&service, 100);
    for _ in 0..20 {
        assert_eq!(http::get(service.addr(), "/livez").status, 200);
    }
    let first = silent_connections.first_mut().expect("there is one");
    assert!(!answered(first), "the oldest was closed");
}

#[test]
fn connection_with_a_request_in_flight_is_not_evicted() {
    let content = Content::new(&[("en", ID, "s")]);
    content.close();
    let cms = content.start();
    let service =
        setup(&articles().strapi(&cms)).env("FRONTEND_MAP__SERVER__CONNECTIONS", "2").start();
    let mut waits = connect(&service);
    let request = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", one_url());
    waits.write_all(request.as_bytes()).expect("sent");
    until_so("there is a request to the CMS", || !cms.heads().is_empty());
    let silent_connections = silent(&service, 20);
    assert_eq!(http::get(service.addr(), "/livez").status, 200);
    content.open();
    assert!(answered(&mut waits), "it was closed");
    drop(silent_connections);
}

#[test]
fn connection_that_waits_for_a_request_body_is_evicted() {
    let service = Setup::fixture()
        .env("FRONTEND_MAP__SERVER__CONNECTIONS", "4")
        .env("FRONTEND_MAP__HOOKS__SECRET", "a-secret-of-the-test")
        .start();
    // The service waits five seconds for a body. Where the connections took as long, some were answered.
    let within_the_deadline = (0..5).find_map(|_| {
        let begun = Instant::now();
        let bodies: Vec<TcpStream> = (0..100)
            .map(|_| {
                let mut stream = connect(&service);
                let _ = stream.write_all(
                    b"POST /hooks/cms HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
                );
                stream
            })
            .collect();
        assert_eq!(http::get(service.addr(), "/livez").status, 200);
        (begun.elapsed() < Duration::from_secs(5)).then_some(bodies)
    });
    let bodies = within_the_deadline.expect("connections are closed before the deadline");
    let is_evicted = |mut stream: TcpStream| !answered(&mut stream);
    // Without waiting for the deadline of a body: all but the last few were closed without an answer.
    assert!(bodies.into_iter().take(90).all(is_evicted), "a webhook without its body was answered");
    let headers = [("Authorization", "Bearer a-secret-of-the-test"), ("Content-Length", "0")];
    assert_eq!(http::send(service.addr(), "POST", "/hooks/cms", &headers).status, 202);
}

#[test]
fn silent_connections_do_not_exhaust_a_low_limit_of_file_descriptors() {
    let service = with_fd_limit(64).start();
    let silent_connections = silent(&service, 300);
    let sitemap = "/api/build-sitemap?site=main&contentType=plugin::cms.article";
    for target in ["/livez", sitemap].into_iter().cycle().take(40) {
        assert_eq!(http::get(service.addr(), target).status, 200, "{target}");
    }
    assert!(!service.log().contains("could not be accepted"), "{}", service.log());
    drop(silent_connections);
}

#[test]
fn serve_refuses_a_limit_of_file_descriptors_with_which_it_could_not_respond() {
    let ended = with_fd_limit(12).run(&["serve"]);
    let expected =
        "the limit of file descriptors is 12, and the service needs at least 20: raise it";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(1), ""));
    let service = with_fd_limit(20).start();
    for target in ["/livez", "/api/build-sitemap?site=main&contentType=plugin::cms.article"] {
        assert_eq!(http::get(service.addr(), target).status, 200, "{target}");
    }
}

#[test]
fn connection_limit_above_the_limit_of_file_descriptors_is_lowered_with_a_warning() {
    let service = with_fd_limit(64).env("FRONTEND_MAP__SERVER__CONNECTIONS", "5000").start();
    assert!(service.logs("wanted=5000 possible=16 limit=64"));
    let silent_connections = silent(&service, 100);
    assert_eq!(http::get(service.addr(), "/livez").status, 200);
    drop(silent_connections);
}
