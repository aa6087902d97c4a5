//! What the system tells of changes. The one place that names `notify`.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use notify::{
    ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{CreateKind, ModifyKind, RemoveKind},
};

use super::bell::Bell;

/// Tells of changes below the folders that it is given.
pub(super) trait Notices: Send {
    /// Tells of changes in the folder at `path` from now on.
    fn watch(&mut self, path: &Path, depth: Depth) -> Result<(), Refusal>;

    /// Stops telling of them. What is not watched is no error.
    fn unwatch(&mut self, path: &Path);
}

/// How deep a folder is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Only what is directly in it.
    Folder,
    /// All that is below it, also what comes into being later.
    Tree,
}

/// Why a folder is not watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is gone.
    Gone,
    /// The system does not do it.
    Refused(String),
}

/// The roots that somebody is interested in, shared with the thread that hears of changes.
///
/// A folder that is watched only to see a root come into being may be a home folder, where much
/// happens that is nobody's business here.
#[derive(Debug, Clone, Default)]
pub(super) struct Interest(Arc<RwLock<Vec<PathBuf>>>);

impl Interest {
    /// Is interested in these roots from now on, by whatever name the system knows them.
    pub(super) fn set(&self, roots: &[PathBuf]) {
        let mut all: Vec<PathBuf> =
            roots.iter().cloned().chain(roots.iter().filter_map(|it| real(it))).collect();
        all.sort();
        all.dedup();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = all;
    }

    /// Whether a change at `path` may be one of a root: it is below one, or on the way to one.
    fn holds(&self, path: &Path) -> bool {
        let roots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        roots.iter().any(|it| path.starts_with(it) || it.starts_with(path))
    }
}

/// The path without links, as far as it is there.
fn real(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|it| {
        let rest = path.strip_prefix(it).ok()?;
        let real = fs::canonicalize(it).ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    })
}

/// The system's own notices.
pub(super) struct System(Option<RecommendedWatcher>);

impl System {
    /// Asks the system for notices; `bell` is rung for each that is of interest.
    pub(super) fn start(bell: Arc<Bell>, interest: Interest) -> Result<Self, Refusal> {
        let hear = move |heard: notify::Result<Event>| match heard {
            Ok(event) => ring(&bell, &interest, &event),
            Err(error) => {
                let reason = said(&error);
                bell.ring(|it| it.refused = Some(reason));
            }
        };
        caught(|| notify::recommended_watcher(hear)).map(|it| Self(Some(it)))
    }
}

impl Notices for System {
    fn watch(&mut self, path: &Path, depth: Depth) -> Result<(), Refusal> {
        let mode = match depth {
            Depth::Folder => RecursiveMode::NonRecursive,
            Depth::Tree => RecursiveMode::Recursive,
        };
        let watcher = self.0.as_mut().expect("it is there until it is dropped");
        caught(|| watcher.watch(path, mode))
    }

    fn unwatch(&mut self, path: &Path) {
        let watcher = self.0.as_mut().expect("it is there until it is dropped");
        let _ = caught(|| watcher.unwatch(path));
    }
}

impl Drop for System {
    fn drop(&mut self) {
        let watcher = self.0.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(watcher)));
    }
}

/// Runs `work`. The library panics where its own thread has died, which is a refusal like others.
fn caught<T>(work: impl FnOnce() -> notify::Result<T>) -> Result<T, Refusal> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) if is_gone(&error) => Err(Refusal::Gone),
        Ok(Err(error)) => Err(Refusal::Refused(said(&error))),
        Err(_) => Err(Refusal::Refused("the system's notices have ended".to_owned())),
    }
}

fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        ErrorKind::Generic(_)
        | ErrorKind::WatchNotFound
        | ErrorKind::InvalidConfig(_)
        | ErrorKind::MaxFilesWatch => false,
    }
}

fn said(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::MaxFilesWatch => {
            "the system gives no more watches (fs.inotify.max_user_watches)".to_owned()
        }
        ErrorKind::Io(error) => format!("the system gives no notices: {error}"),
        ErrorKind::Generic(_)
        | ErrorKind::PathNotFound
        | ErrorKind::WatchNotFound
        | ErrorKind::InvalidConfig(_) => format!("the system gives no notices: {error}"),
    }
}

fn ring(bell: &Bell, interest: &Interest, event: &Event) {
    if event.need_rescan() {
        bell.ring(|it| it.arranged = true);
        return;
    }
    let Some(weight) = weight(event.kind) else { return };
    let mut paths = event.paths.iter().filter(|it| interest.holds(it)).peekable();
    if paths.peek().is_none() {
        return;
    }
    let is_arranged = match weight {
        Weight::Content => false,
        Weight::Folder => true,
        // What is gone cannot be asked what it was.
        Weight::Unknown => paths.any(|it| !it.is_file()),
    };
    bell.ring(|it| {
        it.changed = true;
        it.arranged |= is_arranged;
    });
}

/// What may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// What is in a file, or which files there are.
    Content,
    /// Which folders there are.
    Folder,
    /// One of these.
    Unknown,
}

/// What an event of `kind` may have changed; `None` if no transcript can have.
fn weight(kind: EventKind) -> Option<Weight> {
    match kind {
        // To be read changes nothing, and this process reads much. What was written before a file
        // was closed has been told.
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)) => None,
        EventKind::Create(CreateKind::File)
        | EventKind::Remove(RemoveKind::File)
        | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any | ModifyKind::Other)
        | EventKind::Any
        | EventKind::Other => Some(Weight::Content),
        EventKind::Create(CreateKind::Folder) | EventKind::Remove(RemoveKind::Folder) => {
            Some(Weight::Folder)
        }
        EventKind::Create(CreateKind::Any | CreateKind::Other)
        | EventKind::Remove(RemoveKind::Any | RemoveKind::Other)
        | EventKind::Modify(ModifyKind::Name(_)) => Some(Weight::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, DataChange, Flag, MetadataKind, RenameMode};

    use super::*;

    fn rung(roots: &[&str], event: &Event) -> (bool, bool) {
        let (bell, interest) = (Bell::default(), Interest::default());
        interest.set(&roots.iter().map(PathBuf::from).collect::<Vec<_>>());
        ring(&bell, &interest, event);
        let rung = bell.wait(std::time::Instant::now());
        (rung.changed, rung.arranged)
    }

    fn at(path: &str, kind: EventKind) -> Event {
        Event::new(kind).add_path(PathBuf::from(path))
    }

    #[test]
    fn only_what_may_change_a_transcript_rings() {
        let data = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let folder = EventKind::Create(CreateKind::Folder);
        let moved = EventKind::Modify(ModifyKind::Name(RenameMode::From));
        let root = "/nowhere/a/sessions";
        for (path, kind, expected) in [
            ("/nowhere/a/sessions/x.jsonl", data, (true, false)),
            ("/nowhere/a/sessions/2026/01", folder, (true, true)),
            ("/nowhere/a/sessions/gone", moved, (true, true)),
            ("/nowhere/a", folder, (true, true)),
            ("/nowhere/a/sessions", EventKind::Remove(RemoveKind::Folder), (true, true)),
            ("/nowhere/history", data, (false, false)),
            ("/nowhere/b", folder, (false, false)),
            ("/nowhere/a/sessions2", folder, (false, false)),
            ("/nowhere/a/sessions/x.jsonl", EventKind::Access(AccessKind::Any), (false, false)),
            (
                "/nowhere/a/sessions/x.jsonl",
                EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)),
                (false, false),
            ),
        ] {
            assert_eq!(rung(&[root], &at(path, kind)), expected, "{path} {kind:?}");
        }
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(rung(&[root], &lost), (false, true));
    }

    #[test]
    fn the_system_tells_of_a_line_in_a_new_folder_of_a_tree() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let bell = Arc::new(Bell::default());
        let interest = Interest::default();
        interest.set(&[dir.path().to_owned()]);
        let mut system = System::start(Arc::clone(&bell), interest).expect("there are notices");
        system.watch(dir.path(), Depth::Tree).expect("watches");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        fs::create_dir(dir.path().join("new")).expect("makes a folder");
        assert!(bell.wait(deadline).arranged, "a folder came");
        fs::write(dir.path().join("x.jsonl"), "1").expect("writes");
        assert!(bell.wait(deadline).changed, "a file changed");
        let gone = system.watch(&dir.path().join("nothing"), Depth::Folder);
        assert_eq!(gone, Err(Refusal::Gone));
    }
}
