//! Scripts in Lua, which the engine runs atomically.

use redis::{RedisWrite, ToRedisArgs};

/// `append_event(key, argument)` for scripts: the indexes of the first of two keys and of the first
/// of four arguments.
const APPEND_EVENT: &str = r"
local function append_event(key, argument)
  local number = redis.call('INCR', KEYS[key + 1])
  local id = redis.call('XADD', KEYS[key], 'MAXLEN', '~', ARGV[argument + 2], '*',
    'number', number, 'kind', ARGV[argument], 'body', ARGV[argument + 1])
  redis.call('PEXPIRE', KEYS[key], ARGV[argument + 3])
  redis.call('PEXPIRE', KEYS[key + 1], ARGV[argument + 3])
  return id
end
";

/// `own(key, kind)` for scripts: removes a foreign value, which has another type than `kind`, so
/// that no command fails because of it.
const OWN: &str = r"
local function own(key, kind)
  local found = redis.call('TYPE', key)['ok']
  if found ~= kind and found ~= 'none' then redis.call('DEL', key) end
end
";

/// Returns the number of the call with the result, so that the answer of another call is noticed: a
/// proxy may repeat bytes, and answers have no ids.
const ECHO: (&str, &str) =
    ("local call = table.remove(ARGV)\nlocal function body()\n", "\nend\nreturn {call, body()}\n");

/// A script in Lua, which gets `KEYS` and `ARGV`, and returns one value.
#[derive(Debug)]
pub struct Script {
    source: String,
    hash: String,
}

impl Script {
    /// The script with this text.
    #[must_use]
    pub fn new(source: &str) -> Self {
        let source = format!("{}{source}{}", ECHO.0, ECHO.1);
        let hash = redis::Script::new(&source).get_hash().to_owned();
        Self { source, hash }
    }

    /// The same as [`Script::new`], with the function `own(key, kind)`, which removes a value of
    /// another type.
    #[must_use]
    pub fn with_own(source: &str) -> Self {
        Self::new(&format!("{OWN}\n{source}"))
    }

    /// The same as [`Script::new`], with the function `append_event(first_key, first_argument)`,
    /// which appends an event (see [`SealedEvent`](super::SealedEvent)).
    #[must_use]
    pub fn with_events(source: &str) -> Self {
        Self::new(&format!("{APPEND_EVENT}\n{source}"))
    }

    /// The SHA-1 of the text, for `EVALSHA`.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    /// The text, for `EVAL`.
    pub(super) fn source(&self) -> &str {
        &self.source
    }
}

/// An argument of a script: bytes; a number is sent as decimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument(Vec<u8>);

impl Argument {
    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl ToRedisArgs for Argument {
    fn write_redis_args<W: RedisWrite + ?Sized>(&self, out: &mut W) {
        out.write_arg(&self.0);
    }
}

impl redis::ToSingleRedisArg for Argument {}

impl From<Vec<u8>> for Argument {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for Argument {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<&str> for Argument {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<String> for Argument {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl From<&String> for Argument {
    fn from(text: &String) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

macro_rules! from_numbers {
    ($($number:ty)*) => {
        $(impl From<$number> for Argument {
            fn from(number: $number) -> Self {
                Self(number.to_string().into_bytes())
            }
        })*
    };
}

from_numbers!(u32 u64 u128 usize i64);
