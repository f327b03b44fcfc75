//! Redirects for `redirects()` of `next.config.js`
//! (<https://nextjs.org/docs/app/api-reference/config/next-config-js/redirects>).

use std::io::{self, Write};

use serde::Serialize;

use super::row::{FrontendPaths, Row, forms, split_origin, split_suffix};

/// The special characters of patterns of path-to-regexp, versions 6 to 8.
const SPECIAL: [char; 12] = ['\\', '(', ')', '[', ']', '{', '}', ':', '*', '+', '?', '!'];

/// All paths below one, which a target takes over.
const REST: &str = "/:rest*";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Redirect<'r> {
    source: String,
    destination: String,
    status_code: u16,
    /// False: paths contain their locales, and Next.js must not put another one in front.
    locale: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    has: Option<[Host<'r>; 1]>,
}

/// A condition on the host of the request.
#[derive(Serialize)]
struct Host<'r> {
    #[serde(rename = "type")]
    kind: &'r str,
    /// A regular expression for the host without its port.
    value: String,
}

/// Writes the array, a redirect on each line.
pub(super) fn write(
    rows: &[Row],
    paths: &FrontendPaths<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(b"[")?;
    let all = rows.iter().flat_map(|row| forms(&row.from).map(move |from| (row, from)));
    for (position, (row, from)) in all.enumerate() {
        out.write_all(if position == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &redirect(row, &from, paths))?;
    }
    out.write_all(b"\n]\n")
}

/// Next.js puts its `basePath` in front of paths on the same host.
fn redirect<'r>(row: &'r Row, from: &str, paths: &FrontendPaths<'_>) -> Redirect<'r> {
    let same_host = row.path.as_deref().filter(|_| paths.is_same_host(row));
    let target = same_host.unwrap_or(paths.target(row));
    let (own, suffix) = split_suffix(target);
    let destination = match row.without_rest(target) {
        Some(start) => encoded(start) + REST,
        None => encoded(own),
    } + &encoded_suffix(suffix);
    let has = paths.host(row).map(|host| {
        let name = host.split(':').next().unwrap_or(host);
        [Host { kind: "host", value: name.replace('.', "\\.") }]
    });
    Redirect {
        source: from
            .strip_suffix("/*")
            .map_or_else(|| escaped(from), |start| escaped(start) + REST),
        destination,
        status_code: row.status,
        locale: false,
        has,
    }
}

/// A path as a pattern that matches it alone.
fn escaped(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for character in path.chars() {
        if SPECIAL.contains(&character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// A target whose path has no special character of path-to-regexp. They are percent-encoded, because in
/// a URL with a scheme a backslash would be a slash.
fn encoded(target: &str) -> String {
    let (origin, path) = split_origin(target);
    let encode = |character: char| {
        if SPECIAL.contains(&character) {
            format!("%{:02X}", u32::from(character))
        } else {
            character.to_string()
        }
    };
    origin.chars().map(String::from).chain(path.chars().map(encode)).collect()
}

/// A query and a fragment, whose values have no special character of path-to-regexp.
fn encoded_suffix(suffix: &str) -> String {
    let Some(first) = suffix.chars().next() else { return String::new() };
    let rest = &suffix[first.len_utf8()..];
    format!("{first}{}", encoded(rest).replace("%3F", "?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_matches_literally_and_target_has_no_placeholder() {
        assert_eq!(escaped("/a:b/(c)*+?{d}[e]!\\"), "/a\\:b/\\(c\\)\\*\\+\\?\\{d\\}\\[e\\]\\!\\\\");
        assert_eq!(escaped("/en/caf%C3%A9-1_2.x~"), "/en/caf%C3%A9-1_2.x~");
        for (target, expected) in [
            ("/a:b(c)*", "/a%3Ab%28c%29%2A"),
            ("https://a.example:8443/x:y", "https://a.example:8443/x%3Ay"),
            ("https://a.example", "https://a.example"),
            ("/", "/"),
        ] {
            assert_eq!(encoded(target), expected);
        }
    }
}
