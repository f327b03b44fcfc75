//! Where a report goes: to stdout, or to a file that is there as a whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A place for a report, known to be writable.
pub(super) enum Output {
    /// The standard output.
    Stdout,
    /// A pipe or a device: what is written is gone, so there is nothing to replace.
    Straight(PathBuf, File),
    /// A file beside the one that it will become.
    Beside(Unfinished),
}

/// A file that is removed unless it is finished.
pub(super) struct Unfinished {
    file: File,
    path: PathBuf,
    becomes: PathBuf,
}

impl Output {
    /// Opens it before there is anything to write, so that a bad path is known early.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, String> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Self::Stdout);
        };
        Self::open_file(path).map_err(|error| at(path, &error))
    }

    fn open_file(path: &Path) -> io::Result<Self> {
        let becomes = behind_links(path);
        match fs::metadata(&becomes) {
            Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => {
                Ok(Self::Straight(path.to_owned(), File::options().write(true).open(path)?))
            }
            _ => Unfinished::new(becomes).map(Self::Beside),
        }
    }

    pub(super) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Writes the report, all of it or nothing.
    pub(super) fn write(
        self,
        report: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String> {
        match self {
            Self::Stdout => {
                buffered(io::stdout().lock(), report).map_err(|error| format!("stdout: {error}"))
            }
            Self::Straight(path, file) => buffered(file, report).map_err(|error| at(&path, &error)),
            Self::Beside(unfinished) => {
                let finished =
                    buffered(&unfinished.file, report).and_then(|()| unfinished.finish());
                finished.map_err(|error| at(&unfinished.becomes, &error))
            }
        }
    }
}

fn buffered(
    out: impl Write,
    report: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    report(&mut out)?;
    out.flush()
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// Behind a link the file is replaced, not the link.
fn behind_links(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The file beside this one that a report is written to at first.
pub(super) fn unfinished(path: &Path) -> Option<PathBuf> {
    beside(&behind_links(path))
}

/// With a name of its own, so that two runs at once do not write into one file.
fn beside(becomes: &Path) -> Option<PathBuf> {
    let name = becomes.file_name().and_then(OsStr::to_str)?;
    Some(becomes.with_file_name(format!(".{name}.{}.unfinished", std::process::id())))
}

impl Unfinished {
    fn new(becomes: PathBuf) -> io::Result<Self> {
        let path = beside(&becomes).ok_or(io::ErrorKind::InvalidInput)?;
        let file = File::create(&path)?;
        let unfinished = Self { file, path, becomes };
        // Who may not read the last report may not read the next one.
        if let Ok(there) = fs::metadata(&unfinished.becomes) {
            unfinished.file.set_permissions(there.permissions())?;
        }
        Ok(unfinished)
    }

    fn finish(&self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, &self.becomes)
    }
}

impl Drop for Unfinished {
    /// After a rename there is nothing left to remove.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
