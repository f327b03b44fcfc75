//! `robots.txt` (RFC 9309): which paths crawlers may read.

use super::page_url::with_one_encoding;

/// Bytes of a file that are read (section 2.5).
pub(in crate::checks) const MAX_BYTES: usize = 500 * 1024;

/// The crawlers whose rules are asked for: Google's, and those that no group names.
pub(super) const CRAWLERS: [&str; 2] = ["Googlebot", "*"];

/// The rules of a file for each of [`CRAWLERS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RobotsTxt {
    rules: [Vec<Rule>; CRAWLERS.len()],
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    allows: bool,
    /// As [`with_one_encoding`] writes it, with `*`, and `$` at its end.
    pattern: Vec<u8>,
    /// As written.
    text: String,
}

/// A rule that forbids a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Forbidden<'r> {
    /// One of [`CRAWLERS`].
    pub(super) crawler: &'static str,
    /// The pattern of the rule, as written.
    pub(super) pattern: &'r str,
}

impl RobotsTxt {
    /// The rules of a file. A line that is none is left out.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut groups: [Option<Vec<Rule>>; CRAWLERS.len()] = Default::default();
        // Of the group that is being read: whose it is, and whether it has a rule already.
        let (mut is_of, mut has_rule) = ([false; CRAWLERS.len()], false);
        for line in bytes.split(|byte| matches!(byte, b'\r' | b'\n')) {
            let line = String::from_utf8_lossy(line);
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if std::mem::take(&mut has_rule) {
                        is_of = [false; CRAWLERS.len()];
                    }
                    for (at, crawler) in CRAWLERS.iter().enumerate() {
                        if is_named(value, crawler) {
                            is_of[at] = true;
                            groups[at].get_or_insert_default();
                        }
                    }
                }
                "allow" | "disallow" => {
                    has_rule = true;
                    let rule = Rule {
                        allows: key == "allow",
                        pattern: with_one_encoding(value).into_bytes(),
                        text: value.to_owned(),
                    };
                    let own = is_of.iter().zip(&mut groups).filter(|(is_own, _)| **is_own);
                    for (_, group) in own.filter(|_| !value.is_empty()) {
                        group.get_or_insert_default().push(rule.clone());
                    }
                }
                _ => {}
            }
        }
        let everyone = groups[1].take().unwrap_or_default();
        let mut rules = [groups[0].take().unwrap_or_else(|| everyone.clone()), everyone];
        for rules in &mut rules {
            // The longest pattern decides, and of two with the same length the one that allows
            // (section 2.2.2).
            rules.sort_by_key(|rule| (std::cmp::Reverse(rule.pattern.len()), !rule.allows));
        }
        Self { rules }
    }

    /// The rule that forbids a crawler to read a path with its query; the first crawler of
    /// [`CRAWLERS`] counts.
    pub(super) fn forbids(&self, path: &str) -> Option<Forbidden<'_>> {
        let path = with_one_encoding(path).into_bytes();
        // Section 2.2.2.
        if path == b"/robots.txt" {
            return None;
        }
        self.rules.iter().zip(CRAWLERS).find_map(|(rules, crawler)| {
            let decides = rules.iter().find(|rule| matches(&rule.pattern, &path))?;
            (!decides.allows).then_some(Forbidden { crawler, pattern: &decides.text })
        })
    }
}

/// Whether the value of a `user-agent` line names a crawler: by its product token, in any case.
fn is_named(value: &str, crawler: &str) -> bool {
    if crawler == "*" {
        return value == "*";
    }
    let is_of_token = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '-');
    let end = value.find(|c| !is_of_token(c)).unwrap_or(value.len());
    value[..end].eq_ignore_ascii_case(crawler)
}

/// Whether a path begins with a pattern, in which `*` stands for any text and `$` at its end for the end
/// of the path (section 2.2.3).
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, to_end) = match pattern {
        [pattern @ .., b'$'] => (pattern, true),
        pattern => (pattern, false),
    };
    let mut parts = pattern.split(|byte| *byte == b'*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return !to_end || rest.is_empty();
    }
    // Each part at its first place: a later one leaves less for those behind it.
    while let Some(part) = parts.next() {
        if parts.peek().is_none() && to_end {
            return rest.ends_with(part);
        }
        let Some(at) = find(rest, part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forbids(file: &str, path: &str) -> Option<(&'static str, String)> {
        let robots = RobotsTxt::parse(file.as_bytes());
        robots.forbids(path).map(|rule| (rule.crawler, rule.pattern.to_owned()))
    }

    /// RFC 9309, section 5.1, with `Googlebot` in place of its crawlers.
    #[test]
    fn groups_of_the_rfc() {
        let file = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
            User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
            User-Agent: barbot\nUser-Agent: Googlebot\nDisallow: /example/page.html\n\n\
            User-Agent: quxbot\n";
        for (path, expected) in [
            ("/example/page.html", Some("Googlebot")),
            ("/example/other.html", Some("*")),
            ("/a/b.gif", Some("*")),
            ("/a/b.gif?x", None),
            ("/publications/", None),
            ("/", None),
        ] {
            assert_eq!(forbids(file, path).map(|(crawler, _)| crawler), expected, "{path}");
        }
    }

    /// Section 5.2.
    #[test]
    fn longest_match_of_the_rfc() {
        let file = "User-Agent: foobot\nUser-agent: *\nAllow: /example/page/\n\
            Disallow: /example/page/disallowed.gif\n";
        assert_eq!(forbids(file, "/example/page/"), None);
        assert_eq!(
            forbids(file, "/example/page/disallowed.gif"),
            Some(("Googlebot", "/example/page/disallowed.gif".to_owned()))
        );
    }

    /// The table of section 2.2.2, and that of Google for wildcards.
    #[test]
    fn patterns_match_as_the_rfc_says() {
        for (pattern, path, expected) in [
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz", true),
            ("/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84", true),
            ("/foo/bar/%E3%83%84", "/foo/bar/\u{30c4}", true),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz", true),
            ("/foo/bar/baz", "/foo/bar/%62%61%7a", true),
            ("/foo%2fbar", "/foo/bar", false),
            ("/", "/anything", true),
            ("/*", "/", true),
            ("/$", "/", true),
            ("/$", "/a", false),
            ("/fish", "/fish/salmon.html", true),
            ("/fish", "/fishheads", true),
            ("/fish", "/Fish.asp", false),
            ("/fish", "/catfish", false),
            ("/fish*", "/fish.html", true),
            ("/fish/", "/fish", false),
            ("/*.php", "/index.php?x", true),
            ("/*.php", "/index.html", false),
            ("/*.php$", "/folder/filename.php", true),
            ("/*.php$", "/filename.php/", false),
            ("/fish*.php", "/fishheads/catfish.php?parameters", true),
            ("/fish*.php", "/Fish.PHP", false),
            ("/a*b*c$", "/axbxbxc", true),
            ("/a*bc*c$", "/abc", false),
            ("/a**$", "/a", true),
            ("/a$b", "/a$b", true),
            ("*", "/x", true),
            ("fish", "/fish", false),
        ] {
            assert_eq!(
                matches(with_one_encoding(pattern).as_bytes(), with_one_encoding(path).as_bytes()),
                expected,
                "{pattern} {path}"
            );
        }
    }

    #[test]
    fn allow_wins_a_tie_and_an_empty_rule_says_nothing() {
        assert_eq!(forbids("User-agent: *\nDisallow: /page\nAllow: /page\n", "/page"), None);
        assert_eq!(forbids("User-agent: *\nDisallow:\n", "/page"), None);
        assert_eq!(forbids("Disallow: /\n", "/page"), None, "it has no group");
        assert_eq!(forbids("User-agent: *\nDisallow: /\n", "/robots.txt"), None);
    }

    #[test]
    fn groups_of_one_crawler_are_one_and_other_lines_end_none() {
        let file = "\u{feff}USER-AGENT : GoogleBot/2.1 # the first\r\rSitemap: /x.xml\rdisallow : /a # x\r\n\
            User-agent: *\nDisallow: /c\nuser-agent: googlebot-news\nDisallow: /d\n\
            user-agent: googlebot\nCrawl-delay: 3\nDisallow: /b\nallow\n";
        for (path, expected) in
            [("/a", Some("Googlebot")), ("/b", Some("Googlebot")), ("/c", Some("*")), ("/d", None)]
        {
            assert_eq!(forbids(file, path).map(|(crawler, _)| crawler), expected, "{path}");
        }
        assert_eq!(forbids("User-agent: *\nDisallow: /", "/x").unwrap().0, "Googlebot");
        assert_eq!(forbids("User-agent: otherbot\nDisallow: /", "/x"), None);
    }

    #[test]
    fn any_bytes_are_read() {
        let mut all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        all.extend(b"\nUser-agent: *\nDisallow: /%zz%\n");
        let robots = RobotsTxt::parse(&all);
        assert_eq!(robots.forbids("/%zz%25x").map(|rule| rule.pattern), Some("/%zz%"));
        assert_eq!(robots.forbids("/%zz"), None);
    }
}
