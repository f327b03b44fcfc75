//! Problems as text, for people.

use crate::cli::output::terminal::{Colours, Style};
use crate::cli::output::words::count;
use crate::cli::tables::columns::{Line, add};
use frontend_map_catalog::tables::{Problem, Problems, VersionRow};
use frontend_map_outbound::checks::report::Visible;

/// The heading of the versions without a URL.
const COLUMNS: [&str; 6] = ["document", "locale", "reason", "content type", "rule", "title"];

/// The number of problems, and a table of each kind.
pub(super) fn table(problems: &Problems, site: &str, colours: Colours) -> String {
    let (mut no_url, mut shared, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
    for problem in problems.rows() {
        match problem {
            Problem::NoUrl { version, reason, rule } => {
                no_url.push(no_url_line(&version, reason, rule));
            }
            Problem::SharedPath { path, owner, others } => {
                let others = others.iter().map(|other| version_line("", "other", other));
                shared.push(version_line(path, "owner", &owner));
                shared.extend(others);
            }
            Problem::Redirect(problem) => {
                let [id, locale, uid, _, link] = cells(&problem.version);
                let path = problem.path.clone().unwrap_or_default();
                redirects.push(vec![path, id, locale, uid, problem.in_words(), link]);
            }
        }
    }
    let number = problems.count() as u64;
    let verdict = match number {
        0 => colours.apply(Style::Good, "no problems"),
        number => colours.apply(Style::Bad, count(number, "problem")),
    };
    let mut text = format!("site {site}: {verdict}\n");
    if !no_url.is_empty() {
        no_url.insert(0, COLUMNS.map(str::to_owned).to_vec());
        add(&mut text, "documents without a URL", &no_url, colours);
    }
    if !shared.is_empty() {
        add(&mut text, "paths of several documents", &shared, colours);
    }
    if !redirects.is_empty() {
        add(&mut text, "redirects", &redirects, colours);
    }
    if problems.is_truncated() {
        text.push_str(
            "\nThere are more: at most 10,000 of each kind are listed for a content type.\n",
        );
    }
    text
}

fn no_url_line(version: &VersionRow<'_>, reason: &str, rule: &str) -> Line {
    let [id, locale, uid, title, link] = cells(version);
    vec![id, locale, reason.to_owned(), uid, rule.to_owned(), title, link]
}

fn version_line(path: &str, role: &str, version: &VersionRow<'_>) -> Line {
    let [id, locale, uid, title, link] = cells(version);
    vec![path.to_owned(), role.to_owned(), id, locale, uid, title, link]
}

/// The cells, without control sequences for the terminal.
fn cells(version: &VersionRow<'_>) -> [String; 5] {
    [
        version.document_id,
        version.locale.unwrap_or_default(),
        version.content_type,
        version.title.unwrap_or_default(),
        version.admin_url.as_deref().unwrap_or_default(),
    ]
    .map(|text| Visible(text).to_string())
}
