//! The tree of the crate's modules, what each imports, and cycles among siblings.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use super::code::{rust_files, without_comments_and_literals, without_unit_tests};
use super::paths::{NamedPath, named_paths};

/// A module by the names that lead to it from the root; the root itself is empty.
pub(super) type ModulePath = Vec<String>;

/// All modules that are files, without those of unit tests.
pub(super) struct Modules {
    named: BTreeMap<ModulePath, Vec<NamedPath>>,
}

/// Imports among the modules of one folder: from, to, and one file that has it.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

impl Modules {
    /// Reads a folder that has a `lib.rs`.
    pub(super) fn read(root: &Path) -> Self {
        let mut sources = Vec::new();
        for file in rust_files(root) {
            let relative = file.strip_prefix(root).expect("a file below the root").to_owned();
            sources.push((relative, std::fs::read_to_string(&file).expect("a source file")));
        }
        Self::of(sources.iter().map(|(path, source)| (path.as_path(), source.as_str())))
    }

    /// From paths of files below the root, and their text.
    pub(super) fn of<'a>(files: impl Iterator<Item = (&'a Path, &'a str)>) -> Self {
        let named = files
            .map(|(file, source)| (module_of(file), source))
            .filter(|(module, _)| !module.iter().any(|name| name == "tests"))
            .map(|(module, source)| {
                let code = without_unit_tests(&without_comments_and_literals(source));
                (module, named_paths(&code))
            })
            .collect();
        Self { named }
    }

    /// Each module with its file's name, and each module that it names.
    fn imports(&self) -> impl Iterator<Item = (&ModulePath, ModulePath)> {
        self.named.iter().flat_map(|(module, paths)| {
            let ours = paths.iter().filter_map(|path| self.resolve(module, path, 8));
            ours.map(move |target| (module, target))
        })
    }

    /// The module in which the last segment of a path is declared; re-exports are followed.
    /// `None`: the path leads to another crate.
    fn resolve(&self, from: &ModulePath, path: &NamedPath, patience: usize) -> Option<ModulePath> {
        let mut at = from.clone();
        let mut blocks = path.depth;
        let mut rest = path.segments.as_slice();
        match rest.first()?.as_str() {
            "crate" => {
                at.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {}
            child if self.is_module(&at, child) => {}
            _ => return None,
        }
        while let Some((name, others)) = rest.split_first() {
            if name == "super" {
                if blocks > 0 {
                    blocks -= 1;
                } else {
                    at.pop();
                }
            } else if self.is_module(&at, name) {
                at.push(name.clone());
            } else {
                return Some(self.declared_in(&at, name, patience).unwrap_or(at));
            }
            rest = others;
        }
        Some(at)
    }

    /// Where a name comes from that `module` itself imports.
    fn declared_in(&self, module: &ModulePath, name: &str, patience: usize) -> Option<ModulePath> {
        let import =
            self.named.get(module)?.iter().find(|path| path.alias.as_deref() == Some(name));
        self.resolve(module, import?, patience.checked_sub(1)?)
    }

    fn is_module(&self, parent: &ModulePath, name: &str) -> bool {
        let child: ModulePath = parent.iter().cloned().chain([name.to_owned()]).collect();
        self.named.contains_key(&child)
    }

    /// For each module that has children (the root has the empty path): which child imports which other one.
    fn sibling_imports(&self) -> BTreeMap<ModulePath, Imports> {
        let mut all: BTreeMap<ModulePath, Imports> = BTreeMap::new();
        for (module, target) in self.imports() {
            let shared = module.iter().zip(&target).take_while(|(one, other)| one == other).count();
            if let (Some(from), Some(to)) = (module.get(shared), target.get(shared)) {
                let imports = all.entry(module[..shared].to_vec()).or_default();
                let files = imports.entry(from.clone()).or_default();
                files.entry(to.clone()).or_insert_with(|| module.join("::"));
            }
        }
        all
    }

    /// A shortest cycle through each import that is part of one, with the folder in which it is.
    pub(super) fn cycles(&self) -> BTreeSet<(String, String)> {
        let mut found = BTreeSet::new();
        for (parent, imports) in self.sibling_imports() {
            for start in imports.keys() {
                if let Some(cycle) = shortest_cycle(&imports, start) {
                    found.insert((parent.join("::"), describe(&imports, cycle)));
                }
            }
        }
        found
    }
}

/// `http/query.rs` is `http::query`; `lib.rs` is the root.
fn module_of(file: &Path) -> ModulePath {
    let names = file.with_extension("");
    let names: ModulePath =
        names.components().map(|name| name.as_os_str().to_string_lossy().into_owned()).collect();
    if names == ["lib"] { Vec::new() } else { names }
}

/// The modules on the shortest way from `start` back to itself.
fn shortest_cycle<'a>(imports: &'a Imports, start: &'a str) -> Option<Vec<&'a str>> {
    let mut queue = VecDeque::from([vec![start]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = queue.pop_front() {
        let last = way.last().expect("a way has a start");
        for next in imports.get(*last).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                return Some(way);
            }
            if seen.insert(next) {
                queue.push_back(way.iter().copied().chain([next.as_str()]).collect());
            }
        }
    }
    None
}

/// The same text for each module that a cycle may begin with.
fn describe(imports: &Imports, mut cycle: Vec<&str>) -> String {
    let first = cycle.iter().enumerate().min_by_key(|(_, name)| **name).map_or(0, |(at, _)| at);
    cycle.rotate_left(first);
    let next = cycle.iter().cycle().skip(1);
    let steps = cycle.iter().zip(next).map(|(from, to)| {
        let file = &imports[*from][*to];
        format!("{from} -> {to} ({file})")
    });
    steps.collect::<Vec<_>>().join(", ")
}

#[test]
fn cycles_are_found_among_siblings_through_reexports() {
    let files = [
        ("lib.rs", "pub mod http; pub mod app; mod site;"),
        ("app.rs", "use crate::http::Query; #[cfg(test)] mod tests { use crate::cli; }"),
        ("http.rs", "mod query; mod etag; mod error; pub use query::Query; use error::ApiError;"),
        ("http/query.rs", "use super::ApiError; use crate::site::Site;"),
        ("http/error.rs", "mod inner { fn tag() { super::super::etag::of() } }"),
        ("http/etag.rs", "use super::query;"),
        ("http/tests.rs", "use crate::app::App;"),
        ("site.rs", ""),
    ];
    let modules = Modules::of(files.iter().map(|(file, source)| (Path::new(file), *source)));
    let cycles: Vec<_> = modules.cycles().into_iter().collect();
    let within_http =
        "error -> etag (http::error), etag -> query (http::etag), query -> error (http::query)";
    assert_eq!(cycles, [("http".to_owned(), within_http.to_owned())]);

    let files =
        [("a.rs", "use crate::b::c;"), ("b/c.rs", "fn f() { crate::a::g() }"), ("b.rs", "")];
    let modules = Modules::of(files.iter().map(|(file, source)| (Path::new(file), *source)));
    let cycles: Vec<_> = modules.cycles().into_iter().collect();
    assert_eq!(cycles, [(String::new(), "a -> b (a), b -> a (b::c)".to_owned())]);
}
