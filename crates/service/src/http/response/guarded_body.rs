//! A body that owns a guard: the guard is dropped with the body, once it has been sent or aborted.

use axum::body::Body;
use http_body_util::BodyExt;

/// This body, which drops `guard` with itself.
pub fn guard_body<T: Send + 'static>(body: Body, guard: T) -> Body {
    Body::new(body.map_err(move |error| {
        // The closure owns what it names.
        let _ = &guard;
        error
    }))
}
