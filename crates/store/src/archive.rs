//! Keeping every byte that was read, and giving it back.

use std::io::{self, Read, Write};

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    FeedAccount, Store, StoreError, codec,
    limits::{MAX_CHUNK_BYTES, MIN_CHUNK_BYTES},
    statements as sql,
};

/// Appends `bytes` to what is kept of a generation of a feed.
///
/// A last chunk that is small is made anew with them: so a transcript that grows a line at a time
/// does not end up as a chunk a line, and what one more line costs does not grow with it.
pub(crate) fn append(
    db: &Connection,
    feed: i64,
    generation: i64,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let (first_byte, joined) = match last_chunk(db, feed, generation)? {
        Some((first_byte, n_bytes)) if n_bytes < MIN_CHUNK_BYTES => {
            let mut joined = chunk(db, feed, generation, first_byte)?;
            joined.extend_from_slice(bytes);
            (first_byte, Some(joined))
        }
        Some((first_byte, n_bytes)) => (first_byte + n_bytes, None),
        None => (0, None),
    };
    let mut at = first_byte;
    let mut insert = db.prepare_cached(sql::INSERT_ARCHIVE)?;
    for part in joined.as_deref().unwrap_or(bytes).chunks(MAX_CHUNK_BYTES) {
        insert.execute(params![feed, generation, at, part.len(), codec::pack(part)?])?;
        at += i64::try_from(part.len()).unwrap_or(i64::MAX);
    }
    Ok(())
}

/// How many bytes are kept of a generation of a feed.
pub(crate) fn end(db: &Connection, feed: i64, generation: i64) -> Result<i64, StoreError> {
    let last = last_chunk(db, feed, generation)?;
    Ok(last.map_or(0, |(first_byte, n_bytes)| first_byte + n_bytes))
}

/// Replaces what is kept of a generation of a feed.
pub(crate) fn replace(
    db: &Connection,
    feed: i64,
    generation: i64,
    bytes: &[u8],
) -> Result<(), StoreError> {
    db.prepare_cached(sql::DELETE_GENERATION)?.execute((feed, generation))?;
    append(db, feed, generation, bytes)
}

/// The torn end of a feed, if this is its present generation and it has one.
pub(crate) fn rest(
    db: &Connection,
    feed: i64,
    generation: i64,
) -> Result<Option<Vec<u8>>, StoreError> {
    let rest: Option<Option<Vec<u8>>> = db
        .prepare_cached(sql::SELECT_REST)?
        .query_row((feed, generation), |row| row.get(0))
        .optional()?;
    rest.flatten().map(|packed| codec::unpack(&packed)).transpose()
}

/// Where the last chunk of a generation begins, and how many bytes it has.
fn last_chunk(
    db: &Connection,
    feed: i64,
    generation: i64,
) -> Result<Option<(i64, i64)>, StoreError> {
    Ok(db
        .prepare_cached(sql::SELECT_LAST_CHUNK)?
        .query_row((feed, generation), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

/// The chunk that holds the byte `at` of a generation, and where it begins.
pub(crate) fn chunk_at(
    db: &Connection,
    feed: i64,
    generation: i64,
    at: u64,
) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
    let at = i64::try_from(at).unwrap_or(i64::MAX);
    let found = db
        .prepare_cached(sql::SELECT_CHUNK_AT)?
        .query_row((feed, generation, at), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
        })
        .optional()?;
    let Some((first_byte, packed)) = found else { return Ok(None) };
    Ok(Some((first_byte.unsigned_abs(), codec::unpack(&packed)?)))
}

pub(crate) fn chunk(
    db: &Connection,
    feed: i64,
    generation: i64,
    first_byte: i64,
) -> Result<Vec<u8>, StoreError> {
    let packed: Vec<u8> = db
        .prepare_cached(sql::SELECT_CHUNK)?
        .query_row((feed, generation, first_byte), |row| row.get(0))?;
    codec::unpack(&packed)
}

/// Whether the next bytes of `file` are `kept`.
fn reads_as(file: &mut dyn Read, kept: &[u8], block: &mut Vec<u8>) -> bool {
    block.resize(kept.len(), 0);
    file.read_exact(block).is_ok() && block == kept
}

fn unwritten(feed: &FeedAccount, source: io::Error) -> StoreError {
    StoreError::Open { path: feed.path.clone().unwrap_or_else(|| feed.name.clone().into()), source }
}

impl Store {
    /// Writes every byte that was read of one generation of `feed`; of the present one the torn
    /// end included. Gives the number of bytes.
    pub fn restore(
        &self,
        feed: &FeedAccount,
        generation: i64,
        to: &mut dyn Write,
    ) -> Result<u64, StoreError> {
        let n_bytes = self.restore_records(feed, generation, to)?;
        let Some(rest) = self.rest(feed, generation)? else { return Ok(n_bytes) };
        to.write_all(&rest).map_err(|it| unwritten(feed, it))?;
        Ok(n_bytes + rest.len() as u64)
    }

    /// Writes the whole records that were read of one generation of `feed`: not its torn end.
    pub fn restore_records(
        &self,
        feed: &FeedAccount,
        generation: i64,
        to: &mut dyn Write,
    ) -> Result<u64, StoreError> {
        self.each_chunk(feed, generation, &mut |chunk| {
            to.write_all(chunk).map_err(|it| unwritten(feed, it))?;
            Ok(true)
        })
    }

    /// Whether `file` is, byte for byte, what was read of one generation of `feed`.
    pub fn is_kept(
        &self,
        feed: &FeedAccount,
        generation: i64,
        file: &mut dyn Read,
    ) -> Result<bool, StoreError> {
        let mut is_same = true;
        let mut block = Vec::new();
        self.each_chunk(feed, generation, &mut |chunk| {
            is_same = reads_as(file, chunk, &mut block);
            Ok(is_same)
        })?;
        if is_same && let Some(rest) = self.rest(feed, generation)? {
            is_same = reads_as(file, &rest, &mut block);
        }
        Ok(is_same && matches!(file.read(&mut [0]), Ok(0)))
    }

    /// Gives the chunks of a generation in order, until `take` says false.
    fn each_chunk(
        &self,
        feed: &FeedAccount,
        generation: i64,
        take: &mut dyn FnMut(&[u8]) -> Result<bool, StoreError>,
    ) -> Result<u64, StoreError> {
        let db = self.connection()?;
        let mut select = db.prepare_cached(sql::SELECT_ARCHIVE)?;
        let mut at: u64 = 0;
        loop {
            let from = i64::try_from(at).unwrap_or(i64::MAX);
            let chunk = select
                .query_row(params![feed.id, generation, from], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
                })
                .optional()?;
            let Some((first_byte, packed)) = chunk else { return Ok(at) };
            if first_byte.unsigned_abs() != at {
                return Err(StoreError::Damaged {
                    what: format!("the archive of `{}` lacks byte {at}", feed.name),
                });
            }
            let bytes = codec::unpack(&packed)?;
            at += bytes.len() as u64;
            if !take(&bytes)? {
                return Ok(at);
            }
        }
    }

    fn rest(&self, feed: &FeedAccount, generation: i64) -> Result<Option<Vec<u8>>, StoreError> {
        rest(&*self.connection()?, feed.id, generation)
    }

    /// How many bytes the archive holds, as they were and as they are stored.
    pub fn archive_bytes(&self) -> Result<(u64, u64), StoreError> {
        let db = self.connection()?;
        let sums = db.prepare_cached(sql::whole::SUM_ARCHIVE)?.query_row([], |row| {
            Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?.unsigned_abs()))
        })?;
        Ok(sums)
    }
}
