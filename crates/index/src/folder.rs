//! The index's folder: generations side by side, and a small file that names the one in use.
//!
//! ```text
//! index/CURRENT      1.1.3
//! index/write.lock   held by the one that writes
//! index/1.1.3/       schema 1, words 1, built for the third time
//! ```

use std::{
    fmt,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    IndexError,
    schema::{SCHEMA_VERSION, WORDS_VERSION},
};

const CURRENT: &str = "CURRENT";
const LOCK: &str = "write.lock";

/// An index that was built once, and kept up to date since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Generation {
    schema: u32,
    words: u32,
    number: u32,
}

impl Generation {
    fn parse(name: &str) -> Option<Self> {
        let mut numbers = name.trim_end().split('.').map(|it| it.parse::<u32>().ok());
        let generation =
            Self { schema: numbers.next()??, words: numbers.next()??, number: numbers.next()?? };
        numbers.next().is_none().then_some(generation)
    }

    /// Whether this version can read it.
    pub(crate) const fn is_ours(self) -> bool {
        self.schema == SCHEMA_VERSION && self.words == WORDS_VERSION
    }

    /// Whether a newer version made it.
    pub(crate) fn is_newer(self) -> bool {
        (SCHEMA_VERSION, WORDS_VERSION) < (self.schema, self.words)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.schema, self.words, self.number)
    }
}

/// The index's folder.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// The generation in use. `None` if there is none, or its name says nothing.
    pub(crate) fn current(&self) -> Result<Option<Generation>, IndexError> {
        match fs::read_to_string(self.path.join(CURRENT)) {
            Ok(name) => Ok(Generation::parse(&name)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
            Err(source) => Err(self.fail(source)),
        }
    }

    pub(crate) fn path_of(&self, generation: Generation) -> PathBuf {
        self.path.join(generation.to_string())
    }

    /// Takes the writer's place. It is given back when the file is dropped, or its process ends.
    pub(crate) fn lock(&self) -> Result<File, IndexError> {
        make_folder(&self.path).map_err(|it| self.fail(it))?;
        let path = self.path.join(LOCK);
        let file = private_file().create(true).truncate(false).open(path);
        let file = file.map_err(|it| self.fail(it))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(fs::TryLockError::WouldBlock) => Err(IndexError::Busy),
            Err(fs::TryLockError::Error(source)) => Err(self.fail(source)),
        }
    }

    /// Makes the folder of a generation that never was.
    pub(crate) fn make_next(&self) -> Result<Generation, IndexError> {
        let last = self.generations()?.iter().map(|it| it.number).max().unwrap_or(0);
        let generation =
            Generation { schema: SCHEMA_VERSION, words: WORDS_VERSION, number: last + 1 };
        make_folder(&self.path_of(generation)).map_err(|it| self.fail(it))?;
        Ok(generation)
    }

    /// Makes `generation` the one in use, at once for everybody.
    pub(crate) fn publish(&self, generation: Generation) -> Result<(), IndexError> {
        let new = self.path.join(format!("{CURRENT}.new"));
        let write = || {
            let mut file = private_file().create(true).truncate(true).open(&new)?;
            writeln!(file, "{generation}")?;
            file.sync_all()?;
            fs::rename(&new, self.path.join(CURRENT))
        };
        write().map_err(|it| self.fail(it))
    }

    /// Removes every generation but `current`. One that cannot be removed now, because a reader
    /// has it open on a system that forbids it, is removed another time.
    pub(crate) fn remove_others(&self, current: Generation) -> Result<(), IndexError> {
        for generation in self.generations()? {
            if generation != current {
                let _ = fs::remove_dir_all(self.path_of(generation));
            }
        }
        Ok(())
    }

    fn generations(&self) -> Result<Vec<Generation>, IndexError> {
        let mut generations = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(|it| self.fail(it))? {
            let entry = entry.map_err(|it| self.fail(it))?;
            generations.extend(entry.file_name().to_str().and_then(Generation::parse));
        }
        Ok(generations)
    }

    pub(crate) fn fail(&self, source: io::Error) -> IndexError {
        IndexError::Folder { path: self.path.clone(), source }
    }
}

#[cfg(unix)]
fn make_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(unix)]
fn private_file() -> fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = fs::OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// Makes the file at `path` the user's alone.
#[cfg(unix)]
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

#[cfg(not(unix))]
fn private_file() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    options
}

/// Elsewhere what is in the user's folder is the user's alone.
#[cfg(not(unix))]
pub(crate) fn make_private(_path: &Path) -> io::Result<()> {
    Ok(())
}
