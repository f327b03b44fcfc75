//! Each kind of fault, planted many times among pages without a fault: all are found, and nothing else.

use std::collections::BTreeMap;

use super::{HTML, faults, front_end, judge, not_found, page, posts};
use crate::support::front_end::{Answer, with_body};

/// Each kind; the last three are hints.
const KINDS: [&str; 14] = [
    "noindex",
    "robots-disallowed",
    "soft-404",
    "canonical-dead",
    "canonical-elsewhere",
    "canonical-conflict",
    "canonical-missing",
    "hreflang-missing",
    "hreflang-wrong",
    "hreflang-extra",
    "lang-differs",
    "canonical-relative",
    "title-absent",
    "unread",
];

/// Planted faults of each kind: more with `PLANTED_FAULTS=1000`.
fn planted() -> usize {
    std::env::var("PLANTED_FAULTS").map_or(100, |text| text.parse().unwrap())
}

/// The kind that is planted in the page of a slug, and its number among these.
fn plan(slug: &str) -> Option<(&str, usize)> {
    let (kind, number) = slug.rsplit_once('-')?;
    Some((kind, number.parse().ok()?))
}

fn script(base: &str, target: &str) -> Answer {
    if target == "/robots.txt" {
        let rules = "User-agent: *\nAllow: /\nDisallow: /en/posts/robots-disallowed-\n";
        return with_body("200 OK", "Content-Type: text/plain\r\n", rules);
    }
    if !target.contains("/posts/") {
        return not_found();
    }
    let slug = target.rsplit('/').next().unwrap();
    let fine = page(base, target);
    let canonical = format!("<link rel=canonical href={base}{target}>");
    let with_canonical = |other: &str| fine.replace(&canonical, other);
    let missing = || {
        let text = format!("<h1>Sorry</h1><p>There is no {target}</p>{slug}<b>has moved</b>");
        let page = fine.replace(&format!("<h1>Title of {slug}</h1>"), &text);
        page.replace(&format!("<title>Title of {slug}</title>"), "<title>Oops</title>")
    };
    if slug.starts_with("frontend-map-check") {
        // English pages have a soft 404, German ones a real one.
        return if target.starts_with("/en/") {
            with_body("200 OK", HTML, missing())
        } else {
            not_found()
        };
    }
    let Some((kind, n)) = plan(slug).filter(|_| target.starts_with("/en/")) else {
        return with_body("200 OK", HTML, fine);
    };
    let mut headers = HTML.to_owned();
    let body = match kind {
        "gone" => return not_found(),
        "noindex" => {
            let tags = [
                "<meta name=robots content='noindex, follow'>",
                "<META NAME=GoogleBot CONTENT=NONE>",
                "",
                "",
            ];
            match n % 4 {
                2 => headers += "X-Robots-Tag: noindex\r\n",
                3 => headers += "X-Robots-Tag: otherbot: nofollow, googlebot: none\r\n",
                _ => {}
            }
            fine.replace("</head>", &format!("{}</head>", tags[n % 4]))
        }
        "soft-404" => missing(),
        "canonical-dead" => {
            with_canonical(&format!("<link rel=canonical href={base}/en/posts/gone-{n}>"))
        }
        "canonical-elsewhere" => with_canonical(
            &[
                format!("<link rel=canonical href={base}/en/posts/fine-{n}>"),
                format!("<link rel=canonical href={base}{target}/>"),
                format!("<link rel=canonical href={base}{target}?page=1>"),
                "<link rel=canonical href=https://www.example.com/>".to_owned(),
                "<base href=https://www.example.com/><link rel=canonical href=x>".to_owned(),
            ][n % 5],
        ),
        "canonical-conflict" => {
            if n % 2 == 0 {
                headers += "Link: </other>; rel=\"canonical\"\r\n";
                fine.clone()
            } else {
                with_canonical(&format!("{canonical}{}", canonical.replace(slug, "x").repeat(9)))
            }
        }
        "canonical-missing" => with_canonical(
            &[
                String::new(),
                format!("<noscript>{canonical}</noscript>"),
                format!("<!-- {canonical} -->"),
                format!("<template>{canonical}</template>"),
                format!("<script>'{canonical}'</script>"),
                format!("<p>{canonical}"),
                format!("<svg>{canonical}</svg>"),
                "<link rel=canonical><link rel=canonical href=''>".to_owned(),
            ][n % 8],
        ),
        "hreflang-missing" => fine.replace("hreflang=de", "data-hreflang=de"),
        "hreflang-wrong" => {
            let wrong =
                ["hreflang=de href=/de/x", "hreflang=de href=https://www.example.com/ data-x"];
            fine.replace("hreflang=de href=", &format!("{}=", wrong[n % 2].to_owned() + " data-y"))
        }
        "hreflang-extra" => {
            fine.replace("</head>", "<link rel=alternate hreflang=fr href=/fr/x></head>")
        }
        "lang-differs" => {
            fine.replace("<html lang=en>", ["<html lang=de>", "<html lang=fr-CA>"][n % 2])
        }
        "canonical-relative" => with_canonical(&format!(
            "<link rel=canonical href={}>",
            [target, slug, &format!("../posts/{slug}#top")][n % 3]
        )),
        "title-absent" => fine.replace("Title of", "Another"),
        "unread" => {
            headers += ["Content-Encoding: br\r\n", "Content-Encoding: gzip\r\n"][n % 2];
            fine.clone()
        }
        // A rule of robots.txt forbids these, and others are fine.
        _ => fine.clone(),
    };
    with_body("200 OK", &headers, body)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_planted_fault_is_found_and_no_other() {
    let peer = front_end(script).await;
    let (base, count) = (peer.url("http", ""), planted());
    let kinds = KINDS.into_iter().chain(["gone", "fine"]);
    let slugs = kinds.flat_map(|kind| (0..count).map(move |n| format!("{kind}-{n}")));
    let (report, status) = judge(&posts(&base, slugs));
    assert_eq!(status, Some(1));
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, kinds) in faults(&report, &base) {
        let slug = path.rsplit('/').next().unwrap();
        let planted = plan(slug).map(|(kind, _)| kind.replace('-', "_"));
        let planted =
            planted.filter(|kind| path.starts_with("/en/") && kind != "gone" && kind != "fine");
        let expected: Vec<&str> = planted.iter().map(String::as_str).collect();
        assert_eq!(kinds, expected, "{path}");
        for kind in kinds {
            *found.entry(kind).or_default() += 1;
        }
    }
    assert_eq!(found.len(), KINDS.len());
    assert!(found.values().all(|pages| *pages == count), "{found:?}");
    let content = &report["content"];
    for kind in KINDS {
        assert_eq!(content["kinds"][kind.replace('-', "_")], count, "{kind}");
    }
    assert_eq!(content["faulty"], count * 11);
    assert!(peer.most_in_flight() <= 10, "{}", peer.most_in_flight());
    // Each URL once, robots.txt, and a path that cannot exist for the host and for each language.
    assert_eq!(peer.heads().len(), 2 * count * (KINDS.len() + 2) + 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn site_without_faults_has_no_finding_and_the_exit_status_0() {
    let peer = front_end(|base, target| match target {
        target if target.contains("fine") => with_body("200 OK", HTML, page(base, target)),
        _ => not_found(),
    })
    .await;
    let setup = posts(&peer.url("http", ""), (0..30).map(|n| format!("fine-{n}")));
    let ended = setup.run(&["validate", "--site", "main", "--content"]);
    let expected = "site main: 60 URLs, none dead (2xx 60)\ncontent: 60 pages read, none faulty\n";
    assert_eq!((ended.status, &*ended.stdout), (Some(0), expected), "{}", ended.stderr);
    // Frontends send JSON in place of their page for a missing one to those who do not ask for HTML.
    for head in peer.heads() {
        let of_page =
            head.starts_with("GET /robots.txt ") || head.contains("\r\naccept: text/html");
        assert!(of_page, "{head}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_format_names_rule_document_and_fault() {
    let peer = front_end(script).await;
    let base = peer.url("http", "");
    let slugs = ["noindex-0", "canonical-relative-0", "fine-0"].map(str::to_owned);
    let setup = posts(&base, slugs.into_iter());
    let args = ["validate", "--site", "main", "--content"];
    let summary = setup.run(&args).stdout.replace(&base, "BASE");
    let expected = "site main: 6 URLs, none dead (2xx 6)\n\
        content: 6 pages read, 1 faulty (noindex 1, canonical_relative 1)\n\n\
        noindex: the page asks search engines not to list it (1 page)\n  \
        api::post.post /{locale}/posts/{slug}: 1\n    \
        d0  en  BASE/en/posts/noindex-0  Title of noindex-0\n      \
        <meta>: noindex, follow\n\n\
        canonical_relative: the canonical link is relative (1 page)\n  \
        api::post.post /{locale}/posts/{slug}: 1\n    \
        d1  en  BASE/en/posts/canonical-relative-0  Title of canonical-relative-0\n      \
        /en/posts/canonical-relative-0\n";
    assert_eq!(summary, expected);
    let report = |format: &str| {
        let ended = setup.run(&[&args[..], &["--format", format]].concat());
        assert_eq!(ended.status, Some(1), "{}", ended.stderr);
        ended.stdout.replace(&base, "BASE")
    };
    let csv = report("csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].ends_with(",title,adminUrl,faults"), "{}", lines[0]);
    let fault = lines.iter().find(|line| line.contains("BASE/en/posts/noindex-0")).unwrap();
    assert!(fault.ends_with(",\"noindex: <meta>: noindex, follow\""), "{fault}");
    let fine = lines.iter().find(|line| line.contains("BASE/en/posts/fine-0")).unwrap();
    assert!(fine.ends_with(','), "{fine}");
    let junit = report("junit");
    for part in [
        "<testsuites name=\"main\" tests=\"6\" failures=\"1\" errors=\"0\">",
        "<failure type=\"noindex\" message=\"200, noindex: &lt;meta&gt;: noindex, follow\">documentId d0, locale en</failure>",
        "<system-out>200, canonical_relative: /en/posts/canonical-relative-0, documentId d1, locale en</system-out>",
    ] {
        assert!(junit.contains(part), "{part}\n{junit}");
    }
    let lines = report("ndjson");
    let line = lines.lines().find(|line| line.contains("BASE/en/posts/noindex-0")).unwrap();
    let end = r#""rule":"/{locale}/posts/{slug}","title":"Title of noindex-0","faults":[{"kind":"noindex","detail":"<meta>: noindex, follow"}]}"#;
    assert!(line.ends_with(end), "{line}");
    let html = report("html");
    let row = "<td><code>noindex</code></td><td>the page asks search engines not to list it</td>";
    assert!(html.contains(row));
    assert!(html.contains(r#"["noindex","\u003cmeta>: noindex, follow"]"#), "{html}");
}
