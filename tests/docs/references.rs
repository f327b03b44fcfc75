//! What the pages and the code refer to exists: links, anchors, decisions, files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::pages::{Page, all, files, page, root};

/// Files whose text may cite decisions or paths.
fn sources() -> Vec<PathBuf> {
    let folders = ["src", "crates", "tests", "benches", "examples", "fuzz/fuzz_targets"];
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
            let folders =
                ["src/", "crates/", "tests/", "scripts/", "docs/", "config/", "fuzz/", ".ci/"];
            if folders.iter().any(|folder| word.starts_with(folder))
                && !word.contains(['*', '…', '{'])
                && !root().join(word).exists()
                // A file of the Strapi project, of which the fixture is one.
                && !root().join("tests/strapi").join(word).exists()
                && !scaffold(&page.path).join(word).exists()
            {
                missing.push(format!("{}: {word}", page.path));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// What the frontend's scaffold writes, for a recipe.
fn scaffold(page: &str) -> PathBuf {
    let name = Path::new(page).file_stem().unwrap_or_default();
    root().join("clients/js/test/scaffolds").join(name)
}

#[test]
fn architecture_names_each_package() {
    let architecture = page("docs/architecture.md");
    let rows = architecture.table("Package");
    let named: BTreeSet<String> = rows.iter().map(|row| row[0].to_owned()).collect();
    let folders = std::fs::read_dir(root().join("crates")).expect("a folder");
    let folders = folders.map(|entry| entry.expect("an entry").file_name());
    let packages = folders.map(|folder| format!("crates/{}", folder.to_string_lossy()));
    assert_eq!(named, packages.chain(["src".to_owned()]).collect());
}

#[test]
fn anchors_are_those_of_github() {
    let text = "# A\n\n## GET /api/get-content-type\n### D13 Unusable values\n```\n# no\n```\n";
    let page = Page { path: String::new(), text: text.to_owned() };
    assert_eq!(page.anchors(), ["a", "get-apiget-content-type", "d13-unusable-values"]);
}
