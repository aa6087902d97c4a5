//! Adding to the index.

use std::{fs::File, sync::Arc};

use tantivy::{
    IndexWriter, TantivyError, Term,
    directory::MmapDirectory,
    indexer::{IndexWriterOptions, LogMergePolicy},
};

use crate::{
    Doc, Identity, Index, IndexError, Mark,
    directory::PrivateDirectory,
    error::{is_passing, unless_damaged},
    folder::{Folder, Generation},
    index::{mark_in, payload},
    limits::{LAYER_LOG_SIZE, MIN_LAYER_EVENTS, MIN_MERGED_SEGMENTS, MIN_WRITER_BYTES},
    record::{Queue, Record},
    schema::{self, Fields},
};

/// Adds to the index. There is one at a time, in all processes.
///
/// What it adds is seen by nobody before [`commit`](Writer::commit), and lost if it is dropped
/// before.
pub struct Writer {
    folder: Folder,
    identity: Identity,
    options: IndexWriterOptions,
    open: Open,
    mark: Mark,
    /// The highest row that may be in the index already.
    last_row: u64,
    queue: Arc<Queue>,
    // Dropped last: until then no other writer may begin.
    _lock: File,
}

struct Open {
    writer: IndexWriter<Record>,
    fields: Fields,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("mark", &self.mark).finish_non_exhaustive()
    }
}

impl Index {
    /// Takes the writer's place: [`IndexError::Busy`] if another has it.
    ///
    /// An index that cannot be used is left aside, and a new one begun. Up to `memory_bytes` are
    /// held by each of `n_threads` before they go to the disk.
    pub fn writer(&self, memory_bytes: usize, n_threads: usize) -> Result<Writer, IndexError> {
        let lock = self.folder.lock()?;
        let n_threads = n_threads.max(1);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(n_threads)
            .memory_budget_per_thread((memory_bytes / n_threads).max(MIN_WRITER_BYTES))
            .num_merge_threads(1)
            .build();
        let current = self.folder.current()?;
        if let Some(newer) = current.filter(|it| it.is_newer()) {
            return Err(IndexError::TooNew { generation: newer.to_string() });
        }
        let reopened = match current.filter(|it| it.is_ours() && !self.has_condemned(*it)) {
            Some(generation) => {
                let open = reopen(&self.folder, generation, &self.identity, &options)?;
                open.map(|(open, mark)| (generation, open, mark))
            }
            None => None,
        };
        let (generation, open, mark) = match reopened {
            Some(reopened) => reopened,
            None => {
                let (generation, open) = begin(&self.folder, &self.identity, &options)?;
                (generation, open, Mark::default())
            }
        };
        self.folder.remove_others(generation)?;
        Ok(Writer {
            folder: self.folder.clone(),
            identity: self.identity.clone(),
            options,
            open,
            mark,
            last_row: mark.row,
            queue: Arc::default(),
            _lock: lock,
        })
    }
}

impl Writer {
    /// How far what is committed follows the store.
    pub const fn mark(&self) -> Mark {
        self.mark
    }

    /// Adds `doc`, in place of one with the same row if there is one.
    ///
    /// Waits while too much is waiting to be indexed.
    pub fn add(&mut self, doc: &Doc<'_>) -> Result<(), IndexError> {
        ai_hist_fault::point("index::add")?;
        // Rows come in order, so that only a row that came before has to be looked for.
        if doc.row <= self.last_row {
            self.remove(doc.row);
        }
        self.last_row = self.last_row.max(doc.row);
        let record = Record::new(doc, &self.open.fields, &self.queue);
        self.open.writer.add_document(record)?;
        Ok(())
    }

    /// Removes the event with `row`.
    pub fn remove(&mut self, row: u64) {
        self.open.writer.delete_term(Term::from_field_u64(self.open.fields.row, row));
    }

    /// Removes every event of a session.
    pub fn remove_session(&mut self, session: u64) {
        self.open.writer.delete_term(Term::from_field_u64(self.open.fields.session, session));
    }

    /// Makes all of it durable and visible, together with how far it goes.
    pub fn commit(&mut self, mark: Mark) -> Result<(), IndexError> {
        let mut commit = self.open.writer.prepare_commit()?;
        ai_hist_fault::point("index::prepare")?;
        commit.set_payload(&payload(&self.identity, mark));
        ai_hist_fault::point("index::commit")?;
        commit.commit()?;
        self.mark = mark;
        self.last_row = self.last_row.max(mark.row);
        Ok(())
    }

    /// Begins anew with an empty index, and removes the one before.
    pub fn restart(&mut self) -> Result<(), IndexError> {
        let (generation, open) = begin(&self.folder, &self.identity, &self.options)?;
        self.open = open;
        self.mark = Mark::default();
        self.last_row = 0;
        self.folder.remove_others(generation)
    }

    /// Gives the place back after the segments are merged that are too many. Dropping a writer
    /// leaves them to the next one.
    pub fn close(self) -> Result<(), IndexError> {
        self.open.writer.wait_merging_threads()?;
        Ok(())
    }
}

/// Opens `generation` afresh, because tantivy keeps a list of the files per opened index. `None` if
/// it cannot be used.
fn reopen(
    folder: &Folder,
    generation: Generation,
    identity: &Identity,
    options: &IndexWriterOptions,
) -> Result<Option<(Open, Mark)>, IndexError> {
    let (schema, fields) = schema::schema();
    let path = folder.path_of(generation);
    let usable = || -> Result<Option<(tantivy::Index, Mark)>, TantivyError> {
        let files = MmapDirectory::open(&path)?;
        let mut index = tantivy::Index::open(PrivateDirectory { files, path: path.clone() })?;
        schema::speak(&mut index);
        let payload = index.load_metas()?.payload;
        let mark = payload.and_then(|it| mark_in(&it, identity));
        // That every segment can be opened is found out by opening them.
        for segment in index.searchable_segments()? {
            tantivy::SegmentReader::open(&segment)?;
        }
        Ok(mark.filter(|_| index.schema() == schema).map(|it| (index, it)))
    };
    let (index, mark) = match unless_damaged(usable) {
        Some(Ok(Some(usable))) => usable,
        Some(Err(error)) if is_passing(&error) => return Err(error.into()),
        Some(Ok(None) | Err(_)) | None => return Ok(None),
    };
    let writer = start(&index, options)?;
    writer.garbage_collect_files().wait()?;
    Ok(Some((Open { writer, fields }, mark)))
}

/// Makes an empty generation and publishes it.
fn begin(
    folder: &Folder,
    identity: &Identity,
    options: &IndexWriterOptions,
) -> Result<(Generation, Open), IndexError> {
    let (schema, fields) = schema::schema();
    let generation = folder.make_next()?;
    let path = folder.path_of(generation);
    let files = MmapDirectory::open(&path).map_err(TantivyError::from)?;
    let directory = PrivateDirectory { files, path };
    let mut index = tantivy::Index::create(directory, schema, schema::settings())?;
    schema::speak(&mut index);
    let mut writer = start(&index, options)?;
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(&payload(identity, Mark::default()));
    commit.commit()?;
    ai_hist_fault::point("index::publish")?;
    folder.publish(generation)?;
    Ok((generation, Open { writer, fields }))
}

fn start(
    index: &tantivy::Index,
    options: &IndexWriterOptions,
) -> Result<IndexWriter<Record>, IndexError> {
    let writer = index.writer_with_options(options.clone())?;
    let mut policy = LogMergePolicy::default();
    policy.set_min_num_segments(MIN_MERGED_SEGMENTS);
    policy.set_min_layer_size(MIN_LAYER_EVENTS);
    policy.set_level_log_size(LAYER_LOG_SIZE);
    writer.set_merge_policy(Box::new(policy));
    Ok(writer)
}
