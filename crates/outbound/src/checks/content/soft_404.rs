//! Soft 404s: a page that answers 200 with the title and the text of one that cannot exist.

use frontend_map_rules::percent_decode;

use super::html::PageFacts;

/// Bytes of a text that are compared, at most.
const COMPARED: usize = 16 * 1024;
/// Bytes that are kept of the text of a page that cannot exist: enough for the paths that are taken out.
const KEPT: usize = 2 * COMPARED;

/// The page that a frontend shows, with 200, at a path that cannot exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotFoundPage {
    path: String,
    title: String,
    text: String,
}

impl NotFoundPage {
    /// The response to a path that cannot exist.
    pub(super) fn new(path: &str, facts: &PageFacts) -> Self {
        let title = facts.title.clone().unwrap_or_default();
        let end = facts.text.floor_char_boundary(KEPT.min(facts.text.len()));
        Self { path: path.to_owned(), title, text: facts.text[..end].to_owned() }
    }

    /// Whether the page of a path says the same, once both paths are taken out.
    pub(super) fn is_like(&self, path: &str, facts: &PageFacts) -> bool {
        let words = [path, &self.path].map(words_of_path).concat();
        let title = facts.title.as_deref().unwrap_or_default();
        without(&self.title, &words, COMPARED) == without(title, &words, COMPARED)
            && without(&self.text, &words, COMPARED) == without(&facts.text, &words, COMPARED)
    }
}

/// How a page may write its path: the whole path and its last segment, encoded and decoded; the longest
/// first.
fn words_of_path(path: &str) -> Vec<String> {
    let path = path.trim_end_matches('/');
    let segment = path.rsplit('/').next().unwrap_or_default();
    let [decoded_path, decoded_segment] = [path, segment].map(|text| {
        percent_decode(text)
            .map_or_else(String::new, |bytes| String::from_utf8_lossy(&bytes).into_owned())
    });
    let mut words = vec![path.to_owned(), decoded_path, segment.to_owned(), decoded_segment];
    words.retain(|word| word.chars().any(char::is_alphanumeric));
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.dedup();
    words
}

/// The first bytes of a text without these words, with single spaces.
fn without(text: &str, words: &[String], most: usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut before = None;
    while let Some(c) = rest.chars().next() {
        if out.len() >= most {
            break;
        }
        if let Some(word) = words.iter().find(|word| stands_at(rest, before, word)) {
            before = word.chars().next_back();
            rest = &rest[word.len()..];
            continue;
        }
        if !c.is_whitespace() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
        before = Some(c);
        rest = &rest[c.len_utf8()..];
    }
    out.truncate(out.floor_char_boundary(most.min(out.len())));
    out.truncate(out.trim_end().len());
    out
}

/// Whether a text begins with a word that is not a part of another one.
fn stands_at(text: &str, before: Option<char>, word: &str) -> bool {
    let Some(behind) = text.strip_prefix(word) else { return false };
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let begins = !is_letter(word.chars().next()) || !is_letter(before);
    begins && !is_letter(behind.chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::content::html;

    fn facts(title: &str, text: &str) -> PageFacts {
        PageFacts { title: Some(title.to_owned()), text: text.to_owned(), ..PageFacts::default() }
    }

    #[test]
    fn page_is_like_a_missing_one_if_only_the_paths_differ() {
        let missing =
            facts("Not found", "  Nothing at /en/none-1x:\n none-1x is gone.  Page search ");
        let missing = NotFoundPage::new("/en/none-1x", &missing);
        for (path, title, text, expected) in [
            ("/en/hello", "Not found", "Nothing at /en/hello: hello is gone. Page search", true),
            (
                "/en/caf%C3%A9",
                "Not found",
                "Nothing at /en/café: caf%C3%A9 is gone. Page search",
                true,
            ),
            // A slug that is a word of the text is taken out of both.
            (
                "/en/search/",
                "Not found",
                "Nothing at /en/search: search is gone. Page search",
                true,
            ),
            ("/en/a", "Not found", "Nothing at /en/a: a is gone. Page search", true),
            ("/en/hello", "Hello", "Nothing at /en/hello: hello is gone. Page search", false),
            ("/en/hello", "Not found", "Nothing at /en/hello: hello is gone. Page search 2", false),
            ("/en/hello", "Not found", "Hello is a page", false),
            ("/", "Not found", "", false),
        ] {
            assert_eq!(
                missing.is_like(path, &facts(title, text)),
                expected,
                "{path} {title} {text}"
            );
        }
    }

    #[test]
    fn path_beside_a_tag_is_taken_out() {
        let page = |path: &str| {
            html::read(&format!("<title>x</title><p>No</p>{path}<p>here<b>{path}</b>"))
        };
        let missing = NotFoundPage::new("/en/none", &page("/en/none"));
        assert!(missing.is_like("/en/a-1", &page("/en/a-1")));
    }

    #[test]
    fn long_texts_are_compared_at_their_beginning() {
        let long = "word ".repeat(20_000);
        let missing = NotFoundPage::new("/en/none", &facts("", &format!("/en/none {long}")));
        assert!(
            missing.is_like("/en/a-long-path", &facts("", &format!("/en/a-long-path {long}x")))
        );
        assert!(!missing.is_like("/en/x", &facts("", &format!("other {long}"))));
    }
}
