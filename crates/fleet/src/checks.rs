//! URL checks of all instances (D55): the limit of those in flight, and the runs, of which there is one
//! at a time for each content type of a site.

pub mod limit;
pub mod runs;
