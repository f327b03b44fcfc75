//! The form and the words of the pages.

use std::collections::BTreeSet;

use super::pages::{all, all_sources, page, root};

/// More does not fit into one look.
const MOST_README_LINES: usize = 150;

#[test]
fn readme_is_short() {
    let lines = page("README.md").text.lines().count();
    assert!(lines <= MOST_README_LINES, "{lines} lines");
}

#[test]
fn two_commands_stand_in_a_code_block_once() {
    let readme = page("README.md");
    let blocks = readme.text.split("\n```").skip(1).step_by(2);
    let lines = blocks.flat_map(str::lines);
    let commands: Vec<&str> =
        lines.map(|line| line.split('#').next().unwrap_or("").trim()).collect();
    for (start, command) in
        [("cargo run -- demo", "cargo run -- demo --once"), ("cargo test", "cargo test")]
    {
        let found: Vec<_> = commands.iter().filter(|line| line.starts_with(start)).collect();
        assert_eq!(found, [&command]);
    }
}

/// A release has a heading with its day in the changelog.
#[test]
fn readme_begins_with_packed_files_until_there_is_a_release() {
    let changelog = page("CHANGELOG.md");
    let is_released =
        changelog.text.lines().any(|line| line.starts_with("## [") && line.contains("] - 20"));
    let readme = page("README.md");
    let first = readme.blocks("sh")[0];
    assert!(first.contains("npx frontend-map demo --once"), "{first}");
    assert_eq!(first.contains("npm install ./frontend-map-"), !is_released, "{first}");
    assert_eq!(readme.text.contains("none of which is published yet"), !is_released);
    let install = page("docs/install.md");
    assert_eq!(install.text.contains("Nothing is published yet."), !is_released);
}

#[test]
fn changelog_and_every_page_are_reached_from_the_readme() {
    let mut reached = BTreeSet::from(["README.md".to_owned()]);
    let mut queue = vec![page("README.md")];
    while let Some(next) = queue.pop() {
        let folder = next.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in next.links() {
            let path = link.split('#').next().unwrap_or_default();
            let path = root().join(folder).join(path);
            let Ok(path) = path.canonicalize() else { continue };
            let Ok(path) = path.strip_prefix(root().canonicalize().unwrap()) else { continue };
            let is_page = path.extension().is_some_and(|kind| kind == "md");
            let path = path.display().to_string();
            if is_page && reached.insert(path.clone()) {
                queue.push(page(&path));
            }
        }
    }
    let unreached: Vec<_> =
        all().into_iter().map(|page| page.path).filter(|path| !reached.contains(path)).collect();
    assert!(unreached.is_empty(), "{unreached:?}");
}

#[test]
fn each_word_of_the_glossary_is_used_in_the_code() {
    let glossary = page("docs/glossary.md");
    let rows = glossary.table("Word");
    assert!(rows.len() >= 30, "{} words", rows.len());
    let sources: Vec<String> = all_sources().iter().map(|text| normal(text)).collect();
    let unused: Vec<_> = rows
        .iter()
        .map(|row| row[0])
        .filter(|word| !sources.iter().any(|source| source.contains(&normal(word))))
        .collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// Lower case, with spaces for what joins words in identifiers and in prose.
fn normal(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    let mut lower = false;
    for c in text.chars() {
        if c.is_uppercase() && lower {
            normal.push(' ');
        }
        lower = c.is_lowercase();
        let c = if matches!(c, '_' | '-') { ' ' } else { c };
        normal.extend(c.to_lowercase());
    }
    normal
}
