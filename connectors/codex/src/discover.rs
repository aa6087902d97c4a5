//! Where rollouts are, and what their names say.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use ai_hist_connector::{
    ConnectorError, Discovery, Feed, FeedPlace, Host, Problem, Settings, Stamp,
    model::{FeedId, NativeSessionId},
    walk::{self, Walk},
};
use xxhash_rust::xxh3::xxh3_64;

use crate::read::session_in;

/// The folders of a root that hold rollouts.
const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

const UUID_BYTES: usize = 36;

/// The folders in which Codex keeps its files.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    roots: Vec<PathBuf>,
    /// Someone named them, so one that is missing is a problem.
    named: bool,
}

/// A file beside the rollouts that holds a line for each of many threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LedgerKind {
    /// The names of threads.
    Titles,
    /// What was typed.
    Prompts,
}

/// The threads that have a rollout.
#[derive(Debug)]
pub(crate) struct Threads {
    pub(crate) named: BTreeSet<NativeSessionId>,
    problems: Vec<Problem>,
}

/// A rollout's name, taken apart.
pub(crate) struct Name {
    /// Without its extensions.
    pub(crate) stem: String,
    packed: bool,
}

/// One of the files that have a name.
struct Copy {
    path: PathBuf,
    packed: bool,
    stamp: Stamp,
}

impl Roots {
    pub(crate) fn of(settings: &Settings, host: &Host) -> Self {
        if let Some(roots) = settings.texts("roots") {
            return Self {
                roots: roots.into_iter().map(|it| host.expand(it)).collect(),
                named: true,
            };
        }
        if let Some(root) = host.var("CODEX_HOME") {
            return Self { roots: vec![host.expand(root)], named: false };
        }
        Self { roots: vec![host.home.join(".codex")], named: false }
    }

    /// Why there is nothing to read here, if there is nothing.
    pub(crate) fn absence(&self) -> Option<String> {
        if self.named || self.roots.iter().any(|it| it.is_dir()) {
            return None;
        }
        let roots: Vec<_> = self.roots.iter().map(|it| format!("`{}`", it.display())).collect();
        Some(format!("there is no folder {}", roots.join(" or ")))
    }

    /// Every rollout and every ledger.
    pub(crate) fn discover(&self) -> Discovery {
        let mut discovery = self.rollouts(|_| true);
        for kind in [LedgerKind::Titles, LedgerKind::Prompts] {
            discovery.feeds.extend(self.ledgers(kind));
        }
        discovery.feeds.sort_by(|a, b| a.id.cmp(&b.id));
        if self.named {
            let missing = self.roots.iter().filter(|it| !it.is_dir());
            let problem = |root: &PathBuf| Problem {
                path: root.clone(),
                reason: "no such folder".to_owned(),
            };
            discovery.problems.extend(missing.map(problem));
        }
        discovery
    }

    /// The rollouts whose names say that they hold `session`, and where it may be named.
    ///
    /// None if there is no such rollout: what was typed may hold it all the same.
    pub(crate) fn locate(&self, session: &NativeSessionId) -> Vec<Feed> {
        let says_so = |name: &Name| name.thread().as_ref() == Some(session);
        let mut feeds = self.rollouts(says_so).feeds;
        if !feeds.is_empty() {
            feeds.extend(self.ledgers(LedgerKind::Titles));
        }
        feeds
    }

    /// The threads that have a rollout.
    pub(crate) fn threads(&self) -> Threads {
        let Discovery { feeds, problems } = self.rollouts(|_| true);
        let thread = |feed: &Feed| {
            let path = feed.place.path()?;
            // What stands in a file is only looked at where its name does not say it.
            Name::of(path)?.thread().or_else(|| session_in(path).ok())
        };
        Threads { named: feeds.iter().filter_map(thread).collect(), problems }
    }

    /// The files of a kind, of each root one.
    fn ledgers(&self, kind: LedgerKind) -> Vec<Feed> {
        let mut seen = BTreeSet::new();
        let mut feeds = Vec::new();
        for path in self.roots.iter().map(|it| it.join(kind.file())) {
            let Ok(metadata) = fs::metadata(&path) else {
                continue;
            };
            let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            if !metadata.is_file() || !seen.insert(real) {
                continue;
            }
            let name = kind.file().trim_end_matches(".jsonl");
            feeds.push(feed(name, feeds.len(), path, Stamp::of(&metadata)));
        }
        feeds
    }

    /// What to watch for changes. Never a whole root: Codex writes logs and databases there.
    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        let mut watched = Vec::new();
        for root in &self.roots {
            let folders: Vec<_> = folders(root).into_iter().filter(|it| it.is_dir()).collect();
            // Before the first session the root alone can tell that there is one now.
            let is_new = folders.is_empty();
            watched.extend(folders);
            let ledgers = [LedgerKind::Titles, LedgerKind::Prompts].map(|it| root.join(it.file()));
            watched.extend(ledgers.into_iter().filter(|it| it.is_file()));
            watched.extend(is_new.then(|| root.clone()));
        }
        watched
    }

    fn rollouts(&self, wanted: impl Fn(&Name) -> bool) -> Discovery {
        let mut copies: BTreeMap<String, Vec<Copy>> = BTreeMap::new();
        let mut problems = Vec::new();
        for folder in self.roots.iter().flat_map(|it| folders(it)) {
            let is_wanted = |path: &Path| Name::of(path).is_some_and(|it| wanted(&it));
            let Walk { files, problems: more } = walk::files(&folder, is_wanted);
            problems.extend(more);
            for (path, metadata) in files {
                if let Some(Name { stem, packed }) = Name::of(&path) {
                    let stamp = Stamp::of(&metadata);
                    copies.entry(stem).or_default().push(Copy { path, packed, stamp });
                }
            }
        }
        let mut feeds: Vec<_> =
            copies.into_iter().flat_map(|(stem, copies)| feeds(&stem, copies)).collect();
        feeds.sort_by(|a, b| a.id.cmp(&b.id));
        Discovery { feeds, problems }
    }
}

impl LedgerKind {
    /// The kind of the file at `path`, if it is one.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?;
        [Self::Titles, Self::Prompts].into_iter().find(|it| name == it.file())
    }

    const fn file(self) -> &'static str {
        match self {
            Self::Titles => "session_index.jsonl",
            Self::Prompts => "history.jsonl",
        }
    }
}

impl Threads {
    /// All of them, or why some may be missing.
    pub(crate) fn whole(self) -> Result<BTreeSet<NativeSessionId>, ConnectorError> {
        match self.problems.into_iter().next() {
            Some(Problem { path, reason }) => {
                Err(ConnectorError::Read { path, source: io::Error::other(reason) })
            }
            None => Ok(self.named),
        }
    }
}

impl Name {
    /// The name of the rollout at `path`, if there is one.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let file = path.file_name()?.to_string_lossy();
        let (file, packed) = match file.strip_suffix(".zst") {
            Some(file) => (file, true),
            None => (&*file, false),
        };
        let stem = file.strip_suffix(".jsonl")?;
        let is_rollout = stem.starts_with("rollout-") && !stem.starts_with("rollout-compress-");
        // Where Codex puts what it is still compressing or moving.
        let is_staged = path.components().any(|it| it.as_os_str() == ".tmp");
        (is_rollout && !is_staged).then(|| Self { stem: stem.to_owned(), packed })
    }

    /// The thread that the name says it holds: `rollout-<time>-<thread>` or
    /// `rollout-<time>-<thread>_<rollout>`.
    pub(crate) fn thread(&self) -> Option<NativeSessionId> {
        let (head, _) = self.stem.split_once('_').unwrap_or((&self.stem, ""));
        let at = head.len().checked_sub(UUID_BYTES)?;
        let (before, uuid) = head.split_at_checked(at)?;
        let is_uuid = before.ends_with('-')
            && uuid.bytes().enumerate().all(|(i, byte)| match i {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            });
        is_uuid.then(|| NativeSessionId::parse(uuid))?
    }
}

fn folders(root: &Path) -> Vec<PathBuf> {
    if FOLDERS.iter().any(|it| root.ends_with(it)) {
        return vec![root.to_owned()];
    }
    FOLDERS.iter().map(|it| root.join(it)).collect()
}

/// The feeds of the files named `stem`.
///
/// | files | feeds |
/// |---|---|
/// | plain | `stem` |
/// | plain, and compressed in the same folder | `stem`, the plain one: Codex is about to remove the other |
/// | the same file by two ways | `stem` |
/// | in two folders | the plain and newest is `stem`; they may differ, so the others have their own, named by place |
fn feeds(stem: &str, mut copies: Vec<Copy>) -> Vec<Feed> {
    if 1 < copies.len() {
        let plain: BTreeSet<PathBuf> =
            copies.iter().filter(|it| !it.packed).map(|it| it.path.clone()).collect();
        copies.retain(|it| !it.packed || !plain.contains(&it.path.with_extension("")));
        copies.sort_by_key(|it| (it.packed, Reverse(it.stamp.modified_ms), it.path.clone()));
        let mut seen = BTreeSet::new();
        copies.retain(|it| fs::canonicalize(&it.path).map_or(true, |real| seen.insert(real)));
    }
    copies.into_iter().enumerate().map(|(i, it)| feed(stem, i, it.path, it.stamp)).collect()
}

/// The feed of a file. `nth` of those that would be called `name`: all but the first are named by
/// place.
fn feed(name: &str, nth: usize, path: PathBuf, stamp: Stamp) -> Feed {
    let place = xxh3_64(path.to_string_lossy().as_bytes()) >> 32;
    let id = if nth == 0 { name.to_owned() } else { format!("{name}@{place:08x}") };
    Feed { id: FeedId(id), place: FeedPlace::AppendedFile(path), stamp: Some(stamp) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaa-1111-4111-8111-111111111111";
    const B: &str = "bbbbbbbb-2222-4222-8222-222222222222";

    fn machine(files: &[&str]) -> (tempfile::TempDir, Roots) {
        let home = tempfile::tempdir().expect("makes a folder");
        for file in files {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().expect("has a folder")).expect("makes a folder");
            fs::write(path, file).expect("writes");
        }
        let roots = Roots { roots: vec![home.path().to_owned()], named: true };
        (home, roots)
    }

    fn found(home: &Path, feeds: Vec<Feed>) -> Vec<(String, String)> {
        let relative = |feed: Feed| {
            let path = feed.place.path().expect("is a file").strip_prefix(home).expect("is below");
            (feed.id.0, path.to_string_lossy().into_owned())
        };
        feeds.into_iter().map(relative).collect()
    }

    #[test]
    fn a_name_says_its_thread() {
        let table = [
            (format!("rollout-2026-01-02T03-04-05-{A}.jsonl"), Some(A)),
            (format!("rollout-2026-01-02T03-04-05-{A}_{B}.jsonl.zst"), Some(A)),
            ("rollout-2026-01-02T03-04-05.jsonl".to_owned(), None),
            ("rollout-x-ééééééééééééééééééé.jsonl".to_owned(), None),
        ];
        for (file, thread) in table {
            let name = Name::of(Path::new(&file)).expect("is a rollout");
            assert_eq!(name.thread().as_ref().map(NativeSessionId::as_str), thread, "`{file}`");
        }
    }

    #[test]
    fn what_is_no_rollout_is_passed_over() {
        for file in [
            "history.jsonl",
            "rollout-1.json",
            "rollout-1.jsonl.bak",
            "rollout-compress-1.jsonl",
            "sessions/.tmp/rollout-1.jsonl",
        ] {
            assert!(Name::of(Path::new(file)).is_none(), "`{file}`");
        }
    }

    #[test]
    fn a_feed_keeps_its_id_when_it_is_archived_or_compressed() {
        let stem = format!("rollout-2026-01-02T03-04-05-{A}");
        for file in [
            format!("sessions/2026/01/02/{stem}.jsonl"),
            format!("sessions/elsewhere/2026/01/02/03/{stem}.jsonl"),
            format!("archived_sessions/{stem}.jsonl"),
            format!("archived_sessions/{stem}.jsonl.zst"),
        ] {
            let (home, roots) = machine(&[&file]);
            assert_eq!(found(home.path(), roots.discover().feeds), [(stem.clone(), file)]);
        }
    }

    #[test]
    fn the_plain_file_stands_for_its_compressed_copy() {
        let stem = format!("rollout-2026-01-02T03-04-05-{A}");
        let plain = format!("sessions/2026/{stem}.jsonl");
        let (home, roots) = machine(&[&plain, &format!("{plain}.zst")]);
        assert_eq!(found(home.path(), roots.discover().feeds), [(stem, plain)]);
    }

    #[test]
    fn copies_in_two_folders_are_two_feeds() {
        let stem = format!("rollout-2026-01-02T03-04-05-{A}");
        let (_home, roots) = machine(&[
            &format!("sessions/2026/{stem}.jsonl"),
            &format!("archived_sessions/{stem}.jsonl.zst"),
        ]);
        let feeds = roots.discover().feeds;
        let ids: Vec<_> = feeds.iter().map(|it| it.id.0.as_str()).collect();
        assert_eq!(ids[0], stem);
        assert!(ids[1].starts_with(&format!("{stem}@")), "{ids:?}");
        let path = feeds[0].place.path().expect("is a file");
        assert!(path.to_string_lossy().contains("sessions/2026"), "the plain one comes first");
    }

    #[test]
    fn ledgers_stand_beside_the_folders_of_rollouts() {
        let rollout = format!("sessions/rollout-2026-01-02T03-04-05-{A}.jsonl");
        let (home, roots) = machine(&["history.jsonl", "session_index.jsonl", &rollout]);
        let feeds = found(home.path(), roots.discover().feeds);
        let ids: Vec<_> = feeds.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(ids[0], "history");
        assert_eq!(ids[2], "session_index");
        // A thread with a rollout may be named elsewhere; one without may be anywhere.
        let located = |id| roots.locate(&NativeSessionId::parse(id).expect("is harmless"));
        let ids: Vec<_> = located(A).into_iter().map(|it| it.id.0).collect();
        assert_eq!(ids[1..], ["session_index"]);
        assert!(located(B).is_empty());
        let watched = roots.watched();
        assert!(watched.iter().any(|it| it.ends_with("session_index.jsonl")), "{watched:?}");
        assert!(watched.iter().all(|it| it != home.path()), "{watched:?}");
    }

    #[test]
    fn a_rollout_whose_name_is_no_threads_is_looked_into() {
        let (home, roots) = machine(&[]);
        fs::create_dir_all(home.path().join("sessions")).expect("makes a folder");
        let line = format!(r#"{{"type":"session_meta","payload":{{"id":"{A}"}}}}"#);
        fs::write(home.path().join("sessions/rollout-mine.jsonl"), line).expect("writes");
        let threads = roots.threads().whole().expect("is whole");
        assert_eq!(threads.iter().map(NativeSessionId::as_str).collect::<Vec<_>>(), [A]);
    }

    #[test]
    fn a_session_is_located_by_name() {
        let a = format!("sessions/2026/rollout-2026-01-02T03-04-05-{A}.jsonl");
        let b = format!("sessions/2026/rollout-2026-01-02T03-04-05-{B}.jsonl");
        let (home, roots) = machine(&[&a, &b]);
        let session = NativeSessionId::parse(B).expect("is harmless");
        let located = found(home.path(), roots.locate(&session));
        assert_eq!(located.len(), 1);
        assert_eq!(located[0].1, b);
    }

    #[test]
    fn a_root_that_someone_named_and_that_is_missing_is_a_problem() {
        let missing = |named| Roots { roots: vec![PathBuf::from("/nowhere/at/all")], named };
        assert_eq!(missing(true).discover().problems.len(), 1);
        assert_eq!(missing(true).absence(), None);
        assert!(missing(false).absence().is_some());
    }
}
