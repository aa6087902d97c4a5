//! What the store promises when its file is damaged, its disk full, its folder closed, or another
//! process at it.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use ai_hist_model::{
    AgentId, Author, Batch, Coded as _, ConnectorId, Cursor, ErrorCode, Event, EventBody, FeedId,
    NativeEventKey, NativeSessionId, SessionFacts, SessionKey, Span, Stamp, Tally, Timestamp,
};
use ai_hist_store::{Backup, Commit, Origin, Patience, Step, Store, StoreError, repair};
use rusqlite::Connection;

const CONNECTOR: ConnectorId = ConnectorId::from_static("claude");
const NOW: Timestamp = Timestamp(1_790_000_000_000);
const PAGE: usize = 4096;

/// A state folder, and transcripts of one session each.
struct World {
    dir: tempfile::TempDir,
    n_sessions: usize,
    has_checksums: Cell<bool>,
}

impl World {
    /// Transcripts that are not read yet. Some texts are longer than a page, most are shorter.
    fn new(n_sessions: usize, n_lines: usize) -> Self {
        let world = Self {
            dir: tempfile::tempdir().expect("makes a folder"),
            n_sessions,
            has_checksums: Cell::default(),
        };
        fs::create_dir(world.dir.path().join("transcripts")).expect("makes a folder");
        for i in 0..n_sessions {
            let lines: Vec<String> = (0..n_lines).map(|line| text(i, line)).collect();
            fs::write(world.transcript(i), lines.concat()).expect("writes");
        }
        world
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn file(&self) -> PathBuf {
        self.state().join("store.db")
    }

    fn transcript(&self, i: usize) -> PathBuf {
        self.dir.path().join(format!("transcripts/{i}.txt"))
    }

    fn open(&self) -> Store {
        Store::open(&self.state()).expect("opens")
    }

    /// Reads what is new in every transcript that is there, a part at a time.
    fn sync(&self, store: &Store) {
        for i in 0..self.n_sessions {
            let Ok(bytes) = fs::read(self.transcript(i)) else { continue };
            let feed = FeedId(format!("feed {i}"));
            let state = store.feed_state(&CONNECTOR, &feed).expect("reads");
            let mut after = state.and_then(|it| it.cursor);
            let mut at: usize =
                after.as_ref().map_or(0, |it| it.as_str().parse().expect("is a number"));
            let mut steps = Vec::new();
            while at < bytes.len() {
                let end = lines_end(&bytes, at, 20_000);
                let batch = Box::new(batch(i, at, &bytes[at..end]));
                let next = Some(batch.cursor.clone());
                let commit = Commit::Batch { after, restarted: false, batch };
                steps.push(self.step(i, commit));
                (after, at) = (next, end);
            }
            let stamp = Stamp::of(&fs::metadata(self.transcript(i)).expect("is there"));
            steps.push(self.step(i, Commit::End { after, stamp: Some(stamp), rest: Vec::new() }));
            store.writer().expect("connects").commit(&steps).expect("commits");
        }
    }

    fn step(&self, i: usize, commit: Commit) -> Step {
        Step {
            connector: CONNECTOR,
            feed: FeedId(format!("feed {i}")),
            path: Some(self.transcript(i).display().to_string()),
            origin: Origin::local(),
            reading: 1,
            commit,
        }
    }

    /// Closes what SQLite keeps open: everything stands in the one file.
    fn settle(&self) {
        let db = Connection::open(self.file()).expect("opens");
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("checkpoints");
        // The format of packed texts has a bit for it.
        let select = "SELECT data FROM body LIMIT 1";
        let packed: Vec<u8> = db.query_row(select, [], |row| row.get(0)).expect("reads");
        self.has_checksums.set(packed[4] & 4 != 0);
    }
}

/// The texts of a session in their order; `None` if it is not there.
fn texts(store: &Store, i: usize) -> Option<Vec<String>> {
    let session = store.session(&Origin::local(), &key(i)).expect("reads")?;
    let events = store.events_up(session.row, 0, u64::MAX, 10_000).expect("reads");
    let seqs: Vec<u64> = events.iter().map(|it| it.seq).collect();
    assert!(seqs.iter().copied().eq(0..session.n_events), "session {i}: {seqs:?}");
    Some(events.iter().map(|it| it.body.text().to_owned()).collect())
}

fn key(i: usize) -> SessionKey {
    SessionKey {
        agent: AgentId::from_static("claude"),
        native: NativeSessionId::parse(&format!("session-{i}")).expect("is harmless"),
    }
}

fn text(i: usize, line: usize) -> String {
    // Hardly compressible, so that pages of every kind are needed.
    let mut state = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((line as u64) << 17);
    let n_words = if line % 10 == 3 { 900 } else { 12 };
    let mut words = format!("{i}/{line}");
    for _ in 0..n_words {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        let _ = write!(words, " {:x}", state >> 24);
    }
    words + "\n"
}

fn lines_end(bytes: &[u8], from: usize, n_bytes: usize) -> usize {
    let end = (from + n_bytes).min(bytes.len());
    bytes[end - 1..].iter().position(|it| *it == b'\n').map_or(bytes.len(), |it| end + it)
}

fn batch(i: usize, base: usize, raw: &[u8]) -> Batch {
    let mut events = Vec::new();
    let mut at = base;
    for line in raw.split_inclusive(|it| *it == b'\n') {
        let name = NativeEventKey(format!("line at {at}"));
        let text = String::from_utf8_lossy(line).trim_end().to_owned();
        let span = Span { first_byte: at as u64, n_bytes: line.len() as u64 };
        let when = Some(Timestamp(1_000 + i64::try_from(at).expect("is short")));
        let body = EventBody::Message { text };
        events.push(Event::new(key(i).id(), &name, when, Author::Person, body, span));
        at += line.len();
    }
    let mut tally = Tally::default();
    tally.understood.insert("line".to_owned(), events.len() as u64);
    Batch {
        sessions: vec![SessionFacts { cwd: Some("/x".to_owned()), ..SessionFacts::about(key(i)) }],
        events,
        usage: Vec::new(),
        tally,
        skipped: Vec::new(),
        raw: raw.to_vec(),
        cursor: Cursor::new(at.to_string()),
    }
}

/// What a page is, as its first byte says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Header,
    TableLeaf,
    TableInner,
    IndexLeaf,
    IndexInner,
    /// The overflow of a long value, or a free page.
    Other,
}

fn kind(file: &[u8], page: usize) -> Kind {
    match file[page * PAGE] {
        _ if page == 0 => Kind::Header,
        2 => Kind::IndexInner,
        5 => Kind::TableInner,
        10 => Kind::IndexLeaf,
        13 => Kind::TableLeaf,
        _ => Kind::Other,
    }
}

/// How a page is damaged.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Zeroed,
    Noise,
    /// Eight bytes of its beginning.
    Beginning,
    /// One bit somewhere in its middle.
    Bit,
}

const DAMAGES: [Damage; 4] = [Damage::Zeroed, Damage::Noise, Damage::Beginning, Damage::Bit];

fn damage(file: &mut [u8], page: usize, damage: Damage) {
    let bytes = &mut file[page * PAGE..(page + 1) * PAGE];
    match damage {
        Damage::Zeroed => bytes.fill(0),
        Damage::Noise => {
            bytes.copy_from_slice(&noise(PAGE, page));
        }
        Damage::Beginning => bytes[..8].iter_mut().for_each(|it| *it ^= 0xa5),
        Damage::Bit => bytes[PAGE * 3 / 4] ^= 0x10,
    }
}

fn noise(n_bytes: usize, seed: usize) -> Vec<u8> {
    (0..n_bytes).map(|it| ((it * 31 + seed * 7 + 90) % 251).to_le_bytes()[0]).collect()
}

/// Up to `n` pages of each kind, spread over the file.
fn victims(file: &[u8], n: usize) -> Vec<(Kind, usize)> {
    let mut by_kind: BTreeMap<Kind, Vec<usize>> = BTreeMap::new();
    for page in 0..file.len() / PAGE {
        by_kind.entry(kind(file, page)).or_default().push(page);
    }
    assert_eq!(by_kind.len(), 6, "a kind of page is not there: {:?}", by_kind.keys());
    let mut victims = Vec::new();
    for (kind, pages) in by_kind {
        let step = (pages.len() / n).max(1);
        victims.extend(pages.iter().step_by(step).take(n).map(|it| (kind, *it)));
    }
    victims
}

/// Whether these are the same texts, in whatever order. Where texts are kept without checksums, one
/// in which a bit has changed may still unpack, to another text, and nothing tells that: then they
/// are counted.
fn is_alike(world: &World, texts: &[String], expected: &[String]) -> bool {
    if !world.has_checksums.get() {
        return texts.len() == expected.len();
    }
    let sorted = |it: &[String]| it.iter().cloned().collect::<BTreeSet<_>>();
    sorted(texts) == sorted(expected)
}

/// Uses the store as a search and a sync would. An error must be one that says what to do.
fn use_it(world: &World) -> Result<(), StoreError> {
    let store = Store::open(&world.state())?;
    store.accounts()?;
    for i in 0..world.n_sessions {
        let Some(session) = store.session(&Origin::local(), &key(i))? else { continue };
        store.events_up(session.row, 0, u64::MAX, 10_000)?;
    }
    store.check()
}

fn assert_is_said(error: &StoreError, case: &str) {
    assert_eq!(error.code(), ErrorCode::StoreCorrupt, "{case}: {error:?}");
    let hint = error.hint().expect("has a hint");
    assert!(hint.contains("doctor --repair"), "{case}: {hint}");
}

/// A world whose store has pages of every kind, free ones too, and its file.
fn world_with_all_pages() -> (World, Vec<u8>) {
    let world = World::new(24, 60);
    let store = world.open();
    world.sync(&store);
    let key = key(world.n_sessions - 1);
    store.writer().expect("connects").forget(&key, NOW).expect("forgets");
    fs::remove_file(world.transcript(world.n_sessions - 1)).expect("removes");
    drop(store);
    world.settle();
    let file = fs::read(world.file()).expect("reads");
    (world, file)
}

/// Puts the file into a state folder of its own.
fn put(world: &World, file: &[u8]) {
    let _ = fs::remove_dir_all(world.state());
    fs::create_dir(world.state()).expect("makes a folder");
    fs::write(world.file(), file).expect("writes");
}

#[test]
fn damage_anywhere_is_said_and_repaired_from_transcripts() {
    let (world, file) = world_with_all_pages();
    let expected: Vec<_> = {
        let store = world.open();
        (0..world.n_sessions).map(|i| texts(&store, i)).collect()
    };
    assert_eq!(expected.iter().flatten().count(), world.n_sessions - 1);
    let mut n_seen = 0;
    for (n, (kind, page)) in victims(&file, 5).into_iter().enumerate() {
        let how = DAMAGES[n % DAMAGES.len()];
        let case = format!("page {page}, {kind:?}, {how:?}");
        let mut damaged = file.clone();
        damage(&mut damaged, page, how);
        put(&world, &damaged);
        if let Err(error) = use_it(&world) {
            assert_is_said(&error, &case);
            n_seen += 1;
        }
        let before = fs::read(world.file()).expect("reads");
        let repaired = repair(&world.state(), NOW, &|_| {}).expect("repairs");
        if let Some(moved_to) = &repaired.moved_to {
            let kept = fs::read(moved_to.join("store.db")).expect("is kept");
            assert!(kept == before, "{case}: what is kept was changed");
        }
        let store = world.open();
        store.check().unwrap_or_else(|error| panic!("{case}: {error}"));
        world.sync(&store);
        for (i, expected) in expected.iter().enumerate() {
            let found = texts(&store, i);
            let is_whole = match (&found, expected) {
                (Some(found), Some(expected)) => is_alike(&world, found, expected),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            assert!(is_whole, "{case}: session {i}, {repaired:?}");
        }
        assert_eq!(repair(&world.state(), NOW, &|_| {}).expect("looks").damage, None, "{case}");
    }
    assert!(10 < n_seen, "only {n_seen} were seen");
}

#[test]
fn without_transcripts_what_can_be_read_comes_back() {
    let (world, file) = world_with_all_pages();
    let expected: Vec<_> = {
        let store = world.open();
        (0..world.n_sessions).map(|i| texts(&store, i).unwrap_or_default()).collect()
    };
    for i in 0..world.n_sessions {
        let _ = fs::remove_file(world.transcript(i));
    }
    for (n, (kind, page)) in victims(&file, 4).into_iter().enumerate() {
        let how = DAMAGES[n % DAMAGES.len()];
        let case = format!("page {page}, {kind:?}, {how:?}");
        let mut damaged = file.clone();
        damage(&mut damaged, page, how);
        put(&world, &damaged);
        let repaired = repair(&world.state(), NOW, &|_| {}).expect("repairs");
        let store = world.open();
        store.check().unwrap_or_else(|error| panic!("{case}: {error}"));
        let accounts = store.accounts().expect("reads");
        let mut n_lost = 0;
        for (i, expected) in expected.iter().enumerate() {
            let found = texts(&store, i).unwrap_or_default();
            if is_alike(&world, &found, expected) {
                continue;
            }
            // What its events lack, its archive has, and is marked to be read again; or the
            // archive lacks it too, and that is said.
            let account = accounts.iter().find(|it| it.name == format!("feed {i}"));
            let is_to_be_read = account.is_some_and(|it| it.reading == 0);
            n_lost += usize::from(!is_to_be_read);
            if let Some(account) = account {
                store.restore(account, account.generation, &mut Vec::new()).expect("restores");
            }
        }
        assert!(n_lost <= 1 || kind == Kind::TableInner, "{case}: lost {n_lost}, {repaired:?}");
    }
}

#[test]
fn a_backup_gives_what_the_damaged_file_has_lost() {
    let world = World::new(6, 30);
    let store = world.open();
    world.sync(&store);
    let made = store.back_up(NOW).expect("backs up");
    assert!(matches!(made, Backup::Made { .. }), "{made:?}");
    let expected: Vec<_> = (0..6).map(|i| texts(&store, i)).collect();
    let uuid = store.uuid().to_owned();
    drop(store);
    for i in 0..6 {
        fs::remove_file(world.transcript(i)).expect("removes");
    }
    let n_bytes = fs::metadata(world.file()).expect("is there").len();
    let n_bytes = usize::try_from(n_bytes).expect("is short");
    fs::write(world.file(), noise(n_bytes, 1)).expect("writes");
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(world.state().join(format!("store.db{suffix}")));
    }
    assert_is_said(&use_it(&world).expect_err("is damaged"), "noise");
    let repaired = repair(&world.state(), NOW, &|_| {}).expect("repairs");
    assert!(repaired.backup.is_some(), "{repaired:?}");
    let store = world.open();
    let found: Vec<_> = (0..6).map(|i| texts(&store, i)).collect();
    assert!(found == expected);
    assert_ne!(store.uuid(), uuid, "an index of the old one must not be used");
}

#[test]
fn a_repair_brings_nothing_back_that_was_forgotten() {
    let world = World::new(3, 30);
    let store = world.open();
    world.sync(&store);
    store.back_up(NOW).expect("backs up");
    store.writer().expect("connects").forget(&key(0), NOW).expect("forgets");
    drop(store);
    world.settle();
    let mut file = fs::read(world.file()).expect("reads");
    let page = (1..file.len() / PAGE).rfind(|it| kind(&file, *it) == Kind::TableLeaf);
    damage(&mut file, page.expect("there is one"), Damage::Zeroed);
    fs::write(world.file(), file).expect("writes");
    let repaired = repair(&world.state(), NOW, &|_| {}).expect("repairs");
    assert!(repaired.backup.is_some() && repaired.damage.is_some(), "{repaired:?}");
    let store = world.open();
    assert!(texts(&store, 0).is_none());
    assert!(texts(&store, 1).is_some() && texts(&store, 2).is_some());
    store.drop_backups().expect("removes");
    assert_eq!(fs::read_dir(world.state().join("backups")).expect("reads").count(), 0);
}

#[test]
fn a_sound_store_is_left_alone() {
    let world = World::new(2, 5);
    assert_eq!(repair(&world.dir.path().join("none"), NOW, &|_| {}).ok(), None);
    let store = world.open();
    world.sync(&store);
    let repaired = repair(&world.state(), NOW, &|_| {}).expect("looks");
    assert_eq!((repaired.damage, repaired.moved_to), (None, None));
    assert!(texts(&store, 0).is_some(), "who has it open goes on");
}

#[test]
fn an_empty_file_is_not_taken_for_a_new_store() {
    let world = World::new(1, 5);
    let store = world.open();
    world.sync(&store);
    drop(store);
    fs::write(world.file(), b"").expect("writes");
    let _ = fs::remove_file(world.state().join("store.db-wal"));
    assert_is_said(&use_it(&world).expect_err("is damaged"), "empty");
    repair(&world.state(), NOW, &|_| {}).expect("repairs");
    let store = world.open();
    world.sync(&store);
    assert!(texts(&store, 0).is_some());
}

#[test]
fn who_has_the_damaged_file_open_does_not_write_to_it() {
    let world = World::new(2, 5);
    let store = world.open();
    world.sync(&store);
    let mut writer = store.writer().expect("connects");
    world.settle();
    let mut file = fs::read(world.file()).expect("reads");
    damage(&mut file, 2, Damage::Noise);
    fs::write(world.file(), &file).expect("writes");
    repair(&world.state(), NOW, &|_| {}).expect("repairs");
    for refusal in
        [store.accounts().expect_err("refuses"), writer.commit(&[]).expect_err("refuses")]
    {
        assert!(matches!(refusal, StoreError::Replaced { .. }), "{refusal}");
        assert!(refusal.hint().expect("has one").contains("start"), "{refusal}");
    }
}

#[test]
fn a_repair_that_was_cut_off_is_finished_by_the_next() {
    let world = World::new(3, 20);
    let store = world.open();
    world.sync(&store);
    let expected: Vec<_> = (0..3).map(|i| texts(&store, i)).collect();
    drop(store);
    world.settle();
    // As it stands between moving the damaged one aside and moving the new one in.
    fs::rename(world.file(), world.state().join("store.repaired.db")).expect("renames");
    let refusal = Store::open(&world.state()).expect_err("refuses");
    assert!(matches!(refusal, StoreError::UnderRepair { .. }), "{refusal}");
    assert!(!world.file().exists(), "none is made in its place");
    repair(&world.state(), NOW, &|_| {}).expect("repairs");
    let store = world.open();
    let found: Vec<_> = (0..3).map(|i| texts(&store, i)).collect();
    assert!(found == expected);
}

#[cfg(unix)]
#[test]
fn everything_in_the_state_folder_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new(2, 5);
    let store = world.open();
    world.sync(&store);
    store.back_up(NOW).expect("backs up");
    let mut ahead = vec![world.state()];
    while let Some(path) = ahead.pop() {
        let found = fs::metadata(&path).expect("is there");
        assert_eq!(found.permissions().mode() & 0o077, 0, "{}", path.display());
        if found.is_dir() {
            ahead.extend(fs::read_dir(&path).expect("reads").map(|it| it.expect("reads").path()));
        }
    }
    assert_eq!(fs::metadata(world.state().join("ballast")).expect("is there").len(), 4 << 20);
}

#[test]
fn the_log_and_its_memory_stay_for_when_they_cannot_be_made() {
    let world = World::new(2, 5);
    let store = world.open();
    world.sync(&store);
    drop(store);
    for suffix in ["-wal", "-shm"] {
        assert!(world.state().join(format!("store.db{suffix}")).exists(), "{suffix}");
    }
}

#[test]
fn a_call_gives_up_sooner() {
    let world = World::new(1, 5);
    drop(world.open());
    let store = Store::open_with(&world.state(), Patience::Call).expect("opens");
    let other = Connection::open(world.file()).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("begins");
    let refusal = store.writer().expect("connects").commit(&[]).expect_err("gives up");
    assert!(matches!(refusal, StoreError::Busy), "{refusal}");
    assert!(refusal.code().class().is_retryable());
}

/// Closes a folder and what is in it. Whether that keeps this user out: it does not keep root out.
#[cfg(unix)]
fn closed(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    for entry in fs::read_dir(folder).expect("reads") {
        let path = entry.expect("reads").path();
        if path.is_file() {
            fs::set_permissions(path, fs::Permissions::from_mode(0o400)).expect("closes");
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).expect("closes");
    fs::write(folder.join("test"), b"").is_err()
}

#[cfg(unix)]
#[test]
fn what_may_not_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    for leaves_log in [false, true] {
        let world = World::new(3, 20);
        let store = world.open();
        world.sync(&store);
        let expected: Vec<_> = (0..3).map(|i| texts(&store, i)).collect();
        drop(store);
        if !leaves_log {
            for suffix in ["-wal", "-shm"] {
                fs::remove_file(world.state().join(format!("store.db{suffix}"))).expect("removes");
            }
        }
        if !closed(&world.state()) {
            return;
        }
        let store = Store::open(&world.state()).expect("opens");
        assert!(store.is_read_only() && !store.notes().is_empty());
        let found: Vec<_> = (0..3).map(|i| texts(&store, i)).collect();
        assert!(found == expected);
        let refusal = store.writer().expect("connects").commit(&[]).expect_err("refuses");
        assert!(matches!(refusal, StoreError::ReadOnly), "{refusal}");
        assert!(refusal.hint().expect("has one").contains("AI_HIST_HOME"));
        assert!(matches!(store.back_up(NOW), Err(StoreError::ReadOnly)));
        let none = Store::open(&world.state().join("none")).expect_err("refuses");
        assert!(none.hint().expect("has one").contains("AI_HIST_HOME"), "{none}");
        fs::set_permissions(world.state(), fs::Permissions::from_mode(0o700)).expect("opens");
    }
}
