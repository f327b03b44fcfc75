//! Scripts in Lua, which Redis runs atomically.

use redis::{RedisWrite, ToRedisArgs, ToSingleRedisArg};

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
