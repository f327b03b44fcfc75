//! The commands that write a table. `frontend-map pages`, `frontend-map problems` and `frontend-map diff`
//! read the CMS; `frontend-map redirects`, `frontend-map misses` and `frontend-map links` request a running
//! service.

mod columns;
pub(super) mod diff;
pub(super) mod links;
pub(super) mod misses;
pub(super) mod pages;
pub(super) mod problems;
pub(super) mod redirects;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use super::output::destination::Output;
use super::output::terminal::Colours;
use super::walk::{listed_urls, walk};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_catalog::tables::{Chunks, Rows};
use frontend_map_rules::ContentTypeUid;
use frontend_map_service::app::App;

/// Walks content types of a site and writes a table of their snapshots to a file, or to stdout
/// (`None` or `-`). `write` gets the snapshots and the colours for the output.
///
/// # Errors
/// When a walk fails, or the output cannot be written.
async fn write_table(
    app: &App,
    site: &Site,
    uids: &[&ContentTypeUid],
    path: Option<&Path>,
    write: impl FnOnce(Vec<Arc<Snapshot>>, Colours, &mut dyn Write) -> io::Result<()>,
) -> Result<(), Box<dyn Error>> {
    let output = Output::open(path)?;
    let colours = output.colours();
    let cached_snapshots = walk(&app.snapshots, site, uids, listed_urls).await?;
    let snapshots = cached_snapshots.into_iter().map(|(_, cached)| cached.snapshot).collect();
    Ok(output.write(|out| write(snapshots, colours, out))?)
}

/// Writes a table chunk by chunk, with a newline at its end.
fn write_chunks<R: Rows>(chunks: Chunks<R>, out: &mut dyn Write) -> io::Result<()> {
    let mut last = None;
    for chunk in chunks {
        out.write_all(chunk.as_bytes())?;
        last = chunk.as_bytes().last().copied().or(last);
    }
    if last == Some(b'\n') { Ok(()) } else { out.write_all(b"\n") }
}
