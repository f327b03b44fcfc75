//! Which results of a URL check are worth a retry, and how long a retry waits.
//! The repetition of one request after a reset is not here but in `checks::client`.

use std::time::Duration;

use frontend_map_outbound::checks::{CheckResult, Failure};

/// The longest pause before the first retry; each later one may be twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause before any retry, however many there were.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// The longest `Retry-After` that is respected.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(1);

/// Whether the same request may succeed later: there was no response, or the frontend was overloaded
/// (429) or failed (5xx).
pub(super) fn is_retryable(result: &CheckResult) -> bool {
    match result {
        CheckResult::Response { status, .. } => *status == 429 || (500..=599).contains(status),
        CheckResult::Failed(Failure::AddressNotAllowed | Failure::NotChecked) => false,
        CheckResult::Failed(_) => true,
    }
}

/// How long to wait after the attempt with this number, which counts from 0: as `Retry-After` says,
/// else exponential backoff with jitter, so that requests that failed together are not repeated
/// together.
pub(super) fn pause(attempt: u32, result: &CheckResult) -> Duration {
    match result {
        CheckResult::Response { retry_after: Some(seconds), .. } => {
            Duration::from_secs((*seconds).into()).min(MAX_RETRY_AFTER)
        }
        _ => jittered(
            FIRST_PAUSE.saturating_mul(1 << attempt.min(16)).min(MAX_PAUSE),
            fastrand::f64(),
        ),
    }
}

/// Between half of `longest` and all of it; `random` is from 0 to 1.
fn jittered(longest: Duration, random: f64) -> Duration {
    let half = longest / 2;
    half + half.mul_f64(random)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, retry_after: Option<u32>) -> CheckResult {
        CheckResult::Response { status, location: None, retry_after }
    }

    #[test]
    fn is_retryable_is_true_without_a_response_and_for_429_and_5xx() {
        for (result, expected) in [
            (answered(200, None), false),
            (answered(301, None), false),
            (answered(404, None), false),
            (answered(429, None), true),
            (answered(499, None), false),
            (answered(500, None), true),
            (answered(599, None), true),
            (answered(999, None), false),
            (CheckResult::Failed(Failure::Timeout), true),
            (CheckResult::Failed(Failure::Refused), true),
            (CheckResult::Failed(Failure::Dns), true),
            (CheckResult::Failed(Failure::AddressNotAllowed), false),
            (CheckResult::Failed(Failure::NotChecked), false),
        ] {
            assert_eq!(is_retryable(&result), expected, "{result:?}");
        }
    }

    #[test]
    fn pause_respects_retry_after_up_to_a_minute() {
        for (seconds, expected) in [(0, 0), (7, 7), (60, 60), (61, 60), (u32::MAX, 60)] {
            for attempt in [0, 9] {
                let pause = pause(attempt, &answered(503, Some(seconds)));
                assert_eq!(pause, Duration::from_secs(expected));
            }
        }
    }

    #[test]
    fn pause_grows_exponentially_between_half_and_all_of_its_bound() {
        for (random, seconds) in [(0.0, [0.25, 0.5, 1.0, 15.0]), (1.0, [0.5, 1.0, 2.0, 30.0])] {
            let bounds = [FIRST_PAUSE, FIRST_PAUSE * 2, FIRST_PAUSE * 4, MAX_PAUSE];
            let pauses = bounds.map(|longest| jittered(longest, random));
            assert_eq!(pauses, seconds.map(Duration::from_secs_f64));
        }
        let failed = CheckResult::Failed(Failure::Reset);
        for (attempt, longest) in
            [(0, FIRST_PAUSE), (1, FIRST_PAUSE * 2), (6, MAX_PAUSE), (u32::MAX, MAX_PAUSE)]
        {
            let pause = pause(attempt, &failed);
            assert!(longest / 2 <= pause && pause <= longest, "{attempt}: {pause:?}");
        }
    }
}
