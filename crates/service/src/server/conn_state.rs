//! The state of one connection: what it waits for.
//!
//! The socket, the HTTP service and the timeouts of a connection each know a part of it. All three
//! run in one task: nothing here waits for another thread, and the fields are atomic only because
//! the parts share them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// What is known of a connection.
#[derive(Debug, Default)]
pub(super) struct ConnState {
    /// How many requests have been received.
    requests: AtomicU32,
    /// Whether a response is being produced or sent.
    busy: AtomicBool,
    /// Whether the handler waits for the rest of the request's body.
    wants_body: AtomicBool,
    /// Whether bytes have been received behind the last complete head.
    partial_head: AtomicBool,
    /// Whether those bytes may also be the body of the last request.
    body: AtomicBool,
    /// Whether a head had both `Content-Length` and `Transfer-Encoding`.
    two_framings: AtomicBool,
    /// How many writes the socket has accepted.
    writes: AtomicU32,
    /// Whether the socket's send buffer is full.
    stalled: AtomicBool,
    /// Whether the next flush has to check that the client is still connected.
    check_hang_up: AtomicBool,
    /// Whether the next flush has to look for bytes that are not read yet.
    look_for_bytes: AtomicBool,
    /// Whether this look has found none.
    found_none: AtomicBool,
}

/// What a connection waits for. The numbers distinguish one wait from the next of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The rest of a request's head, or all of the first head.
    Head(u32),
    /// The next request.
    Idle(u32),
    /// The service, which produces a response.
    Busy,
    /// The rest of a request's body.
    Body(u32),
    /// The client, which does not read its response.
    Stalled(u32),
}

impl ConnState {
    /// Bytes were received. `partial_head`: the last of them do not end a head; `two_framings`: one
    /// of the heads had both `Content-Length` and `Transfer-Encoding`.
    pub(super) fn read(&self, partial_head: bool, two_framings: bool) {
        self.partial_head.store(partial_head, Relaxed);
        if two_framings {
            self.two_framings.store(true, Relaxed);
        }
    }

    /// The socket accepted bytes, or its send buffer was full.
    pub(super) fn wrote(&self, taken: bool) {
        self.stalled.store(!taken, Relaxed);
        add(&self.writes, taken);
    }

    /// Whether the last write found the send buffer full.
    pub(super) fn is_stalled(&self) -> bool {
        self.stalled.load(Relaxed)
    }

    /// A request's head is complete.
    pub(super) fn request(&self, with_body: bool) {
        add(&self.requests, true);
        if with_body {
            self.body.store(true, Relaxed);
        }
    }

    /// Records whether the handler waits for more of the request's body.
    pub(super) fn wants_body(&self, wants: bool) {
        self.wants_body.store(wants, Relaxed);
    }

    /// Makes the next flush check whether the client has disconnected.
    pub(super) fn request_hang_up_check(&self) {
        self.check_hang_up.store(true, Relaxed);
    }

    /// Whether to check now that the client is still connected; true once for each requested check.
    pub(super) fn takes_hang_up_check(&self) -> bool {
        // A check is rare, and a load is cheaper than a swap.
        self.check_hang_up.load(Relaxed) && self.check_hang_up.swap(false, Relaxed)
    }

    /// Makes the next flush ask the system whether it has bytes of the client that are not read yet.
    pub(super) fn request_look(&self) {
        self.look_for_bytes.store(true, Relaxed);
    }

    /// Whether to look now; true once for each request.
    pub(super) fn takes_look(&self) -> bool {
        self.look_for_bytes.load(Relaxed) && self.look_for_bytes.swap(false, Relaxed)
    }

    /// Records what the look has found.
    pub(super) fn looked(&self, has_bytes: bool) {
        self.found_none.store(!has_bytes, Relaxed);
    }

    /// Whether the last look has found no bytes; true once for each look.
    pub(super) fn takes_found_none(&self) -> bool {
        self.found_none.swap(false, Relaxed)
    }

    /// Whether a head with both `Content-Length` and `Transfer-Encoding` was received.
    pub(super) fn had_two_framings(&self) -> bool {
        self.two_framings.load(Relaxed)
    }

    /// What the connection waits for now; `previous` is what it waited for before.
    pub(super) fn phase(&self, previous: Phase) -> Phase {
        if self.is_stalled() {
            return Phase::Stalled(self.writes.load(Relaxed));
        }
        if self.busy.load(Relaxed) {
            let wants_body = self.wants_body.load(Relaxed);
            return if wants_body { Phase::Body(self.requests.load(Relaxed)) } else { Phase::Busy };
        }
        if self.body.load(Relaxed) {
            // By now hyper has read the body, or closes the connection.
            self.body.store(false, Relaxed);
            self.partial_head.store(false, Relaxed);
        }
        let requests = self.requests.load(Relaxed);
        // Once a head has begun, the wait for it lasts until the head is complete.
        let head = Phase::Head(requests);
        let begun = requests == 0 || previous == head || self.partial_head.load(Relaxed);
        if begun { head } else { Phase::Idle(requests) }
    }
}

/// Adds one without the bus lock of an atomic addition: only one task adds.
fn add(count: &AtomicU32, one: bool) {
    count.store(count.load(Relaxed).wrapping_add(one.into()), Relaxed);
}

/// Keeps the connection busy until it is dropped.
#[derive(Debug)]
pub(super) struct Busy(Arc<ConnState>);

impl Busy {
    pub(super) fn new(state: &Arc<ConnState>) -> Self {
        state.busy.store(true, Relaxed);
        Self(Arc::clone(state))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.store(false, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_is_head_from_the_first_byte_and_idle_after_the_request() {
        let state = Arc::new(ConnState::default());
        let first = state.phase(Phase::Busy);
        assert_eq!(first, Phase::Head(0), "nothing was received yet");
        state.read(true, false);
        assert_eq!(state.phase(first), Phase::Head(0));
        state.read(false, false);
        state.request(false);
        assert_eq!(state.phase(first), Phase::Idle(1));
        state.read(true, false);
        assert_eq!(state.phase(Phase::Idle(1)), Phase::Head(1));
        // After an empty line, the head timeout applies, not the idle timeout.
        state.read(false, false);
        assert_eq!(state.phase(Phase::Head(1)), Phase::Head(1));
        state.request(false);
        assert_eq!(state.phase(Phase::Head(1)), Phase::Idle(2));
    }

    #[test]
    fn phase_is_busy_while_a_response_is_produced() {
        let state = Arc::new(ConnState::default());
        state.read(true, false);
        state.request(false);
        let busy = Busy::new(&state);
        assert_eq!(state.phase(Phase::Head(0)), Phase::Busy);
        drop(busy);
        assert_eq!(state.phase(Phase::Busy), Phase::Head(1), "the next head has begun");
    }

    #[test]
    fn phase_is_body_while_the_handler_waits_for_the_request_body() {
        let state = Arc::new(ConnState::default());
        state.request(true);
        let busy = Busy::new(&state);
        assert_eq!(state.phase(Phase::Head(0)), Phase::Busy);
        state.wants_body(true);
        let body = state.phase(Phase::Busy);
        assert_eq!(body, Phase::Body(1));
        state.wants_body(false);
        assert_eq!(state.phase(body), Phase::Busy);
        drop(busy);
        assert_eq!(state.phase(Phase::Busy), Phase::Idle(1));
        state.request(true);
        let _busy = Busy::new(&state);
        state.wants_body(true);
        assert_ne!(state.phase(body), body, "another request is another wait");
    }

    #[test]
    fn phase_does_not_take_the_bytes_of_a_body_for_a_head() {
        let state = ConnState::default();
        state.request(true);
        state.read(true, false);
        assert_eq!(state.phase(Phase::Head(0)), Phase::Idle(1));
        state.read(true, false);
        assert_eq!(state.phase(Phase::Idle(1)), Phase::Head(1));
    }

    #[test]
    fn phase_is_a_new_stall_after_each_write() {
        let state = Arc::new(ConnState::default());
        state.request(false);
        let _busy = Busy::new(&state);
        state.wrote(false);
        let stalled = state.phase(Phase::Busy);
        assert_eq!(stalled, Phase::Stalled(0));
        state.wrote(false);
        assert_eq!(state.phase(stalled), stalled);
        state.wrote(true);
        assert_eq!(state.phase(stalled), Phase::Busy);
        state.wrote(false);
        assert_eq!(state.phase(Phase::Busy), Phase::Stalled(1));
    }
}
