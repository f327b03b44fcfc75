//! A list of redirects as CSV (RFC 4180), as other systems and spreadsheets write it.

use csv::{ReaderBuilder, StringRecord, Trim};

/// Names of the column with the former path, in lower case and without spaces, `_` and `-`. The first
/// that a file has counts.
const FROM: [&str; 10] = [
    "from",
    "requestpath",
    "redirectsource",
    "oldurl",
    "oldpath",
    "fromurl",
    "sourceurl",
    "old",
    "source",
    "url",
];

/// The names that a column with the target may have.
const TO: [&str; 12] = [
    "to",
    "targetpath",
    "redirecttarget",
    "newurl",
    "newpath",
    "tourl",
    "targeturl",
    "destinationurl",
    "new",
    "target",
    "destination",
    "redirect",
];

/// The separators that a header may have.
const SEPARATORS: [u8; 3] = *b",;\t";

/// The longest field that is kept, in bytes. No path is as long.
const MAX_FIELD: usize = u16::MAX as usize;

/// Some programs write it at the beginning of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The redirects of a file, as they are written in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFile {
    /// The name of the file in the settings.
    pub name: String,
    pub(super) rows: Vec<ImportRow>,
}

/// A row: the path and the target as they are written, and their line in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImportRow {
    pub(super) from: Box<str>,
    pub(super) to: Box<str>,
    pub(super) line: u32,
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Its first line does not name the columns.
    #[error("the first line has to name the columns, such as `from,to`; it has no {0}")]
    Header(&'static str),
    /// It is not CSV in UTF-8.
    #[error("line {0}: {1}")]
    Csv(u64, &'static str),
}

impl ImportFile {
    /// Reads a file. Fields that are too long, or missing, are empty: their rows lead nowhere.
    ///
    /// # Errors
    /// [`FileError`] if it has no columns for the path and the target, or is not CSV in UTF-8.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, FileError> {
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let mut reader = ReaderBuilder::new()
            .delimiter(separator(bytes))
            .flexible(true)
            .trim(Trim::All)
            .from_reader(bytes);
        let header = reader.headers().map_err(|error| not_csv(&error))?;
        let from = column(header, &FROM).ok_or(FileError::Header("`from`"))?;
        let to = column(header, &TO).ok_or(FileError::Header("`to`"))?;
        let (mut rows, mut record) = (Vec::new(), StringRecord::new());
        let mut lines = Lines { bytes, end: 0, line: 1 };
        while reader.read_record(&mut record).map_err(|error| not_csv(&error))? {
            let line = u32::try_from(lines.of(&record)).unwrap_or(u32::MAX);
            let kept = |field: &&str| field.len() <= MAX_FIELD;
            let field = |at| record.get(at).filter(kept).unwrap_or_default().into();
            rows.push(ImportRow { from: field(from), to: field(to), line });
        }
        rows.shrink_to_fit();
        Ok(Self { name: name.to_owned(), rows })
    }
}

/// The lines of records. The reader's own are those of the line breaks in front of them.
struct Lines<'b> {
    bytes: &'b [u8],
    /// Up to where line breaks have been counted.
    end: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of a record behind the last one.
    fn of(&mut self, record: &StringRecord) -> u64 {
        let start = record.position().and_then(|position| usize::try_from(position.byte()).ok());
        let start = start.unwrap_or(self.end).clamp(self.end, self.bytes.len());
        let is_break = |byte: &&u8| b"\r\n".contains(byte);
        let start = start + self.bytes[start..].iter().take_while(is_break).count();
        self.line += memchr::memchr_iter(b'\n', &self.bytes[self.end..start]).count() as u64;
        self.end = start;
        self.line
    }
}

/// The separator that is most frequent in the first line.
fn separator(bytes: &[u8]) -> u8 {
    let end = bytes.iter().position(|byte| b"\r\n".contains(byte)).unwrap_or(bytes.len());
    let count = |separator: &u8| memchr::memchr_iter(*separator, &bytes[..end]).count();
    SEPARATORS.into_iter().rev().max_by_key(count).unwrap_or(b',')
}

fn column(header: &StringRecord, names: &[&str]) -> Option<usize> {
    let plain = |name: &str| name.to_lowercase().replace([' ', '_', '-'], "");
    let header: Vec<String> = header.iter().map(plain).collect();
    names.iter().find_map(|name| header.iter().position(|column| column == name))
}

fn not_csv(error: &csv::Error) -> FileError {
    let line = error.position().map_or(1, csv::Position::line);
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => FileError::Csv(line, "not UTF-8: save the file as UTF-8"),
        _ => FileError::Csv(line, "not CSV"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &[u8]) -> Vec<(String, String, u32)> {
        let file = ImportFile::parse("x.csv", text).unwrap();
        file.rows.into_iter().map(|row| (row.from.into(), row.to.into(), row.line)).collect()
    }

    #[test]
    fn columns_are_found_in_the_files_of_other_systems() {
        let expected = [("/a".to_owned(), "/b".to_owned(), 2)];
        for text in [
            "from,to\n/a,/b\n",
            "from,to\n/a,/b",
            "To;From\r\n/b;/a\r\n",
            "\u{feff}\"Source\",\"Destination\",\"Language\",\"Status code\"\n\"/a\",\"/b\",en,301\n",
            "Old URL\tNew URL\tid\n/a\t/b\t1\n",
            "type,from,to,hits\n301, /a , /b ,5\n",
            "redirect_source,redirect_target\n/a,/b\n",
            "source,request_path,target_path\nmanual,/a,/b\n",
        ] {
            assert_eq!(rows(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn fields_may_be_quoted_missing_and_too_long() {
        let long = "x".repeat(70_000);
        let text = format!("from,to\n\"/a,b\n\"\"c\",/d\n/x\n{long},/y\n\n/z,/w,more\n");
        let found = rows(text.as_bytes());
        let expected = [("/a,b\n\"c", "/d", 2), ("/x", "", 4), ("", "/y", 5), ("/z", "/w", 7)];
        let expected = expected.map(|(from, to, line)| (from.to_owned(), to.to_owned(), line));
        assert_eq!(found, expected);
        assert!(ImportFile::parse("x", b"from,to\n").unwrap().rows.is_empty());
    }

    #[test]
    fn file_that_is_no_list_is_refused() {
        for (text, expected) in [
            (&b""[..], FileError::Header("`from`")),
            (b"/a,/b\n", FileError::Header("`from`")),
            (b"from,target2\n", FileError::Header("`to`")),
            (b"from,to\n/a,/b\n/\xff,/c\n", FileError::Csv(3, "not UTF-8: save the file as UTF-8")),
        ] {
            assert_eq!(ImportFile::parse("x", text), Err(expected));
        }
    }
}
