//! The two ways in which tantivy sees the folder of a generation.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle,
    WritePtr,
    error::{DeleteError, LockError, OpenReadError, OpenWriteError},
};

use crate::folder;

/// tantivy's own list of segments.
pub(crate) const META_FILE: &str = "meta.json";

/// tantivy's own list of the files it made, which only a writer needs.
const MANAGED_FILE: &str = ".managed.json";

/// How the name of a file begins that is written and not yet renamed.
const UNFINISHED: &str = ".tmp";

/// For a reader: one commit, as it is, whatever is committed meanwhile.
///
/// No lock is taken. A file that the commit names may have been removed by a later one before it
/// was opened; the reader then begins again with the later commit.
#[derive(Debug, Clone)]
pub(crate) struct CommitDirectory {
    pub(crate) files: MmapDirectory,
    pub(crate) meta: Arc<[u8]>,
}

fn is_read_only() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "opened for reading")
}

impl Directory for CommitDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let io_error = Arc::new(is_read_only());
        Err(DeleteError::IoError { io_error, filepath: path.to_owned() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(is_read_only(), path.to_owned()))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        if path == Path::new(META_FILE) {
            return Ok(self.meta.to_vec());
        }
        if path == Path::new(MANAGED_FILE) {
            return Err(OpenReadError::FileDoesNotExist(path.to_owned()));
        }
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(is_read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// For the writer: files that are the user's alone.
///
/// The list of files is read from the folder, so it cannot be wrong: what a killed writer left
/// behind is on it and is removed as no longer used. tantivy's own would be written, and synced,
/// before every new file.
#[derive(Debug, Clone)]
pub(crate) struct PrivateDirectory {
    pub(crate) files: MmapDirectory,
    pub(crate) path: PathBuf,
}

impl Directory for PrivateDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = self.files.open_write(path)?;
        folder::make_private(&self.path.join(path))
            .map_err(|it| OpenWriteError::wrap_io_error(it, path.to_owned()))?;
        Ok(file)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        if path == Path::new(MANAGED_FILE) {
            let listed = self.list();
            return listed.map_err(|it| OpenReadError::wrap_io_error(it, path.to_owned()));
        }
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(MANAGED_FILE) {
            return Ok(());
        }
        self.files.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let held = self.files.acquire_lock(lock)?;
        folder::make_private(&self.path.join(&lock.filepath)).map_err(LockError::wrap_io_error)?;
        Ok(held)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(callback)
    }
}

impl PrivateDirectory {
    /// The files of the index, as tantivy writes its list. Removes what was to become one and did
    /// not.
    fn list(&self) -> io::Result<Vec<u8>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.starts_with(UNFINISHED) {
                let _ = fs::remove_file(self.path.join(name));
            }
            let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
            if !name.starts_with('.') && name.bytes().all(is_plain) {
                names.push(format!("\"{name}\""));
            }
        }
        Ok(format!("[{}]", names.join(",")).into_bytes())
    }
}
