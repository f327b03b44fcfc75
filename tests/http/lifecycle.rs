//! Start, health checks and shutdown: signals, open connections, an address in use.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::support::content::Content;
use crate::support::front_of_cms::{articles, one_url, setup};
use crate::support::http;
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

/// The longest drain delay: no test waits for its end.
const LONGEST_DELAY: (&str, &str) = ("FRONTEND_MAP__SERVER__DRAIN_DELAY_MS", "20000");

fn start_with_drain_delay() -> Service {
    Setup::fixture().env(LONGEST_DELAY.0, LONGEST_DELAY.1).start()
}

/// A connection that is kept open after one answer.
fn keep_alive_connection(service: &Service) -> TcpStream {
    let mut stream = TcpStream::connect(service.addr()).expect("the service accepts");
    assert_eq!(answer_on(&mut stream, "/livez").0.status, 200);
    stream
}

/// The answer to a request on a connection that may be kept, and whether it was closed then.
fn answer_on(stream: &mut TcpStream, target: &str) -> (http::Response, bool) {
    write!(stream, "GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    answer_from(stream)
}

/// The next answer on a connection, and whether it was closed then.
fn answer_from(stream: &mut TcpStream) -> (http::Response, bool) {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let split = http::split(&bytes, false, false);
        if let Some((response, _)) = split {
            let closes = response.header("connection").as_deref() == Some("close");
            return (response, closes && matches!(stream.read(&mut buffer), Ok(0)));
        }
        let read = stream.read(&mut buffer).expect("an answer");
        assert!(read > 0, "closed without an answer: {:?}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&buffer[..read]);
    }
}

fn is_ready(service: &Service) -> bool {
    http::get(service.addr(), "/readyz").status == 200
}

#[test]
fn sigterm_serves_for_the_drain_delay_and_closes_connections_after_their_responses() {
    let mut service = start_with_drain_delay();
    let mut connections = [keep_alive_connection(&service), keep_alive_connection(&service)];
    service.send_signal("TERM");
    until_so("it is not ready any more", || !is_ready(&service));
    let targets = ["/api/get-content-type?site=main&pathname=/en/articles/x", "/livez"];
    for (stream, target) in connections.iter_mut().zip(targets) {
        let (answer, closed) = answer_on(stream, target);
        assert_eq!((answer.status, closed), (200, true), "{target}");
        let new = http::get(service.addr(), target);
        assert_eq!((new.status, new.header("connection").as_deref()), (200, Some("close")));
    }
    // A reload still works.
    service.send_signal("HUP");
    assert!(service.logs("the settings are reloaded"));
    assert_eq!(http::get(service.addr(), "/readyz").text(), "draining\n");
    // A second signal ends the drain delay.
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(service.logs("a second signal"), "the log says why");
}

#[test]
fn draining_service_closes_http_1_0_connections_as_well() {
    let service = start_with_drain_delay();
    let targets = ["/api/get-content-type?site=main&pathname=/en/articles/x", "/livez"];
    let request = |target: &str| {
        let mut stream = TcpStream::connect(service.addr()).expect("the service accepts");
        write!(stream, "GET {target} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").expect("sent");
        stream
    };
    let kept = targets.map(|target| {
        let mut stream = request(target);
        let (answer, _) = answer_from(&mut stream);
        assert_eq!(answer.header("connection").as_deref(), Some("keep-alive"), "{target}");
        stream
    });
    service.send_signal("TERM");
    until_so("it is not ready any more", || !is_ready(&service));
    for target in targets {
        let mut bytes = Vec::new();
        request(target).read_to_end(&mut bytes).expect("it is closed");
        let head = String::from_utf8_lossy(&bytes).to_lowercase();
        let connection: Vec<&str> =
            head.lines().filter(|line| line.starts_with("connection:")).collect();
        assert_eq!(connection, ["connection: close"], "{target}");
        assert!(head.starts_with("http/1.0 200"), "{head}");
    }
    drop(kept);
}

#[test]
fn sigterm_ends_the_service_after_the_drain_delay() {
    let mut service = Setup::fixture().env(LONGEST_DELAY.0, "50").start();
    let _kept = keep_alive_connection(&service);
    assert_eq!(service.signal("TERM"), Some(0));
    let log = service.log();
    let at = |text: &str| log.find(text).unwrap_or_else(|| panic!("{text}: {log}"));
    assert!(at("stopping") < at("no more connections"), "{log}");
    assert!(at("no more connections") < at("stopped"), "{log}");
}

#[test]
fn sigint_ends_the_service_without_the_drain_delay() {
    let mut service = start_with_drain_delay();
    assert_eq!(service.signal("INT"), Some(0));
    assert!(service.logs("delay_ms=0"), "it waited for the delay: {}", service.log());
    let mut service = start_with_drain_delay();
    service.send_signal("TERM");
    assert!(service.logs("stopping"));
    assert_eq!(service.signal("INT"), Some(0));
}

#[test]
fn request_in_flight_is_aborted_at_the_end_of_the_grace_period() {
    let content = Content::new(&[]);
    content.close();
    let cms = content.start();
    let mut service = setup(&articles().strapi(&cms))
        .env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "600000")
        .env("FRONTEND_MAP__LIMITS__DOCUMENT_DEADLINE_MS", "600000")
        .start();
    let mut stream = TcpStream::connect(service.addr()).expect("the service accepts");
    write!(stream, "GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", one_url()).expect("sent");
    until_so("there is a request to the CMS", || !cms.heads().is_empty());
    let begun = Instant::now();
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(begun.elapsed() >= Duration::from_secs(25), "it did not wait for the answer");
    assert!(service.logs("still in flight"));
}

#[test]
fn health_needs_only_the_address_of_the_settings() {
    let service = Setup::fixture().start();
    let addr = service.addr().to_string();
    let in_environment = Setup::new("[[[ broken").env("FRONTEND_MAP__SERVER__LISTEN", &addr);
    assert_eq!(in_environment.run(&["health"]).status, Some(0));
    let wrong = format!("[server]\nlisten = \"{addr}\"\n[limits]\nnonsense = 1\n");
    assert_eq!(Setup::new(&wrong).run(&["health"]).status, Some(0));
}

#[test]
fn sigterm_ends_the_service_with_exit_status_0() {
    assert_eq!(Setup::fixture().start().signal("TERM"), Some(0));
}

#[test]
fn sigint_ends_the_service_with_exit_status_0() {
    assert_eq!(Setup::fixture().start().signal("INT"), Some(0));
}

#[test]
fn livez_and_readyz_return_200_while_it_serves() {
    let service = Setup::fixture().start();
    for route in ["/livez", "/readyz"] {
        for method in ["GET", "HEAD"] {
            let answer = http::send(service.addr(), method, route, &[]);
            assert_eq!(answer.status, 200, "{method} {route}");
            assert!(answer.body.len() <= 256, "{method} {route} is small");
            assert_eq!(
                answer.header("x-content-type-options").as_deref(),
                Some("nosniff"),
                "{method} {route}"
            );
        }
    }
}

#[test]
fn silent_and_half_sent_requests_do_not_delay_the_shutdown() {
    let mut service = Setup::fixture().start();
    let silent = TcpStream::connect(service.addr()).expect("the service accepts");
    let mut half = TcpStream::connect(service.addr()).expect("the service accepts");
    half.write_all(b"GET /livez HTTP/1.1\r\nHost: loc").expect("sent");
    let mut idle = TcpStream::connect(service.addr()).expect("the service accepts");
    idle.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    // The service has accepted these before it answers a later request.
    assert_eq!(http::get(service.addr(), "/livez").status, 200);
    assert_eq!(service.signal("TERM"), Some(0));
    drop((silent, half, idle));
}

/// Requests that the system has received while the process did not run, on connections that wait for
/// their next request and on ones that nothing has accepted yet.
#[test]
fn requests_that_have_arrived_at_a_stop_are_answered() {
    let mut service = Setup::fixture().env(LONGEST_DELAY.0, "0").start();
    let mut streams: Vec<TcpStream> = (0..20).map(|_| keep_alive_connection(&service)).collect();
    service.send_signal("STOP");
    let stat = format!("/proc/{}/stat", service.pid());
    until_so("it does not run", || {
        std::fs::read_to_string(&stat).expect("a process").contains(") T ")
    });
    streams.extend((0..20).map(|_| TcpStream::connect(service.addr()).expect("a connection")));
    for stream in &mut streams {
        let request = "GET /api/get-content-type?site=main&pathname=/en/articles/x HTTP/1.1\r\n\
                       Host: localhost\r\n\r\n";
        stream.write_all(request.as_bytes()).expect("sent");
    }
    service.send_signal("TERM");
    service.send_signal("CONT");
    for stream in &mut streams {
        assert_eq!(answer_from(stream).0.status, 200);
    }
    assert_eq!(service.wait(), Some(0));
}

#[test]
fn stopped_service_does_not_listen() {
    let mut service = Setup::fixture().start();
    let addr = service.addr();
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(TcpStream::connect(addr).is_err(), "{addr} is still open");
}

#[test]
fn address_in_use_is_an_error_that_names_it() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addr = taken.local_addr().expect("an address").to_string();
    let ended = Setup::fixture().env("FRONTEND_MAP__SERVER__LISTEN", &addr).run(&["serve"]);
    assert!(!matches!(ended.status, None | Some(0)), "status {:?}", ended.status);
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains(&addr), "{}", ended.stderr);
}

#[test]
fn requests_are_not_logged_by_default() {
    let mut service = Setup::fixture().start();
    let marker = "/api/get-content-type?pathname=/en/articles/marker-in-no-log&site=main";
    assert_eq!(http::get(service.addr(), marker).status, 200);
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(!service.log().contains("marker-in-no-log"), "{}", service.log());
}

fn listening(address: &str) -> Setup {
    Setup::fixture().env("FRONTEND_MAP__SERVER__LISTEN", address)
}

fn has_ipv6() -> bool {
    let has = TcpListener::bind("[::1]:0").is_ok();
    if !has {
        eprintln!("skipped: this machine has no IPv6");
    }
    has
}

#[test]
fn listening_on_all_ipv6_addresses_accepts_ipv4_too() {
    if !has_ipv6() {
        return;
    }
    let service = listening("[::]:0").start();
    for host in ["127.0.0.1", "[::1]"] {
        let address = format!("{host}:{}", service.addr().port());
        assert_eq!(http::get(address.parse().unwrap(), "/livez").status, 200, "{address}");
        // The address as in the settings, with the bound port.
        let all = format!("[::]:{}", service.addr().port());
        assert_eq!(listening(&all).run(&["health"]).status, Some(0));
    }
}

#[test]
fn listening_on_one_ipv6_address_does_not_accept_ipv4() {
    if !has_ipv6() {
        return;
    }
    let is_alone = || {
        let service = listening("[::1]:0").start();
        assert_eq!(http::get(service.addr(), "/livez").status, 200);
        assert_eq!(listening(&service.addr().to_string()).run(&["health"]).status, Some(0));
        TcpStream::connect(("127.0.0.1", service.addr().port())).is_err()
    };
    // Another test may listen on the same port of IPv4, but hardly five times in a row.
    assert!((0..5).any(|_| is_alone()), "IPv4 is not accepted");
}
