//! The script that publishes a version of a snapshot.

use std::sync::LazyLock;

use crate::changes;
use crate::redis::Script;

/// `KEYS`: the lease, the pointer, the deltas, three keys of the event, two of the change log, the
/// name of the snapshot, the chunks that were uploaded for this version. `ARGV`: the token, the
/// position that the pointer must have, the new position, the sealed pointer, the lifetime in ms,
/// the position that the delta follows (empty: there is no delta), the field and the value of the
/// delta, the position from which deltas stay (empty: all stay), the sealed name of the snapshot,
/// four arguments of the event, those of the change log.
pub(crate) static PUBLISH: LazyLock<Script> =
    LazyLock::new(|| Script::with_events(&format!("{}\n{PUBLISH_LUA}", changes::LUA)));

/// The pointer is written last: if Redis refuses a command, the version is not published.
const PUBLISH_LUA: &str = r"
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
