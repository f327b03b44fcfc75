//! What the pages and the code refer to exists: links, anchors, decisions, files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::pages::{Page, all, files, page, root};

/// Files whose text may cite decisions or paths.
fn sources() -> Vec<PathBuf> {
    let folders = ["src", "tests/it", "benches", "examples", "fuzz/fuzz_targets"];
    let rust = folders.iter().flat_map(|folder| files(&root().join(folder), "rs"));
    rust.chain(files(&root().join("scripts"), "py")).collect()
}

#[test]
fn each_decision_that_is_cited_has_a_heading() {
    let decisions = page("docs/decisions.md");
    let headings = decisions.text.lines().filter_map(|line| line.strip_prefix("### D"));
    let known: BTreeSet<&str> = headings.filter_map(|rest| rest.split(' ').next()).collect();
    assert!(known.len() >= 34, "{known:?}");
    let pages = all().into_iter().map(|page| (page.path.clone(), page.prose()));
    let sources = sources().into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.display().to_string(), text)
    });
    let mut missing = BTreeMap::new();
    for (path, text) in pages.chain(sources) {
        for number in cited(&text).filter(|number| !known.contains(number.as_str())) {
            missing.insert(number, path.clone());
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// The numbers of `D1`, `D1–D4` and the like.
fn cited(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let numbers = words.filter_map(|word| word.strip_prefix('D'));
    // `D0` is a byte (`0xD0`, `%D0`), not a decision.
    let numbers = numbers.filter(|rest| {
        (1..=2).contains(&rest.len())
            && rest.bytes().all(|b| b.is_ascii_digit())
            && !rest.starts_with('0')
    });
    numbers.map(str::to_owned)
}

#[test]
fn each_relative_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in all() {
        for link in page.links() {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            let (path, fragment) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { page.path.clone() } else { below(&page.path, path) };
            let is_page = Path::new(&target).extension().is_some_and(|kind| kind == "md");
            let exists = root().join(&target).is_file();
            let anchored =
                fragment.is_empty() || exists && is_page && has_anchor(&target, fragment);
            if !exists || !anchored {
                broken.push(format!("{}: {link}", page.path));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

fn has_anchor(path: &str, fragment: &str) -> bool {
    page(path).anchors().iter().any(|anchor| anchor == fragment)
}

/// The path that a link on this page leads to.
fn below(page: &str, link: &str) -> String {
    let mut path = Path::new(page).parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => assert!(path.pop(), "{page}: {link}"),
            part => path.push(part),
        }
    }
    path.display().to_string()
}

#[test]
fn each_file_that_a_page_names_exists() {
    let mut missing = Vec::new();
    // The changelog speaks of earlier layouts, too.
    for page in all().into_iter().filter(|page| page.path != "CHANGELOG.md") {
        for span in page.text.split('`').skip(1).step_by(2) {
            let word = span.split(' ').next().unwrap_or_default();
            let folders = ["src/", "tests/", "scripts/", "docs/", "config/", "fuzz/", ".ci/"];
            if folders.iter().any(|folder| word.starts_with(folder))
                && !word.contains(['*', '…', '{'])
                && !root().join(word).exists()
                // A file of the Strapi project, of which the fixture is one.
                && !root().join("tests/strapi").join(word).exists()
            {
                missing.push(format!("{}: {word}", page.path));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn map_names_each_module() {
    let architecture = page("docs/architecture.md");
    let rows = architecture.table("Module");
    let named: BTreeSet<&str> = rows.iter().map(|row| row[0]).collect();
    let library = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let modules = library.lines().filter_map(|line| line.strip_prefix("pub mod "));
    let modules: BTreeSet<&str> = modules.filter_map(|line| line.strip_suffix(';')).collect();
    assert_eq!(named, modules);
    let lines = map_lines(&architecture);
    let on_the_map: BTreeSet<&str> = lines.iter().flatten().copied().collect();
    assert_eq!(on_the_map, modules.iter().copied().chain(["main"]).collect());
    let documented = library.lines().filter_map(|line| line.strip_prefix("//!"));
    let documented: Vec<&str> =
        documented.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let map = architecture.blocks("text")[0];
    assert!(documented.join("\n").contains(map), "the crate's documentation has the same map");
}

/// The modules of each line of the map, from the top.
fn map_lines(architecture: &Page) -> Vec<Vec<&str>> {
    let map = architecture.blocks("text")[0].lines();
    map.map(|line| line.split("   ").next().unwrap_or_default().split_whitespace().collect())
        .collect()
}

#[test]
fn each_module_uses_only_modules_below_it_on_the_map() {
    let architecture = page("docs/architecture.md");
    let lines = map_lines(&architecture);
    let place = |module: &str| lines.iter().position(|line| line.contains(&module));
    let folder = root().join("src");
    let mut problems = Vec::new();
    for file in files(&folder, "rs") {
        let relative = file.strip_prefix(&folder).expect("below src");
        let top = relative.iter().next().expect("a name").to_string_lossy();
        let Some(own) = place(top.trim_end_matches(".rs")) else { continue };
        let text = std::fs::read_to_string(&file).expect("a source file");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for used in code.flat_map(|line| line.split("crate::").skip(1)) {
            let name = |c: char| c.is_ascii_lowercase() || c == '_';
            let end = used.find(|c| !name(c)).unwrap_or(used.len());
            if place(&used[..end]).is_some_and(|line| line < own) {
                problems.push(format!("{}: {}", relative.display(), &used[..end]));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn anchors_are_those_of_github() {
    let text = "# A\n\n## GET /api/get-content-type\n### D13 Unusable values\n```\n# no\n```\n";
    let page = Page { path: String::new(), text: text.to_owned() };
    assert_eq!(page.anchors(), ["a", "get-apiget-content-type", "d13-unusable-values"]);
}
