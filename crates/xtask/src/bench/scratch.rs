//! The folder that everything happens in.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process,
    time::SystemTime,
};

use super::options::Keeps;
use crate::tree;

/// A folder for one run. It goes away with it, unless it is to be kept.
pub(super) struct Scratch {
    path: PathBuf,
    keeps: Keeps,
}

/// A home and a state of their own.
pub(super) struct Folder {
    path: PathBuf,
}

/// What tells whether a file was written to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) n_bytes: u64,
    modified: SystemTime,
}

impl Scratch {
    pub(super) fn new(keeps: Keeps) -> Result<Self, String> {
        let path = tree::root().join(format!("target/bench/{}", process::id()));
        make(&path)?;
        Ok(Self { path, keeps })
    }

    pub(super) fn folder(&self, name: &str) -> Result<Folder, String> {
        let folder = Folder { path: self.path.join(name) };
        make(&folder.home())?;
        Ok(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.keeps == Keeps::Everything {
            eprintln!("kept in `{}`", self.path.display());
        } else if let Err(error) = fs::remove_dir_all(&self.path) {
            eprintln!("cannot remove `{}`: {error}", self.path.display());
        }
    }
}

impl Folder {
    pub(super) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    pub(super) fn state(&self) -> PathBuf {
        self.path.join("state")
    }

    /// Removes it before its scratch, where it is large.
    pub(super) fn remove(self) -> Result<(), String> {
        fs::remove_dir_all(&self.path)
            .map_err(|error| format!("cannot remove `{}`: {error}", self.path.display()))
    }

    /// Copies the transcripts of `home` here, with their times.
    pub(super) fn copy_home(&self, home: &Path) -> Result<(), String> {
        for name in [".claude/projects", ".codex/sessions"] {
            for (path, seen) in files(&home.join(name))? {
                let (from, to) = (home.join(name).join(&path), self.home().join(name).join(&path));
                if let Some(folder) = to.parent() {
                    make(folder)?;
                }
                let fault = |error| format!("cannot copy `{}`: {error}", from.display());
                fs::copy(&from, &to).map_err(fault)?;
                let copy = fs::File::options().append(true).open(&to).map_err(fault)?;
                copy.set_modified(seen.modified).map_err(fault)?;
            }
        }
        Ok(())
    }

    pub(super) fn n_home_bytes(&self) -> Result<u64, String> {
        let files = files(&self.home())?;
        let transcripts = files.iter().filter(|it| is_transcript(it.0));
        Ok(transcripts.map(|it| it.1.n_bytes).sum())
    }

    /// The largest session of Claude Code.
    pub(super) fn largest_session(&self) -> Result<PathBuf, String> {
        let root = self.home().join(".claude/projects");
        let files = files(&root)?;
        let sessions = files.iter().filter(|it| is_transcript(it.0) && !is_below_session(it.0));
        let largest = sessions.max_by_key(|it| it.1.n_bytes);
        largest.map(|it| root.join(it.0)).ok_or_else(|| "the home has no session".to_owned())
    }

    /// The files of the state, by their paths in it.
    pub(super) fn state_files(&self) -> Result<BTreeMap<PathBuf, Seen>, String> {
        files(&self.state())
    }
}

/// How many bytes the files have that are not as they were before, those that are gone included.
pub(super) fn n_changed_bytes(
    before: &BTreeMap<PathBuf, Seen>,
    after: &BTreeMap<PathBuf, Seen>,
) -> u64 {
    let changed = after.iter().filter(|it| before.get(it.0) != Some(it.1));
    let gone = before.iter().filter(|it| !after.contains_key(it.0));
    changed.chain(gone).map(|it| it.1.n_bytes.max(1)).sum()
}

/// The files below `root`, by their paths in it. A folder that is not there has none.
fn files(root: &Path) -> Result<BTreeMap<PathBuf, Seen>, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        let fault = |error| format!("cannot read `{}`: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(fault)? {
            let path = entry.map_err(fault)?.path();
            let metadata = fs::metadata(&path).map_err(fault)?;
            if metadata.is_dir() {
                folders.push(path);
                continue;
            }
            let modified = metadata.modified().map_err(fault)?;
            let name = path.strip_prefix(root).expect("it is below the root");
            found.insert(name.to_owned(), Seen { n_bytes: metadata.len(), modified });
        }
    }
    Ok(found)
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "jsonl")
}

/// Whether `path`, in a folder of projects, is a sub-agent's.
fn is_below_session(path: &Path) -> bool {
    path.components().count() > 2
}

fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make `{}`: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn what_is_written_added_or_removed_is_counted_and_nothing_else() {
        let state = |files: &[(&str, u64, u64)]| {
            let seen = |it: &(&str, u64, u64)| {
                let modified = UNIX_EPOCH + Duration::from_secs(it.2);
                (PathBuf::from(it.0), Seen { n_bytes: it.1, modified })
            };
            files.iter().map(seen).collect::<BTreeMap<_, _>>()
        };
        let before = state(&[("a", 10, 1), ("b", 20, 1)]);
        for (after, expected) in [
            (state(&[("a", 10, 1), ("b", 20, 1)]), 0),
            (state(&[("a", 10, 2), ("b", 20, 1)]), 10),
            (state(&[("a", 11, 1), ("b", 20, 1)]), 11),
            (state(&[("a", 10, 1)]), 20),
            (state(&[("a", 10, 1), ("b", 20, 1), ("c", 0, 3)]), 1),
        ] {
            assert_eq!(n_changed_bytes(&before, &after), expected);
        }
    }
}
