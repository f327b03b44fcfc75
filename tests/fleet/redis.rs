//! Redis by itself, without sites: leases, availability, seals, chunks, events.

mod availability;
mod chunks;
mod clock;
mod events;
mod fixture;
mod leases;
mod proxy;
mod refusals;
mod scripts;
mod settings;
mod tls;
