//! The output of a command: stdout, or a file that is replaced only by a complete output.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::terminal::Colours;

/// An opened output.
pub(in crate::cli) enum Output {
    /// stdout.
    Stdout,
    /// A pipe or a device, which has no content to replace.
    Direct(PathBuf, File),
    /// A temporary file beside the one that it will replace.
    Replacing(Unfinished),
}

/// A temporary file, which is removed unless it is finished.
pub(in crate::cli) struct Unfinished {
    file: File,
    path: PathBuf,
    target: PathBuf,
}

impl Output {
    /// Opens the output before there is anything to write, so that a wrong path fails early.
    pub(in crate::cli) fn open(path: Option<&Path>) -> Result<Self, String> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Self::Stdout);
        };
        Self::open_file(path).map_err(|error| at(path, &error))
    }

    fn open_file(path: &Path) -> io::Result<Self> {
        let target = resolve_links(path);
        match fs::metadata(&target) {
            Ok(existing) if existing.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(existing) if !existing.is_file() => {
                Ok(Self::Direct(path.to_owned(), File::options().write(true).open(path)?))
            }
            _ => Unfinished::new(target).map(Self::Replacing),
        }
    }

    pub(in crate::cli) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// The colours for what is written to it.
    pub(in crate::cli) fn colours(&self) -> Colours {
        if self.is_stdout() { Colours::of_stdout() } else { Colours::new(false) }
    }

    /// Writes the report completely, or leaves the file as it was.
    pub(in crate::cli) fn write(
        self,
        report: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String> {
        match self {
            Self::Stdout => {
                buffered(io::stdout().lock(), report).map_err(|error| format!("stdout: {error}"))
            }
            Self::Direct(path, file) => buffered(file, report).map_err(|error| at(&path, &error)),
            Self::Replacing(unfinished) => {
                let finished =
                    buffered(&unfinished.file, report).and_then(|()| unfinished.finish());
                finished.map_err(|error| at(&unfinished.target, &error))
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

/// The file behind symbolic links, which is replaced instead of the link.
fn resolve_links(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The temporary file for a report at this path.
pub(in crate::cli) fn unfinished_path(path: &Path) -> Option<PathBuf> {
    temporary_path(&resolve_links(path))
}

/// The name has the process id, so that two runs at once do not write to one file.
fn temporary_path(target: &Path) -> Option<PathBuf> {
    let name = target.file_name().and_then(OsStr::to_str)?;
    Some(target.with_file_name(format!(".{name}.{}.unfinished", std::process::id())))
}

impl Unfinished {
    fn new(target: PathBuf) -> io::Result<Self> {
        let path = temporary_path(&target).ok_or(io::ErrorKind::InvalidInput)?;
        let file = File::create(&path)?;
        let unfinished = Self { file, path, target };
        // The permissions of the old report hold for the new one.
        if let Ok(existing) = fs::metadata(&unfinished.target) {
            unfinished.file.set_permissions(existing.permissions())?;
        }
        Ok(unfinished)
    }

    fn finish(&self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, &self.target)
    }
}

impl Drop for Unfinished {
    /// After a rename there is nothing left to remove.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
