//! One file of a history, written from its beginning to its end.

use std::{
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use super::{clock::Time, line::Line};

/// A transcript that is being written. Its bytes go to the disk as they come.
pub(crate) struct Transcript {
    path: PathBuf,
    file: BufWriter<File>,
    n_bytes: u64,
}

impl Transcript {
    /// Makes the file `path`, and the folders above it.
    pub(crate) fn create(path: &Path) -> Result<Self, String> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| fault(folder, &error))?;
        }
        let file = File::create(path).map_err(|error| fault(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(1 << 18, file),
            n_bytes: 0,
        })
    }

    /// Writes `line` and its end.
    pub(crate) fn line(&mut self, line: &Line) -> Result<(), String> {
        self.piece(line.as_str())?;
        self.piece("\n")
    }

    /// Writes a part of a line.
    pub(crate) fn piece(&mut self, piece: &str) -> Result<(), String> {
        self.file.write_all(piece.as_bytes()).map_err(|error| fault(&self.path, &error))?;
        self.n_bytes += piece.len() as u64;
        Ok(())
    }

    /// Closes the file, last changed at `at`. Gives how many bytes it has.
    pub(crate) fn finish(self, at: Time) -> Result<u64, String> {
        let Self { path, file, n_bytes } = self;
        let file = file.into_inner().map_err(|error| fault(&path, error.error()))?;
        let modified = UNIX_EPOCH + Duration::from_millis(at.0);
        file.set_modified(modified).map_err(|error| fault(&path, &error))?;
        Ok(n_bytes)
    }
}

fn fault(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write `{}`: {error}", path.display())
}
