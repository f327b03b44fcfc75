//! Walks over all documents of several content types, with progress on stderr.

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::io::Write;
use std::time::Duration;

use futures::future::join_all;
use indicatif::{HumanFloatCount, MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use tokio::time::interval;

use super::output::words::{count, digits};
use frontend_map_cache::{CachedSnapshot, SnapshotCache};
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_rules::ContentTypeUid;
use frontend_map_service::app::App;

/// How often a line of progress is redrawn.
const TICK: Duration = Duration::from_millis(100);

/// Walks the content types concurrently. On a terminal each has a line of progress; at its end a line
/// with the text of `summary` is printed.
///
/// # Errors
/// The first failure.
pub(super) async fn walk<'s>(
    snapshots: &SnapshotCache,
    site: &'s Site,
    uids: &[&'s ContentTypeUid],
    summary: impl Fn(&CachedSnapshot) -> String,
) -> Result<Vec<(&'s ContentTypeUid, CachedSnapshot)>, Box<dyn Error>> {
    let lines = MultiProgress::new();
    let walks = uids.iter().map(|uid| {
        let (lines, summary) = (&lines, &summary);
        async move {
            let line = progress_line(lines, uid.as_str());
            let walk = snapshots.refresh(site, uid.as_str());
            let cached = follow(&line, walk, || snapshots.documents_seen(site, uid.as_str())).await;
            let cached =
                cached.map_err(|error| format!("{uid}: {}", snapshots.content().detail(&error)))?;
            line.finish_and_clear();
            line.suspend(|| {
                print_line(&format!("{uid}: {}{}", summary(&cached), skipped(&cached)));
            });
            Ok::<_, String>((*uid, cached))
        }
    });
    let walked = join_all(walks).await;
    Ok(walked.into_iter().collect::<Result<_, String>>()?)
}

/// Walks content types as [`walk`] for the lists of their URLs, and after the redirects of the site: the
/// lists are without the pages that these hide. `pages`: with the pages outside the CMS. A redirect with
/// `force` may lead to a document of any content type, so that all of them are walked if there is one.
///
/// # Errors
/// The first failure.
pub(super) async fn walk_lists<'s>(
    snapshots: &SnapshotCache,
    site: &'s Site,
    uids: &[&'s ContentTypeUid],
    pages: bool,
    summary: impl Fn(&CachedSnapshot) -> String,
) -> Result<Vec<(&'s str, CachedSnapshot)>, Box<dyn Error>> {
    let mut all = uids.to_vec();
    if let Some(redirects) = &site.redirects {
        let number = |cached: &CachedSnapshot| count(cached.snapshot.len() as u64, "redirect");
        let types = redirects.rules.content_types();
        let redirects = walk(snapshots, redirects, &types, number).await?;
        if redirects.iter().any(|(_, cached)| cached.snapshot.has_forced_redirect()) {
            let others = site.rules.content_types().into_iter();
            all.extend(others.filter(|uid| !uids.contains(uid)));
        }
    }
    let walked = walk(snapshots, site, &all, summary).await?.into_iter();
    let walked = walked.map(|(uid, cached)| (uid.as_str(), cached)).take(uids.len());
    let pages = pages.then(|| snapshots.pages(site).cloned()).flatten();
    let mut lists = Vec::new();
    for (group, cached) in walked.chain(pages.map(|pages| (PAGES, pages))) {
        let list = snapshots.without_hidden(site, group, cached).await;
        let hidden = list.hidden.as_ref().map_or(0, |hidden| hidden.listed().len() as u64);
        if hidden > 0 {
            let what = count(hidden, "URL");
            print_line(&format!("{group}: {what} left out, because redirects hide them"));
        }
        lists.push((group, list));
    }
    Ok(lists)
}

/// Snapshots by the key of the site and the content type.
pub(super) type CachedSnapshots = HashMap<(String, String), CachedSnapshot>;

/// Walks each content type once for all sites that have a rule or redirects of it, with progress as [`walk`].
///
/// # Errors
/// The first failure.
pub(super) async fn walk_for_all_sites(app: &App) -> Result<CachedSnapshots, Box<dyn Error>> {
    let (lines, snapshots) = (MultiProgress::new(), &app.snapshots);
    let types = app.sites.iter().flat_map(|site| site.all_content_types());
    let types: BTreeSet<&str> = types.map(ContentTypeUid::as_str).collect();
    let walks = types.iter().map(|uid| {
        let lines = &lines;
        async move {
            let line = progress_line(lines, uid);
            let site = app.sites.with_redirects().find(|site| site.has_rule(uid));
            let seen = || site.map_or(0, |site| snapshots.documents_seen(site, uid));
            let cached_snapshots = follow(&line, snapshots.refresh_for_all_sites(uid), seen).await;
            let cached_snapshots = cached_snapshots
                .map_err(|error| format!("{uid}: {}", snapshots.content().detail(&error)))?;
            line.finish_and_clear();
            line.suspend(|| print_line(&format!("{uid}: {}", count(seen(), "document"))));
            Ok::<_, String>(
                cached_snapshots
                    .into_iter()
                    .map(|(key, cached)| ((key, (*uid).to_owned()), cached)),
            )
        }
    });
    let walked = join_all(walks).await.into_iter().collect::<Result<Vec<_>, String>>()?;
    Ok(walked.into_iter().flatten().collect())
}

/// Prints a line on stderr. A closed stderr is not an error.
pub(super) fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The number of URLs in the sitemaps, in words.
pub(super) fn listed_urls(cached: &CachedSnapshot) -> String {
    count(cached.snapshot.listed_count() as u64, "URL")
}

/// A line of progress, which is invisible if stderr is not a terminal.
fn progress_line(lines: &MultiProgress, uid: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}  {human_pos} documents, {rate}");
    let bar = lines.add(ProgressBar::new_spinner());
    bar.set_style(
        style.unwrap_or_else(|_| ProgressStyle::default_spinner()).with_key("rate", rate),
    );
    bar.set_message(uid.to_owned());
    bar
}

/// The rate of a progress bar.
pub(super) fn rate(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    let per_second = state.per_sec().round();
    // Writing to a terminal's line cannot fail. A rate is positive and far below 2⁶⁴.
    let _ = write!(out, "{}/s", HumanFloatCount(per_second));
}

/// Redraws the line until `work` has ended.
async fn follow<T>(line: &ProgressBar, work: impl Future<Output = T>, seen: impl Fn() -> u64) -> T {
    let mut work = std::pin::pin!(work);
    let mut ticks = interval(TICK);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = ticks.tick() => line.set_position(seen()),
        }
    }
}

/// The number of documents without a URL by reason, in words.
fn skipped(cached: &CachedSnapshot) -> String {
    let reasons = cached.snapshot.skipped.by_reason();
    let reasons: Vec<String> =
        reasons.map(|(reason, n)| format!("{reason} {}", digits(n))).collect();
    if reasons.is_empty() {
        return String::new();
    }
    format!(", without a URL: {}", reasons.join(", "))
}
