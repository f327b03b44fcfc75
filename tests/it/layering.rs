//! Reads the imports in `src/` and keeps the layers apart: who may use whose modules, and which crates
//! and parts of the standard library a layer must not see.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One module at the top of `src/`, and what it may use.
struct Layer {
    module: &'static str,
    /// Modules of ours, beside itself. `None`: all.
    may_use: Option<&'static [&'static str]>,
    /// Paths of other crates and of the standard library.
    must_not_name: &'static [&'static str],
}

/// The world: HTTP, clock, environment, files, network, tasks. The core knows none of it.
const WORLD: &[&str] = &[
    "axum",
    "hyper",
    "hyper_util",
    "http_body_util",
    "tower_http",
    "reqwest",
    "rustls",
    "tokio",
    "futures",
    "config::",
    "clap",
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "std::time",
    "std::thread",
];
const WEB: &[&str] = &["axum", "hyper", "hyper_util", "tower_http", "clap"];

/// A new module gets a row here: decide where it stands.
const LAYERS: &[Layer] = &[
    Layer { module: "rules", may_use: Some(&[]), must_not_name: WORLD },
    Layer { module: "frontend_url", may_use: Some(&["rules"]), must_not_name: WORLD },
    Layer { module: "snapshot", may_use: Some(&["rules", "frontend_url"]), must_not_name: WORLD },
    Layer {
        module: "sitemap",
        may_use: Some(&["rules", "frontend_url", "snapshot"]),
        must_not_name: WORLD,
    },
    Layer { module: "site", may_use: Some(&["rules", "frontend_url"]), must_not_name: WORLD },
    Layer {
        module: "explain",
        may_use: Some(&["rules", "frontend_url", "site"]),
        must_not_name: WORLD,
    },
    Layer { module: "path_index", may_use: Some(&["rules", "snapshot"]), must_not_name: WORLD },
    // Anybody counts. It reads what the system says of the process.
    Layer { module: "metrics", may_use: Some(&[]), must_not_name: WEB },
    // It tells hyper's errors apart, which reqwest hands through.
    Layer {
        module: "outgoing",
        may_use: Some(&[]),
        must_not_name: &["axum", "tower_http", "clap"],
    },
    Layer { module: "permits", may_use: Some(&[]), must_not_name: WEB },
    Layer { module: "traces", may_use: Some(&["outgoing", "metrics"]), must_not_name: WEB },
    Layer {
        module: "content",
        may_use: Some(&["rules", "frontend_url", "outgoing", "metrics", "permits", "traces"]),
        must_not_name: WEB,
    },
    Layer {
        module: "validator",
        may_use: Some(&[
            "rules",
            "frontend_url",
            "site",
            "snapshot",
            "outgoing",
            "metrics",
            "traces",
        ]),
        // It speaks HTTP/1 itself, as a client.
        must_not_name: &["axum", "tower_http", "clap"],
    },
    Layer {
        module: "http",
        may_use: Some(&[
            "rules",
            "frontend_url",
            "path_index",
            "snapshot",
            "site",
            "sitemap",
            "content",
            "validator",
            "metrics",
            "permits",
            "traces",
            "app",
        ]),
        must_not_name: &["clap", "config::"],
    },
    Layer { module: "config", may_use: None, must_not_name: WEB },
    Layer { module: "app", may_use: None, must_not_name: &["clap"] },
    Layer {
        module: "server",
        may_use: Some(&["app", "http", "metrics"]),
        must_not_name: &["clap", "config::"],
    },
    Layer { module: "cli", may_use: None, must_not_name: &[] },
    Layer { module: "demo", may_use: None, must_not_name: &[] },
    Layer { module: "lib", may_use: None, must_not_name: &[] },
    Layer { module: "main", may_use: None, must_not_name: &[] },
];

#[test]
fn every_module_uses_only_what_its_layer_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut problems = Vec::new();
    for file in rust_files(&root) {
        let relative = file.strip_prefix(&root).expect("a file below src").to_owned();
        let source = std::fs::read_to_string(&file).expect("a source file");
        problems.extend(check(&relative, &source));
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

fn check(file: &Path, source: &str) -> Vec<String> {
    let top =
        file.components().next().expect("a file name").as_os_str().to_string_lossy().into_owned();
    let module = top.strip_suffix(".rs").unwrap_or(&top);
    let name = file.display();
    let Some(layer) = LAYERS.iter().find(|layer| layer.module == module) else {
        return vec![format!("{name}: the module `{module}` has no row in tests/it/layering.rs")];
    };
    let code = without_comments_and_texts(source);
    let mut problems = Vec::new();
    if let Some(may_use) = layer.may_use {
        for used in our_modules(&code) {
            if used != module && !may_use.contains(&used.as_str()) {
                problems.push(format!("{name}: `{module}` must not use `crate::{used}`"));
            }
        }
        if code.contains("super::super::") {
            problems.push(format!("{name}: write `crate::…` instead of `super::super::…`, which this test can't follow"));
        }
    }
    for path in layer.must_not_name {
        let in_group =
            path.strip_prefix("std::").is_some_and(|name| std_groups(&code).contains(name));
        if in_group || occurrences(&code, path).any(|at| is_path(&code, at, path)) {
            problems.push(format!("{name}: `{module}` must not name `{path}`"));
        }
    }
    problems
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
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

/// The first name after every `crate::`, of all branches of `crate::{…}`.
fn our_modules(code: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for at in occurrences(code, "crate::") {
        let rest = code[at + "crate::".len()..].trim_start();
        if let Some(group) = rest.strip_prefix('{') {
            modules.extend(branches(group));
        } else {
            modules.insert(identifier(rest));
        }
    }
    // Macros and items at the crate's root, such as `crate::Error`, are nobody's module.
    modules.retain(|name| name.starts_with(|char: char| char.is_ascii_lowercase()));
    modules
}

/// What `use std::{…}` brings in.
fn std_groups(code: &str) -> BTreeSet<String> {
    occurrences(code, "std::{").flat_map(|at| branches(&code[at + "std::{".len()..])).collect()
}

/// The first name of each branch of a `{a::b, c::{d, e}}` whose opening brace is already read.
fn branches(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.push(identifier(group[start..at].trim_start()));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(identifier(group[start..at].trim_start()));
                start = at + 1;
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect()
}

/// Where `path` begins as a word of its own; `$crate::` is a macro's way to say `crate::`.
fn occurrences<'a>(code: &'a str, path: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(path).map(|(at, _)| at).filter(|at| {
        let before = code[..*at].chars().next_back();
        before.is_none_or(|char| !char.is_alphanumeric() && char != '_' && char != '.')
    })
}

/// Whether the text at `at` is the crate or path itself: followed by `::` or the end of a `use`, and
/// not one of our own modules of that name.
fn is_path(code: &str, at: usize, path: &str) -> bool {
    let ours = ["crate::", "super::", "self::"].iter().any(|prefix| code[..at].ends_with(prefix));
    let rest = &code[at + path.len()..];
    let whole = path.ends_with("::")
        || rest.starts_with("::")
        || rest.starts_with(';')
        || rest.starts_with(" as ");
    let of_std = path.starts_with("std::") && rest.starts_with([';', ':', ' ']);
    !ours && (whole || of_std)
}

/// Blanks comments (documentation too) and string literals, so that only code is left.
fn without_comments_and_texts(source: &str) -> String {
    let mut code = String::new();
    let mut rest = source;
    while let Some(char) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = raw_text(rest) {
            length
        } else if char == '"' {
            text_length(rest)
        } else if rest.starts_with("'\"'") || rest.starts_with("'{'") || rest.starts_with("'}'") {
            3
        } else {
            0
        };
        if skipped == 0 {
            code.push(char);
            rest = &rest[char.len_utf8()..];
        } else {
            code.push(' ');
            rest = &rest[skipped..];
        }
    }
    code
}

/// The length of a `"…"` with escapes.
fn text_length(text: &str) -> usize {
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

/// The length of an `r"…"` or `r#"…"#` at the start of `text`.
fn raw_text(text: &str) -> Option<usize> {
    let hashes = text.strip_prefix('r')?.bytes().take_while(|byte| *byte == b'#').count();
    let open = 1 + hashes;
    text[open..].starts_with('"').then_some(())?;
    let close = format!("\"{}", "#".repeat(hashes));
    text[open + 1..].find(&close).map(|end| open + 1 + end + close.len())
}

#[test]
fn imports_are_found_wherever_they_stand() {
    let source = r#"
        // use crate::cli; is a comment
        use crate::{app::App, http::{self, query}, content};
        use crate::rules::Template;
        fn text() -> &'static str { "crate::demo" }
        fn path() { crate::validator::check(); $crate::frontend_url::build(); let _ = crate::Error; }
    "#;
    let found: Vec<String> = our_modules(&without_comments_and_texts(source)).into_iter().collect();
    assert_eq!(found, ["app", "content", "frontend_url", "http", "rules", "validator"]);
}

#[test]
fn a_breach_is_reported() {
    let problems =
        check(Path::new("rules/matcher.rs"), "use crate::http::query;\nuse std::time::Instant;\n");
    assert_eq!(
        problems,
        [
            "rules/matcher.rs: `rules` must not use `crate::http`",
            "rules/matcher.rs: `rules` must not name `std::time`"
        ],
    );
    assert_eq!(
        check(Path::new("rules/template.rs"), "use std::{collections::BTreeMap, fs::{self}};")
            .len(),
        1
    );
    assert_eq!(check(Path::new("http/query.rs"), "use crate::config::Config;\n").len(), 1);
    assert_eq!(check(Path::new("surprise.rs"), "").len(), 1);
    assert!(
        check(Path::new("http/error.rs"), "use axum::Json; use crate::rules::Rule;").is_empty()
    );
}
