//! URL checks of all instances: how many are in flight, and one run at a time for a content type of a
//! site (D55).

pub mod permits;
pub mod runs;
