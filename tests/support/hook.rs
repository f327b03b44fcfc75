//! Requests to the webhook of a service.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::http::{self, Response};
use super::service::Service;

pub(crate) const HOOK: &str = "/hooks/cms";
pub(crate) const SECRET: &str = "canary-2b81f0-secret";
pub(crate) const BEARER: (&str, &str) = ("Authorization", "Bearer canary-2b81f0-secret");

pub(crate) fn post(service: &Service, headers: &[(&str, &str)]) -> Response {
    let headers = [headers, &[("Content-Length", "0")]].concat();
    http::send(service.addr(), "POST", HOOK, &headers)
}

/// `POST` with a body, on a connection of its own; the answer's bytes.
pub(crate) fn post_body(service: &Service, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(service.addr()).expect("the service accepts");
    let head = format!(
        "POST {HOOK} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}: {}\r\nContent-Length: {}\r\n\r\n",
        BEARER.0,
        BEARER.1,
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("the head is read");
    stream.write_all(body).expect("the body is read to its end");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}
