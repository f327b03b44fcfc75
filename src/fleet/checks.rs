//! URL checks of all instances: how many are in flight (D55).

pub mod permits;
