//! Whether a page asks search engines not to list it: `<meta name="robots">` and `X-Robots-Tag`, as
//! Google specifies both.

/// Directives that have a value behind a colon; any other word there is the name of a crawler.
const WITH_VALUE: [&str; 4] =
    ["max-image-preview", "max-snippet", "max-video-preview", "unavailable_after"];

/// Whether the directives of a `<meta>` forbid to list the page.
pub(super) fn meta_forbids(content: &str) -> bool {
    content.split(',').any(forbids)
}

/// Whether a value of `X-Robots-Tag` forbids all crawlers or Google's to list the page. It may name
/// crawlers: `googlebot: nofollow, otherbot: noindex`.
pub(super) fn header_forbids(value: &str) -> bool {
    let mut is_meant = true;
    // The comma of a date may be behind its weekday (RFC 9110, section 5.6.7).
    let mut ends_date = false;
    value.split(',').any(|directive| {
        if std::mem::take(&mut ends_date) {
            return false;
        }
        let mut directive = directive;
        while let Some((name, rest)) = directive.split_once(':') {
            let name = name.trim();
            ends_date = name.eq_ignore_ascii_case("unavailable_after")
                && !rest.contains(|c: char| c.is_ascii_digit());
            if WITH_VALUE.iter().any(|own| own.eq_ignore_ascii_case(name)) {
                return false;
            }
            is_meant =
                ["robots", "googlebot", "*"].iter().any(|own| own.eq_ignore_ascii_case(name));
            directive = rest;
        }
        is_meant && forbids(directive)
    })
}

fn forbids(directive: &str) -> bool {
    let directive = directive.trim();
    ["noindex", "none"].iter().any(|own| own.eq_ignore_ascii_case(directive))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noindex_and_none_forbid_in_a_list_of_directives() {
        for (content, expected) in [
            ("noindex", true),
            (" NoIndex , follow", true),
            ("nofollow,none", true),
            ("index, follow", false),
            ("max-image-preview:none", false),
            ("noindexed", false),
            ("noarchive noindex", false),
            ("", false),
        ] {
            assert_eq!(meta_forbids(content), expected, "{content:?}");
        }
    }

    #[test]
    fn header_may_name_crawlers_and_has_directives_with_values() {
        for (value, expected) in [
            ("noindex", true),
            ("none", true),
            ("noarchive, noindex, nosnippet", true),
            ("googlebot: noindex", true),
            ("Googlebot: nofollow, NOINDEX", true),
            ("otherbot: noindex, nofollow", false),
            ("otherbot: noindex, googlebot: nofollow", false),
            ("googlebot: nofollow, otherbot: noindex", false),
            ("otherbot: nofollow, googlebot: none", true),
            ("unavailable_after: 25 Jun 2010 15:00:00 PST", false),
            ("unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", true),
            ("unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noindex", true),
            ("googlebot: unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noindex", true),
            ("otherbot: unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noindex", false),
            ("noarchive, unavailable_after: Friday, 25-Jun-10 15:00:00 GMT", false),
            ("max-snippet: 0, max-image-preview: none", false),
            ("", false),
        ] {
            assert_eq!(header_forbids(value), expected, "{value:?}");
        }
    }
}
