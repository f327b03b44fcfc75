//! Sends commands, and scripts in Lua, which Redis runs atomically, with a time limit; counts them, and
//! checks their answers.

use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{Arg, Cmd, FromRedisValue, RedisWrite, ToRedisArgs, ToSingleRedisArg, Value};
use tokio::time::timeout;

use super::{Client, Error};

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

/// The beginning of each script. `remove_foreign(key, kind)` removes a foreign value, which has another type
/// than `kind`, so that no command fails because of it; `replace(key)` removes a value of any type; the client
/// logs both.
///
/// `append_event(key, argument)` appends an event (see [`SealedEvent`](super::SealedEvent)): the indexes of the
/// first of three keys and of the first of four arguments. A foreign entry whose id is in the future would be
/// the last one that readers get: the stream begins again then, as it does in place of a foreign value. The
/// incarnation is removed, so that each instance begins a new session and reads the new stream.
const BEGIN: &str = r"
local call, replaced = table.remove(ARGV), {}
local function replace(key)
  redis.call('UNLINK', key)
  replaced[#replaced + 1] = key
end
local function remove_foreign(key, kind)
  local found = redis.call('TYPE', key)['ok']
  if found ~= kind and found ~= 'none' then replace(key) end
end
local function append_event(key, argument)
  local stream, counter, incarnation = KEYS[key], KEYS[key + 1], KEYS[key + 2]
  local function begin_again()
    replace(stream)
    redis.call('DEL', incarnation)
  end
  local found = redis.call('TYPE', stream)['ok']
  if found ~= 'stream' and found ~= 'none' then begin_again() end
  remove_foreign(counter, 'string')
  local known = redis.call('GET', counter)
  if known and not (#known <= 15 and string.find(known, '^%d+$')) then replace(counter) end
  local number = redis.call('INCR', counter)
  local function add(call)
    return call('XADD', stream, 'MAXLEN', '~', ARGV[argument + 2], '*',
      'number', number, 'kind', ARGV[argument], 'body', ARGV[argument + 1])
  end
  local id = add(redis.pcall)
  local is_foreign
  if type(id) == 'table' then
    is_foreign = string.find(id['err'], 'last possible ID', 1, true)
    -- Another error, which ends the script.
    if not is_foreign then add(redis.call) end
  else
    is_foreign = tonumber(string.match(id, '^%d+')) > redis.call('TIME')[1] * 1000 + 60000
  end
  if is_foreign then
    begin_again()
    id = add(redis.call)
  end
  redis.call('PEXPIRE', stream, ARGV[argument + 3])
  redis.call('PEXPIRE', counter, ARGV[argument + 3])
  return id
end
local function body()
";

/// The end of each script. The number of the call comes back with the result, so that the answer of
/// another call is noticed: a proxy may repeat bytes, and answers have no ids. The keys whose foreign
/// values were removed come back, too.
const END: &str = "\nend\nreturn {call, replaced, body()}\n";

/// The whole text of a script, which gets `KEYS` and `ARGV`, and returns one value.
pub(crate) fn whole(text: &str) -> String {
    format!("{BEGIN}{text}{END}")
}

/// An argument of a script: bytes; a number is sent as decimal digits, `true` as 1 and `false` as 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument(Vec<u8>);

impl ToRedisArgs for Argument {
    fn write_redis_args<W: RedisWrite + ?Sized>(&self, out: &mut W) {
        out.write_arg(&self.0);
    }
}

impl<T: ToSingleRedisArg> From<T> for Argument {
    fn from(value: T) -> Self {
        Self(value.to_redis_args().concat())
    }
}
