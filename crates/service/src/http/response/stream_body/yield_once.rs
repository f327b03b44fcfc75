//! A pause between the chunks of a long body.

use std::pin::pin;
use std::task::{Context, Poll};

use tokio::task::yield_now;

/// Polls the task again after the other tasks of its thread and after new requests. A task that wakes
/// itself goes to the end of the queue alone, and the runtime looks for events of sockets only when
/// the queue is empty or after 61 tasks: new requests would wait for some milliseconds of long bodies.
pub(super) fn yield_once<T>(cx: &mut Context<'_>) -> Poll<T> {
    let yielded = pin!(yield_now()).poll(cx);
    debug_assert!(yielded.is_pending(), "it yields at its first poll");
    Poll::Pending
}
