//! Starting, being asked for health, and ending: signals, open connections, a taken port.

use std::io::Write;
use std::net::{TcpListener, TcpStream};

use crate::support::http;
use crate::support::service::Setup;

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
