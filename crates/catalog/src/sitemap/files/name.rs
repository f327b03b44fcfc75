//! The names of sitemap files: `plugin.cms.article-1.xml` is the first file of `plugin::cms.article`.

/// The name of the index.
pub const INDEX: &str = "index.xml";
/// Another name of the index, by which crawlers and tools look for one.
pub const SITEMAP: &str = "sitemap.xml";
/// The name of the file by which crawlers find the index.
pub const ROBOTS: &str = "robots.txt";

/// Stands for a content type in the names of the files with the pages outside the CMS.
const PAGES: &str = "pages";

/// The name of a file. It is unique, because a UID has no other dots than those two.
pub fn file_name(uid: &str, number: u64) -> String {
    format!("{}-{number}.xml", uid.replace("::", "."))
}

/// The content type and number in a file name, or `pages` and number; `None` for any other name.
pub fn parse_name(name: &str) -> Option<(String, u64)> {
    let (name, number) = name.strip_suffix(".xml")?.rsplit_once('-')?;
    let read: u64 = number.parse().ok()?;
    // A file has one name: `01` and `+1` are not accepted.
    if read.to_string() != number {
        return None;
    }
    if name == PAGES {
        return Some((name.to_owned(), read));
    }
    let (kind, rest) = name.split_once('.')?;
    Some((format!("{kind}::{rest}"), read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_is_parsed_back_and_no_other_name_is_accepted() {
        for (uid, number, name) in [
            ("plugin::cms.press-release", 1, "plugin.cms.press-release-1.xml"),
            ("api::a.a", 31, "api.a.a-31.xml"),
            ("pages", 1, "pages-1.xml"),
        ] {
            assert_eq!(file_name(uid, number), name);
            assert_eq!(parse_name(name), Some((uid.to_owned(), number)));
        }
        for name in [
            "index.xml",
            "sitemap.xml",
            "api.a.a.xml",
            "api.a.a-01.xml",
            "api.a.a-+1.xml",
            "a-1",
            "a-1.xml",
            "pages-01.xml",
            "pages.xml",
        ] {
            assert_eq!(parse_name(name), None, "{name}");
        }
    }
}
