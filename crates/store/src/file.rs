//! The file of the store: a database of redb with one table for each kind of row.

mod change_log;
mod error;
mod history;
mod rows;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use redb::backends::{FileBackend, InMemoryBackend};
use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition};

use crate::snapshot_key::{StoredKey, prefix};
pub(super) use error::FileError;
use frontend_map_catalog::changes::log::Prepared;
use frontend_map_catalog::moved::history::{Row, RowChange};
use frontend_map_platform::clock::unix_ms;
use history::PATH_HISTORY;
pub use rows::{CONTENT_RUN, RowKey};
pub(super) use rows::{RowBytes, RowKind};

/// Numbers about the file, by name.
const META: TableDefinition<'_, &str, i64> = TableDefinition::new("meta");
/// The serialized snapshots.
const SNAPSHOTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("snapshots");

/// The format of the tables and of what is in them, but for the snapshots, which have one of their own.
const FORMAT: i64 = 1;
const FORMAT_NAME: &str = "format";
/// When the file was last written, in milliseconds since 1970.
const WRITTEN_NAME: &str = "written";

/// What the name of a file that was moved aside has behind that of the store; then a time.
pub(super) const ASIDE: &str = ".unreadable-";

/// The owner alone may read and write the file.
pub(super) const MODE: u32 = 0o600;
/// The memory for pages of the file, in bytes. Rows are read once, at the start.
const PAGE_CACHE: usize = 4 << 20;

/// An open file, which no other process can open meanwhile.
pub(super) struct StoreFile {
    database: Database,
    path: PathBuf,
}

/// A stored row.
pub(super) struct StoredRow {
    pub(super) bytes: Vec<u8>,
    /// When the file was last written, in milliseconds since 1970.
    pub(super) written: Option<i64>,
}

impl StoreFile {
    /// Opens the file, or creates it. Each page is checked, so that later reads find what was written.
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        let mut options = OpenOptions::new();
        let file =
            options.read(true).write(true).create(true).truncate(false).mode(MODE).open(path);
        let file = file.map_err(|error| FileError::of_opening(&error))?;
        let (was_empty, same_file) = (is_empty(&file), file.try_clone());
        if file.metadata().is_ok_and(|metadata| metadata.mode() & 0o077 != 0) {
            // The file of another user keeps its mode, and can be used all the same.
            let _ = file.set_permissions(fs::Permissions::from_mode(MODE));
        }
        let open = || -> Result<Self, FileError> {
            let database = database(FileBackend::new(file)?)?;
            Ok(Self { database, path: path.to_owned() })
        };
        let opened = without_panic(open).inspect_err(|_| {
            // What was begun on a full disk would be unreadable at the next attempt.
            if let Ok(file) = same_file
                && was_empty
                && file.try_lock().is_ok()
            {
                let _ = file.set_len(0);
            }
        })?;
        without_panic(|| opened.begin())?;
        Ok(opened)
    }

    /// Reads a file that is not written. What is written here stays in memory, such as the repair of a
    /// file whose process was killed; so it takes the memory of the file.
    pub(super) fn read(path: &Path) -> Result<Self, FileError> {
        let read = || -> io::Result<Result<Vec<u8>, FileError>> {
            let mut file = File::open(path)?;
            match file.try_lock_shared() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Err(FileError::InUse)),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(Ok(bytes))
        };
        let bytes = read().map_err(|error| FileError::of_system(&error))??;
        if bytes.is_empty() {
            return Err(FileError::Unreadable("it is empty".to_owned()));
        }
        let opened = without_panic(|| {
            let backend = InMemoryBackend::new();
            let of_system = |error| FileError::of_system(&io::Error::other(error));
            backend.set_len(bytes.len() as u64).map_err(of_system)?;
            backend.write(0, &bytes).map_err(of_system)?;
            drop(bytes);
            let database = database(backend)?;
            Ok(Self { database, path: path.to_owned() })
        })?;
        without_panic(|| opened.begin())?;
        Ok(opened)
    }

    /// Checks the format of the tables, or begins them in a new file.
    fn begin(&self) -> Result<(), FileError> {
        let transaction = self.database.begin_write()?;
        let is_new = transaction.list_tables()?.next().is_none();
        {
            let mut meta = transaction.open_table(META)?;
            let format = meta.get(FORMAT_NAME)?.map(|format| format.value());
            match format {
                Some(FORMAT) => {}
                None if is_new => _ = meta.insert(FORMAT_NAME, FORMAT)?,
                Some(other) => {
                    return Err(FileError::Unreadable(format!("its format {other} is unknown")));
                }
                None => return Err(FileError::Unreadable("it is not a store".to_owned())),
            }
            transaction.open_table(SNAPSHOTS)?;
            transaction.open_table(PATH_HISTORY)?;
            for kind in RowKind::ALL {
                transaction.open_table(kind.table())?;
            }
            change_log::open(&transaction)?;
        }
        Ok(transaction.commit()?)
    }

    /// Writes a snapshot and the changes that it makes, and drops those of the same site and content type
    /// with other fingerprints, in one transaction.
    pub(super) fn write(
        &self,
        site: &str,
        uid: &str,
        key: &StoredKey,
        bytes: &[u8],
        changes: Option<&Prepared>,
        keep: usize,
    ) -> Result<(), FileError> {
        writing(|| {
            let transaction = self.database.begin_write()?;
            {
                let mut snapshots = transaction.open_table(SNAPSHOTS)?;
                let (from, to) = range(site, uid);
                snapshots.retain_in(&*from..&*to, |stored, _| stored == key.0)?;
                snapshots.insert(&*key.0, bytes)?;
                transaction.open_table(META)?.insert(WRITTEN_NAME, unix_ms())?;
            }
            change_log::write(&transaction, changes, keep)?;
            Ok(transaction.commit()?)
        })
    }

    /// Writes changes of the path history, in order, in one transaction.
    pub(super) fn write_history(&self, changes: &[RowChange]) -> Result<(), FileError> {
        writing(|| {
            let transaction = self.database.begin_write()?;
            history::write(&mut transaction.open_table(PATH_HISTORY)?, changes)?;
            Ok(transaction.commit()?)
        })
    }

    /// Gives `take` all rows of the path history.
    pub(super) fn read_history(&self, take: impl FnMut(Row)) -> Result<(), FileError> {
        without_panic(|| {
            let transaction = self.database.begin_read()?;
            history::read(&transaction.open_table(PATH_HISTORY)?, take)
        })
    }

    /// Drops the snapshots and the last runs of a content type of a site, and writes the changes that this
    /// makes.
    pub(super) fn remove(
        &self,
        site: &str,
        uid: &str,
        changes: Option<&Prepared>,
        keep: usize,
    ) -> Result<(), FileError> {
        writing(|| {
            let transaction = self.database.begin_write()?;
            let (from, to) = range(site, uid);
            transaction.open_table(SNAPSHOTS)?.retain_in(&*from..&*to, |_, _| false)?;
            let mut runs = transaction.open_table(RowKind::Run.table())?;
            runs.remove(&*RowKey::run(site, uid).key)?;
            runs.remove(&*RowKey::run(site, &format!("{uid}{CONTENT_RUN}")).key)?;
            drop(runs);
            change_log::write(&transaction, changes, keep)?;
            Ok(transaction.commit()?)
        })
    }

    /// The content types of a site of which there are snapshots.
    pub(super) fn types(&self, site: &str) -> Result<BTreeSet<String>, FileError> {
        without_panic(|| {
            let transaction = self.database.begin_read()?;
            let mut types = BTreeSet::new();
            for row in transaction.open_table(SNAPSHOTS)?.iter()? {
                let (key, _) = row?;
                let mut names = key.value().split(' ');
                if names.next() == Some(site) {
                    types.extend(names.next().map(str::to_owned));
                }
            }
            Ok(types)
        })
    }

    /// The snapshots of a content type of a site, by whatever rules.
    pub(super) fn snapshots(&self, site: &str, uid: &str) -> Result<Vec<StoredRow>, FileError> {
        without_panic(|| {
            let transaction = self.database.begin_read()?;
            let meta = transaction.open_table(META)?;
            let written = meta.get(WRITTEN_NAME)?.map(|written| written.value());
            let (from, to) = range(site, uid);
            let mut found = Vec::new();
            for row in transaction.open_table(SNAPSHOTS)?.range(&*from..&*to)? {
                found.push(StoredRow { bytes: row?.1.value().to_vec(), written });
            }
            Ok(found)
        })
    }

    /// The size of the file, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }
}

/// Opens a database, of which each page is checked.
fn database(backend: impl StorageBackend) -> Result<Database, FileError> {
    let mut builder = Database::builder();
    builder.set_cache_size(PAGE_CACHE).set_check_integrity_on_open(true);
    Ok(builder.create_with_backend(backend)?)
}

/// The bounds of the keys of a content type of a site; the upper one is exclusive.
fn range(site: &str, uid: &str) -> (String, String) {
    let from = prefix(site, uid);
    // Behind all hexadecimal digits.
    let to = format!("{from}~");
    (from, to)
}

/// Moves a file aside that cannot be read, so that a new one can begin. Returns its new path: a free
/// one, with `mark` and the time in seconds since 1970 behind the name.
pub(super) fn move_aside(path: &Path, mark: &str) -> io::Result<PathBuf> {
    let aside = |seconds: i64| {
        let mut aside = path.as_os_str().to_owned();
        aside.push(format!("{mark}{seconds}"));
        PathBuf::from(aside)
    };
    let mut free = (unix_ms() / 1000..).map(aside).filter(|aside| !aside.exists());
    let aside = free.next().expect("no folder has a file for each second");
    fs::rename(path, &aside)?;
    Ok(aside)
}

/// The folder of a file; that of the process for a name alone.
fn folder_of(path: &Path) -> Option<&Path> {
    let folder = path.parent()?;
    Some(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

/// How many files were moved aside, by this process or one before it, and are still there.
pub(super) fn moved_aside(path: &Path) -> usize {
    let (Some(folder), Some(name)) = (folder_of(path), path.file_name()) else { return 0 };
    let begin = format!("{}{ASIDE}", name.to_string_lossy());
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter(|file| file.file_name().to_string_lossy().starts_with(&begin)).count()
}

/// A damaged file may lead to a panic in the database, although all of it is checked first.
fn without_panic<T>(work: impl FnOnce() -> Result<T, FileError>) -> Result<T, FileError> {
    let panicked = || FileError::Unreadable("its database has failed unexpectedly".to_owned());
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(panicked()))
}

/// Catches a panic while the file is written, which may be sound.
fn writing(work: impl FnOnce() -> Result<(), FileError>) -> Result<(), FileError> {
    let panicked = || FileError::Io("its database has failed unexpectedly".to_owned());
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(panicked()))
}

fn is_empty(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.len() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_of_a_name_alone_is_that_of_the_process() {
        let folder = |path: &str| folder_of(Path::new(path)).map(Path::to_owned);
        assert_eq!(folder("map.redb"), Some(".".into()));
        assert_eq!(folder("data/map.redb"), Some("data".into()));
        assert_eq!(folder("/map.redb"), Some("/".into()));
        assert!(fs::read_dir(folder("map.redb").unwrap()).is_ok());
    }
}
