//! Lists that one instance publishes and the others adopt, by what is in Redis.

mod adoption;
mod crafted;
mod damage;
mod size;

use crate::support::api::version;
use crate::support::redis::Redis;
use crate::support::service::Service;

/// The beginning of all keys.
const PREFIX: &str = "frontend-map:2";
/// The bytes of a seal without a key.
const SEAL: usize = 16;

/// What Redis has of the only list.
struct Stored {
    connection: redis::Connection,
    /// The id of the list.
    list: String,
}

impl Stored {
    /// As soon as the list is published.
    #[track_caller]
    fn of(redis: &Redis) -> Self {
        let keys = crate::support::wait::until("a list is published", || {
            Some(redis.keys(&format!("{PREFIX}:list:*"))).filter(|keys| !keys.is_empty())
        });
        let [key] = &keys[..] else { panic!("one list: {keys:?}") };
        let list = key.rsplit(':').next().expect("an id").to_owned();
        let client = redis::Client::open(redis.url()).expect("an address");
        Self { connection: client.get_connection().expect("a connection"), list }
    }

    fn pointer_key(&self) -> String {
        format!("{PREFIX}:list:{}", self.list)
    }

    fn deltas_key(&self) -> String {
        format!("{PREFIX}:deltas:{}", self.list)
    }

    /// The keys of the chunks of bases, in order.
    fn chunk_keys(&mut self) -> Vec<String> {
        let pattern = format!("{PREFIX}:chunk:{}:*", self.list);
        let mut keys: Vec<String> = self.run(redis::cmd("KEYS").arg(pattern));
        keys.sort();
        keys
    }

    fn run<T: redis::FromRedisValue>(&mut self, command: &redis::Cmd) -> T {
        command.query(&mut self.connection).expect("Redis answers")
    }

    /// The position of the published version.
    fn at(&mut self) -> String {
        let key = self.pointer_key();
        self.run(redis::cmd("HGET").arg(key).arg("at"))
    }

    /// Whether this instance has the published version.
    fn is_adopted_by(&mut self, service: &Service) -> bool {
        let at = self.at();
        let published = at.rsplit('-').next().and_then(|version| version.parse().ok());
        published.is_some() && published == version(service)
    }

    /// The published pointer.
    fn pointer(&mut self) -> serde_json::Value {
        let key = self.pointer_key();
        let sealed: Vec<u8> = self.run(redis::cmd("HGET").arg(key).arg("pointer"));
        serde_json::from_slice(&sealed[..sealed.len() - SEAL]).expect("a pointer")
    }

    /// How many deltas there are.
    fn deltas(&mut self) -> usize {
        let key = self.deltas_key();
        self.run(redis::cmd("XLEN").arg(key))
    }
}
