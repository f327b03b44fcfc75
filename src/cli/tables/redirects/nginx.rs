//! Redirects as a `map` block (<https://nginx.org/en/docs/http/ngx_http_map_module.html>).

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use super::row::{FrontendPaths, Row};
use crate::rules::percent_decode;

/// The smallest `map_hash_bucket_size` that is written, in bytes: the default of nginx on most machines.
const MIN_BUCKET: usize = 64;

/// Writes the block. Its keys are decoded paths, as `$uri` has them, with and without a slash at the
/// end.
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
    // nginx ignores the case of keys.
    let mut in_lower_case: HashMap<String, usize> = HashMap::new();
    for (key, _) in &entries {
        *in_lower_case.entry(key.to_ascii_lowercase()).or_default() += 1;
    }
    let longest = entries.iter().map(|(key, _)| key.len()).max().unwrap_or_default();
    let bucket = (longest + 32).next_power_of_two().max(MIN_BUCKET);
    let status = rows.first().map_or(308, |row| row.status);
    writeln!(out, "# In http {{ }}:")?;
    writeln!(out, "#   map_hash_bucket_size {bucket};")?;
    writeln!(out, "#   map_hash_max_size {};", (entries.len() * 2).max(2048))?;
    writeln!(out, "# In server {{ }}:")?;
    writeln!(out, "#   if ($frontend_map_redirect) {{")?;
    writeln!(out, "#     return {status} $frontend_map_redirect$is_args$args;")?;
    writeln!(out, "#   }}")?;
    writeln!(out, "map {source} $frontend_map_redirect {{")?;
    writeln!(out, "    default \"\";")?;
    for (key, row) in &entries {
        let to = row.to.as_deref().unwrap_or(&row.path);
        let is_only = in_lower_case.get(&key.to_ascii_lowercase()) == Some(&1);
        let key = if is_only { quoted(key) } else { quoted(&format!("~^{}$", pattern(key))) };
        writeln!(out, "    {key} {};", quoted(&to.replace('$', "%24")))?;
    }
    writeln!(out, "}}")
}

/// The keys of a row: with and without a slash at the end.
fn entries<'r>(row: &'r Row, paths: &FrontendPaths<'_>) -> impl Iterator<Item = (String, &'r Row)> {
    let path = format!("{}{}", paths.prefix(row), row.from);
    let decoded = percent_decode(&path).and_then(|bytes| match bytes {
        Cow::Borrowed(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok(),
    });
    let path = decoded.unwrap_or(path);
    let key = format!("{}{}", paths.host(row).unwrap_or_default(), path);
    let other = match key.strip_suffix('/') {
        Some(_) if path == "/" => None,
        Some(without) => Some(without.to_owned()),
        None => Some(format!("{key}/")),
    };
    [Some(key), other].into_iter().flatten().map(move |key| (key, row))
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
    use crate::frontend_url::{BaseUrl, Hosts};
    use crate::rules::{Locale, LocalePrefix, Locales, RuleSet};
    use crate::site::{ResolveBy, Site, SitePages};
    use crate::snapshot::Snapshot;

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
        ];
        let expected = "map $uri $frontend_map_redirect {
    default \"\";
    \"/base/café \\\"x\\\"\" \"https://a.example/base/y\";
    \"/base/café \\\"x\\\"/\" \"https://a.example/base/y\";
    \"/base/~a{$b}\\\\\\n\" \"https://a.example/base/c%24d\";
    \"/base/~a{$b}\\\\\\n/\" \"https://a.example/base/c%24d\";
    \"/base/\" \"https://a.example/base/home\";
    \"/base\" \"https://a.example/base/home\";
    \"/base/A\" \"https://a.example/base/y\";
    \"/base/A/\" \"https://a.example/base/y\";
    \"~^/base/a\\\\.b$\" \"https://a.example/base/y\";
    \"~^/base/a\\\\.b/$\" \"https://a.example/base/y\";
    \"~^/base/A\\\\.b$\" \"https://a.example/base/z\";
    \"~^/base/A\\\\.b/$\" \"https://a.example/base/z\";
}
";
        assert_eq!(block(&rows, &site, false), expected);
    }

    #[test]
    fn keys_have_the_host_where_there_are_several() {
        let site = site(&["https://a.example", "https://b.example:8443"]);
        let rows = [row(Some("a.example"), "/x", "https://b.example:8443", "/y")];
        let expected = "map $http_host$uri $frontend_map_redirect {
    default \"\";
    \"a.example/x\" \"https://b.example:8443/y\";
    \"a.example/x/\" \"https://b.example:8443/y\";
}
";
        assert_eq!(block(&rows, &site, false), expected);
        assert!(block(&rows, &site, true).contains("    \"/x\" \"https://b.example:8443/y\";"));
    }
}
