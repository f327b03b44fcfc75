//! The form of a row of the path history in Redis.

use xxhash_rust::xxh3::xxh3_64;

use crate::redis;
use frontend_map_catalog::moved::history::Row;

/// The length of the prefix of a sealed row, which the script that merges compares: whether the row
/// was seen (1) or is imported (0), when it was last seen (16 digits), and a hash of the document
/// (16 digits).
pub(super) const PREFIX: usize = 33;
/// The longest path of a row.
const MAX_PATH: usize = u16::MAX as usize;

/// The name of the field of a row. A host has no space.
pub(super) fn field(host: &str, path: &str) -> String {
    format!("{host} {path}")
}

/// The value of the field of a row.
pub(super) fn value(redis: &redis::Client, row: &Row) -> Vec<u8> {
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
pub(super) fn open(
    redis: &redis::Client,
    source: u128,
    site: &str,
    name: &str,
    value: &[u8],
) -> Option<Row> {
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
