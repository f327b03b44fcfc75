//! What the instances of a fleet share, in the words of the domain.

pub mod changes;
pub mod positions;
mod role;
pub mod status;

pub use role::Role;
