//! The paths that a file names, in its `use` declarations and everywhere else.

use super::code::{block_length, identifier, occurrences};

/// A path to something of this crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NamedPath {
    /// As written, `crate`, `self` and `super` included.
    pub(super) segments: Vec<String>,
    /// The name under which a `use` brings it in.
    pub(super) alias: Option<String>,
    /// How many `mod … { … }` blocks of the same file surround it.
    pub(super) depth: usize,
}

/// All paths after `use`, and those elsewhere that begin with `crate`, `self` or `super`.
pub(super) fn named_paths(code: &str) -> Vec<NamedPath> {
    let blocks = module_blocks(code);
    let depth =
        |at: usize| blocks.iter().filter(|(start, end)| (*start..*end).contains(&at)).count();
    let mut paths = Vec::new();
    let mut declarations = Vec::new();
    for at in occurrences(code, "use ") {
        let end = code[at..].find(';').map_or(code.len(), |end| at + end);
        declarations.push((at, end));
        for (segments, alias) in leaves(&code[at + "use ".len()..end]) {
            paths.push(NamedPath { segments, alias: Some(alias), depth: depth(at) });
        }
    }
    for first in ["crate::", "self::", "super::"] {
        for at in occurrences(code, first) {
            let declared = declarations.iter().any(|(start, end)| (*start..*end).contains(&at));
            let continues = code[..at].ends_with("::");
            if !declared && !continues {
                let segments = segments(&code[at..]).map(str::to_owned).collect();
                paths.push(NamedPath { segments, alias: None, depth: depth(at) });
            }
        }
    }
    paths
}

/// The identifiers of `a::b::c` at the start of `text`.
fn segments(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let name = identifier(rest?);
        rest = rest?[name.len()..].strip_prefix("::");
        (!name.is_empty()).then_some(name)
    })
}

/// Start and end of each `mod … { … }`.
fn module_blocks(code: &str) -> Vec<(usize, usize)> {
    let block = |at: usize| {
        let name = at + "mod ".len();
        let open = name + identifier(&code[name..]).len();
        let brace = code[open..].trim_start().starts_with('{');
        brace.then(|| (open, open + block_length(&code[open..])))
    };
    occurrences(code, "mod ").filter_map(block).collect()
}

/// Each path of a `use` tree, with the name that it brings in (`*` for all).
fn leaves(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim().trim_start_matches("::");
    let (prefix, group) = match tree.split_once('{') {
        Some((prefix, group)) => (prefix, group.trim_end().strip_suffix('}').unwrap_or(group)),
        None => return vec![leaf(tree)],
    };
    let prefix: Vec<String> = segments(prefix.trim()).map(str::to_owned).collect();
    let mut found = Vec::new();
    for branch in branches(group) {
        for (rest, alias) in leaves(branch) {
            // `a::{self}` is `a`.
            let names_itself = rest == ["self"] && !prefix.is_empty();
            let rest = if names_itself { Vec::new() } else { rest };
            let path: Vec<String> = prefix.iter().cloned().chain(rest).collect();
            let alias =
                if alias == "self" { path.last().cloned().unwrap_or_default() } else { alias };
            found.push((path, alias));
        }
    }
    found
}

/// One path without braces: `a::b`, `a::b as c` or `a::*`.
fn leaf(path: &str) -> (Vec<String>, String) {
    let (path, alias) = match path.split_once(" as ") {
        Some((path, alias)) => (path.trim(), Some(alias.trim().to_owned())),
        None => (path, None),
    };
    let all = path.ends_with('*');
    let segments: Vec<String> = segments(path).map(str::to_owned).collect();
    let last = if all { "*".to_owned() } else { segments.last().cloned().unwrap_or_default() };
    (segments, alias.unwrap_or(last))
}

/// The parts of `a, b::{c, d}, e` between the commas outside of braces.
fn branches(group: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

#[test]
fn paths_are_found_in_declarations_and_in_code() {
    let code = "use crate::{app::App, http::{self, query as q}, content::*};\n\
                pub use cache::Copy;\n\
                mod inner { use super::super::site; }\n\
                fn f() { crate::validator::check::<u8>(); $crate::url::build(); self::g(); }";
    let found: Vec<String> = named_paths(code)
        .iter()
        .map(|path| {
            let alias = path.alias.as_ref().map(|alias| format!(" as {alias}")).unwrap_or_default();
            format!("{}{alias} {}", path.segments.join("::"), path.depth)
        })
        .collect();
    assert_eq!(
        found,
        [
            "crate::app::App as App 0",
            "crate::http as http 0",
            "crate::http::query as q 0",
            "crate::content as * 0",
            "cache::Copy as Copy 0",
            "super::super::site as site 1",
            "crate::validator::check 0",
            "crate::url::build 0",
            "self::g 0",
        ]
    );
}
