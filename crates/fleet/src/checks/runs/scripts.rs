//! The scripts of runs. All have the same keys: the run (its owner's token, and its progress), the
//! instances that follow it by expiry, and the last result. A foreign value must not keep instances
//! from checking: it is removed, or it expires.

/// Arguments: instance, token, progress, lifetime in ms, for how many ms a result can be reused,
/// whether the instance may own a run.
pub(super) const JOIN: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lifetime = tonumber(ARGV[4])
remove_foreign(KEYS[1], 'hash')
remove_foreign(KEYS[2], 'zset')
remove_foreign(KEYS[3], 'hash')
-- A value without an expiry is foreign: it gets one.
redis.call('PEXPIRE', KEYS[1], lifetime, 'LT')
local run = redis.call('HMGET', KEYS[1], 'owner', 'progress')
if run[1] then
  redis.call('ZADD', KEYS[2], now + lifetime, ARGV[1])
  redis.call('PEXPIRE', KEYS[2], lifetime)
  return { 'follow', run[1], run[2] or '' }
end
local ended = redis.call('HMGET', KEYS[3], 'ended', 'run', 'result')
local age = now - (tonumber(ended[1] or '') or -math.huge)
-- The owner writes the time by its copy of this clock.
if ARGV[5] ~= '0' and age > -1000 and age < tonumber(ARGV[5]) then
  return { 'ended', ended[2] or '', ended[3] or '' }
end
if ARGV[6] ~= '1' then return { 'none', '', '' } end
redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'progress', ARGV[3])
redis.call('PEXPIRE', KEYS[1], lifetime)
return { 'own', '', '' }
";

/// Arguments: token, progress, lifetime in ms, whether a client of the owner waits.
pub(super) const RENEW: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lifetime = tonumber(ARGV[3])
remove_foreign(KEYS[1], 'hash')
remove_foreign(KEYS[2], 'zset')
remove_foreign(KEYS[3], 'hash')
local owner = redis.call('HGET', KEYS[1], 'owner')
-- The result may have been published after this renewal was sent.
if redis.call('HGET', KEYS[3], 'run') == ARGV[1] then return 'lost' end
if owner and owner ~= ARGV[1] then return 'lost' end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '(' .. now + lifetime, '+inf')
if ARGV[4] ~= '1' and redis.call('ZCARD', KEYS[2]) == 0 then
  redis.call('DEL', KEYS[1])
  return 'unneeded'
end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'progress', ARGV[2])
redis.call('PEXPIRE', KEYS[1], lifetime)
return 'continues'
";

/// Arguments: instance, token of the owner, lifetime in ms.
pub(super) const FOLLOW: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
remove_foreign(KEYS[1], 'hash')
remove_foreign(KEYS[2], 'zset')
remove_foreign(KEYS[3], 'hash')
local run = redis.call('HMGET', KEYS[1], 'owner', 'progress')
if run[1] == ARGV[2] then
  redis.call('PEXPIRE', KEYS[1], ARGV[3], 'LT')
  redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]), ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
  return { 'progress', run[2] or '' }
end
local ended = redis.call('HMGET', KEYS[3], 'run', 'result')
if ended[1] == ARGV[2] then return { 'ended', ended[2] or '' } end
return { 'gone', '' }
";

/// Arguments: token, result, the end of the run in ms since 1970, and how many ms the result stays.
pub(super) const FINISH: &str = r"
remove_foreign(KEYS[1], 'hash')
remove_foreign(KEYS[3], 'hash')
local owner = redis.call('HGET', KEYS[1], 'owner')
if owner and owner ~= ARGV[1] then return { 0, '', '' } end
local before = redis.call('HMGET', KEYS[3], 'run', 'result')
redis.call('HSET', KEYS[3], 'run', ARGV[1], 'result', ARGV[2], 'ended', ARGV[3])
redis.call('PEXPIRE', KEYS[3], ARGV[4])
redis.call('DEL', KEYS[1], KEYS[2])
return { 1, before[1] or '', before[2] or '' }
";

/// Arguments: the token of a run that is released; or an empty text, and the instance that no
/// longer follows the run.
pub(super) const RELEASE: &str = r"
if ARGV[1] == '' then return redis.call('ZREM', KEYS[2], ARGV[2]) end
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
";
