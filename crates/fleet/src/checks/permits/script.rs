//! The script that renews, returns and grants permits in one command.

/// Keys: the permits by expiry; the instances that have less than their share; a flag that Redis
/// has granted permits before; the share that holds while instances may have checks that Redis
/// does not know, with the end of this time. Foreign values are removed, or replaced by the
/// nearest value that an instance writes; each key expires.
///
/// Arguments: instance, limit, lifetime and settling time in ms, share of this instance, whether it
/// may have begun checks without Redis, and the numbers of busy, idle and returned permits;
/// then these permits, and the wanted ones.
///
/// Returns: the number of granted permits, how many the instance may keep, whether it has less than
/// its share, and the idle permits that had expired.
pub(super) const PERMITS: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local me, limit, lifetime, settling = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local share, returns = tonumber(ARGV[5]), ARGV[6] == '1'
local busy, idle, returned = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
remove_foreign(KEYS[1], 'zset')
remove_foreign(KEYS[2], 'zset')
remove_foreign(KEYS[3], 'string')
remove_foreign(KEYS[4], 'string')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '(' .. now + 1000, '+inf')
local last = now + lifetime
local members = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for i = 1, #members, 2 do
  if not string.find(members[i], '^.+:%d+$') then
    redis.call('ZREM', KEYS[1], members[i])
  elseif tonumber(members[i + 1]) > last then
    redis.call('ZADD', KEYS[1], last, members[i])
  end
end
local is_new = redis.call('SET', KEYS[3], '1', 'NX')
-- Only so that the key does not stay for ever: checks end long before.
redis.call('PEXPIRE', KEYS[3], 86400000)
local settled = limit
local number, till = string.match(redis.call('GET', KEYS[4]) or '', '^(%d+) (%d+)$')
if number and tonumber(till) > now and tonumber(till) <= now + settling then
  settled = math.max(1, math.min(limit, tonumber(number)))
end
if is_new or returns then
  settled = math.min(settled, share)
  redis.call('SET', KEYS[4], settled .. ' ' .. now + settling, 'PX', settling)
end
local cap = math.min(limit, settled)
local at, expired = 9, {}
for i = at + 1, at + busy do redis.call('ZADD', KEYS[1], now + lifetime, ARGV[i]) end
at = at + busy
for i = at + 1, at + idle do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    redis.call('ZADD', KEYS[1], now + lifetime, ARGV[i])
  else
    expired[#expired + 1] = ARGV[i]
  end
end
at = at + idle
for i = at + 1, at + returned do redis.call('ZREM', KEYS[1], ARGV[i]) end
at = at + returned
local mine, instances, seen = 0, 1, { [me] = true }
local held = redis.call('ZRANGE', KEYS[1], 0, -1)
for _, permit in ipairs(held) do
  local owner = string.match(permit, '^(.*):')
  if owner == me then mine = mine + 1 end
  if not seen[owner] then seen[owner] = true; instances = instances + 1 end
end
local others_wait = false
for _, owner in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if owner ~= me then others_wait = true end
  if not seen[owner] then seen[owner] = true; instances = instances + 1 end
end
local fair = math.floor(limit / instances)
local at_least = math.max(fair, 1)
if others_wait then cap = math.min(cap, at_least) end
local wanted, granted, free = #ARGV - at, 0, limit - #held
while granted < wanted and free > 0 and mine < cap do
  granted, free, mine = granted + 1, free - 1, mine + 1
  redis.call('ZADD', KEYS[1], now + lifetime, ARGV[at + granted])
end
local is_short = granted < wanted and mine < math.min(cap, at_least)
if is_short then
  redis.call('ZADD', KEYS[2], now + 1000, me)
else
  redis.call('ZREM', KEYS[2], me)
end
redis.call('PEXPIRE', KEYS[1], lifetime)
redis.call('PEXPIRE', KEYS[2], 1000)
local keep = limit
if others_wait then keep = fair end
return { granted, math.min(keep, settled), is_short and 1 or 0, expired }
";
