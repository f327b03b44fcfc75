//! What the scripts of the protocol do, as executable specifications: the model runs these, and a test
//! compares each with its script on a real redis-server.

use crate::snapshots::Outcome;

/// No epoch is larger.
const LARGEST_EPOCH: u64 = 900_000_000_000_000;

/// The value of a lease's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Held<H> {
    pub(crate) holder: H,
    pub(crate) epoch: u64,
}

/// What the heartbeat of `me` does with a lease: the value of its key afterwards. `known` is the largest
/// epoch that `me` has seen, `count` the last epoch of any lease that Redis knows, `now` its clock in ms.
/// A foreign value of the key counts as none.
pub(crate) fn grant<H: Copy>(
    held: Option<Held<H>>,
    me: H,
    known: u64,
    count: &mut u64,
    now: u64,
) -> Held<H> {
    let known = if known + 1 >= LARGEST_EPOCH { 0 } else { known };
    if let Some(held) = held.filter(|held| held.epoch >= known) {
        return held;
    }
    let next = (*count + 1).max(known + 1).max(now);
    *count = if next >= LARGEST_EPOCH { now } else { next };
    Held { holder: me, epoch: *count }
}

/// What a publication does to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Mode {
    Nothing,
    Restart,
    Append { has_changes: bool },
}

impl Mode {
    /// What the script compares of the identity, the end and the base of the log.
    pub(crate) fn compared<I, E, B>(
        self,
        id: I,
        end: E,
        base: B,
    ) -> Option<(I, Option<E>, Option<B>)> {
        match self {
            Self::Nothing => None,
            Self::Restart => Some((id, None, None)),
            Self::Append { has_changes } => Some((id, has_changes.then_some(end), Some(base))),
        }
    }
}

/// What a publication must find unchanged. `None` of the log: it appends nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Expected<T, P, L> {
    pub(crate) lease: T,
    pub(crate) at: P,
    pub(crate) log: Option<L>,
}

/// What the script of a publication does: it writes all, or nothing.
pub(crate) fn admit<T: PartialEq, P: PartialEq, L: PartialEq>(
    found: &Expected<T, P, L>,
    expected: &Expected<T, P, L>,
) -> Outcome {
    if found.lease != expected.lease {
        Outcome::NotHolder
    } else if found.at != expected.at {
        Outcome::OtherVersion
    } else if expected.log.is_some() && found.log != expected.log {
        Outcome::OtherChanges
    } else {
        Outcome::Published
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::{Child, Command, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::redis::{BEAT, whole};
    use crate::snapshots::PUBLISH;

    const CASES: usize = 1_000;

    /// What the heartbeat's script returns.
    type Answer = (u64, String, i64, Vec<String>, Vec<(u8, u64)>);

    /// A redis-server of this test, at a socket in a folder of its own.
    struct Server {
        process: Child,
        connection: redis::Connection,
        _folder: tempfile::TempDir,
    }

    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    impl Server {
        fn start() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let socket: PathBuf = folder.path().join("redis");
            let process = Command::new("redis-server")
                .args(["--port", "0", "--save", "", "--loglevel", "warning", "--unixsocket"])
                .arg(&socket)
                .current_dir(&folder)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let client = redis::Client::open(format!("unix://{}", socket.display())).unwrap();
            let begun = Instant::now();
            let connection = loop {
                match client.get_connection() {
                    Ok(connection) => break connection,
                    Err(error) if begun.elapsed() > Duration::from_mins(1) => panic!("{error}"),
                    Err(_) => sleep(Duration::from_millis(5)),
                }
            };
            Self { process, connection, _folder: folder }
        }

        fn command<T: redis::FromRedisValue>(&mut self, words: &[&str]) -> T {
            redis::cmd(words[0]).arg(&words[1..]).query(&mut self.connection).unwrap()
        }

        fn delete(&mut self, keys: &[&str]) {
            let _: usize = self.command(&[&["DEL"], keys].concat());
        }

        fn run<T: redis::FromRedisValue>(
            &mut self,
            script: &str,
            keys: &[&str],
            arguments: &[&str],
        ) -> T {
            let mut command = redis::cmd("EVAL");
            command.arg(whole(script)).arg(keys.len()).arg(keys).arg(arguments).arg("call");
            let (call, _, result): (String, Vec<String>, T) =
                command.query(&mut self.connection).unwrap();
            assert_eq!(call, "call");
            result
        }
    }

    fn one_of<T: Clone>(random: &mut fastrand::Rng, of: &[T]) -> T {
        random.choice(of).expect("there is one").clone()
    }

    #[test]
    fn model_of_the_heartbeat_is_the_script() {
        const KEYS: [&str; 5] = ["instances", "incarnation", "epoch", "deployments", "lease"];
        let (mut server, mut random) = (Server::start(), fastrand::Rng::with_seed(32));
        let [me, other] = ["a".repeat(32), "b".repeat(32)];
        for case in 0..CASES {
            server.delete(&KEYS);
            let near = |random: &mut fastrand::Rng| match random.u8(..4) {
                0 => random.u64(..5),
                1 => 1_900_000_000_000 + random.u64(..5),
                2 => LARGEST_EPOCH - 1 - random.u64(..3),
                _ => random.u64(..LARGEST_EPOCH),
            };
            let held = (random.u8(..4) > 0).then(|| {
                let holder = one_of(&mut random, &[&me, &other]);
                Held { holder: holder.as_str(), epoch: near(&mut random) }
            });
            let count = (random.u8(..4) > 0).then(|| near(&mut random));
            let known = match random.u8(..4) {
                0 => held.map_or(0, |held| held.epoch + random.u64(..3)),
                1 => 0,
                _ => near(&mut random) + random.u64(..2),
            };
            if let Some(Held { holder, epoch }) = held {
                let _: () = server.command(&["SET", "lease", &format!("{holder}:{epoch}")]);
            } else if random.bool() {
                let _: () = server.command(&["SET", "lease", "foreign"]);
            }
            if let Some(count) = count {
                let _: () = server.command(&["SET", "epoch", &count.to_string()]);
            }
            let (incarnation, known_text) = ("0".repeat(32), known.to_string());
            let arguments: [&str; 9] =
                [&me, &incarnation, "5000", "3000", "60000", "1", "1", "", &known_text];
            let (now, _, _, _, states): Answer = server.run(BEAT, &KEYS, &arguments);
            let mut counter = count.unwrap_or(0);
            let expected = grant(held, &me, known, &mut counter, now);
            let is_holder = expected.holder == me;
            let about = format!("case {case}: {held:?} {count:?} {known} {now}");
            assert_eq!((states[0].0 > 0, states[0].1), (is_holder, expected.epoch), "{about}");
            let value: String = server.command(&["GET", "lease"]);
            assert_eq!(value, format!("{}:{}", expected.holder, expected.epoch), "{about}");
            let stored: Option<u64> = server.command(&["GET", "epoch"]);
            assert_eq!(stored.unwrap_or(0), counter, "{about}");
        }
    }

    #[test]
    fn model_of_a_publication_is_the_script() {
        const KEYS: [&str; 9] = [
            "lease",
            "pointer",
            "deltas",
            "events",
            "number",
            "incarnation",
            "log",
            "stream",
            "name",
        ];
        let (mut server, mut random) = (Server::start(), fastrand::Rng::with_seed(33));
        let mut published = 0;
        for case in 0..CASES {
            server.delete(&KEYS);
            let mut value = |of: &[&'static str]| one_of(&mut random, of);
            let mut some = || Expected {
                lease: value(&["", "one", "one", "one", "two"]),
                at: value(&["", "1-1", "1-1", "1-1"]),
                log: Some((
                    value(&["", "a", "a", "b"]),
                    value(&["", "1", "1"]),
                    value(&["", "x", "x"]),
                )),
            };
            let (found, wanted) = (some(), some());
            let fields = |of: &Expected<&'static str, &'static str, _>| of.log.expect("it is set");
            let (found_log, wanted_log) = (fields(&found), fields(&wanted));
            let has_changes = random.bool();
            let mode =
                one_of(&mut random, &[Mode::Nothing, Mode::Restart, Mode::Append { has_changes }]);
            if !found.lease.is_empty() {
                let _: () = server.command(&["SET", "lease", found.lease]);
            }
            if !found.at.is_empty() {
                let _: () = server.command(&["HSET", "pointer", "at", found.at]);
            }
            let (log, last, base) = found_log;
            for (name, value) in [("log", log), ("last", last), ("base", base)] {
                if !value.is_empty() {
                    let _: () = server.command(&["HSET", "log", name, value]);
                }
            }
            let (name, new_last, new_log, count): (_, _, _, &[&str]) = match mode {
                Mode::Nothing => ("none", "", "", &["0"]),
                Mode::Restart => ("restart", "new last", "new log", &["0"]),
                Mode::Append { has_changes: true } => {
                    ("append", "new last", "", &["1", "9-0", "change"])
                }
                Mode::Append { has_changes: false } => ("append", "", "", &["0"]),
            };
            let mut arguments =
                vec![wanted.lease, wanted.at, "2-1", "pointer", "60000", "", "", "", "", "name"];
            arguments.extend(["kind", "body", "100", "60000", name]);
            if mode != Mode::Nothing {
                let (log, last, base) = wanted_log;
                arguments.extend(["base", log, last, base, new_last, new_log, "new base"]);
                arguments.extend(["60000", ""]);
                arguments.extend(count);
            }
            let word: String = server.run(PUBLISH, &KEYS, &arguments);
            let compared = |(log, last, base)| mode.compared(log, last, base);
            let found = Expected { lease: found.lease, at: found.at, log: compared(found_log) };
            let wanted = Expected { lease: wanted.lease, at: wanted.at, log: compared(wanted_log) };
            // An instance without a lease has a token that no key has.
            let expected =
                if wanted.lease.is_empty() { Outcome::NotHolder } else { admit(&found, &wanted) };
            let about = format!("case {case}: {found:?} {wanted:?} {mode:?}");
            assert_eq!(Outcome::parse(&word), Some(expected), "{about}");
            let is_published = expected == Outcome::Published;
            published += usize::from(is_published);
            let at: Option<String> = server.command(&["HGET", "pointer", "at"]);
            let at_expected = if is_published { "2-1" } else { found.at };
            assert_eq!(at.unwrap_or_default(), at_expected, "{about}");
            let fields: [Option<String>; 3] =
                server.command(&["HMGET", "log", "log", "last", "base"]);
            let (log, last, base) = found_log;
            let fields_expected = match mode {
                Mode::Restart if is_published => ["new log", "new last", "new base"],
                Mode::Append { has_changes: true } if is_published => [log, "new last", "new base"],
                Mode::Append { .. } if is_published => [log, last, "new base"],
                _ => [log, last, base],
            };
            assert_eq!(fields.map(Option::unwrap_or_default), fields_expected, "{about}");
            let changes: usize = server.command(&["XLEN", "stream"]);
            let has_changes = mode == Mode::Append { has_changes: true };
            assert_eq!(changes, usize::from(is_published && has_changes), "{about}");
            let events: usize = server.command(&["XLEN", "events"]);
            assert_eq!(events, usize::from(is_published), "{about}");
        }
        assert!(published > CASES / 50, "{published}");
    }
}
