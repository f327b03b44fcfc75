//! The structure of sitemap files as `sitemap.xsd` and `siteindex.xsd` of
//! <https://www.sitemaps.org/protocol.html#validating> define it, with the sizes of the protocol.

use roxmltree::{Document, Node};
use url::Url;

use super::NAMESPACE;

/// sitemaps.org, "Sitemap file size".
const MOST_ENTRIES: usize = 50_000;
const MOST_BYTES: usize = 50 << 20;

/// The elements of one kind of file: the root, its children, and the children of each of these in
/// their order. The first of them is required, the others are optional, and each occurs once.
struct Kind {
    root: &'static str,
    entry: &'static str,
    children: &'static [&'static str],
    /// Whether elements of other namespaces may follow, which `xsd:any` permits.
    is_open: bool,
}

const KINDS: [Kind; 2] = [
    Kind {
        root: "urlset",
        entry: "url",
        children: &["loc", "lastmod", "changefreq", "priority"],
        is_open: true,
    },
    Kind { root: "sitemapindex", entry: "sitemap", children: &["loc", "lastmod"], is_open: false },
];

/// What the schemas forbid in this file; empty: it is valid.
pub(super) fn violations(text: &str) -> Vec<String> {
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => return vec![error.to_string()],
    };
    let root = document.root_element();
    let kind = KINDS.iter().find(|kind| root.has_tag_name((NAMESPACE, kind.root)));
    let Some(kind) = kind else { return vec![format!("the root is {:?}", root.tag_name())] };
    let entries: Vec<Node<'_, '_>> = root.children().collect();
    let mut found = Vec::new();
    if text.len() > MOST_BYTES || !(1..=MOST_ENTRIES).contains(&entries.len()) {
        found.push(format!("{} bytes, {} entries", text.len(), entries.len()));
    }
    for entry in entries {
        if !entry.has_tag_name((NAMESPACE, kind.entry)) || entry.attributes().len() > 0 {
            found.push(format!("not a plain {}: {entry:?}", kind.entry));
            continue;
        }
        found.extend(in_entry(kind, entry));
    }
    found
}

fn in_entry(kind: &Kind, entry: Node<'_, '_>) -> Vec<String> {
    let mut found = Vec::new();
    // The position in the sequence from which the next element may be.
    let mut next = 0;
    for child in entry.children() {
        let name = child.tag_name();
        let is_foreign = child.is_element() && name.namespace() != Some(NAMESPACE);
        if kind.is_open && is_foreign && next > 0 {
            next = kind.children.len();
            continue;
        }
        let at = kind.children.iter().position(|known| child.has_tag_name((NAMESPACE, *known)));
        match at {
            Some(at) if at >= next && (at > 0) == (next > 0) => next = at + 1,
            _ => found.push(format!("not expected here: {child:?}")),
        }
        let text = child.text().unwrap_or_default();
        let is_plain = child.attributes().len() == 0 && child.children().all(|node| node.is_text());
        let is_valid = match name.name() {
            "loc" => is_location(text),
            "lastmod" => is_date(text),
            _ => true,
        };
        if !is_plain || !is_valid {
            found.push(format!("{}: {text:?}", name.name()));
        }
    }
    if next == 0 {
        found.push("an entry without a loc".to_owned());
    }
    found
}

/// `tLoc`: `xsd:anyURI` of 12 to 2,048 characters; here an absolute URL that a parser leaves as it is.
fn is_location(text: &str) -> bool {
    (12..=2048).contains(&text.chars().count())
        && Url::parse(text).is_ok_and(|url| url.as_str() == text && url.has_host())
}

/// `tLastmod`: `xsd:date` or `xsd:dateTime`.
fn is_date(text: &str) -> bool {
    let digits = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(byte, pattern)| match pattern {
                b'0' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    let Some((date, time)) = text.split_once('T') else { return digits(text, "0000-00-00") };
    let time = time.strip_suffix('Z').unwrap_or(time);
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, "0"));
    digits(date, "0000-00-00")
        && digits(seconds, "00:00:00")
        && !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

#[test]
fn violations_names_what_the_schemas_forbid() {
    let file = |root: &str, inner: &str| {
        format!(r#"<{root} xmlns="{NAMESPACE}" xmlns:x="http://x.example/">{inner}</{root}>"#)
    };
    let loc = "<loc>https://x.example/</loc>";
    let valid = [
        file("urlset", &format!("<url>{loc}</url>")),
        file("urlset", &format!("<url>{loc}<lastmod>2024-01-02</lastmod><x:link/><x:link/></url>")),
        file(
            "sitemapindex",
            &format!("<sitemap>{loc}<lastmod>2024-01-02T03:04:05.678Z</lastmod></sitemap>"),
        ),
    ];
    for text in valid {
        assert_eq!(violations(&text), [""; 0], "{text}");
    }
    for (root, inner) in [
        ("urlset", String::new()),
        ("sitemapindex", String::new()),
        ("other", format!("<url>{loc}</url>")),
        ("urlset", format!("<sitemap>{loc}</sitemap>")),
        ("urlset", format!("text<url>{loc}</url>")),
        ("urlset", "<url></url>".to_owned()),
        ("urlset", format!("<url>{loc}{loc}</url>")),
        ("urlset", format!("<url><lastmod>2024-01-02</lastmod>{loc}</url>")),
        ("urlset", format!("<url><x:link/>{loc}</url>")),
        ("urlset", "<url><x:link/></url>".to_owned()),
        ("urlset", format!("<url>{loc}<x:link/><lastmod>2024-01-02</lastmod></url>")),
        ("urlset", format!("<url>{loc}<lastmod>yesterday</lastmod></url>")),
        ("urlset", format!("<url a=\"b\">{loc}</url>")),
        ("urlset", "<url><loc>/relative-path</loc></url>".to_owned()),
        ("urlset", "<url><loc>https://x.example/é</loc></url>".to_owned()),
        ("sitemapindex", format!("<sitemap>{loc}<x:link/></sitemap>")),
        ("sitemapindex", format!("<sitemap>{loc}<priority>1</priority></sitemap>")),
    ] {
        assert_ne!(violations(&file(root, &inner)), [""; 0], "{root} {inner}");
    }
}
