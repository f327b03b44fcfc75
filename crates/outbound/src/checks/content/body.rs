//! The body of a page that answers 200: so much of it as is judged, within a time limit.

use std::io::Read;
use std::time::Instant;

use flate2::read::MultiGzDecoder;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LINK};
use tokio::time::timeout_at;

use super::MAX_PAGE_BYTES;
use super::charset::{self, decode};
use super::html;
use super::judge::{ReadHtml, ReadPage};
use super::link_header::HeaderLinks;

const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// Bytes at the beginning of a page in which its HTML declares its encoding (HTML standard, section
/// 4.2.5.4).
const DECLARED_WITHIN: usize = 1024;

/// A page that answered 200, as it was received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::checks) struct Page {
    robots_tags: Vec<String>,
    links: HeaderLinks,
    body: Body,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Body {
    /// It is not HTML, and was not read.
    #[default]
    Other,
    Html {
        bytes: Vec<u8>,
        charset: Option<String>,
        is_cut: bool,
    },
    /// Why it could not be read.
    Unread(&'static str),
}

/// Reads a page until it ends, there is enough of it, or the time is over. The rest of the response is
/// returned where its connection may be reused.
pub(in crate::checks) async fn read_page(
    mut response: Response,
    until: Instant,
) -> (Page, Option<Response>) {
    let headers = response.headers();
    let texts =
        |name| headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let mut page =
        Page { robots_tags: texts(X_ROBOTS_TAG).map(Into::into).collect(), ..Page::default() };
    for value in texts(LINK) {
        page.links.add(&value);
    }
    let media_type = texts(CONTENT_TYPE).next().unwrap_or_default().into_owned();
    if media_type.is_empty() {
        page.body = Body::Unread("it has no Content-Type");
    }
    if !is_html(&media_type) {
        return (page, Some(response));
    }
    let is_gzip = match content_encoding(headers).as_str() {
        "" | "identity" => false,
        "gzip" | "x-gzip" => true,
        _ => {
            page.body = Body::Unread("its encoding is neither gzip nor identity");
            return (page, Some(response));
        }
    };
    let charset = charset::of_media_type(&media_type);
    let (bytes, end) = read_bytes(&mut response, until).await;
    page.body = match end {
        End::Broken => Body::Unread("the body broke off"),
        End::TooSlow => Body::Unread("the body did not arrive in time"),
        End::Complete | End::Enough if is_gzip => match decompress(&bytes, end == End::Enough) {
            Some((bytes, is_cut)) => Body::Html { bytes, charset, is_cut },
            None => Body::Unread("its gzip is malformed"),
        },
        End::Complete | End::Enough => Body::Html { bytes, charset, is_cut: end == End::Enough },
    };
    (page, Some(response).filter(|_| end == End::Enough))
}

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Complete,
    /// There is more of it.
    Enough,
    Broken,
    TooSlow,
}

async fn read_bytes(response: &mut Response, until: Instant) -> (Vec<u8>, End) {
    let mut bytes = Vec::new();
    loop {
        match timeout_at(until.into(), response.chunk()).await {
            Err(_) => return (bytes, End::TooSlow),
            Ok(Err(_)) => return (bytes, End::Broken),
            Ok(Ok(None)) => return (bytes, End::Complete),
            Ok(Ok(Some(chunk))) => {
                let room = MAX_PAGE_BYTES - bytes.len();
                bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    return (bytes, End::Enough);
                }
            }
        }
    }
}

/// The first bytes of what was compressed, and whether there are more; `None` if it is malformed.
fn decompress(gzip: &[u8], is_cut: bool) -> Option<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let mut decoder = MultiGzDecoder::new(gzip).take(MAX_PAGE_BYTES as u64 + 1);
    let read = decoder.read_to_end(&mut bytes);
    let is_longer = bytes.len() > MAX_PAGE_BYTES;
    bytes.truncate(MAX_PAGE_BYTES);
    // The end of what was cut off is missing.
    (read.is_ok() || is_longer || is_cut).then_some((bytes, is_longer || is_cut))
}

fn is_html(media_type: &str) -> bool {
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|html| media_type.eq_ignore_ascii_case(html))
}

fn content_encoding(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().trim().to_ascii_lowercase()
}

impl Page {
    /// What the page says, and why its body could not be read. What the headers say is known in any case.
    pub(super) fn read(self) -> (ReadPage, Option<&'static str>) {
        let Self { robots_tags, links, body } = self;
        let (html, unread) = match body {
            Body::Other => (None, None),
            Body::Unread(reason) => (None, Some(reason)),
            Body::Html { bytes, charset, is_cut } => {
                let declared = |text: &str| {
                    let begin = text.floor_char_boundary(DECLARED_WITHIN.min(text.len()));
                    html::read(&text[..begin]).charset
                };
                let decoded = decode(&bytes, charset.as_deref(), declared);
                let facts = html::read(&decoded.text);
                (Some(ReadHtml { facts, is_exact: decoded.is_exact, is_cut }), None)
            }
        };
        (ReadPage { robots_tags, links, html }, unread)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_is_decompressed_up_to_the_bound_and_may_be_cut() {
        assert_eq!(decompress(&gzip(b"<p>"), false), Some((b"<p>".to_vec(), false)));
        let bomb = gzip(&vec![b'x'; 50 << 20]);
        assert_eq!(decompress(&bomb, false), Some((vec![b'x'; MAX_PAGE_BYTES], true)));
        let many: Vec<u8> =
            (0_u32..60_000).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let whole = gzip(&many);
        let (bytes, is_cut) = decompress(&whole[..whole.len() / 4], true).unwrap();
        assert!(is_cut && !bytes.is_empty() && many.starts_with(&bytes));
        assert_eq!(decompress(&whole[..whole.len() / 4], false), None);
        assert_eq!(decompress(b"<html>", false), None);
    }

    #[test]
    fn html_has_one_of_two_media_types() {
        for (text, expected) in [
            ("text/html", true),
            ("Text/HTML; charset=utf-8", true),
            ("application/xhtml+xml", true),
            ("text/html5", false),
            ("application/pdf", false),
            ("", false),
        ] {
            assert_eq!(is_html(text), expected, "{text}");
        }
    }
}
