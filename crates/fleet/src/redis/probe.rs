//! Tries a Redis before it is used: address, password, each command of the access list, eviction
//! policy, and whether another deployment uses the same keys. For `frontend-map check`.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Pipeline, RedisResult, Value};
use tokio::time::timeout;

use super::connection::Connection;
use super::heartbeat::DEPLOYMENT;
use super::seal::Sealer;
use super::{Error, Settings, base};

/// The time limit of each step.
const WITHIN: Duration = Duration::from_secs(5);
/// The first version that has all commands.
const MIN_VERSION: u32 = 7;
/// Another deployment counts so many ms after its last heartbeat.
const DEPLOYMENT_MS: i64 = 5_000;

/// Each command that instances send, and how it is tried: `string`, `hash`, `stream` and `zset`
/// stand for keys of the probe. `hello` is sent with each connection, and `info` by the probe alone.
pub const COMMANDS: [(&str, &[&str]); 30] = [
    ("hello", &[]),
    ("eval", &["return 1", "0"]),
    ("evalsha", &["0000000000000000000000000000000000000000", "0"]),
    ("time", &[]),
    ("info", &["memory"]),
    ("set", &["string", "1", "PX", "60000"]),
    ("get", &["string"]),
    ("getrange", &["string", "0", "1"]),
    ("exists", &["string"]),
    ("type", &["string"]),
    ("incr", &["string"]),
    ("del", &["string"]),
    ("hset", &["hash", "f", "v"]),
    ("hget", &["hash", "f"]),
    ("hmget", &["hash", "f"]),
    ("hgetall", &["hash"]),
    ("hscan", &["hash", "0"]),
    ("hdel", &["hash", "f"]),
    ("xadd", &["stream", "*", "f", "v"]),
    ("pexpire", &["stream", "60000"]),
    ("xread", &["COUNT", "1", "STREAMS", "stream", "0"]),
    ("xrange", &["stream", "-", "+"]),
    ("xrevrange", &["stream", "+", "-"]),
    ("xtrim", &["stream", "MAXLEN", "0"]),
    ("zadd", &["zset", "1", "m"]),
    ("zcard", &["zset"]),
    ("zrange", &["zset", "0", "-1"]),
    ("zscore", &["zset", "m"]),
    ("zremrangebyscore", &["zset", "-inf", "0"]),
    ("zrem", &["zset", "m"]),
];
/// Removes the keys of the probe at its end.
const UNLINK: &str = "unlink";
/// The keys of the probe.
const KEYS: [&str; 4] = ["string", "hash", "stream", "zset"];

/// What a probe has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// What does not work, each with what to do.
    pub problems: Vec<String>,
    /// What could not be found out.
    pub notes: Vec<String>,
}

/// Tries a Redis. `deployment` describes this deployment, as in
/// [`Client::set_deployment`](super::Client::set_deployment).
pub async fn probe(settings: &Settings, deployment: &str) -> Probe {
    let mut probe = Probe::default();
    let opened = timeout(WITHIN, Connection::new(settings).open(WITHIN)).await;
    let mut connection = match opened.unwrap_or(Err(Error::Timeout)) {
        Ok(connection) => connection,
        Err(error) => {
            probe.problems.push(unreachable(settings, &error));
            return probe;
        }
    };
    for step in [Step::Commands, Step::Information, Step::Deployments] {
        let tried = match step {
            Step::Commands => probe.commands(settings, &mut connection).await,
            Step::Information => probe.information(&mut connection).await,
            Step::Deployments => probe.deployments(settings, deployment, &mut connection).await,
        };
        if let Err(error) = tried {
            probe.problems.push(unreachable(settings, &error));
            return probe;
        }
    }
    probe
}

#[derive(Clone, Copy)]
enum Step {
    Commands,
    Information,
    Deployments,
}

/// Why Redis is unavailable, and what to do.
fn unreachable(settings: &Settings, error: &Error) -> String {
    let remedy = match error {
        Error::Authentication => {
            "set the user in `shared.url`, and the password in FRONTEND_MAP__SHARED__PASSWORD or \
             `shared.password_file`"
        }
        Error::Refused(code) if code == "NOPERM" => {
            "allow the user `+hello`, and `+select` for a database other than 0"
        }
        Error::Connection(reason) if settings.url.tls && reason.contains("certificate") => {
            "set `shared.ca_file` to a file with its root certificate"
        }
        _ => "check `shared.url`, and that this machine reaches it",
    };
    format!("{}: {error}: {remedy}", settings.url)
}

impl Probe {
    async fn commands(
        &mut self,
        settings: &Settings,
        connection: &mut MultiplexedConnection,
    ) -> Result<(), Error> {
        let base = base(&settings.prefix, &sealer(settings));
        let own = format!("{base}:probe:{:016x}", fastrand::u64(..));
        let key = |word: &str| {
            let is_key = KEYS.contains(&word);
            if is_key { format!("{own}:{word}") } else { word.to_owned() }
        };
        let tried: Vec<_> = COMMANDS.iter().filter(|(name, _)| *name != "hello").collect();
        let mut pipeline = redis::pipe();
        for (name, words) in &tried {
            pipeline.cmd(name).arg(words.iter().map(|word| key(word)).collect::<Vec<_>>());
        }
        pipeline.cmd(UNLINK).arg(KEYS.map(key).to_vec());
        let names = tried.iter().map(|(name, _)| *name).chain([UNLINK]);
        let results = send(pipeline, connection).await?;
        let (mut denied, mut other, mut keys) = (Vec::new(), Vec::new(), false);
        for (name, result) in names.zip(results) {
            let Err(error) = result else { continue };
            let text = error.detail().unwrap_or_default().to_owned();
            match Error::from(error) {
                Error::Refused(code) if code == "NOSCRIPT" => {}
                Error::Refused(code) if code == "NOPERM" && is_about_keys(&text) => {
                    keys = true;
                }
                Error::Refused(code) if code == "NOPERM" && name == "info" => {
                    self.notes.push("the eviction policy is not known: allow `+info`".to_owned());
                }
                Error::Refused(code) if code == "NOPERM" => denied.push(format!("+{name}")),
                error => other.push((name, error)),
            }
        }
        if keys {
            let pattern = format!("~{}:*", settings.prefix);
            self.problems.push(format!("the user may not use the keys: allow `{pattern}`"));
        }
        if !denied.is_empty() {
            let denied = denied.join(" ");
            self.problems.push(format!("the user may not send all commands: allow `{denied}`"));
        }
        if let Some((name, error)) = other.first() {
            let remedy = match error {
                Error::Refused(code) if code == "OOM" => "raise `maxmemory`",
                Error::Refused(code) if code == "READONLY" => {
                    "the address is that of a replica: set `shared.url` to the primary"
                }
                _ => "instances cannot use it like this",
            };
            let (count, all) = (other.len(), tried.len() + 1);
            self.problems
                .push(format!("{count} of {all} commands fail, first `{name}`: {error}: {remedy}"));
        }
        Ok(())
    }

    async fn information(&mut self, connection: &mut MultiplexedConnection) -> Result<(), Error> {
        let mut pipeline = redis::pipe();
        pipeline.cmd("INFO").arg("server").cmd("INFO").arg("memory");
        let results = send(pipeline, connection).await?;
        let texts: Vec<String> = results.into_iter().filter_map(text_of).collect();
        self.read_information(&texts.concat());
        Ok(())
    }

    /// Reads the answers to `INFO`.
    fn read_information(&mut self, text: &str) {
        let value = |name: &str| {
            text.lines().find_map(|line| line.trim_end().strip_prefix(name)?.strip_prefix(':'))
        };
        let version = value("redis_version");
        let major = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
        if let (Some(version), Some(major)) = (version, major)
            && major < MIN_VERSION
        {
            self.problems
                .push(format!("it is Redis {version}: use {MIN_VERSION}.0 or later, or Valkey"));
        }
        if let Some(policy) = value("maxmemory_policy").filter(|policy| *policy != "noeviction") {
            self.problems.push(format!(
                "its `maxmemory-policy` is `{policy}`, so that it may drop a lease or a part of a \
                 list when it is full: set it to `noeviction`"
            ));
        }
    }

    /// The other deployments whose instances have sent a heartbeat in the last seconds.
    async fn deployments(
        &mut self,
        settings: &Settings,
        own: &str,
        connection: &mut MultiplexedConnection,
    ) -> Result<(), Error> {
        let sealer = sealer(settings);
        let key = format!("{}:deployments", base(&settings.prefix, &sealer));
        let mut pipeline = redis::pipe();
        pipeline.cmd("TIME").cmd("ZRANGE").arg(key).arg(0).arg(9).arg("WITHSCORES");
        let results = send(pipeline, connection).await?;
        let mut results = results.into_iter().map(|result| result.unwrap_or(Value::Nil));
        let (Some(time), Some(found)) = (results.next(), results.next()) else { return Ok(()) };
        let time: Vec<i64> = redis::from_redis_value(time).unwrap_or_default();
        let now = time.first().map_or(0, |seconds| seconds * 1_000);
        let found: Vec<(Vec<u8>, f64)> = redis::from_redis_value(found).unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, reason = "times in ms are whole numbers")]
        let is_recent = |score: f64| (score as i64).abs_diff(now) <= DEPLOYMENT_MS.unsigned_abs();
        for (sealed, _) in found.iter().filter(|(_, score)| is_recent(*score)) {
            let text = sealer.open(DEPLOYMENT, sealed).ok();
            let text = text.map(String::from_utf8_lossy).filter(|text| text != own);
            if let Some(text) = text {
                self.problems.push(format!(
                    "another deployment uses the prefix `{}` ({text}): unless this one replaces \
                     it, set another `shared.prefix`",
                    settings.prefix
                ));
            }
        }
        Ok(())
    }
}

/// Whether a refusal is about a key, not about a command. The name of a user, which has no spaces, is
/// in the text about a command.
fn is_about_keys(text: &str) -> bool {
    text.contains(" access a key") || text.contains(" access one of the keys")
}

fn sealer(settings: &Settings) -> Sealer {
    Sealer::new(&settings.prefix, settings.key.as_ref())
}

/// The text of an answer to `INFO`.
fn text_of(result: RedisResult<Value>) -> Option<String> {
    redis::from_redis_value(result.ok()?).ok()
}

/// The answers of a pipeline, one by one.
async fn send(
    mut pipeline: Pipeline,
    connection: &mut MultiplexedConnection,
) -> Result<Vec<RedisResult<Value>>, Error> {
    pipeline.ignore_errors();
    let results = timeout(WITHIN, pipeline.query_async(connection)).await;
    Ok(results.map_err(|_| Error::Timeout)??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_about_keys_reads_no_name_of_a_user() {
        // Redis 7.0, then Redis 7.2 and Valkey.
        assert!(is_about_keys(
            "this user has no permissions to access one of the keys used as arguments"
        ));
        assert!(is_about_keys("No permissions to access a key"));
        assert!(!is_about_keys("this user has no permissions to run the 'xtrim' command"));
        assert!(!is_about_keys("User keyuser has no permissions to run the 'xtrim' command"));
    }

    #[test]
    fn read_information_names_an_old_version_and_another_policy() {
        let problems = |text: &str| {
            let mut probe = Probe::default();
            probe.read_information(text);
            probe.problems
        };
        let good =
            "# Server\r\nredis_version:7.0.15\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n";
        assert_eq!(problems(good), Vec::<String>::new());
        assert_eq!(problems(""), Vec::<String>::new());
        let old = problems(&good.replace("7.0.15", "6.2.14"));
        assert_eq!(old, ["it is Redis 6.2.14: use 7.0 or later, or Valkey"]);
        let evicts = problems(&good.replace("noeviction", "allkeys-lru"));
        assert!(evicts[0].contains("set it to `noeviction`"), "{evicts:?}");
    }
}
