//! A response to `validate=true` as a table.

use std::fmt::Write as _;

use percent_encoding::percent_decode_str;
use serde::Deserialize;

use crate::cli::terminal::{Paint, Tone};
use crate::cli::words::count;
use crate::validator::report::{Class, Visible};

#[derive(Deserialize)]
struct Response {
    data: Results,
}

#[derive(Deserialize)]
struct Results {
    results: Vec<Checked>,
}

#[derive(Deserialize)]
struct Checked {
    url: String,
    status: Option<u16>,
    location: Option<String>,
}

/// One row for each URL with its status, its meaning and its path; then the number of dead URLs.
///
/// # Errors
/// When the response is not one to `validate=true`.
pub(super) fn table(response: &str, paint: Paint, indent: &str) -> serde_json::Result<String> {
    let Results { results } = serde_json::from_str::<Response>(response)?.data;
    let meaning = |checked: &Checked| Class::of(checked.status).meaning();
    let width = results.iter().map(|checked| meaning(checked).len()).max().unwrap_or(0);
    let mut text = String::new();
    for checked in &results {
        let class = Class::of(checked.status);
        let status = checked.status.map_or_else(|| "---".to_owned(), |status| status.to_string());
        let verdict = paint.of(class.into(), format!("{status}  {:width$}", meaning(checked)));
        // Writing to a string cannot fail.
        let _ = write!(text, "{indent}{verdict}  {}", path(&checked.url));
        if let Some(location) = &checked.location {
            let _ = write!(text, " {} {}", paint.of(Tone::Soft, "->"), Visible(location));
        }
        text.push('\n');
    }
    let dead = results.iter().filter(|checked| Class::of(checked.status).is_dead()).count();
    let verdict = match dead {
        0 => paint.of(Tone::Good, "none dead"),
        dead => paint.of(Tone::Bad, format!("{dead} dead")),
    };
    let _ = write!(text, "{indent}{}, {verdict}", count(results.len() as u64, "URL"));
    Ok(text)
}

/// The path of a URL, readable.
fn path(url: &str) -> String {
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    format!("/{}", Visible(&percent_decode_str(path).decode_utf8_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_a_readable_row_for_each_url() {
        let response = r#"{"data":{"results":[
            {"url":"http://h/en/caf%C3%A9","status":200,"ok":true},
            {"url":"http://h/en/moved","status":301,"ok":false,"location":"/en"},
            {"url":"http://h/en/%1B[2J","status":null,"ok":false,"reason":"timeout after 10000ms"}
        ]},"meta":{}}"#;
        let expected = "  200  fine             /en/café\n\
                        \x20 301  leads elsewhere  /en/moved -> /en\n\
                        \x20 ---  no answer        /en/\\u{1b}[2J\n\
                        \x20 3 URLs, 1 dead";
        assert_eq!(table(response, Paint::PLAIN, "  ").unwrap(), expected);
        assert!(table(response, Paint::COLOURED, "").unwrap().contains("\u{1b}[31;1m1 dead"));
        assert!(table(r#"{"data":null}"#, Paint::PLAIN, "").is_err());
    }
}
