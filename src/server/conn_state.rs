//! How far the client of one connection is.
//!
//! The socket, the service and the timer of a connection each know a part of it. All three live
//! in one task: nothing here waits for another thread, and the atomics are for the compiler.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// What is known of a connection.
#[derive(Debug, Default)]
pub(super) struct ConnState {
    /// How many requests have begun to be answered.
    requests: AtomicU32,
    /// Whether the answer to one is being made.
    busy: AtomicBool,
    /// Whether that waits for the rest of the request's body.
    wants_body: AtomicBool,
    /// Whether something has come behind the last whole head.
    inside: AtomicBool,
    /// Whether that may as well be the body of the last request.
    body: AtomicBool,
    /// Whether a head had two framings.
    doubled: AtomicBool,
    /// How often something was written.
    writes: AtomicU32,
    /// Whether the socket takes no more.
    stalled: AtomicBool,
    /// Whether somebody wants to know if the client is still there.
    doubted: AtomicBool,
}

/// What a connection waits for. The numbers tell one time from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The rest of a request's head, or all of the first one's.
    Head(u32),
    /// The next request.
    Idle(u32),
    /// Us.
    Busy,
    /// The rest of a request's body.
    Body(u32),
    /// A client that reads.
    Stalled(u32),
}

impl ConnState {
    /// Bytes have come; `inside`: the last of them do not end a head.
    pub(super) fn read(&self, inside: bool, doubled: bool) {
        self.inside.store(inside, Relaxed);
        if doubled {
            self.doubled.store(true, Relaxed);
        }
    }

    /// Something was written, or could not be.
    pub(super) fn wrote(&self, taken: bool) {
        self.stalled.store(!taken, Relaxed);
        increment(&self.writes, taken);
    }

    /// Whether the client has not taken all that was written.
    pub(super) fn is_stalled(&self) -> bool {
        self.stalled.load(Relaxed)
    }

    /// A request has come.
    pub(super) fn request(&self, with_body: bool) {
        increment(&self.requests, true);
        if with_body {
            self.body.store(true, Relaxed);
        }
    }

    /// The answer cannot be made before more of the request's body has come, or no longer so.
    pub(super) fn wants_body(&self, wants: bool) {
        self.wants_body.store(wants, Relaxed);
    }

    /// Has the socket looked at when it is used next.
    pub(super) fn doubt(&self) {
        self.doubted.store(true, Relaxed);
    }

    /// Whether the socket should be looked at now.
    pub(super) fn is_doubted(&self) -> bool {
        // Hardly ever: a look is cheaper than a change.
        self.doubted.load(Relaxed) && self.doubted.swap(false, Relaxed)
    }

    /// Whether a head with two framings was read.
    pub(super) fn was_doubled(&self) -> bool {
        self.doubled.load(Relaxed)
    }

    /// What the connection waits for now, `before` being what it waited for the last time.
    pub(super) fn phase(&self, before: Phase) -> Phase {
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
            self.inside.store(false, Relaxed);
        }
        let requests = self.requests.load(Relaxed);
        // A head that has begun goes on until there is a request, whatever comes.
        let head = Phase::Head(requests);
        let begun = requests == 0 || before == head || self.inside.load(Relaxed);
        if begun { head } else { Phase::Idle(requests) }
    }
}

/// Without the bus lock of an atomic addition: nobody else adds.
fn increment(count: &AtomicU32, really: bool) {
    count.store(count.load(Relaxed).wrapping_add(really.into()), Relaxed);
}

/// The connection is busy for as long as this is there.
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
    fn from_the_first_byte_to_the_next_request() {
        let state = Arc::new(ConnState::default());
        let first = state.phase(Phase::Busy);
        assert_eq!(first, Phase::Head(0), "nothing has come yet");
        state.read(true, false);
        assert_eq!(state.phase(first), Phase::Head(0));
        state.read(false, false);
        state.request(false);
        assert_eq!(state.phase(first), Phase::Idle(1));
        state.read(true, false);
        assert_eq!(state.phase(Phase::Idle(1)), Phase::Head(1));
        // An empty line: it does not make the client a patient one.
        state.read(false, false);
        assert_eq!(state.phase(Phase::Head(1)), Phase::Head(1));
        state.request(false);
        assert_eq!(state.phase(Phase::Head(1)), Phase::Idle(2));
    }

    #[test]
    fn while_an_answer_is_made_nothing_is_expected() {
        let state = Arc::new(ConnState::default());
        state.read(true, false);
        state.request(false);
        let busy = Busy::new(&state);
        assert_eq!(state.phase(Phase::Head(0)), Phase::Busy);
        drop(busy);
        assert_eq!(state.phase(Phase::Busy), Phase::Head(1), "the next head has begun");
    }

    #[test]
    fn an_answer_may_wait_for_a_body() {
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
        assert_ne!(state.phase(body), body, "another request is another time");
    }

    #[test]
    fn a_body_is_no_head() {
        let state = ConnState::default();
        state.request(true);
        state.read(true, false);
        assert_eq!(state.phase(Phase::Head(0)), Phase::Idle(1));
        state.read(true, false);
        assert_eq!(state.phase(Phase::Idle(1)), Phase::Head(1));
    }

    #[test]
    fn each_write_is_a_new_chance() {
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
