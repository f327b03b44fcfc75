//! Starting, being asked for health, and ending: signals, open connections, a taken port.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::support::content::Content;
use crate::support::front_of_cms::{one_url, setup};
use crate::support::http;
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

/// As long as it may be: no test waits for its end.
const LONGEST_DELAY: (&str, &str) = ("FRONTEND_MAP__SERVER__DRAIN_DELAY_MS", "20000");

fn with_a_delay() -> Service {
    Setup::fixture().env(LONGEST_DELAY.0, LONGEST_DELAY.1).start()
}

/// A connection that is kept after one answer.
fn kept(service: &Service) -> TcpStream {
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
fn after_sigterm_it_answers_on_and_moves_its_callers_away() {
    let mut service = with_a_delay();
    let mut connections = [kept(&service), kept(&service)];
    service.tell("TERM");
    until_so("it is not ready any more", || !is_ready(&service));
    let targets = ["/api/get-content-type?site=main&pathname=/en/articles/x", "/livez"];
    for (stream, target) in connections.iter_mut().zip(targets) {
        let (answer, closed) = answer_on(stream, target);
        assert_eq!((answer.status, closed), (200, true), "{target}");
        let new = http::get(service.addr(), target);
        assert_eq!((new.status, new.header("connection").as_deref()), (200, Some("close")));
    }
    // Nobody's settings matter now.
    service.tell("HUP");
    assert!(service.logs("the settings are reloaded"));
    assert_eq!(http::get(service.addr(), "/readyz").text(), "draining\n");
    // Who stops it once more does not want to wait for the delay.
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(service.logs("a second signal"), "it says why");
}

#[test]
fn on_its_way_out_it_keeps_no_connection_of_1_0_either() {
    let service = with_a_delay();
    let targets = ["/api/get-content-type?site=main&pathname=/en/articles/x", "/livez"];
    let ask = |target: &str| {
        let mut stream = TcpStream::connect(service.addr()).expect("the service accepts");
        write!(stream, "GET {target} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").expect("sent");
        stream
    };
    let kept = targets.map(|target| {
        let mut stream = ask(target);
        let (answer, _) = answer_from(&mut stream);
        assert_eq!(answer.header("connection").as_deref(), Some("keep-alive"), "{target}");
        stream
    });
    service.tell("TERM");
    until_so("it is not ready any more", || !is_ready(&service));
    for target in targets {
        let mut bytes = Vec::new();
        ask(target).read_to_end(&mut bytes).expect("it is closed");
        let head = String::from_utf8_lossy(&bytes).to_lowercase();
        let said: Vec<&str> = head.lines().filter(|line| line.starts_with("connection:")).collect();
        assert_eq!(said, ["connection: close"], "{target}");
        assert!(head.starts_with("http/1.0 200"), "{head}");
    }
    drop(kept);
}

#[test]
fn the_delay_is_followed_by_the_end() {
    let mut service = Setup::fixture().env(LONGEST_DELAY.0, "50").start();
    let _kept = kept(&service);
    assert_eq!(service.signal("TERM"), Some(0));
    let log = service.log();
    let at = |text: &str| log.find(text).unwrap_or_else(|| panic!("{text}: {log}"));
    assert!(at("stopping") < at("no more connections"), "{log}");
    assert!(at("no more connections") < at("stopped"), "{log}");
}

#[test]
fn a_person_at_a_terminal_does_not_wait_for_the_delay() {
    let mut service = with_a_delay();
    assert_eq!(service.signal("INT"), Some(0));
    assert!(service.log().contains("delay_ms=0"), "it waited for the delay: {}", service.log());
    let mut service = with_a_delay();
    service.tell("TERM");
    assert!(service.logs("stopping"));
    assert_eq!(service.signal("INT"), Some(0));
}

#[test]
fn whatever_is_in_flight_the_end_comes_with_status_0() {
    let content = Content::new(&[]);
    content.close();
    let cms = content.start();
    let mut service = setup(&format!("http://{}", cms.addr()), r#""en""#, true)
        .env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "600000")
        .env("FRONTEND_MAP__LIMITS__DOCUMENT_DEADLINE_MS", "600000")
        .start();
    let mut stream = TcpStream::connect(service.addr()).expect("the service accepts");
    write!(stream, "GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", one_url()).expect("sent");
    until_so("the CMS is asked", || !cms.heads().is_empty());
    let begun = Instant::now();
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(begun.elapsed() >= Duration::from_secs(25), "it did not wait for the answer");
    assert!(service.logs("still in flight"));
}

#[test]
fn health_needs_no_more_than_the_address() {
    let service = Setup::fixture().start();
    let addr = service.addr().to_string();
    let told = Setup::new("[[[ broken").env("FRONTEND_MAP__SERVER__LISTEN", &addr);
    assert_eq!(told.run(&["health"]).status, Some(0));
    let wrong = format!("[server]\nlisten = \"{addr}\"\n[limits]\nnonsense = 1\n");
    assert_eq!(Setup::new(&wrong).run(&["health"]).status, Some(0));
}

#[test]
fn sigterm_ends_the_service_with_status_0() {
    assert_eq!(Setup::fixture().start().signal("TERM"), Some(0));
}

#[test]
fn sigint_ends_the_service_with_status_0() {
    assert_eq!(Setup::fixture().start().signal("INT"), Some(0));
}

#[test]
fn livez_and_readyz_answer_200_while_it_serves() {
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
fn connections_that_say_nothing_or_half_a_request_do_not_stop_the_shutdown() {
    let mut service = Setup::fixture().start();
    let silent = TcpStream::connect(service.addr()).expect("the service accepts");
    let mut half = TcpStream::connect(service.addr()).expect("the service accepts");
    half.write_all(b"GET /livez HTTP/1.1\r\nHost: loc").expect("sent");
    let mut idle = TcpStream::connect(service.addr()).expect("the service accepts");
    idle.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    // A whole request after these: the service has seen them.
    assert_eq!(http::get(service.addr(), "/livez").status, 200);
    assert_eq!(service.signal("TERM"), Some(0));
    drop((silent, half, idle));
}

#[test]
fn a_stopped_service_accepts_no_more() {
    let mut service = Setup::fixture().start();
    let addr = service.addr();
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(TcpStream::connect(addr).is_err(), "nobody listens on {addr}");
}

#[test]
fn a_taken_port_is_an_error_that_names_the_address() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addr = taken.local_addr().expect("an address").to_string();
    let ended = Setup::fixture().env("FRONTEND_MAP__SERVER__LISTEN", &addr).run(&["serve"]);
    assert!(!matches!(ended.status, None | Some(0)), "status {:?}", ended.status);
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains(&addr), "{}", ended.stderr);
}

#[test]
fn by_default_no_request_shows_in_the_log() {
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
fn all_addresses_of_ipv6_are_those_of_ipv4_too() {
    if !has_ipv6() {
        return;
    }
    let service = listening("[::]:0").start();
    for host in ["127.0.0.1", "[::1]"] {
        let address = format!("{host}:{}", service.addr().port());
        assert_eq!(http::get(address.parse().unwrap(), "/livez").status, 200, "{address}");
        // As in the settings, with the port that was given.
        let all = format!("[::]:{}", service.addr().port());
        assert_eq!(listening(&all).run(&["health"]).status, Some(0));
    }
}

#[test]
fn one_address_of_ipv6_is_that_alone() {
    if !has_ipv6() {
        return;
    }
    let is_alone = || {
        let service = listening("[::1]:0").start();
        assert_eq!(http::get(service.addr(), "/livez").status, 200);
        assert_eq!(listening(&service.addr().to_string()).run(&["health"]).status, Some(0));
        TcpStream::connect(("127.0.0.1", service.addr().port())).is_err()
    };
    // Another test may have been given the same port of IPv4, but not each time.
    assert!((0..5).any(|_| is_alone()), "nobody listens there");
}
