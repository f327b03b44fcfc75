//! What commands that read all content of a site have in common: which site and content types, the
//! walks, and what is told meanwhile.

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use futures::future::join_all;
use indicatif::{HumanCount, MultiProgress, ProgressBar, ProgressStyle};
use tokio::time::interval;

use crate::frontend_url::BaseUrl;
use crate::rules::ContentTypeUid;
use crate::site::{Site, Sites};
use crate::snapshot_cache::{CachedCopy, SnapshotCache};

/// How often a line moves.
const TICK: Duration = Duration::from_millis(100);

/// The site with this key.
pub(super) fn site<'s>(sites: &'s Sites, key: &str) -> Result<&'s Site, String> {
    sites.get(key).ok_or_else(|| {
        let keys: Vec<&str> = sites.iter().map(|site| site.key.as_str()).collect();
        format!("there is no site \"{key}\"; there are: {}", keys.join(", "))
    })
}

/// The base URL that all URLs of the site begin with.
pub(super) fn base(site: &Site) -> Result<&BaseUrl, String> {
    let missing = || format!("{} is not configured", Site::base_url_variable(&site.key));
    site.base.as_ref().ok_or_else(missing)
}

/// The content types that are wanted: all, or those that are named.
pub(super) fn chosen<'s>(
    site: &'s Site,
    named: &[String],
) -> Result<Vec<&'s ContentTypeUid>, String> {
    let all = site.rules.content_types();
    for name in named {
        if !site.has_rule(name) {
            return Err(format!("site \"{}\" has no rule for `{name}`", site.key));
        }
    }
    let wanted =
        |uid: &&ContentTypeUid| named.is_empty() || named.iter().any(|name| name == uid.as_str());
    Ok(all.into_iter().filter(wanted).collect())
}

/// Walks all of them side by side: a moving line for each on a terminal, and one at its end, with
/// what `told` makes of what was found.
///
/// # Errors
/// The first failure.
pub(super) async fn walk<'s>(
    snapshots: &SnapshotCache,
    site: &'s Site,
    uids: &[&'s ContentTypeUid],
    told: impl Fn(&CachedCopy) -> String,
) -> Result<Vec<(&'s ContentTypeUid, CachedCopy)>, Box<dyn Error>> {
    let lines = MultiProgress::new();
    let walks = uids.iter().map(|uid| {
        let (lines, told) = (&lines, &told);
        async move {
            let line = line(lines, uid.as_str());
            let walk = snapshots.refresh(site, uid.as_str());
            let copy = follow(&line, walk, || snapshots.documents_seen(site, uid.as_str())).await;
            let copy = copy.map_err(|error| format!("{uid}: {error}"))?;
            line.finish_and_clear();
            line.suspend(|| say(&format!("{uid}: {}{}", told(&copy), skipped(&copy))));
            Ok::<_, String>((*uid, copy))
        }
    });
    let walked = join_all(walks).await;
    Ok(walked.into_iter().collect::<Result<_, String>>()?)
}

/// A line on stderr. Nobody has to read it.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// So many URLs, in words.
pub(super) fn urls(count: u64) -> String {
    if count == 1 { "1 URL".to_owned() } else { format!("{} URLs", HumanCount(count)) }
}

/// How many URLs sitemaps list, in words.
pub(super) fn listed(copy: &CachedCopy) -> String {
    urls(copy.snapshot.listed_count() as u64)
}

/// A new line. Where stderr is no terminal, it stays invisible until its end.
fn line(lines: &MultiProgress, uid: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}  {human_pos} documents, {per_sec}");
    let bar = lines.add(ProgressBar::new_spinner());
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_message(uid.to_owned());
    bar
}

/// Moves the line while something is under way.
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

fn skipped(copy: &CachedCopy) -> String {
    let reasons = copy.snapshot.skipped.by_reason();
    let reasons: Vec<String> = reasons.map(|(reason, n)| format!("{reason} {n}")).collect();
    if reasons.is_empty() {
        return String::new();
    }
    format!(", without a URL: {}", reasons.join(", "))
}
