//! The pages of the scripted frontend for URL checks.

use super::front_end::{Answer, FrontEnd, answer};

/// Pages by the name before the first digit of the path.
pub(crate) fn script(path: &str) -> Answer {
    match path.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "/ok" => answer("200 OK", "", 5),
        "/once" => Answer::KeepOnce("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".into()),
        "/ten-kilobytes" => answer("200 OK", "", 10_000),
        "/one-mebibyte" => answer("200 OK", "", 1 << 20),
        "/just-drained" => answer("200 OK", "", 256 * 1024),
        "/empty" => Answer::Keep("HTTP/1.1 204 No Content\r\n\r\n".into()),
        "/moved" => answer("301 Moved Permanently", "Location: /en/new\r\n", 0),
        "/moved-nowhere" => answer("302 Found", "", 0),
        "/unchanged" => {
            Answer::Keep("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n".into())
        }
        "/created" => answer("201 Created", "Location: /en/new\r\n", 0),
        "/missing" => answer("404 Not Found", "", 5),
        "/broken" => answer("500 Internal Server Error", "", 5),
        "/down" => answer("503 Service Unavailable", "Retry-After: 1\r\n", 0),
        "/switching" => Answer::Close("HTTP/1.1 101 Switching Protocols\r\n\r\n".into()),
        "/odd" => answer("999 Request denied", "", 0),
        "/cut-off" => Answer::Close("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfive!".into()),
        "/endless" => Answer::Endless("HTTP/1.1 200 OK\r\n\r\nx".into()),
        "/stalled-body" => Answer::Keep("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx".into()),
        "/latin" => Answer::Close(b"HTTP/1.1 302 Found\r\nLocation: /caf\xe9\r\n\r\n".into()),
        "/far" => answer("302 Found", &format!("Location: /{}\r\n", "ä".repeat(3000)), 0),
        "/cookies" => answer("200 OK", &"Set-Cookie: a=b\r\n".repeat(300), 5),
        "/folded" => answer("200 OK", "X-A: a\r\n b\r\n", 5),
        "/spaced" => answer("200 OK", "X-A : a\r\n", 5),
        "/malformed" => answer("302 Found", "X A: a\r\nX-B: a\x01b\r\nLocation: /new\r\n", 5),
        "/hang" => Answer::Hang,
        "/reset" => Answer::Reset,
        "/silent" => Answer::Close(Vec::new()),
        "/not-http" => Answer::Close("220 mail.example.com ESMTP\r\n".into()),
        other => panic!("the script has no {other}"),
    }
}

/// `count` URLs with different paths that start with `name`.
pub(crate) fn urls(peer: &FrontEnd, name: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| peer.url("http", &format!("/{name}{n}"))).collect()
}
