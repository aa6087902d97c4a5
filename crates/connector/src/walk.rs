//! Listing files below a root that other people's programs and hands have arranged.

use std::{
    collections::HashSet,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
};

use crate::{
    Problem,
    limits::{MAX_DEPTH, MAX_ENTRIES},
};

/// The files below a root.
#[derive(Debug, Default)]
pub struct Walk {
    /// Regular files, in order of path.
    pub files: Vec<(PathBuf, Metadata)>,
    /// What could not be looked at.
    pub problems: Vec<Problem>,
}

/// Lists the regular files below `root` whose path `wanted` accepts.
///
/// Links are followed, each folder once, so a loop ends; pipes, sockets and devices are passed
/// over. A folder that cannot be read is a problem, and the rest is still listed. A root that
/// does not exist has no files.
pub fn files(root: &Path, wanted: impl Fn(&Path) -> bool) -> Walk {
    let mut walk = Walk::default();
    let mut seen = HashSet::new();
    let mut n_entries = 0;
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(identity) = identity(&folder) else {
            continue;
        };
        if !seen.insert(identity) {
            continue;
        }
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                walk.problems.push(Problem { path: folder, reason: error.to_string() });
                continue;
            }
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let reason = error.to_string();
                    walk.problems.push(Problem { path: folder.clone(), reason });
                    break;
                }
            };
            n_entries += 1;
            if MAX_ENTRIES < n_entries {
                let reason = format!("more than {MAX_ENTRIES} entries");
                walk.problems.push(Problem { path: root.to_owned(), reason });
                return sorted(walk);
            }
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            if !is_folder && !wanted(&path) && !entry.file_type().is_ok_and(|it| it.is_symlink()) {
                continue;
            }
            // Follows links; a link that leads nowhere is no file.
            let Ok(metadata) = fs::metadata(&path) else {
                continue;
            };
            if metadata.is_dir() {
                if depth < MAX_DEPTH {
                    folders.push((path, depth + 1));
                } else {
                    let reason = format!("deeper than {MAX_DEPTH} folders");
                    walk.problems.push(Problem { path, reason });
                }
            } else if metadata.is_file() && wanted(&path) {
                walk.files.push((path, metadata));
            }
        }
    }
    sorted(walk)
}

/// What tells a folder from every other one, by whatever path it is reached.
#[cfg(unix)]
fn identity(folder: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(folder)?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(folder: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(folder)
}

fn sorted(mut walk: Walk) -> Walk {
    walk.files.sort_by(|a, b| a.0.cmp(&b.0));
    walk.problems.sort_by(|a, b| a.path.cmp(&b.path));
    walk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_root_has_no_files() {
        let walk = files(Path::new("/nowhere/at/all"), |_| true);
        assert!(walk.files.is_empty() && walk.problems.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_loop_of_links_ends_and_a_dead_link_is_passed_over() {
        let root = tempfile::tempdir().expect("makes a folder");
        fs::create_dir(root.path().join("a")).expect("makes a folder");
        fs::write(root.path().join("a/x.jsonl"), "{}").expect("writes");
        std::os::unix::fs::symlink(root.path(), root.path().join("a/back")).expect("links");
        std::os::unix::fs::symlink("/nowhere", root.path().join("dead.jsonl")).expect("links");
        let walk = files(root.path(), |it| it.extension().is_some_and(|it| it == "jsonl"));
        assert_eq!(walk.files.len(), 1);
        assert!(walk.problems.is_empty());
    }
}
