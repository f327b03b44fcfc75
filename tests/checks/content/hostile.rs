//! Pages that are too long, never end, arrive too slowly, or have another encoding.

use std::io::Write as _;
use std::time::{Duration, Instant};

use super::{HTML, faults, front_end, judge, not_found, page, posts};
use crate::support::front_end::{Answer, with_body};
use crate::support::gzip::gzip_bomb;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn utf16(text: &str) -> Vec<u8> {
    ["\u{feff}", text].concat().encode_utf16().flat_map(u16::to_be_bytes).collect()
}

fn script(base: &str, target: &str) -> Answer {
    let fine = page(base, target);
    let endless = |headers: &str| {
        let head = format!("HTTP/1.1 200 OK\r\n{HTML}{headers}\r\n{fine}");
        Answer::Endless(head.into_bytes())
    };
    let (start, rest) = fine.split_at(fine.find("<link").unwrap());
    let nested = "<b><i><div><table><svg><title>x</title>".repeat(300_000);
    match target.rsplit('/').next().unwrap() {
        "long" => with_body("200 OK", HTML, fine.clone() + &nested),
        "endless" => endless(""),
        "drip" => Answer::Drip(format!("HTTP/1.1 200 OK\r\n{HTML}\r\n{start}").into_bytes()),
        "long-head" => {
            let style = format!("<style>{}</style>", "a{}".repeat(50_000));
            with_body("200 OK", HTML, [start, &style, rest].concat())
        }
        "breaks-off" => {
            let head = format!("HTTP/1.1 200 OK\r\n{HTML}Content-Length: 100000\r\n\r\n{start}");
            Answer::Close(head.into_bytes())
        }
        "utf-16" => with_body("200 OK", "Content-Type: text/html\r\n", utf16(&fine)),
        "gzip" => {
            with_body("200 OK", &format!("{HTML}Content-Encoding: gzip\r\n"), gzip(fine.as_bytes()))
        }
        "bomb" => {
            with_body("200 OK", &format!("{HTML}Content-Encoding: gzip\r\n"), gzip_bomb(50 << 20))
        }
        "binary" => with_body("200 OK", HTML, (0..=255).cycle().take(200_000).collect::<Vec<u8>>()),
        "pdf" => with_body("200 OK", "Content-Type: application/pdf\r\n", "%PDF"),
        "empty" => with_body("200 OK", HTML, ""),
        "created" => with_body("201 Created", HTML, ""),
        _ => not_found(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_pages_are_judged_as_far_as_they_can_be_read() {
    let peer = front_end(script).await;
    let base = peer.url("http", "");
    let pages = [
        ("long", vec![]),
        ("endless", vec![]),
        ("drip", vec!["unread"]),
        ("long-head", vec!["unread"]),
        ("breaks-off", vec!["unread"]),
        ("utf-16", vec![]),
        ("gzip", vec![]),
        ("bomb", vec!["canonical_missing"]),
        ("binary", vec!["canonical_missing"]),
        ("pdf", vec![]),
        ("empty", vec!["canonical_missing", "title_absent"]),
        ("created", vec![]),
    ];
    let setup = posts(&base, pages.iter().map(|(slug, _)| (*slug).to_owned()));
    let begun = Instant::now();
    let (report, _) = tokio::task::block_in_place(|| judge(&setup));
    // What arrives one byte at a time ends by the time limit of a check.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    for (path, kinds) in faults(&report, &base) {
        let slug = path.rsplit('/').next().unwrap();
        let expected = pages.iter().find(|(own, _)| *own == slug).unwrap();
        assert_eq!(kinds, expected.1, "{path}");
    }
    assert_eq!(report["count"], 2 * pages.len());
    assert_eq!(report["byClass"]["2xx"], 2 * pages.len());
}
