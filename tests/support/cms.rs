//! A CMS of which every byte is scripted: raw sockets, one thread a connection.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::script::{Act, Script};
use super::tls;

/// What the targets of these probes have, one or the other.
const PROBES: [&str; 2] = ["sort=publishedAt:desc", "sort=updatedAt:desc"];
/// What a second request of a probe has, for rows with a date alone.
const DATED: &str = "[$notNull]";

/// The running peer. Its threads end with their connections, the listener with the test binary.
pub(crate) struct Cms {
    addr: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Cms {
    /// Answers each request as `answers` says for its target.
    pub(crate) fn start(answers: impl Fn(&str) -> Script + Send + Sync + 'static) -> Self {
        Self::accept(move |stream, seen| serve(stream, &answers, seen))
    }

    /// Plays `script` as soon as a client connects, whatever it sends.
    pub(crate) fn greeting(script: Script) -> Self {
        Self::accept(move |mut stream, _| {
            play(&mut stream, &script);
        })
    }

    /// Speaks TLS: answers one request a connection with a trusted certificate, until `sick`.
    pub(crate) fn secure(
        answers: impl Fn(&str) -> Script + Send + Sync + 'static,
        sick: Arc<AtomicBool>,
    ) -> Self {
        Self::accept(move |mut stream, _| {
            if sick.load(Ordering::Relaxed) {
                return tls::greet(&mut stream, tls::SELF_SIGNED);
            }
            tls::answer_one(stream, tls::TRUSTED, |target| answers(target).bytes());
        })
    }

    fn accept(each: impl Fn(TcpStream, &Mutex<Vec<String>>) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("bound");
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        let each = Arc::new(each);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (each, seen) = (Arc::clone(&each), Arc::clone(&seen));
                std::thread::spawn(move || each(stream, &seen));
            }
        });
        Self { addr, heads }
    }

    /// Where it listens.
    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The heads of all requests so far, as sent.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("no panic").clone()
    }

    /// The targets of all requests so far, without the probes for changes that no event has announced:
    /// when these are sent depends on the clock.
    pub(crate) fn targets(&self) -> Vec<String> {
        self.all_targets().into_iter().filter(|target| !is_probe(target)).collect()
    }

    /// The number of these probes so far.
    pub(crate) fn probes(&self) -> usize {
        let is_first = |target: &&String| is_probe(target) && !target.contains(DATED);
        self.all_targets().iter().filter(is_first).count()
    }

    fn all_targets(&self) -> Vec<String> {
        let target = |head: &String| head.split(' ').nth(1).unwrap_or_default().to_owned();
        self.heads().iter().map(target).collect()
    }
}

fn is_probe(target: &str) -> bool {
    PROBES.iter().any(|probe| target.contains(probe))
}

/// Answers requests until a script or the client ends the connection.
fn serve(mut stream: TcpStream, answers: impl Fn(&str) -> Script, seen: &Mutex<Vec<String>>) {
    let _ = stream.set_nodelay(true);
    while let Some(head) = read_head(&mut stream) {
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        seen.lock().expect("no panic").push(head);
        if !play(&mut stream, &answers(&target)) {
            return;
        }
        // The last byte of the head, left until here: see `Act::Reset`.
        if stream.read_exact(&mut [0]).is_err() {
            return;
        }
    }
}

/// Reads a request's head up to its last byte, which stays in the socket.
fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let peeked = stream.peek(&mut bytes).ok().filter(|peeked| *peeked > 0)?;
        let end = bytes[..peeked].windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            bytes.truncate(end + 3);
            stream.read_exact(&mut bytes).ok()?;
            return Some(String::from_utf8_lossy(&bytes).trim_end().to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Plays a script; says whether the connection goes on.
fn play(stream: &mut TcpStream, script: &Script) -> bool {
    for act in &script.acts {
        match act {
            Act::Send(bytes) => {
                if stream.write_all(bytes).is_err() {
                    return false;
                }
            }
            Act::Drip(bytes, pause) => {
                for byte in bytes {
                    std::thread::sleep(*pause);
                    if stream.write_all(&[*byte]).is_err() {
                        return false;
                    }
                }
            }
            Act::Pause(pause) => std::thread::sleep(*pause),
            Act::Silence => return wait_for_the_end(stream),
            Act::Tls => {
                tls::greet(stream, tls::SELF_SIGNED);
                return false;
            }
            // What is unread when a socket is closed makes the kernel send a reset; give what was
            // sent before it time to arrive.
            Act::Reset => {
                std::thread::sleep(Duration::from_millis(20));
                return false;
            }
            Act::Close => {
                let _ = stream.read_exact(&mut [0]);
                return false;
            }
        }
    }
    true
}

/// Says nothing until the client gives up.
fn wait_for_the_end(stream: &mut TcpStream) -> bool {
    let mut bytes = [0; 1024];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return false,
            Err(error) if error.kind() != ErrorKind::Interrupted => return false,
            _ => {}
        }
    }
}
