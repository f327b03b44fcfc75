//! The text of a site's sitemap index, and of the `robots.txt` that names it.

use quick_xml::escape::escape;

use super::write::push_date;
use super::{INDEX, Layout, file_name};

const HEAD: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8"?>"#,
    r#"<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
);
const TAIL: &str = "</sitemapindex>";

/// A `sitemapindex` of all files of these content types. `folder` is the absolute URL below which the
/// frontend publishes them, without a trailing slash.
pub fn index<'l>(folder: &str, types: impl IntoIterator<Item = (&'l str, &'l Layout)>) -> String {
    let folder = escape(folder);
    let mut out = String::from(HEAD);
    for (uid, layout) in types {
        for file in &layout.files {
            let name = file_name(uid, file.number);
            for part in ["<sitemap><loc>", &folder, "/", &name, "</loc>"] {
                out.push_str(part);
            }
            if let Some(newest) = file.newest {
                push_date(&mut out, newest);
            }
            out.push_str("</sitemap>");
        }
    }
    out.push_str(TAIL);
    out
}

/// A `robots.txt` that names the index. The `Sitemap` line is defined by sitemaps.org, not by RFC 9309.
pub fn robots(folder: &str) -> String {
    format!("Sitemap: {folder}/{INDEX}\n")
}
