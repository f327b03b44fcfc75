//! Reads and writes the rows in Redis, in batches, so that no command takes long.

use std::collections::BTreeMap;
use std::time::Duration;

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::{Announcement, EVENT, SharedHistory};
use crate::redis::{self, Argument};
use frontend_map_catalog::moved::history::{Mirror, Row, RowChange};

/// The beginning of the scripts. Keys: the rows, those of an event. Arguments: those of the event, which is
/// appended if a foreign value was removed in place of the rows; the others follow from the fifth one on.
const REMOVE_FOREIGN: &str =
    "remove_foreign(KEYS[1], 'hash') if #replaced > 0 then append_event(2, 1) end";
/// Writes rows. A row replaces the present one if it was seen and that was imported, or if both are
/// of one kind and it was last seen later; a row of the same document is written again only after
/// an hour. Returns the indexes of the rows that were written, from 1.
const MERGE: &str = r"
local written = {}
for i = 6, #ARGV, 2 do
  local old, new = redis.call('HGET', KEYS[1], ARGV[i]), ARGV[i + 1]
  local keep = false
  if old and #old > 33 then
    local seen, seen_now = string.byte(old, 1), string.byte(new, 1)
    local time = tonumber(string.sub(old, 2, 17)) or 0
    local time_now = tonumber(string.sub(new, 2, 17))
    local same = string.sub(old, 18, 33) == string.sub(new, 18, 33)
    if seen ~= seen_now then keep = seen > seen_now
    elseif same then keep = time_now - time < 3600000
    else keep = time >= time_now end
  end
  if not keep then
    redis.call('HSET', KEYS[1], ARGV[i], new)
    written[#written + 1] = i / 2 - 2
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return written
";
/// Removes the rows that this instance has dropped, unless they were last seen later in Redis.
const REMOVE: &str = r"
for i = 5, #ARGV, 2 do
  local old = redis.call('HGET', KEYS[1], ARGV[i])
  if old and (tonumber(string.sub(old, 2, 17)) or 0) <= tonumber(ARGV[i + 1]) then
    redis.call('HDEL', KEYS[1], ARGV[i])
  end
end
return 1
";
/// Arguments: the cursor, about how many rows are read, the most bytes of a row. Returns the next
/// cursor and the rows. Rows that are too long are removed.
const READ: &str = r"
local found, rows = redis.call('HSCAN', KEYS[1], ARGV[5], 'COUNT', ARGV[6]), {}
for i = 1, #found[2], 2 do
  local name, value = found[2][i], found[2][i + 1]
  if #name + #value > tonumber(ARGV[7]) then
    redis.call('HDEL', KEYS[1], name)
  else
    rows[#rows + 1] = {name, value}
  end
end
return {found[1], rows}
";
/// The name and the value of a field.
type Field = (Vec<u8>, Vec<u8>);
/// The most bytes of a row: a path of at most 64 KiB, a host and a document.
const MAX_ROW_BYTES: usize = 128 << 10;
/// How many rows one script or one read has.
const BATCH: usize = 256;
/// How many rows are written and announced together.
const ROUND: usize = 32 * BATCH;
const WITHIN: Duration = Duration::from_secs(3);
/// How long the rows of a site stay after the last write: longer than `moved.keep_days` allows by
/// default.
const TTL: Duration = Duration::from_hours(1_000 * 24);
/// The length of the prefix of a sealed row, which the script that merges compares: whether the row
/// was seen (1) or is imported (0), when it was last seen (16 digits), and a hash of the document
/// (16 digits).
const PREFIX: usize = 33;
/// The longest path of a row.
const MAX_PATH: usize = u16::MAX as usize;

impl SharedHistory {
    /// Reads all rows of the sites. If Redis has fewer rows than this instance, all rows of
    /// this instance are written.
    pub(super) async fn read_all(&self) -> Result<(), redis::Error> {
        let sites = self.inner.sites.lock().clone();
        let mut count = 0;
        for (site, source) in sites {
            count += self.read_site(&site, source).await?;
        }
        if count < self.history.len() {
            self.history.keep_all(Mirror::Fleet);
        }
        Ok(())
    }

    /// Returns how many rows there are.
    async fn read_site(&self, site: &str, source: u128) -> Result<usize, redis::Error> {
        let key = self.key(source, site);
        let (mut cursor, mut count, mut refused) = (0_u64, 0, 0_usize);
        loop {
            let arguments = vec![cursor.into(), BATCH.into(), MAX_ROW_BYTES.into()];
            let (next, found): (u64, Vec<Field>) = self.run_script(READ, &key, arguments).await?;
            count += found.len();
            let rows: Vec<Row> = found
                .iter()
                .filter_map(|(name, value)| {
                    let name = std::str::from_utf8(name).ok()?;
                    open(&self.redis, source, site, name, value)
                })
                .collect();
            refused += found.len() - rows.len();
            self.merge(rows);
            cursor = next;
            if cursor == 0 {
                break;
            }
            tokio::task::yield_now().await;
        }
        if refused > 0 {
            tracing::warn!(
                site,
                refused,
                "rows of the shared path history are damaged; they are not used"
            );
        }
        Ok(count)
    }

    /// Writes the rows that this instance has added, and removes those that it has dropped.
    pub(super) async fn share_changes(&self) -> Result<(), redis::Error> {
        loop {
            let changes = self.history.take_changes(Mirror::Fleet, ROUND);
            if changes.is_empty() {
                return Ok(());
            }
            if let Err(error) = self.share(&changes).await {
                // So that no row is lost, all of them are written again. Dropped rows that Redis
                // still has are dropped there when they are read.
                self.history.keep_all(Mirror::Fleet);
                return Err(error);
            }
        }
    }

    async fn share(&self, changes: &[RowChange]) -> Result<(), redis::Error> {
        let (mut puts, mut removed) = (BTreeMap::new(), BTreeMap::new());
        for change in changes {
            match change {
                RowChange::Put(row) => {
                    let rows: &mut Vec<&Row> =
                        puts.entry(self.key(row.source, &row.site)).or_default();
                    rows.push(row);
                }
                RowChange::Removed { source, site, host, path, last_seen } => {
                    let rows: &mut Vec<(String, i64)> =
                        removed.entry(self.key(*source, site)).or_default();
                    rows.push((field(host, path), *last_seen));
                }
            }
        }
        let mut written = Vec::new();
        for (key, rows) in puts {
            for batch in rows.chunks(BATCH) {
                written.extend(self.put(&key, batch).await?);
            }
        }
        for (key, rows) in removed {
            for batch in rows.chunks(BATCH) {
                self.remove(&key, batch).await?;
            }
        }
        self.announce(written).await
    }

    /// Returns the rows that Redis did not have.
    async fn put(&self, key: &str, rows: &[&Row]) -> Result<Vec<Row>, redis::Error> {
        let mut arguments = vec![Argument::from(TTL.as_millis())];
        for row in rows {
            arguments.push(Argument::from(field(&row.host, &row.path)));
            arguments.push(Argument::from(value(&self.redis, row)));
        }
        let written: Vec<usize> = self.run_script(MERGE, key, arguments).await?;
        let row = |at: usize| rows.get(at.checked_sub(1)?).map(|row| (*row).clone());
        Ok(written.into_iter().filter_map(row).collect())
    }

    async fn remove(&self, key: &str, rows: &[(String, i64)]) -> Result<(), redis::Error> {
        let each = |(name, seen): &(String, i64)| [Argument::from(name), Argument::from(*seen)];
        let arguments = rows.iter().flat_map(each).collect();
        self.run_script::<i64>(REMOVE, key, arguments).await.map(drop)
    }

    async fn run_script<T: ::redis::FromRedisValue>(
        &self,
        script: &str,
        key: &str,
        arguments: Vec<Argument>,
    ) -> Result<T, redis::Error> {
        let body = serde_json::to_vec(&Announcement::Removed).expect("a word is JSON");
        let event = self.redis.sealed_event(EVENT, &body);
        let keys: Vec<String> = std::iter::once(key.to_owned()).chain(event.keys).collect();
        let arguments = event.arguments.into_iter().chain(arguments).collect();
        let script = format!("{REMOVE_FOREIGN}\n{script}");
        self.redis.script(&script, &keys, arguments, WITHIN).await
    }

    fn key(&self, source: u128, site: &str) -> String {
        let site = xxh3_128(site.as_bytes());
        self.redis.key(&format!("history:{site:032x}:{source:032x}"))
    }
}

/// The name of the field of a row. A host has no space.
fn field(host: &str, path: &str) -> String {
    format!("{host} {path}")
}

/// The value of the field of a row.
fn value(redis: &redis::Client, row: &Row) -> Vec<u8> {
    let Row { uid, document_id, locale, last_seen, is_imported, .. } = row;
    let document = xxh3_64(format!("{uid} {locale} {document_id}").as_bytes());
    let (seen, time) = (u8::from(!is_imported), (*last_seen).max(0));
    let prefix = format!("{seen}{time:016}{document:016x}");
    let text = format!("{time} {seen} {uid} {locale} {document_id}");
    let sealed =
        redis.seal(&context(row.source, &row.site, &field(&row.host, &row.path)), text.as_bytes());
    [prefix.as_bytes(), &sealed].concat()
}

/// The row of a field. `None`: the field is damaged or forged.
fn open(redis: &redis::Client, source: u128, site: &str, name: &str, value: &[u8]) -> Option<Row> {
    let (prefix, sealed) = value.split_at_checked(PREFIX)?;
    let text = redis.open(&context(source, site, name), sealed).ok()?;
    let (host, path) = name.split_once(' ')?;
    let mut parts = std::str::from_utf8(text).ok()?.splitn(5, ' ');
    let mut next = || parts.next();
    let (time, seen, uid, locale, id) = (next()?, next()?, next()?, next()?, next()?);
    let last_seen: i64 = time.parse().ok()?;
    let is_same = prefix.starts_with(format!("{seen}{last_seen:016}").as_bytes());
    (is_same && is_path(path)).then(|| Row {
        source,
        site: site.to_owned(),
        host: host.to_owned(),
        path: path.to_owned(),
        uid: uid.to_owned(),
        document_id: id.to_owned(),
        locale: locale.to_owned(),
        last_seen,
        is_imported: seen == "0",
    })
}

/// Whether a row can have this path.
pub(super) fn is_path(path: &str) -> bool {
    path.starts_with('/') && path.len() <= MAX_PATH
}

fn context(source: u128, site: &str, field: &str) -> String {
    format!("history of {source:032x} {site}: {field}")
}
