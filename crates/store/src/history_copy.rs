//! A copy of the path history as CSV beside the file of the store: written once a day and at a stop,
//! and read when that file cannot be used. Lists of redirects (`moved.import`) have the same form.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use crate::file::{MODE, move_aside};
use frontend_map_catalog::moved::history::Row;

/// How old a copy may become.
const PERIOD: Duration = Duration::from_hours(24);
/// The columns. `moved.import` reads the first two; `row` is the row of the history as JSON.
const HEADER: [&str; 4] = ["from", "to", "row", "checksum"];
/// What the name of a copy that was moved aside has behind that of the copy; then a time.
const ASIDE: &str = ".damaged-";

/// The copy beside the file of a store.
#[derive(Debug)]
pub struct HistoryCopy {
    path: PathBuf,
    /// Whether the file has rows that could not be read, so that it must not be replaced. Locked while
    /// the file is read or written.
    has_unread: Mutex<bool>,
}

/// A row to be written.
#[derive(Clone, Debug)]
pub struct CopyRow {
    /// The former path, as a URL where the site has a base URL.
    pub from: String,
    /// Where the document is now; empty if it has no URL.
    pub to: String,
    /// The row of the history.
    pub row: Row,
}

/// What a copy has.
#[derive(Debug, Default)]
pub(super) struct CopiedRows {
    pub(super) rows: Vec<Row>,
    /// Rows that are damaged, or of another version.
    pub(super) damaged: u64,
}

impl HistoryCopy {
    pub(super) fn of_store(store: &Path) -> Self {
        Self { path: with_suffix(store, ".history.csv"), has_unread: Mutex::new(false) }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is a day old, or has rows that could not be read. `None`: there is none.
    pub fn is_due(&self) -> Option<bool> {
        let modified = fs::metadata(&self.path).and_then(|metadata| metadata.modified()).ok()?;
        Some(*self.has_unread.lock() || is_due(modified, SystemTime::now()))
    }

    /// Replaces it as a whole by the rows that `rows` yields. Returns their number. A copy with rows
    /// that could not be read is moved aside before. Of two writes, the second one waits.
    ///
    /// # Errors
    /// The errors of the system; the copy from before stays then, or was moved aside.
    pub fn write(&self, rows: impl Iterator<Item = CopyRow>) -> io::Result<u64> {
        let mut has_unread = self.has_unread.lock();
        if *has_unread {
            self.move_aside()?;
            *has_unread = false;
        }
        let unfinished = with_suffix(&self.path, ".new");
        let written = write(&unfinished, rows).and_then(|number| {
            fs::rename(&unfinished, &self.path)?;
            Ok(number)
        });
        if written.is_err() {
            // It may be what fills the disk.
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    fn move_aside(&self) -> io::Result<()> {
        match move_aside(&self.path, ASIDE) {
            Ok(aside) => {
                let (path, aside) = (self.path.display(), aside.display());
                tracing::error!(%path, %aside, "the copy of the former paths has rows that cannot be read, and was moved aside");
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The rows of the copy; none without one.
    ///
    /// # Errors
    /// The errors of the system.
    pub(super) fn read(&self) -> io::Result<CopiedRows> {
        let mut has_unread = self.has_unread.lock();
        let read = read(&self.path);
        *has_unread = read.as_ref().map_or(true, |copied| copied.damaged > 0);
        read
    }
}

fn read(path: &Path) -> io::Result<CopiedRows> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(CopiedRows::default());
        }
        opened => opened?,
    };
    let mut reader = ReaderBuilder::new().flexible(true).has_headers(false).from_reader(file);
    let (mut record, mut copied) = (StringRecord::new(), CopiedRows::default());
    let mut is_first = true;
    loop {
        let is_read = reader.read_record(&mut record);
        let is_header = std::mem::take(&mut is_first) && record == HEADER[..];
        match is_read {
            Ok(false) => return Ok(copied),
            Ok(true) if is_header => {}
            Ok(true) => match row_of(&record) {
                Some(row) => copied.rows.push(row),
                None => copied.damaged += 1,
            },
            Err(error) if error.is_io_error() => return Err(error.into()),
            // Text that is not UTF-8: the reader goes on behind it.
            Err(_) => copied.damaged += 1,
        }
    }
}

fn is_due(modified: SystemTime, now: SystemTime) -> bool {
    // After the clock was set back, a copy from the future is as good as none.
    now.duration_since(modified).map_or(true, |age| age >= PERIOD)
}

fn write(path: &Path, rows: impl Iterator<Item = CopyRow>) -> io::Result<u64> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(MODE).open(path)?;
    let mut writer = WriterBuilder::new().from_writer(BufWriter::new(&file));
    writer.write_record(HEADER)?;
    let mut number = 0;
    for row in rows {
        writer.write_record(fields(&row))?;
        number += 1;
    }
    writer.into_inner().map_err(csv::IntoInnerError::into_error)?.flush()?;
    file.sync_all()?;
    Ok(number)
}

fn fields(CopyRow { from, to, row }: &CopyRow) -> [String; HEADER.len()] {
    let row = serde_json::to_string(row).expect("texts and numbers are JSON");
    let checksum = checksum(from, to, &row);
    [from.clone(), to.clone(), row, checksum]
}

/// Of all other fields of a row: a damaged one would be a redirect that never was.
fn checksum(from: &str, to: &str, row: &str) -> String {
    format!("{:016x}", xxh3_64(format!("{from}\n{to}\n{row}\n").as_bytes()))
}

/// `None`: it is damaged, or lacks a field.
fn row_of(record: &StringRecord) -> Option<Row> {
    if record.len() != HEADER.len() {
        return None;
    }
    let (from, to, row, sum): (&str, &str, &str, &str) = record.deserialize(None).ok()?;
    if sum != checksum(from, to, row) {
        return None;
    }
    serde_json::from_str(row).ok()
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = OsString::from(path);
    path.push(suffix);
    PathBuf::from(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: i64) -> CopyRow {
        let row = Row {
            source: u128::MAX / 3,
            site: "main".to_owned(),
            host: "www.example.com".to_owned(),
            path: format!("/en/\"{n}\",\n"),
            uid: "api::a.a".to_owned(),
            document_id: "an id".to_owned(),
            locale: "pt-BR".to_owned(),
            last_seen: n,
            is_imported: n % 2 == 0,
        };
        let from = format!("https://www.example.com{}", row.path);
        CopyRow { from, to: format!("https://www.example.com/{n}"), row }
    }

    #[test]
    fn rows_are_read_as_they_were_written_behind_the_columns_of_a_list_of_redirects() {
        let folder = tempfile::tempdir().unwrap();
        let copy = HistoryCopy::of_store(&folder.path().join("store.redb"));
        assert_eq!(copy.is_due(), None);
        assert!(copy.read().unwrap().rows.is_empty());
        let rows: Vec<CopyRow> = (0..3).map(row).collect();
        assert_eq!(copy.write(rows.iter().cloned()).unwrap(), 3);
        assert_eq!(copy.is_due(), Some(false));
        let read = copy.read().unwrap();
        let expected: Vec<Row> = rows.iter().map(|row| row.row.clone()).collect();
        assert_eq!((read.rows, read.damaged), (expected, 0));
        assert!(fs::read_to_string(copy.path()).unwrap().starts_with("from,to,row,"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no unfinished file");
    }

    #[test]
    fn row_with_a_flipped_bit_is_left_out_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let copy = HistoryCopy::of_store(&folder.path().join("store.redb"));
        copy.write((0..20).map(row)).unwrap();
        let good = fs::read(copy.path()).unwrap();
        let all = copy.read().unwrap().rows;
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(copy.path(), &bytes).unwrap();
            let read = copy.read().unwrap();
            assert!(read.rows.iter().all(|row| all.contains(row)), "byte {at}");
            assert!(read.rows.len() == all.len() || read.damaged > 0, "byte {at}");
        }
    }

    /// The files that were moved aside.
    fn aside(copy: &HistoryCopy) -> Vec<PathBuf> {
        let files = fs::read_dir(copy.path().parent().unwrap()).unwrap();
        let files = files.map(|file| file.unwrap().path());
        files.filter(|path| path.to_string_lossy().contains(".csv.damaged-")).collect()
    }

    #[test]
    fn copy_with_rows_that_cannot_be_read_is_moved_aside_before_it_is_replaced() {
        type Damage = fn(&Path);
        let damage: [(&str, Damage); 4] = [
            ("a damaged row", |path| {
                let text = fs::read_to_string(path).unwrap();
                fs::write(path, text.replace("pt-BR", "pt-PT")).unwrap();
            }),
            ("two rows in one", |path| {
                let text = fs::read_to_string(path).unwrap();
                let row = text.find("https://www.example.com/1").unwrap();
                let end = text[..row].rfind("\n\"").unwrap();
                fs::write(path, format!("{},{}", &text[..end], &text[end + 1..])).unwrap();
            }),
            ("rows that lack a field", |path| {
                let text = fs::read_to_string(path).unwrap();
                fs::write(path, text.replace("is_imported", "is_copied")).unwrap();
            }),
            ("a file that cannot be read", |path| {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            }),
        ];
        for (what, damage) in damage {
            let folder = tempfile::tempdir().unwrap();
            let copy = HistoryCopy::of_store(&folder.path().join("store.redb"));
            copy.write((0..3).map(row)).unwrap();
            damage(copy.path());
            let before = fs::read(copy.path()).ok();
            assert!(copy.read().map_or(true, |read| read.damaged > 0), "{what}");
            assert_eq!((copy.is_due(), aside(&copy).len()), (Some(true), 0), "{what}");
            assert_eq!(copy.write((0..4).map(row)).unwrap(), 4, "{what}");
            let aside_before = aside(&copy);
            assert_eq!(aside_before.len(), 1, "{what}");
            assert_eq!(fs::read(&aside_before[0]).ok(), before, "{what}");
            // The new copy can be read, and is replaced as usual.
            assert_eq!(copy.read().unwrap().rows.len(), 4, "{what}");
            assert_eq!(copy.is_due(), Some(false), "{what}");
            copy.write((0..5).map(row)).unwrap();
            assert_eq!(aside(&copy), aside_before, "{what}");
            // Within the same second, another name is free.
            damage(copy.path());
            let _ = copy.read();
            copy.write((0..5).map(row)).unwrap();
            assert_eq!(aside(&copy).len(), 2, "{what}");
        }
    }

    #[test]
    fn writes_are_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let copy = HistoryCopy::of_store(&folder.path().join("store.redb"));
        let is_locked = || copy.has_unread.is_locked();
        let rows = (0..2).inspect(|_| assert!(is_locked()));
        assert_eq!(copy.write(rows.map(row)).unwrap(), 2);
        assert!(!is_locked());
    }

    #[test]
    fn copy_is_due_after_a_day_and_when_the_clock_was_set_back() {
        let now = SystemTime::now();
        for (age, expected) in [(0, false), (PERIOD.as_secs() - 1, false), (PERIOD.as_secs(), true)]
        {
            assert_eq!(is_due(now - Duration::from_secs(age), now), expected, "{age}");
        }
        assert!(is_due(now + Duration::from_mins(1), now));
    }
}
