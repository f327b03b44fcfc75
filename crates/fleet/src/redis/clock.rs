//! Redis's clock, computed from the times that heartbeats return. So ages do not depend on the
//! system clocks of the instances.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use frontend_map_platform::clock;

/// How many samples are kept; the one with the shortest round trip is used.
const SAMPLES: usize = 8;

/// The offset between Redis's clock and the monotonic clock of this process.
pub(super) struct ServerClock {
    base: Instant,
    /// The system time at `base` in ms since 1970, used until there is a sample.
    system_ms: i64,
    samples: Mutex<Vec<Sample>>,
}

#[derive(Clone, Copy)]
struct Sample {
    /// Redis's time at `base`, in ms since 1970.
    offset_ms: i64,
    round_trip: Duration,
}

impl ServerClock {
    pub(super) fn new() -> Self {
        let (base, system_ms) = (Instant::now(), clock::unix_ms());
        Self { base, system_ms, samples: Mutex::default() }
    }

    /// Adds a time that Redis returned between these two.
    pub(super) fn add(&self, server_ms: i64, sent: Instant, received: Instant) {
        let round_trip = received.saturating_duration_since(sent);
        let offset_ms = server_ms - ms(sent.saturating_duration_since(self.base) + round_trip / 2);
        let sample = Sample { offset_ms, round_trip };
        let mut samples = self.samples.lock();
        // Redis was replaced, or its clock was set: older samples are wrong.
        let off = |one: &Sample| (one.offset_ms - offset_ms).abs();
        if samples.iter().any(|one| off(one) > 2 * ms(one.round_trip + round_trip) + 100) {
            samples.clear();
        }
        if samples.len() == SAMPLES {
            samples.remove(0);
        }
        samples.push(sample);
    }

    pub(super) fn now_ms(&self) -> i64 {
        let samples = self.samples.lock();
        let best = samples.iter().min_by_key(|sample| sample.round_trip);
        let offset_ms = best.map_or(self.system_ms, |sample| sample.offset_ms);
        offset_ms.saturating_add(ms(self.base.elapsed()))
    }

    pub(super) fn instant_of(&self, server_ms: i64) -> Instant {
        let (now, now_ms) = (Instant::now(), self.now_ms());
        let age = u64::try_from(now_ms.saturating_sub(server_ms)).unwrap_or(0);
        now.checked_sub(Duration::from_millis(age)).unwrap_or(self.base)
    }
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    fn close(left: i64, right: i64) -> bool {
        (left - right).abs() < 1_000
    }

    #[test]
    fn now_ms_is_the_time_of_redis_and_not_of_the_system() {
        let clock = ServerClock::new();
        assert!(close(clock.now_ms(), clock::unix_ms()));
        let (now, hour_ahead) = (Instant::now(), clock::unix_ms() + HOUR_MS);
        clock.add(hour_ahead, now, now);
        assert!(close(clock.now_ms(), hour_ahead));
        clock.add(hour_ahead - 3 * HOUR_MS, now, now + Duration::from_millis(2));
        assert!(close(clock.now_ms(), hour_ahead - 3 * HOUR_MS), "the clock was set");
    }

    #[test]
    fn now_ms_uses_the_sample_with_the_shortest_round_trip() {
        let (clock, now) = (ServerClock::new(), Instant::now());
        clock.add(10_000, now, now);
        clock.add(10_400, now, now + Duration::from_millis(900));
        assert!(close(clock.now_ms(), 10_000));
    }

    #[test]
    fn instant_of_is_never_in_the_future() {
        let (clock, now) = (ServerClock::new(), Instant::now());
        clock.add(50_000_000, now, now);
        let age = |server_ms| clock.instant_of(server_ms).elapsed();
        assert!(age(50_000_000 + HOUR_MS) < Duration::from_secs(1));
        assert!(age(i64::MAX) < Duration::from_secs(1));
        assert!(age(50_000_000 - HOUR_MS) >= Duration::from_hours(1));
        assert!(age(50_000_000 - HOUR_MS) < Duration::from_secs(3_601));
        let _ = age(i64::MIN);
    }
}
