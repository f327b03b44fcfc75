//! A response to `validate=true` as a table.

use std::fmt::Write as _;

use percent_encoding::percent_decode_str;
use serde::Deserialize;

use crate::cli::output::terminal::{Colours, Style};
use crate::cli::output::words::count;
use frontend_map_outbound::checks::report::{Class, Visible};

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

/// One row for each URL with its status, its meaning and its path; then the number of dead URLs. Where
/// rows are wider than `width`, paths have a line of their own.
///
/// # Errors
/// When the response is not one to `validate=true`.
pub(super) fn table(response: &str, colours: Colours, width: usize) -> serde_json::Result<String> {
    let Results { results } = serde_json::from_str::<Response>(response)?.data;
    let meaning = |checked: &Checked| Class::of(checked.status).meaning();
    let widest = |cell: &dyn Fn(&Checked) -> usize| results.iter().map(cell).max().unwrap_or(0);
    let meanings = widest(&|checked| meaning(checked).len());
    let paths = widest(&|checked| path(checked).chars().count());
    let is_narrow = "   200    ".len() + meanings + paths > width;
    let separator = if is_narrow { "\n        " } else { "  " };
    let mut text = String::new();
    for checked in &results {
        let class = Class::of(checked.status);
        let status = checked.status.map_or_else(|| "---".to_owned(), |status| status.to_string());
        let padding = if is_narrow { 0 } else { meanings };
        let verdict =
            colours.apply(class.into(), format!("{status}  {:padding$}", meaning(checked)));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "   {verdict}{separator}{}", path(checked));
    }
    let dead = results.iter().filter(|checked| Class::of(checked.status).is_dead()).count();
    let verdict = match dead {
        0 => colours.apply(Style::Good, "none dead"),
        dead => colours.apply(Style::Bad, format!("{dead} dead")),
    };
    let _ = write!(text, "   {}, {verdict}", count(results.len() as u64, "URL"));
    Ok(text)
}

/// The path of the URL, readable, and where it leads.
fn path(checked: &Checked) -> String {
    let path = checked.url.splitn(4, '/').nth(3).unwrap_or_default();
    let path = percent_decode_str(path).decode_utf8_lossy();
    let location = checked.location.as_deref();
    let location = location.map(|location| format!(" -> {}", Visible(location)));
    format!("/{}{}", Visible(&path), location.unwrap_or_default())
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
        let expected = concat!(
            "   200  fine             /en/café\n",
            "   301  leads elsewhere  /en/moved -> /en\n",
            "   ---  no response      /en/\\u{1b}[2J\n",
            "   3 URLs, 1 dead",
        );
        assert_eq!(table(response, Colours::PLAIN, 41).unwrap(), expected);
        let narrow = table(response, Colours::PLAIN, 40).unwrap();
        assert!(narrow.starts_with("   200  fine\n        /en/café\n   301  "), "{narrow}");
        assert!(table(response, Colours::COLOURED, 80).unwrap().contains("\u{1b}[31;1m1 dead"));
        assert!(table(r#"{"data":null}"#, Colours::PLAIN, 80).is_err());
    }
}
