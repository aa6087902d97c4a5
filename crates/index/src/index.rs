//! Opening the index, and seeing it as it now stands.

use std::{
    fmt, fs, io,
    path::Path,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use tantivy::{
    ReloadPolicy, Searcher, TantivyError,
    directory::{MmapDirectory, error::OpenReadError},
};

use crate::{
    Doc, IndexError,
    directory::{CommitDirectory, META_FILE},
    error::{is_damage, unless_damaged},
    folder::{Folder, Generation},
    limits::MAX_LOADS,
    schema::{self, SCHEMA_VERSION, WORDS_VERSION},
    search,
};

/// What the index must be of to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The store's own id. It has no spaces.
    pub store: String,
}

/// How far the index follows the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    /// Every event up to this row is in.
    pub row: u64,
    /// Everything that was put down to be indexed again, up to this place in the list, has been.
    pub reindex: u64,
}

/// The index, open for reading.
#[derive(Debug)]
pub struct Index {
    pub(crate) folder: Folder,
    pub(crate) identity: Identity,
    view: RwLock<View>,
}

impl Index {
    /// Opens the index in `folder`. Where there is none, or none that can be used, it is empty
    /// until a [`writer`](Index::writer) has filled it. Writes nothing.
    pub fn open(folder: &Path, identity: &Identity) -> Result<Self, IndexError> {
        let index = Self {
            folder: Folder::new(folder),
            identity: identity.clone(),
            view: RwLock::new(View::empty(None)),
        };
        index.refresh()?;
        Ok(index)
    }

    /// The index as it now stands, with whatever any process has committed.
    ///
    /// Costs two small reads where nothing has changed. Never waits for a writer. If what was
    /// committed cannot be read, the view stays the one before, and its
    /// [`problem`](View::problem) says so.
    pub fn view(&self) -> View {
        match self.refresh() {
            Ok(view) => view,
            Err(error) => self.held().with_problem(error.to_string()),
        }
    }

    /// How far it follows the store.
    pub fn mark(&self) -> Mark {
        self.view().mark()
    }

    /// Reads every byte of it and compares them with their checksums. An index that fails counts as
    /// empty from now on, and the next writer of this process begins anew.
    pub fn check(&self) -> Result<(), IndexError> {
        let view = self.view();
        let Some(searcher) = &view.loaded.searcher else {
            return Ok(());
        };
        for file in searcher.index().load_metas()?.list_segment_files() {
            let checked = match searcher.index().directory().validate_checksum(&file) {
                // Not every kind of file is there for every segment.
                Err(OpenReadError::FileDoesNotExist(_)) => Ok(true),
                checked => checked.map_err(TantivyError::from),
            };
            match checked {
                Ok(true) => {}
                Err(error) if !is_damage(&error) => return Err(error.into()),
                Ok(false) | Err(_) => {
                    view.condemn();
                    let what = format!("`{}` has changed", file.display());
                    return Err(IndexError::Damaged { what });
                }
            }
        }
        Ok(())
    }

    /// Whether something in `generation` turned out to be wrong.
    pub(crate) fn has_condemned(&self, generation: Generation) -> bool {
        let held = self.held();
        let is_that = |it: &Commit| it.generation == generation;
        held.is_damaged() && held.loaded.commit.as_ref().is_some_and(is_that)
    }

    fn held(&self) -> View {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn refresh(&self) -> Result<View, IndexError> {
        let held = self.held();
        let Some(commit) = Commit::read(&self.folder)? else {
            return Ok(self.hold(View::empty(None)));
        };
        if held.loaded.commit.as_ref() == Some(&commit) {
            if held.is_damaged() && held.loaded.searcher.is_some() {
                let view = View::empty(Some(commit)).with_problem("the index is damaged".into());
                view.condemn();
                return Ok(self.hold(view));
            }
            return Ok(held);
        }
        let view = load(&self.folder, commit, &self.identity)?;
        Ok(self.hold(view))
    }

    fn hold(&self, view: View) -> View {
        self.view.write().unwrap_or_else(PoisonError::into_inner).clone_from(&view);
        view
    }
}

/// The index as it stood when the view was taken. Cheap to clone, and does not change.
#[derive(Clone)]
pub struct View {
    loaded: Arc<Loaded>,
    tail: Option<Searcher>,
    problem: Option<String>,
}

struct Loaded {
    commit: Option<Commit>,
    searcher: Option<Searcher>,
    mark: Mark,
    /// Whether something in it turned out to be wrong when it was read.
    is_damaged: AtomicBool,
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let watermark = self.watermark();
        f.debug_struct("View").field("watermark", &watermark).finish_non_exhaustive()
    }
}

impl View {
    /// How far it follows the store.
    pub fn mark(&self) -> Mark {
        self.loaded.mark
    }

    /// The last row that is indexed here; 0 if none is.
    pub fn watermark(&self) -> u64 {
        self.loaded.mark.row
    }

    /// How many events are indexed.
    pub fn n_events(&self) -> u64 {
        self.loaded.searcher.as_ref().map_or(0, Searcher::num_docs)
    }

    /// Why this is less than what there is, for a person.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// The same together with `tail`: events that came after.
    ///
    /// Only rows after the [`watermark`](View::watermark) are taken, so no event is found twice.
    pub fn with_tail(mut self, tail: &[Doc<'_>]) -> Result<Self, IndexError> {
        self.tail = search::index_tail(tail.iter().filter(|it| self.watermark() < it.row))?;
        Ok(self)
    }

    /// What there is to be searched.
    pub(crate) fn searchers(&self) -> Vec<&Searcher> {
        self.loaded.searcher.iter().chain(&self.tail).collect()
    }

    /// Says that what was read of it is wrong. From now on it counts as empty.
    pub(crate) fn condemn(&self) {
        self.loaded.is_damaged.store(true, Ordering::Relaxed);
    }

    fn is_damaged(&self) -> bool {
        self.loaded.is_damaged.load(Ordering::Relaxed)
    }

    fn new(loaded: Loaded) -> Self {
        Self { loaded: Arc::new(loaded), tail: None, problem: None }
    }

    fn empty(commit: Option<Commit>) -> Self {
        Self::new(Loaded {
            commit,
            searcher: None,
            mark: Mark::default(),
            is_damaged: false.into(),
        })
    }

    fn with_problem(mut self, problem: String) -> Self {
        self.problem = Some(problem);
        self
    }
}

/// One commit of one generation.
#[derive(Debug, Clone)]
struct Commit {
    generation: Generation,
    meta: Arc<[u8]>,
}

impl PartialEq for Commit {
    fn eq(&self, other: &Self) -> bool {
        self.generation == other.generation && self.meta == other.meta
    }
}

impl Commit {
    /// The latest one. `None` if there is none.
    fn read(folder: &Folder) -> Result<Option<Self>, IndexError> {
        for _ in 0..MAX_LOADS {
            let Some(generation) = folder.current()? else {
                return Ok(None);
            };
            match fs::read(folder.path_of(generation).join(META_FILE)) {
                Ok(meta) => return Ok(Some(Self { generation, meta: meta.into() })),
                // Another generation may have taken its place meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if folder.current()? == Some(generation) {
                        return Ok(None);
                    }
                }
                Err(source) => return Err(folder.fail(source)),
            }
        }
        Ok(None)
    }
}

/// Loads `commit`, or one that has followed it.
fn load(folder: &Folder, mut commit: Commit, identity: &Identity) -> Result<View, IndexError> {
    for _ in 0..MAX_LOADS {
        if !commit.generation.is_ours() {
            let problem = format!("the index `{}` is another version's", commit.generation);
            return Ok(View::empty(Some(commit)).with_problem(problem));
        }
        let loaded = unless_damaged(|| try_load(folder, &commit, identity));
        let problem = match loaded {
            Some(Ok(Some(view))) => return Ok(view),
            Some(Ok(None)) => "the index belongs to another store".to_owned(),
            Some(Err(error)) => format!("the index is damaged: {error}"),
            None => "the index is damaged".to_owned(),
        };
        match Commit::read(folder)? {
            Some(later) if later != commit => commit = later,
            Some(_) | None => return Ok(View::empty(Some(commit)).with_problem(problem)),
        }
    }
    Err(IndexError::Busy)
}

/// Loads `commit`. `None` if it is of another store or schema.
fn try_load(
    folder: &Folder,
    commit: &Commit,
    identity: &Identity,
) -> Result<Option<View>, TantivyError> {
    let files = MmapDirectory::open(folder.path_of(commit.generation))?;
    let directory = CommitDirectory { files, meta: Arc::clone(&commit.meta) };
    let mut index = tantivy::Index::open(directory)?;
    schema::speak(&mut index);
    let payload = index.load_metas()?.payload;
    let (schema, _) = schema::schema();
    let Some(mark) = payload.and_then(|it| mark_in(&it, identity)) else {
        return Ok(None);
    };
    if index.schema() != schema {
        return Ok(None);
    }
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let searcher = Some(reader.searcher());
    let commit = Some(commit.clone());
    Ok(Some(View::new(Loaded { commit, searcher, mark, is_damaged: false.into() })))
}

/// What a commit says of itself.
pub(crate) fn payload(identity: &Identity, mark: Mark) -> String {
    let Identity { store } = identity;
    let Mark { row, reindex } = mark;
    format!(
        "store={store} schema={SCHEMA_VERSION} words={WORDS_VERSION} row={row} reindex={reindex}"
    )
}

/// How far the commit got that says `payload`, if it is of `identity` and of this version.
pub(crate) fn mark_in(payload: &str, identity: &Identity) -> Option<Mark> {
    let (rest, reindex) = payload.rsplit_once(" reindex=")?;
    let (_, row) = rest.rsplit_once(" row=")?;
    let mark = Mark { row: row.parse().ok()?, reindex: reindex.parse().ok()? };
    (payload == self::payload(identity, mark)).then_some(mark)
}
