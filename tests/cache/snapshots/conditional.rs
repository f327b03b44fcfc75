//! Conditional requests, HEAD and compression of the lists.

use std::collections::BTreeSet;
use std::io::Read;

use super::{cache_status, in_two_locales, paths, sitemap, soft, walks};
use crate::support::content::Content;
use crate::support::front_of_cms::SITEMAP;
use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::wait::until;

const GZIP: (&str, &str) = ("Accept-Encoding", "gzip");

fn xml() -> String {
    format!("{SITEMAP}&xml=true")
}

/// More than a kibibyte of URLs.
fn content() -> Content {
    Content::many(&["en", "de"], 60)
}

fn get(service: &Service, target: &str, headers: &[(&str, &str)]) -> Response {
    http::send(service.addr(), "GET", target, headers)
}

fn tag(response: &Response) -> String {
    let tag = response.header("etag").expect("a tag");
    assert!(tag.len() > 2 && tag.starts_with('"') && tag.ends_with('"'), "{tag} is not strong");
    tag
}

fn unpacked(response: &Response) -> Vec<u8> {
    assert_eq!(response.header("content-encoding").as_deref(), Some("gzip"));
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&response.body[..]).read_to_end(&mut plain).expect("gzip");
    plain
}

/// The headers, but for those that change with the clock, and the framing of a body.
fn stable_headers(response: &Response) -> BTreeSet<(String, String)> {
    let passing = ["date", "age", "cache-status", "last-modified", "transfer-encoding"];
    let stable_headers = |(name, _): &&(String, String)| !passing.contains(&name.as_str());
    response.headers.iter().filter(stable_headers).cloned().collect()
}

/// The list, as soon as a date in whole seconds tells it from an earlier one.
fn settled(service: &Service, target: &str, headers: &[(&str, &str)]) -> (Response, String) {
    until("a date that tells", || {
        let whole = get(service, target, headers);
        let date = whole.header("last-modified").expect("a date");
        let dated = [headers, &[("If-Modified-Since", &date)]].concat();
        (get(service, target, &dated).status == 304).then_some((whole, date))
    })
}

#[test]
fn etag_of_each_form_and_compression_is_strong_and_equal_on_every_instance() {
    let cms = content().start();
    let services = [in_two_locales(&cms).start(), in_two_locales(&cms).start()];
    let tags = services.each_ref().map(|service| {
        let forms = [SITEMAP.to_owned(), xml()];
        let each = |target: &String| {
            [tag(&get(service, target, &[])), tag(&get(service, target, &[GZIP]))]
        };
        forms.iter().flat_map(each).collect::<Vec<_>>()
    });
    assert_eq!(tags[0], tags[1], "two instances");
    assert_eq!(tags[0].iter().collect::<BTreeSet<_>>().len(), 4, "{tags:?}");
}

#[test]
fn refresh_with_equal_urls_keeps_etag_and_date() {
    let content = content();
    let cms = content.start();
    let service = soft(in_two_locales(&cms), 1).start();
    let (first, date) = settled(&service, SITEMAP, &[]);
    // Another field than those of the URL.
    content.put("en", "d00000", r#","slug":"s0","updatedAt":"2024-03-06T22:19:54.649Z""#);
    let walked = walks(&cms, "en");
    let refreshed = until("the refresh", || {
        let answer = sitemap(&service);
        (walks(&cms, "en") > walked && !super::is_past_soft(&answer)).then_some(answer)
    });
    assert!(cache_status(&refreshed).contains("hit"), "{}", cache_status(&refreshed));
    assert_eq!((tag(&refreshed), &refreshed.body), (tag(&first), &first.body));
    assert_eq!(refreshed.header("last-modified"), Some(date.clone()));
    assert_eq!(get(&service, SITEMAP, &[("If-Modified-Since", &date)]).status, 304);
    content.unpublish("en", "d00000");
    let changed =
        until("the change", || Some(sitemap(&service)).filter(|answer| paths(answer).len() == 119));
    assert_ne!(tag(&changed), tag(&first));
    assert_eq!(get(&service, SITEMAP, &[("If-None-Match", &tag(&first))]).status, 200);
    assert_eq!(get(&service, SITEMAP, &[("If-Modified-Since", &date)]).status, 200);
}

#[test]
fn conditional_request_with_the_current_list_gets_304_without_a_body() {
    let cms = content().start();
    let service = in_two_locales(&cms).start();
    for (target, encoding) in [(SITEMAP, None), (SITEMAP, Some(GZIP)), (&xml(), Some(GZIP))] {
        let plain: Vec<_> = encoding.into_iter().collect();
        let (whole, date) = settled(&service, target, &plain);
        for known in [("If-None-Match", tag(&whole)), ("If-Modified-Since", date.clone())] {
            let headers = [&plain[..], &[(known.0, &known.1)]].concat();
            // The client would complain of bytes behind the head.
            let answer = get(&service, target, &headers);
            assert_eq!(answer.status, 304, "{target} {headers:?}");
            for name in ["etag", "cache-control", "vary", "last-modified", "x-skipped-documents"] {
                assert_eq!(answer.header(name), whole.header(name), "{name}");
            }
            for name in ["content-type", "content-length", "content-encoding", "transfer-encoding"]
            {
                assert_eq!(answer.header(name), None, "{name} of a 304");
            }
            assert!(answer.header("age").is_some() && !cache_status(&answer).is_empty());
        }
    }
}

#[test]
fn conditional_request_with_another_list_gets_the_whole_list() {
    let cms = content().start();
    let service = in_two_locales(&cms).start();
    let whole = sitemap(&service);
    let date = whole.header("last-modified").expect("a date");
    assert_eq!(whole.header("vary").as_deref(), Some("accept-encoding"));
    assert!(whole.header("cache-control").is_some_and(|text| {
        text.contains("stale-while-revalidate") && text.contains("stale-if-error")
    }));
    for headers in [
        vec![("If-None-Match", "\"other\"")],
        vec![("If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT")],
        vec![("If-Modified-Since", "tomorrow")],
        // The tag counts, whatever the date says.
        vec![("If-None-Match", "\"other\""), ("If-Modified-Since", &date)],
    ] {
        let answer = get(&service, SITEMAP, &headers);
        assert_eq!((answer.status, &answer.body), (200, &whole.body), "{headers:?}");
    }
    let compressed = get(&service, SITEMAP, &[GZIP, ("If-None-Match", &tag(&whole))]);
    assert_eq!(compressed.status, 200, "the plain form is another one");
}

#[test]
fn head_responds_as_get_without_the_body() {
    let cms = content().start();
    let service = in_two_locales(&cms).start();
    assert_eq!(sitemap(&service).status, 200);
    for headers in [vec![], vec![GZIP], vec![("If-None-Match", "*")]] {
        for target in [SITEMAP, &xml(), "/api/build-sitemap?site=main&contentType=api::no.no"] {
            let head = http::send(service.addr(), "HEAD", target, &headers);
            let get = get(&service, target, &headers);
            assert_eq!(
                (head.status, stable_headers(&head)),
                (get.status, stable_headers(&get)),
                "{target}"
            );
            assert!(head.body.is_empty());
        }
    }
}

#[test]
fn gzip_of_the_list_has_equal_content() {
    let cms = content().start();
    let service = in_two_locales(&cms).start();
    for target in [SITEMAP, &xml()] {
        let plain = get(&service, target, &[]);
        assert_eq!(plain.header("content-encoding"), None);
        let packed = get(&service, target, &[GZIP]);
        assert_eq!(unpacked(&packed), plain.body);
        assert_eq!(packed.header("content-type"), plain.header("content-type"));
        assert!(packed.body.len() * 2 < plain.body.len());
        for odd in ["identity;q=0", "*;q=0", "gzip;q=0", "br", "", ";;,", "gzip;q=9", "\u{e9}"] {
            let answer = get(&service, target, &[("Accept-Encoding", odd)]);
            assert_eq!((answer.status, &answer.body), (200, &plain.body), "{odd:?}");
        }
        for taken in ["br, gzip", "*", "GZIP;q=0.001", "identity;q=0, *;q=0.5"] {
            let answer = get(&service, target, &[("Accept-Encoding", taken)]);
            assert_eq!((answer.status, unpacked(&answer)), (200, plain.body.clone()), "{taken:?}");
        }
    }
}

#[test]
fn short_list_is_not_compressed() {
    let cms = Content::many(&["en"], 2).start();
    let service = in_two_locales(&cms).start();
    let answer = get(&service, SITEMAP, &[GZIP]);
    assert_eq!((answer.status, answer.header("content-encoding")), (200, None));
    assert_eq!(tag(&answer), tag(&sitemap(&service)));
}
