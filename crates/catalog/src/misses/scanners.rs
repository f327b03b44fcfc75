//! Paths that scanners for weak points of other software request: no page of a frontend of a headless CMS
//! has them.

/// First segments of the paths of other software, in lower case.
const FIRST: [&str; 10] = [
    "_ignition",
    "_profiler",
    "boaform",
    "cgi-bin",
    "geoserver",
    "hnap1",
    "jmx-console",
    "phpmyadmin",
    "server-status",
    "xmlrpc",
];

/// Endings of files that are no pages, in lower case. Not those of pages of other systems, such as
/// `.aspx` and `.jsp`: a site may have been moved from one.
const ENDINGS: [&str; 17] = [
    ".asa", ".bak", ".bat", ".cfg", ".cgi", ".conf", ".dll", ".env", ".exe", ".ini", ".php",
    ".php5", ".php7", ".sh", ".sql", ".swp", ".yml",
];

/// Whether a normalized path is one that only scanners request.
pub(super) fn is_of_scanner(path: &str) -> bool {
    let mut segments = path.split('/').skip(1);
    let first = segments.clone().next().unwrap_or_default();
    let is_first = |own: &&str| first.eq_ignore_ascii_case(own);
    FIRST.iter().any(is_first) || has_prefix(first, "wp-") || segments.any(is_segment_of_scanner)
}

/// A hidden file, such as `.git`, a file of a blog's software, or one with such an ending, also in front of a
/// path: `/index.php/x`.
fn is_segment_of_scanner(segment: &str) -> bool {
    if has_prefix(segment, "wp-") {
        let wordpress = ["wp-admin", "wp-includes", "wp-content", "wp-json"];
        return wordpress.iter().any(|own| segment.eq_ignore_ascii_case(own))
            || has_ending(segment);
    }
    let is_hidden = segment.starts_with('.') && segment != ".well-known";
    is_hidden || has_ending(segment)
}

fn has_ending(segment: &str) -> bool {
    segment.contains('.') && ENDINGS.iter().any(|ending| has_suffix(segment, ending))
}

fn has_prefix(text: &str, prefix: &str) -> bool {
    text.as_bytes()
        .get(..prefix.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(prefix.as_bytes()))
}

fn has_suffix(text: &str, suffix: &str) -> bool {
    let start = text.len().checked_sub(suffix.len());
    start.is_some_and(|start| text.as_bytes()[start..].eq_ignore_ascii_case(suffix.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_of_scanner_knows_what_no_page_is_called() {
        for path in [
            "/wp-login.php",
            "/WP-Login.PHP",
            "/blog/wp-includes/wlwmanifest.xml",
            "/wp-content",
            "/wp-",
            "/xmlrpc",
            "/.env",
            "/api/.env.production",
            "/.git/config",
            "/.aws/credentials",
            "/.DS_Store",
            "/cgi-bin/luci",
            "/CGI-BIN/x",
            "/phpMyAdmin/index",
            "/vendor/phpunit/src/eval-stdin.php",
            "/index.php/x",
            "/backup.sql",
            "/de/old.bak",
            "/HNAP1",
            "/x.pHp",
            "/.well-known/.env",
        ] {
            assert!(is_of_scanner(path), "{path}");
        }
    }

    #[test]
    fn is_of_scanner_leaves_paths_of_pages_alone() {
        for path in [
            "/",
            "",
            "/en/about",
            "/en/wp-login",
            "/vendor/acme",
            "/wordpress",
            "/about.html",
            "/default.aspx",
            "/feed.xml",
            "/.well-known/security.txt",
            "/wordpress-hosting",
            "/wpx",
            "/en/php",
            "/en/dot.net",
            "/manage",
            "/caf%C3%A9",
            "/é",
            "/favicon.ico",
            "/node.js",
        ] {
            assert!(!is_of_scanner(path), "{path}");
        }
    }
}
