//! The clock of the system. Times are in milliseconds since 1970.

use std::time::{SystemTime, UNIX_EPOCH};

/// The present time.
pub fn unix_ms() -> i64 {
    unix_ms_of(SystemTime::now())
}

/// This time; 0 for one before 1970.
pub fn unix_ms_of(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
