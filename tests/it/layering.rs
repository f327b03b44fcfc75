//! The architecture, read from `src/`: which modules a layer may use, which crates and parts of the
//! standard library it must not see, no cycles, and no large files and folders.

mod code;
mod modules;
mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use code::{identifier, occurrences, rust_files, without_comments_and_literals};
use modules::Modules;
use paths::named_paths;

/// One module at the top of `src/`, and what it may use.
struct Layer {
    module: &'static str,
    /// Other modules of this crate, all of them in rows above. `None`: all.
    may_use: Option<&'static [&'static str]>,
    /// Paths of other crates and of the standard library.
    must_not_name: &'static [&'static str],
}

/// HTTP, clock, environment, files, network, tasks: what the core must not depend on.
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

/// Each module at the top of `src/`, the lowest first. A new module gets a row: decide where it stands.
const LAYERS: &[Layer] = &[
    Layer { module: "suggestion", may_use: Some(&[]), must_not_name: WORLD },
    Layer { module: "json", may_use: Some(&[]), must_not_name: WORLD },
    // What may read the time has it in its row.
    Layer { module: "clock", may_use: Some(&[]), must_not_name: WEB },
    Layer { module: "rules", may_use: Some(&[]), must_not_name: WORLD },
    Layer { module: "frontend_url", may_use: Some(&["rules"]), must_not_name: WORLD },
    Layer { module: "snapshot", may_use: Some(&["rules", "frontend_url"]), must_not_name: WORLD },
    Layer {
        module: "sitemap",
        may_use: Some(&["rules", "frontend_url", "snapshot"]),
        must_not_name: WORLD,
    },
    Layer {
        module: "site",
        may_use: Some(&["rules", "frontend_url", "snapshot"]),
        must_not_name: WORLD,
    },
    Layer {
        module: "tables",
        may_use: Some(&["json", "rules", "site", "snapshot"]),
        must_not_name: WORLD,
    },
    Layer { module: "path_index", may_use: Some(&["rules", "snapshot"]), must_not_name: WORLD },
    Layer {
        module: "explain",
        may_use: Some(&["rules", "frontend_url", "site", "snapshot", "path_index"]),
        must_not_name: WORLD,
    },
    Layer {
        module: "path_changes",
        may_use: Some(&["rules", "frontend_url", "snapshot"]),
        must_not_name: WORLD,
    },
    // Its readers wait for changes.
    Layer {
        module: "change_log",
        may_use: Some(&["json", "snapshot", "path_changes"]),
        must_not_name: WEB,
    },
    Layer { module: "path_history", may_use: Some(&["path_changes"]), must_not_name: WORLD },
    Layer {
        module: "redirects",
        may_use: Some(&[
            "json",
            "rules",
            "snapshot",
            "site",
            "tables",
            "path_index",
            "path_history",
        ]),
        must_not_name: WORLD,
    },
    Layer {
        module: "path_import",
        may_use: Some(&[
            "rules",
            "frontend_url",
            "snapshot",
            "site",
            "path_index",
            "path_history",
            "redirects",
        ]),
        must_not_name: WORLD,
    },
    // Every module may count. It reads from the system what the process uses.
    Layer { module: "metrics", may_use: Some(&[]), must_not_name: WEB },
    // A client of Redis, which knows nothing of sites and snapshots.
    Layer { module: "shared_engine", may_use: Some(&["clock", "metrics"]), must_not_name: WEB },
    // It distinguishes errors of hyper, which reqwest passes on.
    Layer {
        module: "outgoing",
        may_use: Some(&[]),
        must_not_name: &["axum", "tower_http", "clap"],
    },
    // What survives the process, in a file and a thread of its own.
    Layer {
        module: "store",
        may_use: Some(&[
            "clock",
            "snapshot",
            "site",
            "path_changes",
            "path_history",
            "change_log",
            "metrics",
        ]),
        must_not_name: WEB,
    },
    Layer { module: "traces", may_use: Some(&["outgoing", "metrics"]), must_not_name: WEB },
    Layer {
        module: "content",
        may_use: Some(&["suggestion", "rules", "outgoing", "metrics", "traces"]),
        must_not_name: WEB,
    },
    // What instances share.
    Layer {
        module: "fleet",
        may_use: Some(&[
            "clock",
            "rules",
            "site",
            "snapshot",
            "path_changes",
            "path_history",
            "change_log",
            "metrics",
            "shared_engine",
            "store",
        ]),
        must_not_name: WEB,
    },
    // It is a client of HTTP.
    Layer {
        module: "notify",
        may_use: Some(&[
            "clock",
            "json",
            "snapshot",
            "change_log",
            "metrics",
            "outgoing",
            "store",
            "fleet",
        ]),
        must_not_name: &["axum", "tower_http", "clap"],
    },
    // It is a client of HTTP.
    Layer {
        module: "validator",
        may_use: Some(&[
            "clock",
            "rules",
            "frontend_url",
            "snapshot",
            "site",
            "tables",
            "metrics",
            "outgoing",
            "store",
            "traces",
            "shared_engine",
            "fleet",
        ]),
        must_not_name: &["axum", "tower_http", "clap"],
    },
    Layer {
        module: "snapshot_cache",
        may_use: Some(&[
            "clock",
            "rules",
            "frontend_url",
            "snapshot",
            "sitemap",
            "site",
            "path_index",
            "path_changes",
            "path_history",
            "redirects",
            "metrics",
            "traces",
            "content",
            "store",
            "fleet",
        ]),
        must_not_name: WEB,
    },
    Layer {
        module: "shared",
        may_use: Some(&[
            "metrics",
            "shared_engine",
            "fleet",
            "outgoing",
            "content",
            "validator",
            "path_history",
            "change_log",
            "notify",
            "snapshot_cache",
            "store",
        ]),
        must_not_name: WEB,
    },
    // It has header values that handlers send.
    Layer {
        module: "app",
        may_use: Some(&[
            "clock",
            "path_history",
            "path_index",
            "redirects",
            "path_import",
            "rules",
            "frontend_url",
            "snapshot",
            "site",
            "tables",
            "store",
            "content",
            "validator",
            "snapshot_cache",
            "fleet",
            "shared",
        ]),
        must_not_name: &["hyper", "hyper_util", "tower_http", "clap", "config::"],
    },
    Layer {
        module: "http",
        may_use: Some(&[
            "clock",
            "json",
            "rules",
            "frontend_url",
            "snapshot",
            "sitemap",
            "site",
            "tables",
            "metrics",
            "traces",
            "content",
            "validator",
            "snapshot_cache",
            "store",
            "app",
            "path_index",
            "redirects",
            "change_log",
            "notify",
            "fleet",
        ]),
        must_not_name: &["clap", "config::"],
    },
    Layer {
        module: "server",
        may_use: Some(&["metrics", "http"]),
        must_not_name: &["clap", "config::"],
    },
    // It builds the settings of the components.
    Layer {
        module: "config",
        may_use: Some(&[
            "path_import",
            "suggestion",
            "rules",
            "frontend_url",
            "snapshot",
            "site",
            "shared_engine",
            "traces",
            "content",
            "validator",
            "path_history",
            "change_log",
            "notify",
            "snapshot_cache",
            "server",
        ]),
        must_not_name: WEB,
    },
    // The composition root.
    Layer {
        module: "boot",
        may_use: Some(&["outgoing", "content", "snapshot_cache", "shared", "app", "config"]),
        must_not_name: WEB,
    },
    Layer {
        module: "demo",
        may_use: Some(&["shared", "http", "server", "config", "boot"]),
        must_not_name: &["clap"],
    },
    Layer { module: "cli", may_use: None, must_not_name: &[] },
    Layer { module: "lib", may_use: None, must_not_name: &[] },
    Layer { module: "main", may_use: None, must_not_name: &[] },
];

/// A folder is read in one glance. `src` itself has one file a module: [`LAYERS`] is its index.
const MAX_FILES_IN_A_FOLDER: usize = 14;

/// A file has one reason to change. Unit tests at its end do not count.
const MAX_LINES_BEFORE_TESTS: usize = 300;

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn every_module_uses_only_what_its_layer_may() {
    let root = source_folder();
    let mut problems = Vec::new();
    for file in rust_files(&root) {
        let relative = file.strip_prefix(&root).expect("a file below src").to_owned();
        let source = std::fs::read_to_string(&file).expect("a source file");
        problems.extend(check(&relative, &source));
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn no_imports_form_a_cycle() {
    let cycles = Modules::read(&source_folder()).cycles();
    let lines: Vec<_> = cycles.iter().map(|(folder, cycle)| format!("{folder}: {cycle}")).collect();
    assert!(lines.is_empty(), "\n{}", lines.join("\n"));
}

#[test]
fn no_folder_has_too_many_files() {
    let root = source_folder();
    let mut counts = BTreeMap::<_, usize>::new();
    for file in rust_files(&root) {
        let folder = file.parent().expect("a folder");
        if folder != root {
            *counts.entry(folder.display().to_string()).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count > MAX_FILES_IN_A_FOLDER);
    assert!(counts.is_empty(), "more than {MAX_FILES_IN_A_FOLDER} files: {counts:?}");
}

#[test]
fn no_file_has_too_many_lines_before_its_tests() {
    let root = source_folder();
    let mut counts = BTreeMap::new();
    for file in rust_files(&root) {
        let source = std::fs::read_to_string(&file).expect("a source file");
        let lines = lines_before_tests(&source);
        if lines > MAX_LINES_BEFORE_TESTS {
            counts.insert(file.strip_prefix(&root).expect("below src").to_owned(), lines);
        }
    }
    assert!(counts.is_empty(), "more than {MAX_LINES_BEFORE_TESTS} lines: {counts:?}");
}

/// Up to the module of unit tests, if the file has one. A declaration such as `mod tests;` does not
/// end the count.
fn lines_before_tests(source: &str) -> usize {
    let end = source.find("\n#[cfg(test)]\nmod tests {").unwrap_or(source.len());
    source[..end].lines().count()
}

#[test]
fn lines_before_tests_are_those_before_a_module_of_tests() {
    let tests = "#[cfg(test)]\nmod tests {\n}\n";
    for (source, lines) in [
        (String::new(), 0),
        ("fn f() {}\n".to_owned(), 1),
        (format!("fn f() {{}}\n\n{tests}"), 1),
        ("#[cfg(test)]\nmod tests;\n\nfn f() {}\n".to_owned(), 4),
    ] {
        assert_eq!(lines_before_tests(&source), lines, "{source}");
    }
}

#[test]
fn app_is_implemented_in_its_own_file() {
    let root = source_folder();
    let mut files = Vec::new();
    for file in rust_files(&root) {
        let code = without_comments_and_literals(&std::fs::read_to_string(&file).expect("a file"));
        if occurrences(&code, "impl App {").next().is_some() {
            files.push(file.strip_prefix(&root).expect("below src").display().to_string());
        }
    }
    assert_eq!(files, ["app.rs"]);
}

#[test]
fn each_row_has_its_module() {
    for layer in LAYERS {
        let file = source_folder().join(layer.module).with_extension("rs");
        assert!(file.exists(), "`{}` has a row and no file", layer.module);
    }
}

fn check(file: &Path, source: &str) -> Vec<String> {
    let top =
        file.components().next().expect("a file name").as_os_str().to_string_lossy().into_owned();
    let module = top.strip_suffix(".rs").unwrap_or(&top);
    let name = file.display();
    let Some(layer) = LAYERS.iter().find(|layer| layer.module == module) else {
        return vec![format!("{name}: the module `{module}` has no row in tests/it/layering.rs")];
    };
    let code = without_comments_and_literals(source);
    let mut problems = Vec::new();
    if let Some(may_use) = layer.may_use {
        for used in used_modules(&code) {
            if used != module && !may_use.contains(&used.as_str()) {
                problems.push(format!("{name}: `{module}` must not use `crate::{used}`"));
            }
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

/// The first name after each `crate::`. An item at the crate's root, such as `crate::Error`, is in no
/// module.
fn used_modules(code: &str) -> BTreeSet<String> {
    let absolute = named_paths(code).into_iter().filter(|path| path.segments[0] == "crate");
    let modules = absolute.filter_map(|path| path.segments.into_iter().nth(1));
    modules.filter(|name| name.starts_with(|char: char| char.is_ascii_lowercase())).collect()
}

/// What `use std::…` brings in.
fn std_groups(code: &str) -> BTreeSet<String> {
    let of_std = named_paths(code).into_iter().filter(|path| path.segments[0] == "std");
    of_std.filter_map(|path| path.segments.into_iter().nth(1)).collect()
}

/// Whether the text at `at` is the crate or path itself: followed by `::` or the end of a `use`, and
/// not one of this crate's own modules of that name.
fn is_path(code: &str, at: usize, path: &str) -> bool {
    let ours = ["crate::", "super::", "self::"].iter().any(|prefix| code[..at].ends_with(prefix));
    let rest = &code[at + path.len()..];
    let whole = path.ends_with("::")
        || rest.starts_with("::")
        || rest.starts_with(';')
        || rest.starts_with(" as ");
    let of_std = path.starts_with("std::") && identifier(rest).is_empty();
    !ours && (whole || of_std)
}

#[test]
fn breach_is_reported() {
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

#[test]
fn layer_uses_only_layers_below_it() {
    for (at, layer) in LAYERS.iter().enumerate() {
        for used in layer.may_use.into_iter().flatten() {
            let is_below = LAYERS[..at].iter().any(|lower| lower.module == *used);
            assert!(is_below, "`{}` uses `{used}`, which has no row above", layer.module);
        }
    }
}
