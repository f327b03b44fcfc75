//! The rows of `moved.import` that lead nowhere, as CSV.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use crate::boot;
use crate::cli::output::destination::Output;
use crate::cli::walk::{listed_urls, walk};
use crate::config::Config;
use frontend_map_catalog::moved::history::PathHistory;
use frontend_map_catalog::moved::import::{Import, Outcome};
use frontend_map_catalog::moved::redirects::SiteHistory;
use frontend_map_catalog::path_index::{PathIndex, TypePaths};
use frontend_map_catalog::site::{ResolveBy, Site};
use frontend_map_outbound::checks::report::csv::field;

const HEADER: &str = "file,line,from,to,reason";

/// Walks the content types of the site, and writes a record for each row that leads to none of their
/// documents.
///
/// # Errors
/// When a walk fails, or the output cannot be written.
pub(super) async fn write(
    mut config: Config,
    site: &Arc<Site>,
    output: Output,
) -> Result<(), Box<dyn Error>> {
    if site.resolve != ResolveBy::Documents {
        let key = &site.key;
        return Err(format!("site \"{key}\" does not have resolve = \"documents\"").into());
    }
    let files = std::mem::take(&mut config.imports);
    let app = boot::build_alone(config)?;
    let types = site.rules.content_types();
    let cached_snapshots = walk(&app.snapshots, site, &types, listed_urls).await?;
    let known = cached_snapshots
        .iter()
        .map(|(uid, cached)| (*uid, TypePaths::Fresh(cached.snapshot.clone())));
    let index = PathIndex::new(&site.rules, known);
    // What the service has seen itself is in its store; here the present documents alone count.
    let history = PathHistory::default();
    let id = history.site(site.source, &site.key).ok_or("there are too many sites")?;
    let history = SiteHistory { history: &history, id, now: 0 };
    let import = Import { files: &files, site, index: &index, history };
    Ok(output.write(|out| write_rows(&import, out))?)
}

fn write_rows(import: &Import<'_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{HEADER}\r\n")?;
    let mut result = Ok(());
    import.resolve(0, |outcome| {
        let Outcome::LeftOut(row) = outcome else { return };
        let line = row.line.to_string();
        let fields = [row.file, &line, row.from, row.to, row.reason.word()].map(field);
        if result.is_ok() {
            result = write!(out, "{}\r\n", fields.join(","));
        }
    });
    result
}
