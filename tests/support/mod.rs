//! Peers and helpers that the programs of tests share.
//!
//! The service is the real binary on a free port, peers are scripted on real sockets, and nothing of our
//! own is replaced. Every response and every log line is searched for the token of the CMS and for a
//! draft.

pub(crate) mod api;
pub(crate) mod canary;
pub(crate) mod cms;
pub(crate) mod content;
pub(crate) mod front_end;
pub(crate) mod front_of_cms;
pub(crate) mod gzip;
pub(crate) mod hook;
pub(crate) mod http;
pub(crate) mod metrics;
pub(crate) mod pages;
pub(crate) mod redis;
pub(crate) mod script;
pub(crate) mod service;
pub(crate) mod settings;
pub(crate) mod tls;
pub(crate) mod url_checks;
pub(crate) mod wait;
pub(crate) mod yaml;
