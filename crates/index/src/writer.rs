//! Adding to the index.

use std::{fs::File, sync::Arc};

use tantivy::{
    IndexWriter, TantivyError, Term,
    directory::MmapDirectory,
    indexer::{IndexWriterOptions, LogMergePolicy},
};

use crate::{
    Doc, Identity, Index, IndexError,
    directory::PrivateDirectory,
    error::{is_passing, unless_damaged},
    folder::{Folder, Generation},
    index::{payload, watermark_in},
    limits::MIN_WRITER_BYTES,
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
    watermark: u64,
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
        f.debug_struct("Writer").field("watermark", &self.watermark).finish_non_exhaustive()
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
                open.map(|(open, watermark)| (generation, open, watermark))
            }
            None => None,
        };
        let (generation, open, watermark) = match reopened {
            Some(reopened) => reopened,
            None => {
                let (generation, open) = begin(&self.folder, &self.identity, &options)?;
                (generation, open, 0)
            }
        };
        self.folder.remove_others(generation)?;
        Ok(Writer {
            folder: self.folder.clone(),
            identity: self.identity.clone(),
            options,
            open,
            watermark,
            last_row: watermark,
            queue: Arc::default(),
            _lock: lock,
        })
    }
}

impl Writer {
    /// The last row that is committed.
    pub const fn watermark(&self) -> u64 {
        self.watermark
    }

    /// Adds `doc`, in place of one with the same row if there is one.
    ///
    /// Waits while too much is waiting to be indexed.
    pub fn add(&mut self, doc: &Doc<'_>) -> Result<(), IndexError> {
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

    /// Makes all of it durable and visible, together with how far it goes: every row up to
    /// `watermark` is in.
    pub fn commit(&mut self, watermark: u64) -> Result<(), IndexError> {
        let mut commit = self.open.writer.prepare_commit()?;
        commit.set_payload(&payload(&self.identity, watermark));
        commit.commit()?;
        self.watermark = watermark;
        self.last_row = self.last_row.max(watermark);
        Ok(())
    }

    /// Begins anew with an empty index, and removes the one before.
    pub fn restart(&mut self) -> Result<(), IndexError> {
        let (generation, open) = begin(&self.folder, &self.identity, &self.options)?;
        self.open = open;
        self.watermark = 0;
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
) -> Result<Option<(Open, u64)>, IndexError> {
    let (schema, fields) = schema::schema();
    let path = folder.path_of(generation);
    let usable = || -> Result<Option<(tantivy::Index, u64)>, TantivyError> {
        let files = MmapDirectory::open(&path)?;
        let mut index = tantivy::Index::open(PrivateDirectory { files, path: path.clone() })?;
        schema::speak(&mut index);
        let payload = index.load_metas()?.payload;
        let watermark = payload.and_then(|it| watermark_in(&it, identity));
        // That every segment can be opened is found out by opening them.
        for segment in index.searchable_segments()? {
            tantivy::SegmentReader::open(&segment)?;
        }
        Ok(watermark.filter(|_| index.schema() == schema).map(|it| (index, it)))
    };
    let (index, watermark) = match unless_damaged(usable) {
        Some(Ok(Some(usable))) => usable,
        Some(Err(error)) if is_passing(&error) => return Err(error.into()),
        Some(Ok(None) | Err(_)) | None => return Ok(None),
    };
    let writer = start(&index, options)?;
    writer.garbage_collect_files().wait()?;
    Ok(Some((Open { writer, fields }, watermark)))
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
    commit.set_payload(&payload(identity, 0));
    commit.commit()?;
    folder.publish(generation)?;
    Ok((generation, Open { writer, fields }))
}

fn start(
    index: &tantivy::Index,
    options: &IndexWriterOptions,
) -> Result<IndexWriter<Record>, IndexError> {
    let writer = index.writer_with_options(options.clone())?;
    writer.set_merge_policy(Box::new(LogMergePolicy::default()));
    Ok(writer)
}
