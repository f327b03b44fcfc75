mod receiver;
mod site;

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinHandle;

use super::*;

use frontend_map_catalog::changes::log::{Filter, Kind, Since};
use frontend_map_platform::http_client::system_look_up;
use receiver::{FAILED, OK, Receiver, Reply, Request};
use site::Site;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const TIMING: Timing = Timing {
    connect: Duration::from_secs(1),
    request: Duration::from_millis(500),
    first_pause: Duration::from_millis(2),
    max_pause: Duration::from_millis(10),
    give_up: Duration::from_hours(1),
};

fn target(url: &str, secret: &str) -> Arc<Target> {
    Arc::new(Target {
        name: "receiver".to_owned(),
        url: url.parse().unwrap(),
        kind: TargetKind::Changes(SigningKey::parse(secret).unwrap()),
        sites: vec!["main".to_owned()],
        kinds: Kind::ALL.to_vec(),
        unlisted: false,
    })
}

/// A site whose pages a test changes.
struct World {
    site: Site,
    notifier: Arc<Notifier>,
    running: JoinHandle<Result<(), BuildError>>,
}

impl World {
    /// With no pages, and a target at this URL.
    fn start(url: &str, timing: Timing, look_up: LookUp) -> Self {
        let site = Site::new();
        let notifier = Arc::new(Notifier::new(Arc::clone(&site.log), Arc::default()));
        notifier.set_targets(vec![target(url, SECRET)]);
        let run = Arc::clone(&notifier).run(Arc::default(), None, look_up, timing);
        let running = tokio::spawn(run);
        let world = Self { site, notifier, running };
        world.set(&[]);
        world
    }

    /// The site has a page for each of these slugs, which are the ids as well.
    fn set(&self, slugs: &[String]) {
        self.site.set(&slugs.iter().map(|slug| (slug.clone(), slug.clone())).collect(), 1);
    }

    fn state(&self) -> TargetState {
        self.notifier.states().remove(0)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.running.abort();
    }
}

fn slugs(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("p{n:05}")).collect()
}

/// Waits for a condition, for at most half a minute.
async fn until(what: &str, is: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if is() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("waited in vain: {what}");
}

/// The paths of a message that are added, in order.
fn added(request: &Request) -> Vec<String> {
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(
        (&body["type"], &body["data"]["site"]),
        (&"frontend-map.changes".into(), &"main".into())
    );
    assert_eq!(body["data"]["reset"], Value::Null);
    let changes = body["data"]["changes"].as_array().unwrap();
    assert!(!changes.is_empty() && changes.len() <= 100);
    let path = |change: &Value| {
        assert_eq!(change["type"], "added");
        change["path"].as_str().unwrap().to_owned()
    };
    changes.iter().map(path).collect()
}

/// The paths in the order of the log: that of the hashes of the documents.
fn in_order(world: &World, count: usize) -> Vec<String> {
    let log = &world.notifier.log;
    let filter = Filter { with_unlisted: false, kinds: Kind::ALL };
    let mut paths = Vec::new();
    let since = Some(Since::Oldest);
    log.read("main", since, count + 1, filter, |change| paths.push(change.path.to_owned()));
    assert_eq!(paths.len(), count);
    paths
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_taken_in_order_by_a_target_that_fails_in_each_way() {
    let receiver = Receiver::start(|n, _| match n % 6 {
        0 => FAILED,
        2 => Reply::HangUp,
        3 => Reply::Hang,
        4 => Reply::Status("410 Gone\r\nContent-Length: 0"),
        _ => OK,
    })
    .await;
    let url = format!("http://{}/hook?x=1", receiver.address);
    let world = World::start(&url, TIMING, system_look_up());
    until("the worker has begun", || !world.notifier.progress.lock().is_empty()).await;
    for count in [1, 250, 251] {
        world.set(&slugs(count));
        until("all are taken", || world.state().waiting == 0).await;
    }
    let requests = receiver.taken();
    let paths: Vec<String> = requests.iter().flat_map(added).collect();
    assert_eq!(paths, in_order(&world, 251));
    assert!(!world.state().is_failing);
    // A message that is sent again is the same one with another time.
    let seen = receiver.seen.lock().clone();
    let key = SigningKey::parse(SECRET).unwrap();
    for (request, _) in &seen {
        let Request { id, timestamp, signature, body } = request;
        assert_eq!(*signature, key.sign(id, *timestamp, body));
        assert!(!id.contains('.'));
        assert!(seen.iter().all(|(other, _)| (other.id == *id) == (other.body == *body)));
    }
    assert_eq!(requests.len(), 5);
    assert!(seen.len() > 7, "{} requests", seen.len());
    let counters = &world.notifier.counters;
    assert_eq!(counters.delivered.get() + counters.failed.get(), seen.len() as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirect_is_a_failure_and_is_not_followed() {
    let other = Receiver::start(|_, _| OK).await;
    let location = format!(
        "307 Elsewhere\r\nContent-Length: 0\r\nLocation: http://{}/hook?x=1",
        other.address
    );
    let location: &'static str = location.leak();
    let receiver =
        Receiver::start(move |n, _| if n < 3 { Reply::Status(location) } else { OK }).await;
    let world =
        World::start(&format!("http://{}/hook?x=1", receiver.address), TIMING, system_look_up());
    until("the worker has begun", || !world.notifier.progress.lock().is_empty()).await;
    world.set(&slugs(1));
    until("it is taken", || receiver.taken().len() == 1).await;
    assert_eq!((receiver.count(), other.count()), (4, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn name_that_leads_to_loopback_is_not_connected_to() {
    let receiver = Receiver::start(|_, _| OK).await;
    let look_up: LookUp = Arc::new(|_| Box::pin(async { Ok(vec!["127.0.0.1".parse().unwrap()]) }));
    let port = receiver.address.port();
    let world = World::start(
        &format!("http://hooks.example.com:{port}/hook?x=1"),
        TIMING,
        Arc::clone(&look_up),
    );
    until("the worker has begun", || !world.notifier.progress.lock().is_empty()).await;
    world.set(&slugs(1));
    until("it has failed some times", || world.notifier.counters.failed.get() > 3).await;
    assert_eq!((receiver.count(), world.state().is_failing), (0, true));
    assert_eq!(world.state().waiting, 1);
    drop(world);
    let world = World::start(&format!("http://localhost:{port}/hook?x=1"), TIMING, look_up);
    until("the worker has begun", || !world.notifier.progress.lock().is_empty()).await;
    world.set(&slugs(1));
    until("it is taken", || receiver.taken().len() == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reset_takes_the_place_of_changes_that_have_waited_too_long() {
    let is_up = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let own = Arc::clone(&is_up);
    let receiver = Receiver::start(move |_, _| if own.load(SeqCst) { OK } else { FAILED }).await;
    let timing = Timing { give_up: Duration::from_millis(20), ..TIMING };
    let world =
        World::start(&format!("http://{}/hook?x=1", receiver.address), timing, system_look_up());
    until("the worker has begun", || !world.notifier.progress.lock().is_empty()).await;
    world.set(&slugs(3));
    let is_reset = |request: &Request| {
        let body: Value = serde_json::from_str(&request.body).unwrap();
        body["data"]["reset"] == true && body["data"]["changes"] == serde_json::json!([])
    };
    let has_reset = || receiver.seen.lock().iter().any(|(request, _)| is_reset(request));
    until("a reset is sent", has_reset).await;
    // More changes while it fails: one reset takes the place of all.
    world.set(&slugs(5));
    is_up.store(true, SeqCst);
    until("it is taken", || world.state().waiting == 0 && !receiver.taken().is_empty()).await;
    world.set(&slugs(6));
    // The reset may end before the changes that came while it was sent, which then come by themselves.
    let is_last = |one: &Request| !is_reset(one) && added(one).contains(&"/articles/p00005".into());
    until("the last change is taken", || receiver.taken().iter().any(is_last)).await;
    let taken = receiver.taken();
    assert!(is_reset(&taken[0]));
    assert!(!taken[1..].iter().any(is_reset));
    for (request, _) in receiver.seen.lock().iter().filter(|(one, _)| one.id == taken[0].id) {
        assert_eq!(request.body, taken[0].body, "one body for each id");
    }
    let paths: Vec<String> = taken[1..].iter().flat_map(added).collect();
    assert_eq!(paths.last().map(String::as_str), Some("/articles/p00005"));
}

#[tokio::test(flavor = "multi_thread")]
async fn same_targets_keep_their_pause_and_others_begin_at_once() {
    const BUSY: Reply = Reply::Status("429 Busy\r\nContent-Length: 0\r\nRetry-After: 3600");
    let receiver = Receiver::start(|n, _| if n == 0 { BUSY } else { OK }).await;
    let timing = Timing { max_pause: Duration::from_hours(1), ..TIMING };
    let url = format!("http://{}/hook?x=1", receiver.address);
    let world = World::start(&url, timing, system_look_up());
    until("the worker has begun", || !world.notifier.progress.lock().is_empty()).await;
    world.set(&slugs(1));
    until("it is refused", || world.notifier.counters.failed.get() == 1).await;
    let mut targets = world.notifier.targets.subscribe();
    world.notifier.set_targets(vec![target(&url, SECRET)]);
    assert!(!targets.has_changed().unwrap(), "the reload of the same settings");
    assert_eq!((world.state().waiting, receiver.count()), (1, 1));
    // Another secret: the pause was for the one before it.
    let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    world.notifier.set_targets(vec![target(&url, other)]);
    assert!(targets.has_changed().unwrap());
    targets.mark_unchanged();
    until("it is taken", || receiver.taken().len() == 1).await;
    let Request { id, timestamp, signature, body } = receiver.taken().remove(0);
    assert_eq!(signature, SigningKey::parse(other).unwrap().sign(&id, timestamp, &body));
    // A target that is removed and comes back gets what has changed meanwhile.
    world.notifier.set_targets(Vec::new());
    world.set(&slugs(2));
    world.notifier.set_targets(vec![target(&url, SECRET)]);
    until("the change is taken", || receiver.taken().len() == 2).await;
    assert_eq!(added(&receiver.taken()[1]), ["/articles/p00001"]);
}
