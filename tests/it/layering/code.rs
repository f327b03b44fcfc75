//! Rust source as the other checks read it: without comments, literals and unit tests.

use std::path::{Path, PathBuf};

/// The Rust files below a folder, in the order of their paths.
pub(super) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Blanks comments (documentation too) and literals with text, so that only code is left.
pub(super) fn without_comments_and_literals(source: &str) -> String {
    let mut code = String::new();
    let mut rest = source;
    while let Some(char) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| raw_string(rest)).or_else(|| literal(rest, char));
        if let Some(length) = skipped {
            code.push(' ');
            rest = &rest[length..];
        } else {
            code.push(char);
            rest = &rest[char.len_utf8()..];
        }
    }
    code
}

/// The length of a comment at the start of `text`.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    text.starts_with("/*").then(|| text.find("*/").map_or(text.len(), |end| end + 2))
}

/// The length of an `r"…"` or `r#"…"#` at the start of `text`.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.strip_prefix('r')?.bytes().take_while(|byte| *byte == b'#').count();
    let open = 1 + hashes;
    text[open..].starts_with('"').then_some(())?;
    let close = format!("\"{}", "#".repeat(hashes));
    text[open + 1..].find(&close).map(|end| open + 1 + end + close.len())
}

/// The length of a `"…"` or of a character that is a quote, a brace or an escape.
fn literal(text: &str, first: char) -> Option<usize> {
    match first {
        '"' => Some(string_length(text)),
        '\'' if text.starts_with("'\\") => text[3..].find('\'').map(|end| end + 4),
        '\'' if ["'\"'", "'{'", "'}'"].iter().any(|quoted| text.starts_with(quoted)) => Some(3),
        _ => None,
    }
}

/// The length of a `"…"` with escapes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Blanks `#[cfg(test)] mod … { … }`: unit tests use their whole module.
pub(super) fn without_unit_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        let item = &from["#[cfg(test)]".len()..];
        let open = item.find('{').filter(|open| is_module(&item[..*open]));
        let end = open.map_or(0, |open| open + block_length(&item[open..]));
        rest = &item[end..];
    }
    kept + rest
}

fn is_module(before_its_brace: &str) -> bool {
    let words = before_its_brace.rsplit(']').next().unwrap_or_default();
    words.split_whitespace().any(|word| word == "mod") && !words.contains(';')
}

/// The length of a `{…}` at the start of `code`.
pub(super) fn block_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, char) in code.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// Where `word` begins as a word of its own. `$crate::` is a macro's way to write `crate::`.
pub(super) fn occurrences<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(|at| {
        let before = code[..*at].chars().next_back();
        before.is_none_or(|char| !char.is_alphanumeric() && char != '_' && char != '.')
    })
}

/// The identifier at the start of `text`; empty if there is none.
pub(super) fn identifier(text: &str) -> &str {
    let end = text.find(|char: char| !char.is_alphanumeric() && char != '_');
    &text[..end.unwrap_or(text.len())]
}
