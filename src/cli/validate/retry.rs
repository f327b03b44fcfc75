//! When a URL is worth another request, and how long that waits.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::validator::{CheckResult, Failure};

/// Before the first retry, about; each later one waits twice as long.
const FIRST: Duration = Duration::from_millis(500);
/// No pause of ours is longer.
const LONGEST: Duration = Duration::from_secs(30);
/// No `Retry-After` is waited for longer.
const PATIENCE: Duration = Duration::from_mins(1);

/// Whether the same request may find something else: nothing has answered, or what did was too
/// busy or broken.
pub(super) fn is_worth_it(checked: &CheckResult) -> bool {
    match checked {
        CheckResult::Response { status, .. } => *status == 429 || (500..=599).contains(status),
        CheckResult::Failed(Failure::AddressNotAllowed | Failure::NotChecked) => false,
        CheckResult::Failed(_) => true,
    }
}

/// How long to wait after the try with this number (from 0): as the peer says, or else longer each
/// time and never the same for all, so that requests that failed together do not come back
/// together.
pub(super) fn pause(round: u32, checked: &CheckResult) -> Duration {
    match checked {
        CheckResult::Response { retry_after: Some(seconds), .. } => {
            Duration::from_secs((*seconds).into()).min(PATIENCE)
        }
        _ => between(FIRST.saturating_mul(1 << round.min(16)).min(LONGEST), chance()),
    }
}

/// Between a half and the whole, by a number whose bits are all as likely.
fn between(whole: Duration, chance: u32) -> Duration {
    let half = whole / 2;
    half + half.mul_f64(f64::from(chance) / f64::from(u32::MAX))
}

/// A random number, of the kind that hash tables are seeded with.
fn chance() -> u32 {
    let [a, b, c, d, ..] = RandomState::new().hash_one(()).to_ne_bytes();
    u32::from_ne_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, retry_after: Option<u32>) -> CheckResult {
        CheckResult::Response { status, location: None, retry_after }
    }

    #[test]
    fn what_may_heal_is_asked_again() {
        for (checked, expected) in [
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
            assert_eq!(is_worth_it(&checked), expected, "{checked:?}");
        }
    }

    #[test]
    fn a_peer_that_says_when_is_believed_up_to_a_minute() {
        for (said, expected) in [(0, 0), (7, 7), (60, 60), (61, 60), (u32::MAX, 60)] {
            for round in [0, 9] {
                let pause = pause(round, &answered(503, Some(said)));
                assert_eq!(pause, Duration::from_secs(expected));
            }
        }
    }

    #[test]
    fn pauses_grow_and_differ() {
        for (chance, seconds) in [(0, [0.25, 0.5, 1.0, 15.0]), (u32::MAX, [0.5, 1.0, 2.0, 30.0])] {
            let pauses = [FIRST, FIRST * 2, FIRST * 4, LONGEST].map(|whole| between(whole, chance));
            assert_eq!(pauses, seconds.map(Duration::from_secs_f64));
        }
        let failed = CheckResult::Failed(Failure::Reset);
        for (round, longest) in [(0, FIRST), (1, FIRST * 2), (6, LONGEST), (u32::MAX, LONGEST)] {
            let pause = pause(round, &failed);
            assert!(longest / 2 <= pause && pause <= longest, "{round}: {pause:?}");
        }
    }
}
