//! The share of the time that background walks take of the CMS, so that editors do not wait for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The time over which the share holds. For a walk that is longer than its share of this time, the
/// share holds over a longer one.
const WINDOW: Duration = Duration::from_mins(10);
/// The longest time over which the share holds.
const MEMORY: Duration = Duration::from_hours(24);
/// Walks with a shorter pause between them count as one, which bounds the memory.
const PAUSE: Duration = Duration::from_secs(1);
/// The part of the share that walks leave to probes, which take milliseconds and find most changes: after
/// several long walks, a change must not wait for minutes. A share of 1 is no limit, and has no such part.
const FOR_PROBES: f64 = 0.1;

/// When background walks took place. It survives a reload.
#[derive(Debug, Default)]
pub(crate) struct BackgroundWalks(Mutex<WalkHistory>);

#[derive(Debug, Default)]
struct WalkHistory {
    walks: VecDeque<ConsecutiveWalks>,
    running: usize,
}

/// Walks that follow each other without a pause.
#[derive(Clone, Copy, Debug)]
struct ConsecutiveWalks {
    end: Instant,
    /// How long they took together.
    took: Duration,
}

/// A background walk in flight; it ends when this is dropped.
pub(crate) struct BackgroundWalk {
    walks: Arc<BackgroundWalks>,
    begun: Instant,
}

impl BackgroundWalks {
    /// How long to wait until a walk of this length is within its part of the share; `None`: until the
    /// walk in flight has ended.
    pub(crate) fn wait(&self, length: Duration, share: f64) -> Option<Duration> {
        let history = self.0.lock();
        let share = Self::part_of_walks(share);
        (history.running == 0).then(|| history.wait(Instant::now(), length, share))
    }

    /// The part of the share that walks may take.
    pub(crate) fn part_of_walks(share: f64) -> f64 {
        if share < 1.0 { share * (1.0 - FOR_PROBES) } else { share }
    }

    /// Whether a probe of this length is within the share now, and none has to wait for a walk in flight
    /// unless it is sent `beside` one.
    pub(crate) fn permits_probe(&self, length: Duration, share: f64, beside: bool) -> bool {
        let history = self.0.lock();
        let is_free = beside || history.running == 0;
        is_free && history.wait(Instant::now(), length, share).is_zero()
    }

    /// Begins a walk.
    pub(crate) fn begin(self: &Arc<Self>) -> BackgroundWalk {
        self.0.lock().running += 1;
        BackgroundWalk { walks: Arc::clone(self), begun: Instant::now() }
    }
}

impl Drop for BackgroundWalk {
    fn drop(&mut self) {
        let mut history = self.walks.0.lock();
        history.running -= 1;
        history.add(self.begun, Instant::now());
    }
}

impl WalkHistory {
    fn add(&mut self, begin: Instant, end: Instant) {
        let took = end - begin;
        match self.walks.back_mut() {
            Some(last) if begin.saturating_duration_since(last.end) < PAUSE => {
                *last = ConsecutiveWalks { end, took: last.took + took };
            }
            _ => self.walks.push_back(ConsecutiveWalks { end, took }),
        }
        while self.walks.front().is_some_and(|walks| end.duration_since(walks.end) > MEMORY) {
            self.walks.pop_front();
        }
    }

    fn wait(&self, now: Instant, length: Duration, share: f64) -> Duration {
        if share >= 1.0 {
            return Duration::ZERO;
        }
        let window = WINDOW.max(length.div_f64(share)).min(MEMORY);
        // The window ends with this walk; earlier walks may take this much of it.
        let mut left = window.mul_f64(share).saturating_sub(length);
        for ConsecutiveWalks { end, took } in self.walks.iter().rev() {
            if *took > left {
                // The window must contain no more than `left` of these walks.
                let earliest = *end + window.saturating_sub(left + length);
                return earliest.saturating_duration_since(now);
            }
            left -= *took;
        }
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARE: f64 = 0.1;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// Begins walks of these lengths in turn as soon as each is within the share, for three hours.
    fn simulate(lengths: &[f64]) -> Vec<(f64, f64)> {
        let (start, mut history, mut now) = (Instant::now(), WalkHistory::default(), 0.0);
        let mut walks = Vec::new();
        for length in lengths.iter().cycle() {
            now += history.wait(start + seconds(now), seconds(*length), SHARE).as_secs_f64();
            if now > 3.0 * 3600.0 {
                break;
            }
            history.add(start + seconds(now), start + seconds(now + length));
            walks.push((now, now + length));
            now += length;
        }
        walks
    }

    /// The most that the walks take of any part of the time of this length.
    fn most(walks: &[(f64, f64)], window: f64) -> f64 {
        let taken = |from: f64| -> f64 {
            let to = from + window;
            walks.iter().map(|(begin, end)| (end.min(to) - begin.max(from)).max(0.0)).sum()
        };
        let edges = walks.iter().flat_map(|(begin, end)| [*begin, end - window]);
        edges.map(taken).fold(0.0, f64::max)
    }

    #[test]
    fn walks_take_the_share_of_any_ten_minutes_and_not_much_less_in_all() {
        for lengths in [&[0.5][..], &[7.0], &[33.0], &[60.0], &[1.0, 25.0, 4.0], &[59.0, 0.2]] {
            let walks = simulate(lengths);
            let most = most(&walks, 600.0);
            assert!(most <= 60.0 + 1e-3, "{lengths:?}: {most}");
            let all: f64 = walks.iter().map(|(begin, end)| end - begin).sum();
            assert!(all > 3.0 * 3600.0 * SHARE * 0.5, "{lengths:?}: {all}");
        }
    }

    #[test]
    fn walk_of_more_than_the_share_of_ten_minutes_waits_for_the_share_of_a_longer_time() {
        let walks = simulate(&[125.0]);
        for two in walks.windows(2) {
            assert!((two[1].0 - two[0].0 - 1250.0).abs() < 1e-3, "{two:?}");
        }
    }

    #[test]
    fn walk_after_quiet_minutes_waits_for_nothing() {
        let (start, mut history) = (Instant::now(), WalkHistory::default());
        assert_eq!(history.wait(start, seconds(33.0), SHARE), Duration::ZERO);
        history.add(start, start + seconds(33.0));
        let wait = |at: f64, length: f64| {
            history.wait(start + seconds(at), seconds(length), SHARE).as_secs_f64().round()
        };
        assert!(wait(33.0, 27.0) < 1.0, "both together are the share");
        assert!((wait(33.0, 33.0) - 540.0).abs() <= 1.0, "{}", wait(33.0, 33.0));
        assert!(wait(600.0, 33.0) < 1.0);
    }

    #[test]
    fn walks_leave_a_part_of_the_share_to_probes() {
        let (walks, now) = (Arc::<BackgroundWalks>::default(), Instant::now());
        let begun = now.checked_sub(seconds(54.0)).unwrap();
        walks.0.lock().add(begun, now);
        let wait = walks.wait(seconds(1.0), SHARE).expect("none is in flight");
        assert!(wait > seconds(500.0), "{wait:?}");
        assert!(walks.permits_probe(seconds(1.0), SHARE, false));
        let walk = walks.begin();
        assert!(!walks.permits_probe(seconds(1.0), SHARE, false), "a walk is in flight");
        assert!(walks.permits_probe(seconds(1.0), SHARE, true));
        drop(walk);
        walks.0.lock().add(now, now + seconds(6.0));
        assert!(!walks.permits_probe(seconds(1.0), SHARE, true), "the share holds for both");
    }

    #[test]
    fn share_of_one_is_no_limit() {
        let (start, of_walks) = (Instant::now(), BackgroundWalks::part_of_walks(1.0));
        for took in [599.0, 601.0, 7_200.0] {
            let mut history = WalkHistory::default();
            history.add(start, start + seconds(took));
            // Beside a walk in flight, too.
            history.add(start + seconds(took) / 2, start + seconds(took));
            for length in [0.1, 599.0] {
                let wait = history.wait(start + seconds(took), seconds(length), of_walks);
                assert_eq!(wait, Duration::ZERO, "{took} {length}");
            }
        }
    }

    #[test]
    fn no_walk_begins_beside_another_in_the_background() {
        let walks = Arc::<BackgroundWalks>::default();
        let first = walks.begin();
        assert_eq!(walks.wait(Duration::ZERO, SHARE), None);
        drop(first);
        assert_eq!(walks.wait(Duration::ZERO, SHARE), Some(Duration::ZERO));
    }
}
