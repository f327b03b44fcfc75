//! Redirects as `map` blocks (<https://nginx.org/en/docs/http/ngx_http_map_module.html>).

use std::collections::HashMap;
use std::io::{self, Write};

use super::row::{FrontendPaths, Row};
use frontend_map_rules::percent_decode;

/// The smallest `map_hash_bucket_size` that is written, in bytes: the default of nginx on most machines.
const MIN_BUCKET: usize = 64;

/// Compares the letter case of the path and the row's path, which the first map ignores. Their lengths are
/// equal, and no target has a space.
const SAME_CASE: &str = r"~(?s)^(.+) \1 (?<frontend_map_to>[^ ]+)\z";

/// Writes the blocks. The keys of the first are decoded paths, as `$uri` has them, with and without a slash
/// at the end. Without the second, a page that differs from a former path only in letter case would
/// redirect, possibly to itself.
pub(super) fn write(
    rows: &[Row],
    paths: &FrontendPaths<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let has_hosts = rows.iter().any(|row| paths.host(row).is_some());
    let source = match has_hosts {
        true if paths.has_ports() => "$http_host$uri",
        true => "$host$uri",
        false => "$uri",
    };
    let entries: Vec<(String, &Row)> = rows.iter().flat_map(|row| entries(row, paths)).collect();
    // Two keys that differ in case alone are refused.
    let mut in_lower_case: HashMap<String, usize> = HashMap::new();
    for (key, _) in &entries {
        *in_lower_case.entry(key.to_ascii_lowercase()).or_default() += 1;
    }
    write_usage(rows, &entries, out)?;
    writeln!(out, "map {source} $frontend_map_row {{")?;
    writeln!(out, "    default \"\";")?;
    for (key, row) in &entries {
        let to = row.to.as_deref().or(row.path.as_deref()).unwrap_or_default().replace('$', "%24");
        let is_only = in_lower_case.get(&key.to_ascii_lowercase()) == Some(&1);
        // A value cannot have a dollar sign: it is taken from the path.
        let (key, from) = if is_only && !key.contains('$') {
            (key.clone(), key.as_str())
        } else {
            (format!("~^(?<frontend_map_from>{})$", pattern(key)), "$frontend_map_from")
        };
        writeln!(out, "    {} {};", quoted(&key), quoted(&format!("{from} {to}")))?;
    }
    writeln!(out, "}}")?;
    writeln!(out, "map \"{source} $frontend_map_row\" $frontend_map_redirect {{")?;
    writeln!(out, "    default \"\";")?;
    writeln!(out, "    {} $frontend_map_to;", quoted(SAME_CASE))?;
    writeln!(out, "}}")
}

/// Writes how to use the blocks.
fn write_usage(rows: &[Row], entries: &[(String, &Row)], out: &mut dyn Write) -> io::Result<()> {
    let max_size = (entries.len() * 2).max(2048);
    let bucket = fullest_bucket(entries, max_size - 1).next_power_of_two().max(MIN_BUCKET);
    let status = rows.first().map_or(308, |row| row.status);
    writeln!(out, "# In http {{ }}:")?;
    writeln!(out, "#   map_hash_bucket_size {bucket};")?;
    writeln!(out, "#   map_hash_max_size {max_size};")?;
    writeln!(out, "# In server {{ }}:")?;
    writeln!(out, "#   if ($frontend_map_redirect) {{")?;
    writeln!(out, "#     return {status} $frontend_map_redirect$is_args$args;")?;
    writeln!(out, "#   }}")
}

/// The bytes that the fullest bucket of nginx's hash table of this many buckets takes (its
/// `ngx_hash_init`, on a machine of 64 bits). nginx warns if no table that is smaller than
/// `map_hash_max_size` has buckets that fit.
fn fullest_bucket(entries: &[(String, &Row)], buckets: usize) -> usize {
    const POINTER: usize = 8;
    let mut bytes: HashMap<usize, usize> = HashMap::new();
    for (key, _) in entries {
        let hash = key
            .to_ascii_lowercase()
            .bytes()
            .fold(0_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        // A pointer to the value, the length in two bytes, and the key.
        let size = POINTER + (key.len() + 2).next_multiple_of(POINTER);
        *bytes.entry(hash % buckets).or_default() += size;
    }
    bytes.into_values().max().unwrap_or_default() + POINTER
}

/// The keys of a row: with and without a slash at the end. None for a path that `$uri` cannot
/// distinguish: one with an encoded slash is another path there, and others are refused by nginx.
fn entries<'r>(row: &'r Row, paths: &FrontendPaths<'_>) -> impl Iterator<Item = (String, &'r Row)> {
    let path = format!("{}{}", paths.prefix(row), row.from);
    let slashes = |text: &str| text.bytes().filter(|byte| *byte == b'/').count();
    let decoded = percent_decode(&path).and_then(|bytes| String::from_utf8(bytes.into()).ok());
    let is_same = |decoded: &String| slashes(decoded) == slashes(&path) && !decoded.contains('\0');
    let keys = decoded.filter(is_same).map(|path| {
        let key = format!("{}{path}", paths.host(row).unwrap_or_default());
        let other = match key.strip_suffix('/') {
            Some(_) if path == "/" => None,
            Some(without) => Some(without.to_owned()),
            None => Some(format!("{key}/")),
        };
        [Some(key), other]
    });
    keys.into_iter().flatten().flatten().map(move |key| (key, row))
}

/// A parameter in quotes: in them only a backslash, a quote and white space are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    out + "\""
}

/// A regular expression (PCRE) that matches the text alone.
fn pattern(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if character.is_ascii_punctuation() && !"/-_~%".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::row;
    use super::*;
    use frontend_map_catalog::site::{ResolveBy, Site, SitePages};
    use frontend_map_catalog::snapshot::Snapshot;
    use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
    use frontend_map_rules::{Locale, LocalePrefix, Locales, RuleSet};

    fn site(bases: &[&str]) -> Site {
        let codes = ["en", "de"].map(|code| Locale::parse(code).unwrap());
        let locales = Locales::new(codes[..bases.len()].to_vec()).unwrap();
        let bases = bases.iter().map(|base| Some(BaseUrl::parse(base).unwrap())).collect();
        Site {
            key: "main".to_owned(),
            rules: RuleSet::new(locales, LocalePrefix::Always, Vec::new()),
            hosts: Hosts::new(bases),
            resolve: ResolveBy::Documents,
            sitemap_path: String::new(),
            pages: SitePages::new(Snapshot::default()),
            redirects: None,
            links: Vec::new(),
            links_fingerprint: 0,
            fingerprint: 0,
            source: 0,
        }
    }

    fn block(rows: &[Row], site: &Site, one_host: bool) -> String {
        let mut out = Vec::new();
        write(rows, &FrontendPaths::new(site, one_host), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text[text.find("map $").unwrap()..].to_owned()
    }

    #[test]
    fn bucket_holds_all_keys_with_the_same_hash() {
        let base = "https://a.example";
        let row = row(None, "/a", base, "/y");
        let entries = |keys: &[&str]| -> Vec<(String, &Row)> {
            keys.iter().map(|key| ((*key).to_owned(), &row)).collect()
        };
        // 31 * '1' + '_' = 31 * '2' + '@'
        let same = ["/1_", "/2@"];
        assert_eq!(fullest_bucket(&entries(&same[..1]), 2047), 8 + 16);
        assert_eq!(fullest_bucket(&entries(&same), 2047), 8 + 2 * 16);
        assert_eq!(fullest_bucket(&[], 2047), 8);
    }

    #[test]
    fn keys_are_decoded_and_nothing_is_a_variable_or_a_pattern() {
        let site = site(&["https://a.example/base"]);
        let base = "https://a.example/base";
        let rows = [
            row(None, "/caf%C3%A9%20%22x%22", base, "/y"),
            row(None, "/~a%7B$b%7D%5C%0A", base, "/c$d"),
            row(None, "/", base, "/home"),
            row(None, "/A", base, "/y"),
            row(None, "/a.b", base, "/y"),
            row(None, "/A.b", base, "/z"),
            row(None, "/x%2Fy", base, "/y"),
            row(None, "/%FF", base, "/y"),
            row(None, "/%zz", base, "/y"),
            row(None, "/%00", base, "/y"),
        ];
        let expected = r#"map $uri $frontend_map_row {
    default "";
    "/base/café \"x\"" "/base/café \"x\" https://a.example/base/y";
    "/base/café \"x\"/" "/base/café \"x\"/ https://a.example/base/y";
    "~^(?<frontend_map_from>/base/~a\\{\\$b\\}\\\\\n)$" "$frontend_map_from https://a.example/base/c%24d";
    "~^(?<frontend_map_from>/base/~a\\{\\$b\\}\\\\\n/)$" "$frontend_map_from https://a.example/base/c%24d";
    "/base/" "/base/ https://a.example/base/home";
    "/base" "/base https://a.example/base/home";
    "/base/A" "/base/A https://a.example/base/y";
    "/base/A/" "/base/A/ https://a.example/base/y";
    "~^(?<frontend_map_from>/base/a\\.b)$" "$frontend_map_from https://a.example/base/y";
    "~^(?<frontend_map_from>/base/a\\.b/)$" "$frontend_map_from https://a.example/base/y";
    "~^(?<frontend_map_from>/base/A\\.b)$" "$frontend_map_from https://a.example/base/z";
    "~^(?<frontend_map_from>/base/A\\.b/)$" "$frontend_map_from https://a.example/base/z";
}
map "$uri $frontend_map_row" $frontend_map_redirect {
    default "";
    "~(?s)^(.+) \\1 (?<frontend_map_to>[^ ]+)\\z" $frontend_map_to;
}
"#;
        assert_eq!(block(&rows, &site, false), expected);
    }

    #[test]
    fn keys_have_the_host_where_there_are_several() {
        let site = site(&["https://a.example", "https://b.example:8443"]);
        let rows = [row(Some("a.example"), "/x", "https://b.example:8443", "/y")];
        let expected = r#"map $http_host$uri $frontend_map_row {
    default "";
    "a.example/x" "a.example/x https://b.example:8443/y";
    "a.example/x/" "a.example/x/ https://b.example:8443/y";
}
map "$http_host$uri $frontend_map_row" $frontend_map_redirect {
    default "";
    "~(?s)^(.+) \\1 (?<frontend_map_to>[^ ]+)\\z" $frontend_map_to;
}
"#;
        assert_eq!(block(&rows, &site, false), expected);
        let line = "    \"/x\" \"/x https://b.example:8443/y\";";
        assert!(block(&rows, &site, true).contains(line));
    }
}
