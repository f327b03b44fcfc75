//! The URL checks with their retries.

use std::pin::pin;

use futures::stream::StreamExt;
use tokio::time::{Instant, sleep_until};

use super::progress::Progress;
use super::retry;
use frontend_map_outbound::checks::{CheckResult, Targets, Validator};

/// One URL: which of the targets, and its position there.
type Url = (usize, usize);

/// Checks the URLs of all targets as one queue, so that the last slow URLs of a content type do not
/// delay the next one. Retryable URLs are requested again after all others, at most `retries` times;
/// the last result counts. A URL that waits for its retry does not count as in flight.
pub(super) async fn check(
    validator: &Validator,
    targets: &[Targets],
    retries: u32,
) -> Vec<Vec<(usize, CheckResult)>> {
    let urls = targets
        .iter()
        .enumerate()
        .flat_map(|(part, targets)| (0..targets.count()).map(move |position| (part, position)));
    let started = Instant::now();
    let mut due: Vec<(Instant, Url)> = urls.map(|url| (started, url)).collect();
    let mut checked: Vec<Vec<(usize, CheckResult)>> = targets.iter().map(|_| Vec::new()).collect();
    let progress = Progress::new(due.len());
    for round in 0..=retries {
        let mut retry_later = Vec::new();
        while let Some(urls) = next(&mut due).await {
            // All that are due are checked as one run, which reuses its connections.
            let numbered = urls.iter().enumerate();
            let absolute =
                numbered.map(|(at, (part, position))| (at, targets[*part].url(*position)));
            let mut results = pin!(validator.check(absolute));
            while let Some((at, result)) = results.next().await {
                if round < retries && retry::is_retryable(&result) {
                    retry_later.push((Instant::now() + retry::pause(round, &result), urls[at]));
                    progress.retry();
                } else {
                    progress.add(&result);
                    let (part, position) = urls[at];
                    checked[part].push((position, result));
                }
            }
        }
        retry_later.sort_unstable();
        due = retry_later;
        progress.next_round();
    }
    progress.end();
    checked
}

/// Waits until the first URL is due, and takes all that are due by then. `due` is sorted by time.
async fn next(due: &mut Vec<(Instant, Url)>) -> Option<Vec<Url>> {
    sleep_until(due.first()?.0).await;
    let now = Instant::now();
    let ready = due.partition_point(|(at, _)| *at <= now);
    Some(due.drain(..ready).map(|(_, url)| url).collect())
}
