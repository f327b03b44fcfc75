//! The output folder. Each file is replaced atomically.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use frontend_map_catalog::sitemap::files::{INDEX, ROBOTS, SITEMAP, parse_name};

/// An output folder, and the names of the files written to it.
pub(super) struct Folder {
    path: PathBuf,
    gzip: bool,
    written: HashSet<String>,
}

impl Folder {
    /// Creates the folder if it does not exist.
    pub(super) fn open(path: &Path, gzip: bool) -> Result<Self, String> {
        fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { path: path.to_owned(), gzip, written: HashSet::new() })
    }

    /// Writes a file and, if wanted, its compressed copy.
    pub(super) fn write(&mut self, name: &str, text: &[u8]) -> Result<(), String> {
        let failed = |error| format!("{}: {error}", self.path.join(name).display());
        self.replace(name, text).map_err(failed)?;
        self.written.insert(name.to_owned());
        if self.gzip {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            let compressed = encoder.write_all(text).and_then(|()| encoder.finish());
            let name = format!("{name}.gz");
            compressed.and_then(|bytes| self.replace(&name, &bytes)).map_err(failed)?;
            self.written.insert(name);
        }
        Ok(())
    }

    /// A server that reads the folder at the same time sees the old file or the new one.
    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let unfinished = self.path.join(format!(".{name}.unfinished"));
        fs::write(&unfinished, bytes)?;
        fs::rename(unfinished, self.path.join(name))
    }

    /// Removes files of these content types that an earlier run wrote and this one did not: the new
    /// index does not list them. Compressed copies that were not written again are removed too.
    pub(super) fn remove_leftovers(&self, uids: &[&str]) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: {error}", self.path.display());
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let plain = name.strip_suffix(".gz").unwrap_or(&name);
            let ours = parse_name(plain).is_some_and(|(uid, _)| uids.contains(&uid.as_str()));
            let ours = ours || (plain != name && [INDEX, ROBOTS, SITEMAP].contains(&plain));
            if ours && !self.written.contains(&name) {
                fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }
}
