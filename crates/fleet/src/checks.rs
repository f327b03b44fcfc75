//! URL checks of all instances (D55): the permits that limit the checks in flight, and the runs, of
//! which there is one at a time for each content type of a site.

pub mod permits;
pub mod runs;
