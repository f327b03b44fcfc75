//! The URL checks with their retries.

use std::pin::pin;

use futures::stream::{BoxStream, StreamExt};
use tokio::time::{Instant, sleep_until};

use super::progress::Progress;
use super::retry;
use frontend_map_outbound::checks::content::{PageJudge, mark_dead_canonicals};
use frontend_map_outbound::checks::{CheckedUrl, Targets, Validator};

/// One URL: which of the targets, and its position there.
type Url = (usize, usize);

/// Checks the URLs of all targets as one queue, so that the last slow URLs of a content type do not
/// delay the next one. Retryable URLs are requested again after all others, at most `retries` times;
/// the last result counts. A URL that waits for its retry does not count as in flight. With a judge,
/// pages are judged.
pub(super) async fn check(
    validator: &Validator,
    targets: &[Targets],
    judge: Option<&PageJudge>,
    retries: u32,
) -> Vec<Vec<CheckedUrl>> {
    let urls = targets
        .iter()
        .enumerate()
        .flat_map(|(part, targets)| (0..targets.count()).map(move |position| (part, position)));
    let started = Instant::now();
    let mut due: Vec<(Instant, Url)> = urls.map(|url| (started, url)).collect();
    let mut all: Vec<Vec<CheckedUrl>> = targets.iter().map(|_| Vec::new()).collect();
    let progress = Progress::new(due.len());
    for round in 0..=retries {
        let mut retry_later = Vec::new();
        while let Some(urls) = next(&mut due).await {
            // All that are due are checked as one run, which reuses its connections.
            let mut results = pin!(requests(validator, targets, judge, urls));
            while let Some((part, checked)) = results.next().await {
                let (url, result) = ((part, checked.position), &checked.result);
                if round < retries && retry::is_retryable(result) {
                    retry_later.push((Instant::now() + retry::pause(round, result), url));
                    progress.retry();
                } else {
                    progress.add(result);
                    all[part].push(checked);
                }
            }
        }
        retry_later.sort_unstable();
        due = retry_later;
        progress.next_round();
    }
    progress.end();
    if judge.is_some() {
        mark_dead_canonicals(targets, &mut all);
    }
    all
}

/// Requests each of these URLs once; each result comes with the index of its targets.
fn requests<'a>(
    validator: &'a Validator,
    targets: &'a [Targets],
    judge: Option<&'a PageJudge>,
    urls: Vec<Url>,
) -> BoxStream<'a, (usize, CheckedUrl)> {
    if let Some(judge) = judge {
        return validator.check_pages(judge, targets, urls.into_iter()).boxed();
    }
    let urls = urls.into_iter().map(|url| (url, targets[url.0].url(url.1)));
    let results = validator
        .check(urls)
        .map(|((part, position), result)| (part, CheckedUrl { position, result, judged: None }));
    results.boxed()
}

/// Waits until the first URL is due, and takes all that are due by then. `due` is sorted by time.
async fn next(due: &mut Vec<(Instant, Url)>) -> Option<Vec<Url>> {
    sleep_until(due.first()?.0).await;
    let now = Instant::now();
    let ready = due.partition_point(|(at, _)| *at <= now);
    Some(due.drain(..ready).map(|(_, url)| url).collect())
}
