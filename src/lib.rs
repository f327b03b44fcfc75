//! Maps the content of a headless CMS to public frontend URLs, in both directions.

pub mod content;
pub mod demo;
pub mod outgoing;
pub mod rules;
pub mod validator;
