//! The texts of events: many together, compressed, and one at a time again.

use std::ops::Range;

use rusqlite::Connection;

use crate::{StoreError, limits::MAX_BODY_BYTES, statements as sql};

const LEVEL: i32 = 3;

/// Collects the texts of one transaction and writes them a page at a time.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    page: Option<i64>,
    text: Vec<u8>,
}

/// Where a text stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) page: Option<i64>,
    pub(crate) start: usize,
    pub(crate) n_bytes: usize,
}

impl Bodies {
    /// Adds `text`. Its page is written when it is full, or by [`Bodies::finish`].
    pub(crate) fn add(&mut self, db: &Connection, text: &str) -> Result<Place, StoreError> {
        if text.is_empty() {
            return Ok(Place { page: None, start: 0, n_bytes: 0 });
        }
        if !self.text.is_empty() && MAX_BODY_BYTES < self.text.len() + text.len() {
            self.finish(db)?;
        }
        let page = match self.page {
            Some(page) => page,
            None => {
                db.prepare_cached(sql::INSERT_BODY)?.execute([])?;
                *self.page.insert(db.last_insert_rowid())
            }
        };
        let start = self.text.len();
        self.text.extend_from_slice(text.as_bytes());
        Ok(Place { page: Some(page), start, n_bytes: text.len() })
    }

    /// Writes the page that is not full yet.
    pub(crate) fn finish(&mut self, db: &Connection) -> Result<(), StoreError> {
        if let Some(page) = self.page.take() {
            let data = pack(&self.text)?;
            db.prepare_cached(sql::UPDATE_BODY)?.execute((page, data))?;
            self.text.clear();
        }
        Ok(())
    }
}

/// Reads texts, and unpacks a page once for all that come from it one after the other.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    last: Option<(i64, Vec<u8>)>,
}

impl Pages {
    pub(crate) fn text(&mut self, db: &Connection, place: Place) -> Result<String, StoreError> {
        let Some(page) = place.page else {
            return Ok(String::new());
        };
        if self.last.as_ref().is_none_or(|it| it.0 != page) {
            let packed: Vec<u8> =
                db.prepare_cached(sql::SELECT_BODY)?.query_row([page], |row| row.get(0))?;
            self.last = Some((page, unpack(&packed)?));
        }
        let whole = self.last.as_ref().map(|it| it.1.as_slice()).unwrap_or_default();
        let range: Range<usize> = place.start..place.start + place.n_bytes;
        let bytes = whole.get(range).ok_or_else(|| StoreError::Damaged {
            what: format!("body page {page} is shorter than its events say"),
        })?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

pub(crate) fn pack(bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
    zstd::bulk::compress(bytes, LEVEL).map_err(|error| StoreError::Damaged {
        what: format!("cannot compress {} bytes: {error}", bytes.len()),
    })
}

pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, StoreError> {
    zstd::stream::decode_all(packed)
        .map_err(|error| StoreError::Damaged { what: format!("a page does not unpack: {error}") })
}
