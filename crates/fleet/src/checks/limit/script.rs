//! The scripts of the lease. Keys: the lease, and the instance that gets it next. Foreign values are
//! removed, or expire.

/// Takes or renews the lease. Arguments: instance, lifetime in ms, and whether it may take the lease if
/// the key is missing: the holder renews it, or Redis has lost it and the holder has not renewed it for
/// some time. Returns one of the words of `Answer`.
pub(super) const TAKE: &str = r"
local me, lifetime, next_ms = ARGV[1], tonumber(ARGV[2]), 3000
remove_foreign(KEYS[1], 'string')
remove_foreign(KEYS[2], 'string')
-- A foreign value expires, too.
redis.call('PEXPIRE', KEYS[2], next_ms, 'LT')
local holder, next = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])
local is_free = holder == 'free' or not holder and ARGV[3] == '1'
if holder == me or is_free and (not next or next == me) then
  redis.call('SET', KEYS[1], me, 'PX', lifetime)
  if next == me then redis.call('DEL', KEYS[2]) end
  return (next and next ~= me) and 'awaited' or 'held'
end
if not next or next == me then redis.call('SET', KEYS[2], me, 'PX', next_ms) end
if not holder then return 'missing' end
if holder ~= 'free' then redis.call('PEXPIRE', KEYS[1], lifetime, 'LT') end
return 'other'
";

/// Releases the lease. Argument: instance.
pub(super) const RELEASE: &str = r"
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], 'free', 'PX', 86400000)
return 1
";
