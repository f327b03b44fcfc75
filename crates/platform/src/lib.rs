//! What any package may use and what knows nothing of URLs and documents: the HTTP client with its SSRF
//! protection, counters and their text form, spans, the clock, and "did you mean …?".

pub mod clock;
mod hourly_warnings;
pub mod http_client;
pub mod metrics;
pub mod spelling;
pub mod traces;

pub use hourly_warnings::HourlyWarnings;
