//! Redirects as the file `_redirects` (<https://docs.netlify.com/routing/redirects/>).

use std::io::{self, Write};

use super::row::{FrontendPaths, Row, forms, split_origin, split_suffix};

/// Writes one line for each row: from, to, status.
pub(super) fn write(
    rows: &[Row],
    paths: &FrontendPaths<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for row in rows {
        // Netlify takes the scheme of the request.
        let host = paths.host(row).map(|host| format!("https://{host}")).unwrap_or_default();
        let (to, status) = (paths.target(row), status(row.status));
        let (own, query) = split_suffix(to);
        let to = match row.without_rest(to) {
            Some(start) => target(start) + "/:splat",
            None => target(own),
        } + query;
        let force = if row.is_forced() { "!" } else { "" };
        let (from, end) = row.all_below().map_or((&*row.from, ""), |start| (start, "/*"));
        let mut all: Vec<String> = forms(from).map(|from| literal(&from)).collect();
        all.dedup();
        for from in all {
            writeln!(out, "{host}{}{from}{end} {to} {status}{force}", paths.prefix(row))?;
        }
    }
    Ok(())
}

/// The status that Netlify has for this one: it has no 308 and no 307.
fn status(status: u16) -> u16 {
    match status {
        308 => 301,
        307 => 302,
        other => other,
    }
}

/// A target without the signs of placeholders in its path. A URL keeps its scheme and its port.
fn target(target: &str) -> String {
    let (origin, path) = split_origin(target);
    format!("{origin}{}", literal(path))
}

/// A path in which the signs of placeholders and comments, and spaces, are percent-encoded.
fn literal(path: &str) -> String {
    let encode = |character: char| match character {
        ':' | '*' | '#' | ' ' => format!("%{:02X}", u32::from(character)),
        other => other.to_string(),
    };
    path.chars().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_has_no_sign_of_a_placeholder() {
        assert_eq!(literal("/a:b/*/c d#e%20f"), "/a%3Ab/%2A/c%20d%23e%20f");
        assert_eq!(target("https://a.example:8443/x:y*"), "https://a.example:8443/x%3Ay%2A");
        assert_eq!(target("/x"), "/x");
        assert_eq!([308, 307, 301, 302].map(status), [301, 302, 301, 302]);
    }
}
