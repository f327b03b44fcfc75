//! A proxy between an instance and Redis, which repeats, cuts and delays bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use frontend_map_fleet::redis as fleet_redis;

use super::fixture::{SOON, after_heartbeats, client, client_with, run, settings, until};
use crate::support::redis::Redis;

/// What happens to the next bytes of Redis's answers; then they pass as they are.
const PASS: u8 = 0;
const REPEAT: u8 = 1;
const CUT: u8 = 2;
const DELAY: u8 = 3;
/// All answers of a connection but the first are late, until another fault is set.
const SLOW: u8 = 4;

/// Longer than a heartbeat waits.
const DELAYED: Duration = Duration::from_millis(1_500);
/// Longer than a heartbeat waits while Redis is available, but not longer than the first one waits
/// while it is not.
const SLOWED: Duration = Duration::from_millis(1_800);

struct Proxy {
    address: SocketAddr,
    fault: Arc<AtomicU8>,
}

impl Proxy {
    fn before(redis: &Redis) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let fault = Arc::new(AtomicU8::new(PASS));
        let (faults, port) = (Arc::clone(&fault), redis.port());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", port)))
                else {
                    return;
                };
                let (to_server, to_client) = (server.try_clone(), client.try_clone());
                let faults = Arc::clone(&faults);
                std::thread::spawn(move || pass(client, to_server.unwrap(), None));
                std::thread::spawn(move || pass(server, to_client.unwrap(), Some(&faults)));
            }
        });
        Self { address, fault }
    }

    /// A proxy, and a client behind it.
    fn with_client(redis: &Redis) -> (Self, fleet_redis::Client) {
        let (proxy, mut settings) = (Self::before(redis), settings(redis));
        settings.url.port = proxy.address.port();
        let client = client_with(&settings);
        (proxy, client)
    }

    fn fault(&self, fault: u8) {
        self.fault.store(fault, Ordering::SeqCst);
    }
}

/// The fault of the next bytes. Those after them pass, unless it is [`SLOW`].
fn take(fault: &AtomicU8) -> u8 {
    let next = |fault| (fault != SLOW).then_some(PASS);
    fault.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next).unwrap_or(SLOW)
}

fn pass(mut from: TcpStream, mut to: TcpStream, fault: Option<&AtomicU8>) {
    let mut buffer = [0; 4096];
    let mut is_first = true;
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..read];
        let sent = match fault.map_or(PASS, take) {
            SLOW if !is_first => {
                std::thread::sleep(SLOWED);
                to.write_all(bytes)
            }
            REPEAT => to.write_all(&[bytes, bytes].concat()),
            CUT => {
                let _ = to.write_all(&bytes[..read / 2]);
                break;
            }
            DELAY => {
                std::thread::sleep(DELAYED);
                to.write_all(bytes)
            }
            _ => to.write_all(bytes),
        };
        if sent.is_err() {
            break;
        }
        is_first = false;
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// Sends numbers through a script, several at once.
async fn echo(client: &fleet_redis::Client, at: u64) -> Vec<Result<u64, fleet_redis::Error>> {
    let script = "return tonumber(ARGV[1])";
    let one = async |number: u64| {
        let answer = client.script(script, &[], vec![number.into()], SOON).await;
        answer.inspect(|found: &u64| assert_eq!(*found, number, "the answer of another command"))
    };
    let four = (one(4 * at), one(4 * at + 1), one(4 * at + 2), one(4 * at + 3));
    let (a, b, c, d) = tokio::join!(four.0, four.1, four.2, four.3);
    vec![a, b, c, d]
}

#[test]
fn no_fault_of_a_proxy_gives_a_command_the_answer_of_another_one() {
    run(async {
        let redis = Redis::start();
        let (proxy, client) = Proxy::with_client(&redis);
        for fault in [REPEAT, CUT, DELAY, REPEAT, CUT, REPEAT] {
            until("it is available", async || client.is_available()).await;
            let mut failed = 0;
            proxy.fault(fault);
            for at in 0..50 {
                failed += echo(&client, at).await.iter().filter(|answer| answer.is_err()).count();
            }
            let what = format!("answers after fault {fault}, of which {failed} of 200 failed");
            until(&what, async || echo(&client, 0).await.iter().all(Result::is_ok)).await;
        }
    });
}

#[test]
fn instance_whose_heartbeats_are_answered_too_late_stays_without_redis_and_loses_its_lease() {
    run(async {
        let redis = Redis::start();
        let (proxy, slow) = Proxy::with_client(&redis);
        let lease = slow.lease("lists");
        until("the lease is held", async || lease.epoch().is_some()).await;
        let other = client(&redis).await;
        let wanted = other.lease("lists");
        let mut state = slow.watch();
        state.mark_unchanged();
        proxy.fault(SLOW);
        until("another instance gets the lease", async || wanted.epoch().is_some()).await;
        assert!(!slow.is_available());
        // It does not become available, not even for a moment.
        let changes = async { while state.changed().await.is_ok_and(|()| !slow.is_available()) {} };
        assert!(tokio::time::timeout(Duration::from_secs(6), changes).await.is_err());
        proxy.fault(PASS);
        until("it is available", async || slow.is_available()).await;
        after_heartbeats(&slow, 2).await;
        assert_eq!(lease.epoch(), None, "the other one keeps it");
    });
}
