//! How many connections the limit of file fd_limit allows, and how many requests those.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::DEFAULT_REQUESTS;

/// Without a setting there are no more: each may cost a head of 32 KiB, and a crowd is seen off
/// well before its own limit anyway.
const MOST: usize = 16_384;
/// What URL checks hold: two runs of ten connections.
const CHECKS: usize = 20;
/// How many connections there may be to the address for who watches.
pub(super) const ADMIN_CONNECTIONS: usize = 8;
/// Standard streams, the runtime, listeners, signals, files that are read, names that are looked up,
/// and one connection that waits for a seat.
const OTHERS: usize = 28;
/// Of a limit that is too low for all of that, callers get this part: who works at once is rare.
const SHARE: usize = 4;

/// Raises the limit of fd_limit as far as it may be, and says how many of them are for callers:
/// as many as are `wanted` (0: the usual number) and possible beside so many requests to the CMS.
pub(super) fn connections(wanted: usize, cms_requests: usize) -> usize {
    let limit = raised();
    let possible = possible(limit, cms_requests);
    if wanted > possible {
        tracing::warn!(wanted, possible, limit, "more connections than file fd_limit allow");
    }
    if wanted == 0 { possible.min(MOST) } else { wanted.min(possible) }
}

/// How many requests may wait for something or send long answers at a time: as many as are `wanted`,
/// and at most three quarters of the connections. These connections are never evicted, and requests
/// that are answered from memory, health checks and webhooks need some as well.
pub(super) fn requests(wanted: usize, connections: usize) -> usize {
    let possible = (connections - connections.div_ceil(4)).max(1);
    // Without a warning for the default, which the example of the settings writes out.
    if wanted > possible && wanted != DEFAULT_REQUESTS {
        tracing::warn!(
            wanted,
            possible,
            connections,
            "more requests than connections leave room for"
        );
    }
    wanted.min(possible)
}

fn possible(limit: usize, cms_requests: usize) -> usize {
    let left = limit.saturating_sub(cms_requests + CHECKS + ADMIN_CONNECTIONS + OTHERS);
    left.max(limit / SHARE).max(1)
}

/// The limit of fd_limit, which is raised before.
fn raised() -> usize {
    let limits = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limits.maximum, maximum: limits.maximum };
    // Where it is refused the lower one holds.
    let _ = setrlimit(Resource::Nofile, raised);
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_get_what_others_leave_and_something_always() {
        let cases = [(1024, 16, 952), (1024, 1000, 256), (64, 16, 16), (3, 16, 1)];
        for (limit, cms_requests, expected) in cases {
            assert_eq!(possible(limit, cms_requests), expected, "{limit} {cms_requests}");
        }
    }

    #[test]
    fn requests_leave_connections_to_others() {
        for (connections, expected) in
            [(16_384, 2_048), (952, 714), (16, 12), (3, 2), (2, 1), (1, 1)]
        {
            assert_eq!(requests(2_048, connections), expected, "{connections}");
        }
        assert_eq!(requests(1, 952), 1);
    }
}
