//! One attempt to renew, return and get permits: the request to Redis, and its response.

/// What one attempt sends to Redis.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Permits of checks in flight.
    pub(super) busy: Vec<String>,
    /// Permits for checks that wait.
    pub(super) idle: Vec<String>,
    /// Permits that are returned.
    pub(super) returned: Vec<String>,
    /// Further permits that checks wait for.
    pub(super) wanted: Vec<String>,
    /// Whether this instance may have checks in flight that Redis does not know.
    pub(super) is_first_of_session: bool,
    /// The most permits of an instance until the checks that Redis does not know have ended.
    pub(super) share: usize,
}

/// Redis's response to a [`Request`].
#[derive(Debug)]
pub(super) struct Reply {
    /// How many of the wanted permits were granted: the first ones.
    pub(super) granted: usize,
    /// How many permits this instance may keep when a check ends.
    pub(super) keep: usize,
    /// Whether this instance has less than its share.
    pub(super) is_short: bool,
    /// Idle permits that had expired.
    pub(super) expired: Vec<String>,
}
