//! The requests: every URL once, and those that may heal again.

use std::pin::pin;

use futures::stream::{self, StreamExt};
use tokio::time::{Instant, sleep_until};

use super::progress::Progress;
use super::retry;
use crate::frontend_url::BaseUrl;
use crate::validator::{CONCURRENT_CHECKS, Checked, Targets, Validator};

/// One URL: which of the targets, its position there, its path.
type Url<'t> = (usize, usize, &'t str);

/// Checks all URLs of all targets as one queue, so that the last ones of a content type hold up
/// nothing. What may heal is asked again after all others, at most `retries` times; the last result
/// counts. A request that waits for its time is not in flight, one that is sent counts like any.
pub(super) async fn check(
    validator: &Validator,
    base: &BaseUrl,
    targets: &[Targets],
    retries: u32,
) -> Vec<Vec<(usize, Checked)>> {
    let urls = targets.iter().enumerate().flat_map(|(part, targets)| {
        targets.paths().map(move |(position, path)| (part, position, path))
    });
    let started = Instant::now();
    let mut due: Vec<(Instant, Url<'_>)> = urls.map(|url| (started, url)).collect();
    let mut checked: Vec<Vec<(usize, Checked)>> = targets.iter().map(|_| Vec::new()).collect();
    let progress = Progress::new(due.len());
    for round in 0..=retries {
        let mut again = Vec::new();
        let mut results = pin!(requests(validator, base, due));
        while let Some((url, result)) = results.next().await {
            if round < retries && retry::is_worth_it(&result) {
                again.push((Instant::now() + retry::pause(round, &result), url));
                progress.again();
            } else {
                progress.add(&result);
                checked[url.0].push((url.1, result));
            }
        }
        // In the order of their times: who waits for its own holds up nobody who could go.
        again.sort_unstable();
        due = again;
        progress.round();
    }
    progress.end();
    checked
}

/// Sends one request for each, when it is due.
fn requests<'t>(
    validator: &'t Validator,
    base: &'t BaseUrl,
    due: Vec<(Instant, Url<'t>)>,
) -> impl futures::Stream<Item = (Url<'t>, Checked)> {
    let request = move |(at, url): (Instant, Url<'t>)| async move {
        sleep_until(at).await;
        let mut one = pin!(validator.check(base, std::iter::once((0, url.2))));
        let result = one.next().await.map(|(_, checked)| checked);
        (url, result)
    };
    let results = stream::iter(due).map(request).buffer_unordered(CONCURRENT_CHECKS);
    results.filter_map(|(url, result)| std::future::ready(result.map(|result| (url, result))))
}
