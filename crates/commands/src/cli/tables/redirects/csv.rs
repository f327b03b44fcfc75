//! Redirects as CSV (RFC 4180).

use std::io::{self, Write};

use super::row::Row;

const HEADER: &str = "from,to,status,host,path,contentType,documentId,locale,since";

/// Writes a record for each row. Each path begins with a slash, so that no field is a formula.
pub(super) fn write(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{HEADER}\r\n")?;
    for row in rows {
        let status = row.status.to_string();
        let fields = [
            row.from.as_str(),
            row.to.as_deref().or(row.path.as_deref()).unwrap_or_default(),
            &status,
            row.host.as_deref().unwrap_or_default(),
            row.path.as_deref().unwrap_or_default(),
            row.content_type.as_deref().unwrap_or_default(),
            row.document_id.as_deref().unwrap_or_default(),
            &row.locale,
            row.since.as_deref().unwrap_or_default(),
        ];
        write!(out, "{}\r\n", fields.map(field).join(","))?;
    }
    Ok(())
}

/// A field, quoted where it has to be (RFC 4180, section 2), and where a spreadsheet would split it.
fn field(text: &str) -> String {
    if text.contains(['"', ',', ';', '\t', '\r', '\n', ' ']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::row;
    use super::*;

    #[test]
    fn record_has_the_fields_of_the_header() {
        let mut quoted = row(None, "/a,b", "https://a.example", "/c;\"d\"");
        quoted.document_id = Some("an id".to_owned());
        let mut out = Vec::new();
        write(&[quoted, row(Some("h:1"), "/x", "", "/y")], &mut out).unwrap();
        let expected = "from,to,status,host,path,contentType,documentId,locale,since\r\n\
            \"/a,b\",\"https://a.example/c;\"\"d\"\"\",308,,\"/c;\"\"d\"\"\",api::page.page,\
            \"an id\",en,2026-11-22T19:00:00.000Z\r\n\
            /x,/y,308,h:1,/y,api::page.page,d1,en,2026-11-22T19:00:00.000Z\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
