//! Requests that the service sends by itself: [`checks`] requests each public URL once, says which are
//! dead and which pages contradict the sitemap; [`webhooks`] sends the changes of sites to receivers
//! until they accept them.
//!
//! Both modules use clients of the platform package, which have no proxy, no redirects and no retries of their
//! own. URL checks are protected from SSRF: their resolver removes loopback, link-local, metadata and
//! other special addresses. Private networks are allowed.

pub mod checks;
pub mod webhooks;
