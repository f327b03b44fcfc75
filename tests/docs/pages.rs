//! The pages of the documentation, and what stands in them: code blocks, tables, headings, links.

use std::path::{Path, PathBuf};

/// A page of Markdown.
pub(super) struct Page {
    /// Relative to the repository.
    pub(super) path: String,
    pub(super) text: String,
}

/// The repository.
pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The page at this path.
pub(super) fn page(path: &str) -> Page {
    let text = std::fs::read_to_string(root().join(path)).expect(path);
    Page { path: path.to_owned(), text }
}

/// All pages at the top and in `docs/`.
pub(super) fn all() -> Vec<Page> {
    let mut paths = files(&root().join("docs"), "md");
    let top = std::fs::read_dir(root()).expect("the repository").filter_map(Result::ok);
    paths.extend(top.map(|entry| entry.path()).filter(|path| is(path, "md")));
    paths.sort();
    let relative = |path: &PathBuf| path.strip_prefix(root()).expect("below").display().to_string();
    paths.iter().map(|path| page(&relative(path))).collect()
}

/// All files with this extension below a folder.
pub(super) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if is(&path, extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The texts of the Rust files below a folder.
pub(super) fn source_texts(folder: &str) -> Vec<String> {
    let paths = files(&root().join(folder), "rs");
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a source file")).collect()
}

/// The code of all packages.
pub(super) fn all_sources() -> Vec<String> {
    ["src", "crates"].iter().flat_map(|folder| source_texts(folder)).collect()
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

impl Page {
    /// The code blocks in this language.
    pub(super) fn blocks(&self, language: &str) -> Vec<&str> {
        let open = format!("```{language}\n");
        let starts = self.text.split(open.as_str()).skip(1);
        starts.map(|rest| rest.split_once("\n```").expect("a block ends").0).collect()
    }

    /// The page without its code blocks and code spans.
    pub(super) fn prose(&self) -> String {
        let outside = self.text.split("\n```").step_by(2);
        let text: String = outside.collect::<Vec<_>>().join("\n");
        text.split('`').step_by(2).collect::<Vec<_>>().join("`")
    }

    /// Each `curl` of the demo without options, and the answer shown below it.
    pub(super) fn curls(&self) -> Vec<(&str, &str)> {
        let sessions = self.blocks("console").into_iter();
        let commands = sessions.filter_map(|block| block.strip_prefix("$ curl '"));
        commands
            .map(|session| {
                let (target, answer) = session.split_once("'\n").expect(session);
                (target.strip_prefix("http://127.0.0.1:8080").expect(target), answer)
            })
            .collect()
    }

    /// The cells of the first table whose header row begins with this cell.
    pub(super) fn table(&self, heading: &str) -> Vec<Vec<&str>> {
        self.tables(heading).swap_remove(0)
    }

    /// The cells of each table whose header row begins with this cell.
    pub(super) fn tables(&self, heading: &str) -> Vec<Vec<Vec<&str>>> {
        let start = format!("\n| {heading} |");
        let headers = self.text.match_indices(&start).map(|(at, _)| &self.text[at + 1..]);
        let tables = headers.map(|text| {
            let rows = text.lines().skip(2).take_while(|line| line.starts_with('|'));
            rows.map(cells).collect::<Vec<_>>()
        });
        let tables: Vec<_> = tables.filter(|rows| !rows.is_empty()).collect();
        assert!(!tables.is_empty(), "{} has no table {heading:?}", self.path);
        tables
    }

    /// The anchors of its headings, as GitHub makes them.
    pub(super) fn anchors(&self) -> Vec<String> {
        let outside = self.text.split("\n```").step_by(2).flat_map(str::lines);
        let headings = outside.filter(|line| line.starts_with('#'));
        headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
    }

    /// The targets of its links and pictures.
    pub(super) fn links(&self) -> Vec<String> {
        let prose = self.prose();
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets.map(str::to_owned).collect()
    }
}

fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_matches('|').split(" | ").map(|cell| code(cell.trim())).collect()
}

/// The text of a cell that is code, else the cell.
fn code(cell: &str) -> &str {
    let spans = [("`` ", " ``"), ("`", "`")];
    let span = spans.iter().find_map(|(open, close)| cell.strip_prefix(open)?.strip_suffix(close));
    span.unwrap_or(cell)
}

/// Lower case, without punctuation, with hyphens for spaces.
fn anchor(heading: &str) -> String {
    let heading = heading.replace("&lt;", "<").replace("&gt;", ">").to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
