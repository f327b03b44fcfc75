//! The limit of file descriptors: how many connections and requests it allows.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::DEFAULT_REQUESTS;
use frontend_map_service::run::ADMIN_CONNECTIONS;

/// The most connections without a setting: each may need a buffer of 32 KiB for a request head, and
/// idle connections are evicted long before their timeouts anyway.
const MAX_DEFAULT_CONNECTIONS: usize = 16_384;
/// The descriptors of URL checks: two runs with ten connections each.
const URL_CHECKS: usize = 20;
/// The descriptors of standard streams, the runtime, listeners, signals, open files, name look-ups,
/// and of one connection that waits for a slot.
const OTHERS: usize = 28;
/// The lowest limit with which the service can respond: 13 descriptors are open without a client,
/// and a client, a request to the CMS, a name look-up and a file need some more.
const MIN_LIMIT: usize = 20;
/// If the limit is too low for all of these, the connections get one part in so many: it is rare
/// that all others are in use at once.
const MIN_SHARE: usize = 4;

/// Refuses a limit of descriptors with which the service would start and respond to nothing.
///
/// # Errors
/// What to do.
pub fn check() -> Result<(), String> {
    match raised_limit() {
        limit if limit < MIN_LIMIT => Err(format!(
            "the limit of file descriptors is {limit}, and the service needs at least {MIN_LIMIT}: raise it (`ulimit -n`, `LimitNOFILE` of systemd, `--ulimit nofile` of a container)"
        )),
        _ => Ok(()),
    }
}

/// Raises the limit of descriptors as far as possible, and returns the connection limit: `wanted`
/// (0: the default), or what is possible beside this number of requests to the CMS.
pub(super) fn max_connections(wanted: usize, cms_requests: usize) -> usize {
    let limit = raised_limit();
    let possible = possible_connections(limit, cms_requests);
    if wanted > possible {
        tracing::warn!(
            wanted,
            possible,
            limit,
            "server.connections is more than the limit of file descriptors allows"
        );
    }
    if wanted == 0 { possible.min(MAX_DEFAULT_CONNECTIONS) } else { wanted.min(possible) }
}

/// The in-flight limit: `wanted`, but at most three quarters of the connections. A connection with
/// a request in flight is never evicted, and routes without a limit need connections as well.
pub(super) fn max_requests(wanted: usize, connections: usize) -> usize {
    let possible = (connections - connections.div_ceil(4)).max(1);
    // The default causes no warning, even if a settings file writes it out as the example does.
    if wanted > possible && wanted != DEFAULT_REQUESTS {
        tracing::warn!(
            wanted,
            possible,
            connections,
            "limits.requests is more than three quarters of the connections"
        );
    }
    wanted.min(possible)
}

fn possible_connections(limit: usize, cms_requests: usize) -> usize {
    let left = limit.saturating_sub(cms_requests + URL_CHECKS + ADMIN_CONNECTIONS + OTHERS);
    left.max(limit / MIN_SHARE).max(1)
}

/// Raises the soft limit of descriptors to the hard limit, and returns it.
fn raised_limit() -> usize {
    let limits = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limits.maximum, maximum: limits.maximum };
    // If the system refuses it, the soft limit stays.
    let _ = setrlimit(Resource::Nofile, raised);
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possible_connections_leave_descriptors_for_others() {
        let cases = [(1024, 16, 952), (1024, 1000, 256), (64, 16, 16), (3, 16, 1)];
        for (limit, cms_requests, expected) in cases {
            assert_eq!(
                possible_connections(limit, cms_requests),
                expected,
                "{limit} {cms_requests}"
            );
        }
    }

    #[test]
    fn max_requests_leave_a_quarter_of_the_connections_free() {
        for (connections, expected) in
            [(16_384, 2_048), (952, 714), (16, 12), (3, 2), (2, 1), (1, 1)]
        {
            assert_eq!(max_requests(2_048, connections), expected, "{connections}");
        }
        assert_eq!(max_requests(1, 952), 1);
    }
}
