//! Problems as CSV (RFC 4180), for spreadsheets.

use std::io::{self, Write};

use frontend_map_catalog::tables::{Problem, Problems, RedirectProblem, VersionRow};
use frontend_map_outbound::checks::report::csv::field;

const HEADER: &str = "kind,contentType,documentId,locale,reason,rule,path,owner,title,adminUrl";

/// Writes a record for each version: without a URL, or with a path that another document has too.
///
/// # Errors
/// The errors of `out`.
pub(super) fn write(problems: &Problems, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{HEADER}\r\n")?;
    for problem in problems.rows() {
        match problem {
            Problem::NoUrl { version, reason, rule } => {
                write_record(out, "no_url", &version, [reason, rule, "", ""])?;
            }
            Problem::SharedPath { path, owner, others } => {
                write_record(out, "shared_path", &owner, ["", "", path, "true"])?;
                for other in &others {
                    write_record(out, "shared_path", other, ["", "", path, "false"])?;
                }
            }
            Problem::Redirect(RedirectProblem { kind, version, path, reason }) => {
                let path = path.as_deref().unwrap_or_default();
                write_record(out, kind, &version, [reason.unwrap_or_default(), "", path, ""])?;
            }
        }
    }
    Ok(())
}

fn write_record(
    out: &mut dyn Write,
    kind: &str,
    version: &VersionRow<'_>,
    [reason, rule, path, owner]: [&str; 4],
) -> io::Result<()> {
    let fields = [
        kind,
        version.content_type,
        version.document_id,
        version.locale.unwrap_or_default(),
        reason,
        rule,
        path,
        owner,
        version.title.unwrap_or_default(),
        version.admin_url.as_deref().unwrap_or_default(),
    ];
    write!(out, "{}\r\n", fields.map(field).join(","))
}
