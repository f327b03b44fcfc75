//! The script that publishes a version of a snapshot.

/// `KEYS`: the lease, the pointer, the deltas, three keys of the event, two of the change log, the
/// name of the snapshot, the chunks that were uploaded for this version. `ARGV`: the token, the
/// position that the pointer must have, the new position, the sealed pointer, the lifetime in ms,
/// the position that the delta follows (empty: there is no delta), the field and the value of the
/// delta, the position from which deltas stay (empty: all stay), the sealed name of the snapshot,
/// four arguments of the event, those of the change log.
///
/// `k` is the index in `KEYS` of the first of [`ChangeAppend::keys`](crate::changes::ChangeAppend::keys), `a` the
/// index in `ARGV` of the first of its arguments. `changes_fit(k, a)` returns whether the log is the same as
/// when the changes were prepared. If so, `changes_append(k, a)` appends them. If the stream has a foreign
/// entry with a larger id, it removes the log, and the next reader begins a new one.
///
/// The pointer is written last: if Redis refuses a command, the version is not published.
pub(crate) const PUBLISH: &str = r"
local function changes_fit(k, a)
  local mode = ARGV[a]
  if mode == 'none' then return true end
  local found = redis.call('HMGET', KEYS[k], 'log', 'last', ARGV[a + 1])
  if (found[1] or '') ~= ARGV[a + 2] then return false end
  if mode == 'restart' then return true end
  if (found[3] or '') ~= ARGV[a + 4] then return false end
  return ARGV[a + 5] == '' or (found[2] or '') == ARGV[a + 3]
end
local function changes_append(k, a)
  local mode = ARGV[a]
  if mode == 'none' then return end
  local log, stream = KEYS[k], KEYS[k + 1]
  if mode == 'restart' then
    redis.call('UNLINK', log, stream)
    redis.call('HSET', log, 'log', ARGV[a + 6])
  end
  if ARGV[a + 5] ~= '' then redis.call('HSET', log, 'last', ARGV[a + 5]) end
  redis.call('HSET', log, ARGV[a + 1], ARGV[a + 7])
  local count = tonumber(ARGV[a + 10])
  for i = a + 11, a + 9 + 2 * count, 2 do
    local added = redis.pcall('XADD', stream, ARGV[i], 'c', ARGV[i + 1])
    if type(added) == 'table' then
      replace(log)
      replace(stream)
      return
    end
  end
  if ARGV[a + 9] ~= '' then redis.call('XTRIM', stream, 'MINID', ARGV[a + 9]) end
  redis.call('PEXPIRE', log, ARGV[a + 8])
  redis.call('PEXPIRE', stream, ARGV[a + 8])
end
-- A foreign value, too: the next heartbeat replaces it.
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 'not-holder' end
remove_foreign(KEYS[2], 'hash')
remove_foreign(KEYS[3], 'stream')
remove_foreign(KEYS[7], 'hash')
remove_foreign(KEYS[8], 'stream')
remove_foreign(KEYS[9], 'hash')
local at = redis.call('HGET', KEYS[2], 'at') or ''
-- No instance has written it, or can send it back.
if string.find(at, '[\128-\255]') then at = '' end
if at ~= ARGV[2] then return 'other-version' end
if not changes_fit(7, 15) then return 'other-changes' end
for i = 10, #KEYS do
  if redis.call('PEXPIRE', KEYS[i], ARGV[5]) == 0 then return 'expired' end
end
if ARGV[6] == '' then
  redis.call('UNLINK', KEYS[3])
else
  local added = redis.pcall('XADD', KEYS[3], ARGV[3], 'after', ARGV[6], ARGV[7], ARGV[8])
  if type(added) == 'table' then
    -- A foreign entry has a larger id: the whole list is published, without deltas.
    local text = added['err']
    if not (string.find(text, 'ID specified') or string.find(text, 'last possible ID')) then
      return added
    end
    replace(KEYS[3])
    return 'other-version'
  end
  if ARGV[9] ~= '' then redis.call('XTRIM', KEYS[3], 'MINID', ARGV[9]) end
  redis.call('PEXPIRE', KEYS[3], ARGV[5])
end
append_event(4, 11)
changes_append(7, 15)
redis.call('HSET', KEYS[9], 'list', ARGV[10])
redis.call('PEXPIRE', KEYS[9], ARGV[5])
redis.call('HSET', KEYS[2], 'at', ARGV[3], 'pointer', ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return 'published'
";

/// What the script returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Published,
    /// This instance does not have the lease.
    NotHolder,
    /// The pointer has another position than this instance knows.
    OtherVersion,
    /// The change log has changed since the changes were prepared.
    OtherChanges,
    /// An uploaded chunk has expired.
    Expired,
}

impl Outcome {
    /// Parses the text that the script returns; `None`: it is none of these.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "published" => Self::Published,
            "not-holder" => Self::NotHolder,
            "other-version" => Self::OtherVersion,
            "other-changes" => Self::OtherChanges,
            "expired" => Self::Expired,
            _ => return None,
        })
    }
}
