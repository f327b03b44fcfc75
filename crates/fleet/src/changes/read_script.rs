//! The script that reads a part of a log.

use super::fields;

/// The most bytes of a sealed part: those of its changes, and what compression and seal may add.
pub(super) const MAX_PART_BYTES: usize = 1 << 20;

/// The most bytes of all fields of the head of a log, with 64 more for each: a
/// [`LogValue`](super::fields::LogValue), and a field for each content type.
pub(super) const MAX_HEAD_BYTES: usize = 2 * fields::MAX_BYTES;

/// Arguments: the sealed identity of the known log, the last change that was read of it, the
/// largest number of parts, the seal of the last part that was read, the most bytes of the head and
/// of a part. Returns the fields of the head, the parts after that change (from the beginning if the
/// log is another one), and 1 if the last part that was read is another one now. Values that are too
/// long or of another type are removed.
pub(super) const READ: &str = r"
remove_foreign(KEYS[1], 'hash')
remove_foreign(KEYS[2], 'stream')
local head, bytes, cursor = {}, 0, '0'
repeat
  local found = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', 1000)
  cursor = found[1]
  for _, text in ipairs(found[2]) do
    head[#head + 1] = text
    bytes = bytes + #text + 32
  end
  if bytes > tonumber(ARGV[5]) then
    replace(KEYS[1])
    return {{}, {}, 0}
  end
until cursor == '0'
local log = redis.call('HGET', KEYS[1], 'log') or ''
local after, differs = ARGV[2], 0
if log ~= ARGV[1] then after = '0' end
local tail = redis.call('XRANGE', KEYS[2], after .. '-0', after .. '-0')[1]
if tail and #ARGV[4] > 0 and string.sub(tail[2][2], -#ARGV[4]) ~= ARGV[4] then differs = 1 end
local parts = redis.call('XRANGE', KEYS[2], '(' .. after .. '-0', '+', 'COUNT', ARGV[3])
for _, part in ipairs(parts) do
  for _, text in ipairs(part[2]) do
    if #text > tonumber(ARGV[6]) then
      replace(KEYS[2])
      return {head, {}, differs}
    end
  end
end
return {head, parts, differs}
";
