//! Whether the URLs of a site lack a slash at their end, or have one too many.

use url::Url;

use frontend_map_outbound::checks::Finding;

/// The value of `trailing_slash` that the frontend asks for: it redirects every URL to the same one
/// with or without a slash at its end. `None`: it does not.
///
/// A frontend leaves `/` and paths of files alone. URLs without a page or a redirect say nothing
/// about slashes.
pub(super) fn wanted_setting<'f, 't: 'f>(
    bases: &[&str],
    findings: impl Iterator<Item = &'f Finding<'t>>,
) -> Option<&'static str> {
    let mut wanted = None;
    for finding in findings.filter(|finding| !path(bases, finding).is_empty()) {
        match (wanted_by(finding), wanted) {
            (Some(one), Some(other)) if one != other => return None,
            (Some(one), _) => wanted = Some(one),
            (None, _) if says_nothing(bases, finding) => {}
            (None, _) => return None,
        }
    }
    wanted
}

/// The setting without which a URL redirects to itself.
fn wanted_by(finding: &Finding<'_>) -> Option<&'static str> {
    let location = finding.entry.location.as_ref()?;
    let url = Url::parse(&finding.entry.url).ok()?;
    let target = url.join(location).ok()?;
    let (from, to) = (url.as_str(), target.as_str());
    if to.strip_suffix('/') == Some(from) {
        Some("always")
    } else if from.strip_suffix('/') == Some(to) {
        Some("never")
    } else {
        None
    }
}

fn says_nothing(bases: &[&str], finding: &Finding<'_>) -> bool {
    let last = path(bases, finding).rsplit('/').next();
    let is_file = last.is_some_and(|last| last.contains('.'));
    let is_page = finding.entry.status.is_some_and(|status| (200..=399).contains(&status));
    is_file || !is_page
}

/// The path without the slash at its end, which `trailing_slash` leaves to the root.
fn path<'f>(bases: &[&str], finding: &'f Finding<'_>) -> &'f str {
    let below =
        |base: &&str| finding.entry.url.strip_prefix(base).filter(|path| path.starts_with('/'));
    let path = bases.iter().find_map(below).unwrap_or_default();
    path.strip_suffix('/').unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend_map_outbound::checks::{CheckResult, Failure};

    const BASE: &str = "https://h.example/shop";

    fn found(path: &str, checked: CheckResult) -> Finding<'static> {
        Finding {
            entry: frontend_map_outbound::checks::report::UrlCheck::new(
                format!("{BASE}{path}"),
                checked,
            ),
            content_type: "api::post.post",
            document_id: "d",
            locale: "en",
            rule: "/{slug}",
            title: None,
            admin_url: None,
            faults: Vec::new(),
        }
    }

    fn status(path: &str, status: u16) -> Finding<'static> {
        found(path, CheckResult::Response { status, location: None, retry_after: None })
    }

    fn moved(path: &str, location: &str) -> Finding<'static> {
        let location = Some(location.to_owned());
        found(path, CheckResult::Response { status: 308, location, retry_after: None })
    }

    #[test]
    fn setting_is_wanted_where_every_page_redirects_to_itself_with_or_without_a_slash() {
        let slash = || moved("/a", "/shop/a/");
        for (name, findings, expected) in [
            ("nothing checked", vec![], None),
            ("relative", vec![slash()], Some("always")),
            ("absolute", vec![moved("/a", "https://h.example/shop/a/")], Some("always")),
            ("without", vec![moved("/a/", "/shop/a")], Some("never")),
            ("both", vec![slash(), moved("/b/", "/shop/b")], None),
            ("a page without a redirect", vec![slash(), status("/b", 200)], None),
            ("another redirect", vec![slash(), moved("/b", "/shop/c/")], None),
            ("another host", vec![moved("/a", "https://www.h.example/shop/a/")], None),
            ("another query", vec![moved("/a", "/shop/a/?x")], None),
            ("more slashes", vec![moved("/a", "/shop/a//")], None),
            ("the root", vec![slash(), status("/", 200)], Some("always")),
            ("the root alone", vec![status("/", 200)], None),
            ("the root with a base path", vec![moved("/", "/shop")], None),
            ("a file", vec![slash(), status("/a.html", 200)], Some("always")),
            ("a dead URL", vec![slash(), status("/b", 404)], Some("always")),
            (
                "no response",
                vec![slash(), found("/b", CheckResult::Failed(Failure::Dns))],
                Some("always"),
            ),
        ] {
            assert_eq!(wanted_setting(&[BASE], findings.iter()), expected, "{name}");
        }
    }
}
