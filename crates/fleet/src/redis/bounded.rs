//! Reads of hashes and streams by scripts, which remove or leave out what is too long before it is
//! sent: another program may have written values of any size at the keys of a fleet.

use std::time::Duration;

use super::{Argument, Client, Error};

/// The most bytes of an entry of a stream, in all its fields.
const MAX_ENTRY_BYTES: usize = 1 << 20;

/// Arguments: the most bytes of a value, the names of the fields. Returns the values; if one of them
/// is too long, the key is removed.
const FIELDS: &str = r"
remove_foreign(KEYS[1], 'hash')
local found = {}
for i = 2, #ARGV do
  local value = redis.call('HGET', KEYS[1], ARGV[i])
  if value and #value > tonumber(ARGV[1]) then
    replace(KEYS[1])
    return {}
  end
  found[i - 1] = value
end
return found
";
/// Arguments: the ids of the first and the last entry, the most entries, the most bytes of an entry.
/// An entry that is too long comes without its fields.
const ENTRIES: &str = r"
remove_foreign(KEYS[1], 'stream')
local found = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[2], 'COUNT', ARGV[3])
for _, entry in ipairs(found) do
  local bytes = 0
  for _, text in ipairs(entry[2]) do bytes = bytes + #text end
  if bytes > tonumber(ARGV[4]) then entry[2] = {} end
end
return found
";

/// An entry of a stream, which any program may have written.
#[derive(Clone, Debug)]
pub struct StreamEntry {
    /// The id, `<number>-<number>`.
    pub id: String,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The id and the fields of an entry, as Redis sends them.
pub(super) type EntryReply = (String, Vec<(Vec<u8>, Vec<u8>)>);

impl StreamEntry {
    pub(super) fn of(reply: EntryReply) -> Self {
        let (id, fields) = reply;
        Self { id, fields }
    }

    /// The value of the first field with this name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let field = self.fields.iter().find(|(field, _)| field == name.as_bytes());
        field.map(|(_, value)| value.as_slice())
    }

    /// The value of the first field with this name, if it is UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.get(name)?).ok()
    }
}

impl Client {
    /// The fields of a hash with these names. If one of them has more than `max_bytes`, or the key
    /// has a value of another type, the key is removed, and there are none.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn fields<const N: usize>(
        &self,
        key: &str,
        names: [&str; N],
        max_bytes: usize,
        within: Duration,
    ) -> Result<[Option<Vec<u8>>; N], Error> {
        let arguments = std::iter::once(Argument::from(max_bytes));
        let arguments = arguments.chain(names.map(Argument::from)).collect();
        let found: Vec<Option<Vec<u8>>> =
            self.script(FIELDS, &[key.to_owned()], arguments, within).await?;
        let mut found = found.into_iter();
        Ok(names.map(|_| found.next().flatten()))
    }

    /// At most `count` entries of a stream, from one id to another one. An entry of more than
    /// a mebibyte has no fields. A value of another type is removed.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn entries(
        &self,
        key: &str,
        from: &str,
        to: &str,
        count: usize,
        within: Duration,
    ) -> Result<Vec<StreamEntry>, Error> {
        let arguments = vec![from.into(), to.into(), count.into(), MAX_ENTRY_BYTES.into()];
        let found: Vec<EntryReply> =
            self.script(ENTRIES, &[key.to_owned()], arguments, within).await?;
        Ok(found.into_iter().map(StreamEntry::of).collect())
    }
}
