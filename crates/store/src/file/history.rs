//! The rows of the path history in the file.

use redb::{ReadableTable, Table, TableDefinition};

use super::FileError;
use frontend_map_catalog::moved::history::{Row, RowChange};

/// By source, site, host and path: what the path led to, and when it was last seen. None of the names
/// in front of the last one has a space.
pub(super) const PATH_HISTORY: TableDefinition<'_, &str, &str> =
    TableDefinition::new("path_history");

/// Writes changes in order.
pub(super) fn write(
    table: &mut Table<'_, &str, &str>,
    changes: &[RowChange],
) -> Result<(), FileError> {
    for change in changes {
        match change {
            RowChange::Put(row) => {
                let key = key(row.source, &row.site, &row.host, &row.path);
                table.insert(&*key, &*value(row))?;
            }
            RowChange::Removed { source, site, host, path, .. } => {
                table.remove(&*key(*source, site, host, path))?;
            }
        }
    }
    Ok(())
}

/// Gives `take` all rows, in order. One that cannot be read is left out.
pub(super) fn read(
    table: &impl ReadableTable<&'static str, &'static str>,
    mut take: impl FnMut(Row),
) -> Result<(), FileError> {
    for row in table.iter()? {
        let (key, value) = row?;
        if let Some(row) = row_of(key.value(), value.value()) {
            take(row);
        }
    }
    Ok(())
}

fn key(source: u128, site: &str, host: &str, path: &str) -> String {
    format!("{source:032x} {site} {host} {path}")
}

/// A row from a list of redirects has an `i` in front of its time.
fn value(Row { last_seen, locale, uid, document_id, is_imported, .. }: &Row) -> String {
    let mark = if *is_imported { "i" } else { "" };
    format!("{mark}{last_seen} {locale} {uid} {document_id}")
}

fn row_of(key: &str, value: &str) -> Option<Row> {
    let mut names = key.splitn(4, ' ');
    let mut next = || names.next();
    let (source, site, host, path) = (next()?, next()?, next()?, next()?);
    let mut values = value.splitn(4, ' ');
    let mut next = || values.next();
    let (last_seen, locale, uid, document_id) = (next()?, next()?, next()?, next()?);
    Some(Row {
        source: u128::from_str_radix(source, 16).ok()?,
        site: site.to_owned(),
        host: host.to_owned(),
        path: path.to_owned(),
        uid: uid.to_owned(),
        document_id: document_id.to_owned(),
        locale: locale.to_owned(),
        last_seen: last_seen.trim_start_matches('i').parse().ok()?,
        is_imported: last_seen.starts_with('i'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_is_read_as_it_was_written() {
        let row = Row {
            source: u128::MAX / 3,
            site: "my.shop-2".to_owned(),
            host: String::new(),
            path: "/en/a%20b".to_owned(),
            uid: "api::a.a".to_owned(),
            document_id: "an id  with spaces".to_owned(),
            locale: "pt-BR".to_owned(),
            last_seen: -7,
            is_imported: true,
        };
        let key = key(row.source, &row.site, &row.host, &row.path);
        assert_eq!(row_of(&key, &value(&row)), Some(row));
        assert_eq!(row_of("no row", "1 en api::a.a id"), None);
        assert_eq!(row_of(&key, "late en api::a.a id"), None);
    }
}
