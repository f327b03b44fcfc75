//! What the instances of a fleet share, in the words of the domain.

mod role;
pub mod status;

pub use role::Role;
