//! How many requests may be under way: those that wait for others, or send long answers, must not
//! pile up, nor take the room of those that editors wait for.
//!
//! Operations that are answered from memory at once, 4.1 above all, need no room, and neither do
//! those by which others see how the service is. A webhook must not be lost, and waits for nothing
//! but its own body.

use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::http::Method;

use super::held::hold;
use crate::metrics::Route;
use crate::permits::{Permit, Permits};

/// The room that there is, for the life of the process: who took some before a reload has it still.
#[derive(Clone)]
pub(super) struct Rooms {
    requests: Arc<Permits>,
    /// What of it lists of URLs may take.
    lists: Arc<Permits>,
}

/// What a request takes, until its answer has been handed out.
pub(super) struct Room(#[expect(dead_code, reason = "held")] [Option<Permit>; 2]);

impl Rooms {
    pub(super) fn new(most: usize) -> Self {
        let rooms = Self { requests: Arc::new(Permits::new(0)), lists: Arc::new(Permits::new(0)) };
        rooms.resize(most);
        rooms
    }

    /// From now on there is so much.
    pub(super) fn resize(&self, most: usize) {
        self.requests.resize(most.max(1));
        // Who waits for a walk waits for minutes, and an editor waits for a single document.
        self.lists.resize((most - most / 4).max(1));
    }

    /// Takes room for a request; `None`: there is none left.
    pub(super) fn enter(&self, route: Route, method: &Method) -> Option<Room> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Some(Room([None, None]));
        }
        match route {
            Route::FrontendUrl => Some(Room([Some(self.requests.next_now()?), None])),
            Route::BuildSitemap | Route::Sitemaps => {
                let list = self.lists.next_now()?;
                Some(Room([Some(list), Some(self.requests.next_now()?)]))
            }
            Route::ContentType
            | Route::Resolve
            | Route::Hook
            | Route::Live
            | Route::Ready
            | Route::Other => Some(Room([None, None])),
        }
    }
}

impl Room {
    /// Keeps the room until the body has been taken.
    pub(super) fn until_taken(self, body: Body) -> Body {
        if body.is_end_stream() { body } else { hold(body, self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_take_three_quarters_and_what_needs_none_has_room() {
        let rooms = Rooms::new(8);
        let lists: Vec<Option<Room>> =
            (0..7).map(|_| rooms.enter(Route::BuildSitemap, &Method::GET)).collect();
        assert_eq!(lists.iter().flatten().count(), 6);
        assert!(rooms.enter(Route::Sitemaps, &Method::GET).is_none());
        let one: Vec<Option<Room>> =
            (0..3).map(|_| rooms.enter(Route::FrontendUrl, &Method::GET)).collect();
        assert_eq!(one.iter().flatten().count(), 2);
        for route in [Route::ContentType, Route::Resolve, Route::Live, Route::Ready, Route::Hook] {
            assert!(rooms.enter(route, &Method::GET).is_some(), "{route:?}");
        }
        assert!(rooms.enter(Route::FrontendUrl, &Method::OPTIONS).is_some());
        drop(lists);
        assert!(rooms.enter(Route::FrontendUrl, &Method::GET).is_some());
    }

    #[test]
    fn there_is_room_for_one_at_least() {
        let rooms = Rooms::new(1);
        drop(rooms.enter(Route::Sitemaps, &Method::GET).expect("room"));
        let _one = rooms.enter(Route::FrontendUrl, &Method::GET).expect("room");
        assert!(rooms.enter(Route::FrontendUrl, &Method::GET).is_none());
    }
}
