//! Which folders are watched for the roots that the sources name.
//!
//! A root that is there is watched with all that is below it. For one that is not, the nearest
//! folder on the way to it is watched, without what is below it: there it will come into being.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use super::{
    notices::{Depth, Notices, Refusal},
    program::{Identity, identity},
};
use crate::limits::{MAX_HOLD_ROUNDS, MAX_WATCHED_FOLDERS};

/// The folders that are watched.
#[derive(Debug, Default)]
pub(super) struct Roots {
    held: BTreeMap<PathBuf, Held>,
}

#[derive(Debug, PartialEq, Eq)]
struct Held {
    depth: Depth,
    /// Which folder it is: another one at the same path is not watched yet.
    identity: Identity,
}

impl Roots {
    /// Watches what has to be watched for `wanted`, and nothing else. The reason if that is not
    /// possible; what could be watched then still is.
    pub(super) fn hold(
        &mut self,
        wanted: &[PathBuf],
        notices: &mut dyn Notices,
    ) -> Result<(), String> {
        for _ in 0..MAX_HOLD_ROUNDS {
            let targets = targets(wanted);
            self.let_go(&targets, notices);
            if self.take(&targets, notices)? && targets.keys().eq(self::targets(wanted).keys()) {
                return Ok(());
            }
        }
        Err("the folders to watch come and go too fast".to_owned())
    }

    /// Stops watching what is no target, and what has become another folder.
    fn let_go(&mut self, targets: &BTreeMap<PathBuf, Held>, notices: &mut dyn Notices) {
        self.held.retain(|path, held| {
            let stays = targets.get(path) == Some(held);
            if !stays {
                notices.unwatch(path);
            }
            stays
        });
    }

    /// Watches the targets. Whether none vanished meanwhile.
    fn take(
        &mut self,
        targets: &BTreeMap<PathBuf, Held>,
        notices: &mut dyn Notices,
    ) -> Result<bool, String> {
        let trees = targets.iter().filter(|it| it.1.depth == Depth::Tree).map(|it| it.0.as_path());
        let is_new = targets.keys().any(|it| !self.held.contains_key(it));
        if is_new && MAX_WATCHED_FOLDERS < n_folders(trees) {
            return Err(format!("there are more than {MAX_WATCHED_FOLDERS} folders to watch"));
        }
        for (path, target) in targets {
            if self.held.contains_key(path) {
                continue;
            }
            match notices.watch(path, target.depth) {
                Ok(()) => {
                    let (depth, identity) = (target.depth, target.identity);
                    self.held.insert(path.clone(), Held { depth, identity });
                }
                Err(Refusal::Gone) => return Ok(false),
                Err(Refusal::Refused(reason)) => return Err(reason),
            }
        }
        Ok(true)
    }
}

/// What to watch for `wanted`: no folder twice, and none below a tree that is watched.
fn targets(wanted: &[PathBuf]) -> BTreeMap<PathBuf, Held> {
    let mut targets: BTreeMap<PathBuf, Held> = BTreeMap::new();
    for root in wanted {
        let Some((place, identity)) = root.ancestors().find_map(|it| Some((it, folder(it)?)))
        else {
            continue;
        };
        let depth = if place == root { Depth::Tree } else { Depth::Folder };
        let is_tree = targets.get(place).is_some_and(|it| it.depth == Depth::Tree);
        if !is_tree {
            targets.insert(place.to_owned(), Held { depth, identity });
        }
    }
    let trees: Vec<PathBuf> =
        targets.iter().filter(|it| it.1.depth == Depth::Tree).map(|it| it.0.clone()).collect();
    targets.retain(|path, _| !trees.iter().any(|it| path != it && path.starts_with(it)));
    targets
}

/// The identity of the folder at `path`, if one is there.
fn folder(path: &Path) -> Option<Identity> {
    identity(path).filter(|_| path.is_dir())
}

/// How many folders there are in `trees`, links followed, counted to one more than may be watched.
fn n_folders<'a>(trees: impl Iterator<Item = &'a Path>) -> usize {
    let mut seen = HashSet::new();
    let mut open: Vec<PathBuf> = trees.map(Path::to_owned).collect();
    while let Some(folder) = open.pop() {
        let Ok(folder) = fs::canonicalize(&folder) else { continue };
        if MAX_WATCHED_FOLDERS < seen.len() {
            break;
        }
        if !seen.insert(folder.clone()) {
            continue;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir() || it.is_symlink())
                && entry.path().is_dir();
            if is_folder {
                open.push(entry.path());
            }
        }
    }
    seen.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembers what is watched; refuses after so many.
    struct Fake {
        watched: BTreeMap<PathBuf, Depth>,
        n_left: usize,
    }

    impl Fake {
        fn new() -> Self {
            Self { watched: BTreeMap::new(), n_left: usize::MAX }
        }

        fn watches(&self, dir: &Path) -> Vec<(String, Depth)> {
            let name = |it: &Path| {
                let below = it.strip_prefix(dir).expect("is below");
                below.to_string_lossy().into_owned()
            };
            self.watched.iter().map(|(path, depth)| (name(path), *depth)).collect()
        }
    }

    impl Notices for Fake {
        fn watch(&mut self, path: &Path, depth: Depth) -> Result<(), Refusal> {
            if !path.is_dir() {
                return Err(Refusal::Gone);
            }
            let full = || Refusal::Refused("full".to_owned());
            self.n_left = self.n_left.checked_sub(1).ok_or_else(full)?;
            assert!(self.watched.insert(path.to_owned(), depth).is_none(), "twice: {path:?}");
            Ok(())
        }

        fn unwatch(&mut self, path: &Path) {
            self.watched.remove(path);
        }
    }

    #[test]
    fn a_root_that_comes_later_is_waited_for_on_the_way_to_it() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let dir = dir.path();
        let wanted = [dir.join(".claude/projects"), dir.join(".codex/sessions")];
        let (mut roots, mut fake) = (Roots::default(), Fake::new());
        let mut hold = |fake: &mut Fake| {
            roots.hold(&wanted, fake).expect("watches");
            fake.watches(dir)
        };
        let word = str::to_owned;
        assert_eq!(hold(&mut fake), [(word(""), Depth::Folder)]);
        fs::create_dir_all(dir.join(".claude/projects/x")).expect("makes folders");
        let first = [(word(""), Depth::Folder), (word(".claude/projects"), Depth::Tree)];
        assert_eq!(hold(&mut fake), first);
        fs::create_dir(dir.join(".codex")).expect("makes a folder");
        let second = [(word(".claude/projects"), Depth::Tree), (word(".codex"), Depth::Folder)];
        assert_eq!(hold(&mut fake), second);
        fs::remove_dir_all(dir.join(".claude")).expect("removes");
        let third = [(word(""), Depth::Folder), (word(".codex"), Depth::Folder)];
        assert_eq!(hold(&mut fake), third);
    }

    #[test]
    fn a_root_below_another_and_a_root_named_twice_are_watched_once() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let dir = dir.path();
        fs::create_dir_all(dir.join("a/b")).expect("makes folders");
        let wanted = [dir.join("a/b"), dir.join("a"), dir.join("a"), dir.join("a/c")];
        let (mut roots, mut fake) = (Roots::default(), Fake::new());
        roots.hold(&wanted, &mut fake).expect("watches");
        assert_eq!(fake.watches(dir), [("a".to_owned(), Depth::Tree)]);
    }

    #[cfg(unix)]
    #[test]
    fn another_folder_at_the_same_path_is_watched_anew() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let root = dir.path().join("a");
        fs::create_dir(&root).expect("makes a folder");
        let (mut roots, mut fake) = (Roots::default(), Fake::new());
        let wanted = [root.clone()];
        roots.hold(&wanted, &mut fake).expect("watches");
        fs::rename(&root, dir.path().join("b")).expect("moves");
        fs::create_dir(&root).expect("makes a folder");
        fake.n_left = 1;
        roots.hold(&wanted, &mut fake).expect("watches");
        assert_eq!(fake.n_left, 0, "it was asked for again");
        roots.hold(&wanted, &mut fake).expect("and now nothing is left to ask for");
    }

    #[test]
    fn a_refusal_is_said_and_what_could_be_watched_is() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let dir = dir.path();
        for name in ["a", "b"] {
            fs::create_dir(dir.join(name)).expect("makes a folder");
        }
        let (mut roots, mut fake) = (Roots::default(), Fake::new());
        fake.n_left = 1;
        let wanted = [dir.join("a"), dir.join("b")];
        assert_eq!(roots.hold(&wanted, &mut fake), Err("full".to_owned()));
        assert_eq!(fake.watches(dir), [("a".to_owned(), Depth::Tree)]);
        fake.n_left = 1;
        assert_eq!(roots.hold(&wanted, &mut fake), Ok(()));
    }
}
