//! The response of `/api/redirects`.

use std::io::{self, Write};

use super::row::Redirects;

pub(super) fn write(redirects: &Redirects, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(br#"{"data":{"redirects":["#)?;
    for (position, row) in redirects.rows.iter().enumerate() {
        out.write_all(if position == 0 { b"" } else { b"," })?;
        serde_json::to_writer(&mut *out, row)?;
    }
    let (count, gone) = (redirects.rows.len(), redirects.gone);
    write!(out, r#"],"count":{count},"gone":{gone}}},"meta":{{}}}}"#)
}
