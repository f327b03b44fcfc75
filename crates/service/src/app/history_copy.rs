//! The copy of the path history beside the store.

use std::sync::Arc;
use std::time::Duration;

use frontend_map_cache::PathIndexState;
use frontend_map_catalog::moved::history::Row;
use frontend_map_catalog::moved::redirects::present_url;
use frontend_map_catalog::site::Site;
use frontend_map_platform::clock::unix_ms;
use frontend_map_store::CopyRow;

use super::App;

/// From this time after the start on, a copy is also written while some documents are not known: their
/// rows have no targets in it.
const PATIENCE: Duration = Duration::from_mins(10);

/// Whether the copy is to be written: it is a day old, or there is none of a history that has paths.
pub fn history_copy_is_due(app: &App) -> bool {
    let Some(copy) = app.shared.store.history_copy() else { return false };
    let is_due = copy.is_due().unwrap_or(!app.shared.path_history.is_empty());
    is_due && (app.shared.running_for() >= PATIENCE || knows_all_types(app))
}

/// Writes the copy, unless there is neither a store nor a history. False: it has failed, and the log
/// says so.
#[must_use]
pub fn write_history_copy(app: &App) -> bool {
    let Some(copy) = app.shared.store.history_copy() else { return true };
    if app.shared.path_history.is_empty() && copy.is_due().is_none() {
        return true;
    }
    let path = copy.path().display();
    match copy.write(rows(app)) {
        Ok(rows) => tracing::info!(%path, rows, "former paths are copied"),
        Err(error) => {
            tracing::error!(%path, %error, "former paths cannot be copied");
            return false;
        }
    }
    true
}

fn knows_all_types(app: &App) -> bool {
    let mut states = app.sites.iter().filter_map(|site| app.snapshots.path_index(site));
    states.all(|state| state.index.knows_all_types())
}

/// The rows of all sites that the history has, also those that the settings do not have now.
fn rows(app: &App) -> impl Iterator<Item = CopyRow> {
    let known = app.sites.iter().filter_map(|site| Some((site, app.snapshots.path_index(site)?)));
    let known: Vec<_> = known.collect();
    let history = &app.shared.path_history;
    let (mut place, now) = (0, history.now(unix_ms));
    let chunks = std::iter::from_fn(move || {
        let (rows, next) = history.all_rows_from(place, now)?;
        place = next;
        Some(rows)
    });
    chunks.flatten().map(move |row| {
        let of_row =
            known.iter().find(|(site, _)| site.source == row.source && site.key == row.site);
        copy_row(of_row, row)
    })
}

/// A row, without a target if its site is not in the settings or resolves by rules alone.
fn copy_row(known: Option<&(&Arc<Site>, PathIndexState)>, row: Row) -> CopyRow {
    let Some((site, state)) = known else {
        return CopyRow { from: row.path.clone(), to: String::new(), row };
    };
    let hosts = site.hosts.all().iter();
    let base =
        hosts.map(|host| &host.base).find(|base| row.host.is_empty() || base.host() == row.host);
    let from = format!("{}{}", base.map_or("", |base| base.as_str()), row.path);
    let to = present_url(site, &state.index, &row).map(|url| {
        let url_text = site.hosts.url(url.locale(), url.path());
        url_text.unwrap_or_else(|| url.path().to_owned())
    });
    CopyRow { from, to: to.unwrap_or_default(), row }
}
