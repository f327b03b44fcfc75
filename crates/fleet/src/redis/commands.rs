//! Sends commands and scripts with a time limit, counts them, and checks their answers.

use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{Arg, Cmd, FromRedisValue, Value};
use tokio::time::timeout;

use super::script::whole;
use super::{Argument, Client, Error};

impl Client {
    /// [`Error::Unavailable`] unless Redis is available; it is counted.
    pub(super) fn available(&self) -> Result<(), Error> {
        if self.is_available() { Ok(()) } else { Err(self.counted(Error::Unavailable)) }
    }

    /// Sends a command, and waits for its answer for at most `within`.
    ///
    /// # Errors
    /// [`Error`]; while Redis is unavailable, [`Error::Unavailable`] at once.
    pub async fn command<T: FromRedisValue>(
        &self,
        command: &Cmd,
        within: Duration,
    ) -> Result<T, Error> {
        self.available()?;
        let answer = self.send(command, within).await.and_then(convert);
        answer.map_err(|error| self.counted(error))
    }

    /// Runs a script in Lua, which gets `KEYS` and `ARGV` and returns one value, and waits for its result
    /// for at most `within`. The text of the script is sent only if Redis does not have it yet.
    ///
    /// The script may call `remove_foreign(key, kind)`, which removes a value of another type,
    /// `replace(key)`, which removes any value, and `append_event(first_key, first_argument)`, which appends
    /// a [`SealedEvent`](super::SealedEvent).
    ///
    /// # Errors
    /// As [`Client::command`].
    pub async fn script<T: FromRedisValue>(
        &self,
        script: &str,
        keys: &[String],
        arguments: Vec<Argument>,
        within: Duration,
    ) -> Result<T, Error> {
        self.available()?;
        self.script_in_any_state(script, keys, &arguments, within).await
    }

    /// Runs a script, also while Redis counts as unavailable.
    pub(super) async fn script_in_any_state<T: FromRedisValue>(
        &self,
        script: &str,
        keys: &[String],
        arguments: &[Argument],
        within: Duration,
    ) -> Result<T, Error> {
        let answer = self.run(script, keys, arguments, within).await.and_then(convert);
        answer.map_err(|error| self.counted(error))
    }

    /// Connects once, without the manager of connections, which tries again by itself.
    pub(super) async fn try_to_connect(&self, within: Duration) -> Result<(), Error> {
        let opened = timeout(within, self.0.connection.open(within)).await;
        let opened = opened.unwrap_or(Err(Error::Timeout));
        opened.map(drop).map_err(|error| self.counted(error))
    }

    async fn run(
        &self,
        script: &str,
        keys: &[String],
        arguments: &[Argument],
        within: Duration,
    ) -> Result<Value, Error> {
        let (deadline, call) = (Instant::now() + within, fastrand::u64(..).to_string());
        let text = whole(script);
        let script = redis::Script::new(&text);
        let command = |name: &str, text: &str| {
            let mut command = redis::cmd(name);
            command.arg(text).arg(keys.len()).arg(keys).arg(arguments).arg(&call);
            command
        };
        let by_hash = self.send(&command("EVALSHA", script.get_hash()), within).await;
        let answer = match by_hash {
            Err(error) if error.is_no_script() => {
                let left = deadline.saturating_duration_since(Instant::now());
                self.send(&command("EVAL", &text), left).await?
            }
            other => other?,
        };
        let Some((replaced, body)) = result_of(answer, &call) else {
            // The answer belongs to another command; so would all later ones on this connection.
            self.0.connection.replace();
            return Err(Error::Answer);
        };
        for key in replaced {
            tracing::warn!(
                key,
                "another program has written a key of the fleet; its value was removed"
            );
        }
        Ok(body)
    }

    async fn send(&self, command: &Cmd, within: Duration) -> Result<Value, Error> {
        self.count_sent(bytes_of(command));
        let mut manager = self.0.connection.manager();
        match timeout(within, command.query_async::<Value>(&mut manager)).await {
            Ok(Ok(answer)) => Ok(self.received(answer)),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(Error::Timeout),
        }
    }

    /// Sends a command on this connection.
    pub(super) async fn query<T: FromRedisValue>(
        &self,
        command: &Cmd,
        connection: &mut MultiplexedConnection,
    ) -> Result<T, Error> {
        self.count_sent(bytes_of(command));
        let answer = command.query_async::<Value>(connection).await.map_err(Error::from);
        let answer = answer.and_then(|answer| convert(self.received(answer)));
        answer.map_err(|error| self.counted(error))
    }

    fn count_sent(&self, bytes: usize) {
        self.0.counters.commands.inc();
        self.0.counters.bytes_sent.inc_by(bytes as u64);
    }

    fn received(&self, answer: Value) -> Value {
        self.0.counters.bytes_received.inc_by(bytes_in(&answer) as u64);
        answer
    }

    fn counted(&self, error: Error) -> Error {
        self.0.counters.errors.inc(error.failure());
        error
    }
}

fn convert<T: FromRedisValue>(answer: Value) -> Result<T, Error> {
    T::from_redis_value(answer).map_err(|_| Error::Answer)
}

/// The keys whose foreign values a script has removed, and its result; `None` if the answer belongs
/// to another call. Redis cuts an array at the first nil, so that a nil result is missing.
fn result_of(answer: Value, call: &str) -> Option<(Vec<String>, Value)> {
    let Value::Array(values) = answer else { return None };
    let mut values = values.into_iter();
    match values.next()? {
        Value::BulkString(echo) if echo == call.as_bytes() => {}
        _ => return None,
    }
    let replaced = Vec::from_redis_value(values.next()?).ok()?;
    let body = values.next().unwrap_or(Value::Nil);
    values.next().is_none().then_some((replaced, body))
}

fn bytes_of(command: &Cmd) -> usize {
    let bytes = command.args_iter().map(|argument| match argument {
        Arg::Simple(bytes) => bytes.len(),
        _ => 0,
    });
    bytes.sum()
}

/// The bytes of the values, a number as 8.
fn bytes_in(answer: &Value) -> usize {
    match answer {
        Value::BulkString(bytes) => bytes.len(),
        Value::SimpleString(text) => text.len(),
        Value::Array(values) | Value::Set(values) => values.iter().map(bytes_in).sum(),
        Value::Map(pairs) => pairs.iter().map(|(key, value)| bytes_in(key) + bytes_in(value)).sum(),
        _ => size_of::<i64>(),
    }
}
