//! Webhooks of a fleet: one instance sends, and the next one goes on where it was.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::instances::{changed, instance_of, paths, serves};
use crate::support::content::Content;
use crate::support::front_of_cms::articles;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::wait::{until, until_so};

pub(super) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A request, and whether it was accepted.
struct Attempt {
    id: String,
    body: String,
    is_accepted: bool,
}

/// Whether a request is accepted, by its number from 0.
type Accepts = dyn Fn(usize) -> bool + Send + Sync;

/// A receiver of webhooks. Its thread ends with the test.
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    attempts: Arc<Mutex<Vec<Attempt>>>,
}

impl Receiver {
    pub(super) fn start(accepts: impl Fn(usize) -> bool + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let attempts = Arc::<Mutex<Vec<Attempt>>>::default();
        let own = Arc::clone(&attempts);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A request that breaks off is repeated.
                let _ = take(stream, &own, &accepts);
            }
        });
        Self { address, attempts }
    }

    /// The paths of all accepted changes in the order of the requests, `reset` among them. A request that
    /// is sent again after a kill has the same id, and counts once.
    fn paths(&self) -> Vec<String> {
        let (mut paths, mut ids) = (Vec::new(), HashSet::new());
        let attempts = self.attempts.lock().expect("no panic");
        for Attempt { id, body, .. } in attempts.iter().filter(|one| one.is_accepted) {
            if !ids.insert(id) {
                continue;
            }
            let body: Value = serde_json::from_str(body).expect("JSON");
            if body["data"]["reset"] == true {
                paths.push("reset".to_owned());
            }
            let changes = body["data"]["changes"].as_array().expect("a list");
            paths.extend(changes.iter().map(|one| one["path"].as_str().expect("text").to_owned()));
        }
        paths
    }

    /// How many requests there were.
    pub(super) fn count(&self) -> usize {
        self.attempts.lock().expect("no panic").len()
    }

    #[track_caller]
    pub(super) fn gets(&self, expected: &[impl AsRef<str> + std::fmt::Debug]) {
        let expected: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
        until_so(&format!("the requests {expected:?}"), || {
            let paths = self.paths();
            let is_prefix = paths.iter().zip(&expected).all(|(path, expected)| path == expected);
            assert!(is_prefix && paths.len() <= expected.len(), "{paths:?}, not {expected:?}");
            paths == expected
        });
        let attempts = self.attempts.lock().expect("no panic");
        for one in attempts.iter() {
            let same = attempts.iter().filter(|other| other.id == one.id);
            same.for_each(|other| assert_eq!(other.body, one.body, "one body for each id"));
        }
    }
}

fn take(
    mut stream: TcpStream,
    attempts: &Mutex<Vec<Attempt>>,
    accepts: &Accepts,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("text");
    let value =
        |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    let length = value("content-length: ").expect("a length");
    let mut body = vec![0; length.parse().expect("a number")];
    stream.read_exact(&mut body)?;
    let (id, body) = (value("webhook-id: ").expect("an id"), String::from_utf8(body));
    let is_accepted = {
        let mut attempts = attempts.lock().expect("no panic");
        let is_accepted = accepts(attempts.len());
        attempts.push(Attempt { id, body: body.expect("text"), is_accepted });
        is_accepted
    };
    let status = if is_accepted { "204 None" } else { "500 Failed\r\nContent-Length: 0" };
    stream.write_all(format!("HTTP/1.1 {status}\r\nConnection: close\r\n\r\n").as_bytes())
}

struct World {
    content: Content,
    cms: crate::support::cms::Cms,
    redis: Redis,
    receiver: Receiver,
}

impl World {
    fn new() -> Self {
        Self::accepting(|_| true)
    }

    /// A world with a receiver that accepts some of the requests.
    fn accepting(accepts: impl Fn(usize) -> bool + Send + Sync + 'static) -> Self {
        let content = Content::new(&[("en", "a", "a0")]);
        let (cms, redis, receiver) = (content.start(), Redis::start(), Receiver::start(accepts));
        Self { content, cms, redis, receiver }
    }

    fn instance(&self) -> Service {
        let url = format!("http://{}/hook", self.receiver.address);
        let notify = format!("[[notify]]\nurl = \"{url}\"\nsecret_file = \"secret\"");
        let settings = articles().strapi(&self.cms).more(&notify);
        let service = instance_of(&settings, &self.redis).file("secret", SECRET).start();
        until_so("it has walked", || {
            crate::support::http::get(service.addr(), "/api/pages?site=main").status == 200
        });
        service
    }

    fn edit(&self, service: &Service, slug: &str) {
        self.content.publish("en", "a", slug);
        changed(service, "a");
        serves(service, &[slug]);
    }
}

#[test]
fn target_gets_each_change_once_and_in_order_over_a_takeover() {
    let world = World::new();
    let mut all = vec![world.instance(), world.instance(), world.instance()];
    // A target for which Redis has no position may have missed changes.
    world.receiver.gets(&["reset"]);
    world.edit(&all[0], "a1");
    world.receiver.gets(&["reset", "/en/articles/a1"]);
    for slug in ["a2", "a3"] {
        // Whichever instance sends, it is one of these at some time.
        drop(all.remove(0));
        world.edit(&all[0], slug);
        all.push(world.instance());
    }
    drop(all.remove(0));
    world.edit(&all[1], "a4");
    let expected = ["a1", "a2", "a3", "a4"].map(|slug| format!("/en/articles/{slug}"));
    let expected: Vec<&str> =
        std::iter::once("reset").chain(expected.iter().map(String::as_str)).collect();
    world.receiver.gets(&expected);
}

#[test]
fn target_gets_nothing_while_redis_is_unavailable_and_all_of_it_afterwards() {
    let world = World::new();
    let all = [world.instance(), world.instance()];
    world.receiver.gets(&["reset"]);
    // If Redis pauses before the position after the reset is written, another sender repeats the reset
    // under a new id, because there are later changes. A request with changes keeps its id.
    world.edit(&all[0], "a1");
    world.receiver.gets(&["reset", "/en/articles/a1"]);
    world.redis.pause();
    until_so("they are alone", || {
        all.iter().all(|service| crate::instances::role(service) == "alone")
    });
    for slug in ["a2", "a3"] {
        for service in &all {
            world.edit(service, slug);
        }
    }
    assert_eq!(world.receiver.paths(), ["reset", "/en/articles/a1"]);
    world.redis.resume();
    // The edits of this time are one change for the fleet.
    world.receiver.gets(&["reset", "/en/articles/a1", "/en/articles/a3"]);
    world.edit(&all[0], "a4");
    world.receiver.gets(&["reset", "/en/articles/a1", "/en/articles/a3", "/en/articles/a4"]);
}

#[test]
fn target_gets_a_reset_after_redis_was_flushed() {
    let world = World::new();
    let all = [world.instance(), world.instance()];
    world.receiver.gets(&["reset"]);
    world.edit(&all[0], "a1");
    world.receiver.gets(&["reset", "/en/articles/a1"]);
    world.redis.flush();
    world.receiver.gets(&["reset", "/en/articles/a1", "reset"]);
    world.edit(&all[1], "a2");
    world.receiver.gets(&["reset", "/en/articles/a1", "reset", "/en/articles/a2"]);
}

#[test]
fn target_that_fails_half_of_the_time_gets_each_change_once_and_in_order() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let random = Mutex::new(fastrand::Rng::with_seed(seed));
    let world = World::accepting(move |_| random.lock().expect("no panic").bool());
    let mut all = vec![world.instance(), world.instance(), world.instance()];
    let mut expected = vec!["reset".to_owned()];
    world.receiver.gets(&expected);
    for n in 1..=12 {
        let slug = format!("a{n}");
        world.edit(&all[n % 3], &slug);
        expected.push(format!("/en/articles/{slug}"));
        if n % 4 == 0 {
            drop(all.remove(0));
            all.push(world.instance());
        }
    }
    world.receiver.gets(&expected);
}

#[test]
fn request_of_a_holder_that_is_killed_is_repeated_by_the_next_one_before_later_changes() {
    let is_up = Arc::new(AtomicBool::new(true));
    let own = Arc::clone(&is_up);
    let world = World::accepting(move |_| own.load(Ordering::SeqCst));
    let mut all = vec![world.instance(), world.instance(), world.instance()];
    world.receiver.gets(&["reset"]);
    is_up.store(false, Ordering::SeqCst);
    world.edit(&all[0], "a1");
    let before = world.receiver.count();
    until_so("the request fails", || world.receiver.count() > before);
    let holder = until("the holder", || all.iter().position(|one| failures(one) > 0));
    world.edit(&all[holder], "a2");
    let other = usize::from(holder == 0);
    // Otherwise it may not be published, and one change leads from the first to the third path.
    until_so("another instance has it", || paths(&all[other]) == ["a2"]);
    drop(all.remove(holder));
    world.edit(&all[0], "a3");
    let before = world.receiver.count();
    until_so("another one sends", || world.receiver.count() > before);
    assert_eq!(all.iter().filter(|one| failures(one) > 0).count(), 1, "one instance sends");
    is_up.store(true, Ordering::SeqCst);
    world.receiver.gets(&[
        "reset".to_owned(),
        "/en/articles/a1".to_owned(),
        "/en/articles/a2".to_owned(),
        "/en/articles/a3".to_owned(),
    ]);
}

/// How many of its requests were not accepted.
fn failures(service: &Service) -> u64 {
    let text = crate::support::http::get(service.admin(), "/metrics").text().to_owned();
    let line = text.lines().find(|line| {
        line.starts_with("frontend_map_notify_requests_total") && line.contains("failed")
    });
    let value = line.and_then(|line| line.rsplit(' ').next()).expect("the counter");
    value.parse().expect("a number")
}
