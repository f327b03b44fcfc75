//! A proxy between an instance and Redis, which repeats, cuts and delays bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use frontend_map_fleet::redis as fleet_redis;

use super::fixture::{SOON, client_with, run, settings, until};
use crate::support::redis::Redis;

/// What happens to the next bytes of Redis's answers; then they pass as they are.
const PASS: u8 = 0;
const REPEAT: u8 = 1;
const CUT: u8 = 2;
const DELAY: u8 = 3;

/// Longer than a heartbeat waits.
const DELAYED: Duration = Duration::from_millis(1_500);

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

    fn fault(&self, fault: u8) {
        self.fault.store(fault, Ordering::SeqCst);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, fault: Option<&AtomicU8>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..read];
        let sent = match fault.map_or(PASS, |fault| fault.swap(PASS, Ordering::SeqCst)) {
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
        let proxy = Proxy::before(&redis);
        let mut settings = settings(&redis);
        settings.url.port = proxy.address.port();
        let client = client_with(&settings);
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
