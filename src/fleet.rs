//! What the instances of a fleet share, in the words of the domain.

pub mod status;
