//! The texts of events that do not stand in the archive: many of one session together, compressed,
//! and one at a time again.

use std::{borrow::Cow, ops::Range};

use rusqlite::{Connection, OptionalExtension as _};

use crate::{
    StoreError, codec,
    limits::{MAX_BODY_BYTES, MIN_BODY_BYTES},
    quoted::{Form, Quote, Quotes},
    statements as sql,
};

/// Collects the texts of a session and writes them a page at a time.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    page: Option<i64>,
    text: Vec<u8>,
}

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere: it is empty.
    Nowhere,
    /// On a body page.
    Page { page: i64, start: usize, n_bytes: usize },
    /// In the archive.
    Archive(Quote),
}

/// What stands in the column of the page where a text is in the archive. Pages begin at 1.
const VERBATIM: i64 = 0;
const JSON_STRING: i64 = -1;

impl Place {
    /// As columns: the page, where it begins, how many bytes it has.
    pub(crate) fn columns(self) -> (Option<i64>, i64, i64) {
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        match self {
            Self::Nowhere => (None, 0, 0),
            Self::Page { page, start, n_bytes } => (Some(page), number(start), number(n_bytes)),
            Self::Archive(quote) => {
                let form = match quote.form {
                    Form::Verbatim => VERBATIM,
                    Form::JsonString => JSON_STRING,
                };
                let first_byte = i64::try_from(quote.first_byte).unwrap_or(i64::MAX);
                (Some(form), first_byte, number(quote.n_bytes))
            }
        }
    }

    /// From columns.
    pub(crate) fn of(page: Option<i64>, start: i64, n_bytes: i64) -> Self {
        let number = |n: i64| usize::try_from(n).unwrap_or(0);
        let quote = |form| {
            let first_byte = start.unsigned_abs();
            Self::Archive(Quote { form, first_byte, n_bytes: number(n_bytes) })
        };
        match page {
            None => Self::Nowhere,
            Some(VERBATIM) => quote(Form::Verbatim),
            Some(JSON_STRING) => quote(Form::JsonString),
            Some(page) => Self::Page { page, start: number(start), n_bytes: number(n_bytes) },
        }
    }
}

impl Bodies {
    /// Goes on with the last page of `session`, if that is small: so a session that grows a line at
    /// a time does not end up as a page a line.
    pub(crate) fn resume(db: &Connection, session: i64) -> Result<Self, StoreError> {
        let last = db
            .prepare_cached(sql::SELECT_LAST_BODY)?
            .query_row([session], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, usize>(1)?)))
            .optional()?;
        match last {
            Some((page, n_bytes)) if n_bytes < MIN_BODY_BYTES => {
                Ok(Self { page: Some(page), text: read(db, page)? })
            }
            Some(_) | None => Ok(Self::default()),
        }
    }

    /// Adds `text`. Its page is written when it is full, or by [`Bodies::finish`].
    pub(crate) fn add(&mut self, db: &Connection, text: &str) -> Result<Place, StoreError> {
        if text.is_empty() {
            return Ok(Place::Nowhere);
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
        Ok(Place::Page { page, start, n_bytes: text.len() })
    }

    /// Takes the last text off again: its event was known already.
    pub(crate) fn take_back(&mut self, place: Place) {
        if let Place::Page { start, .. } = place {
            self.text.truncate(start);
        }
    }

    /// Writes the page that is not full yet.
    pub(crate) fn finish(&mut self, db: &Connection) -> Result<(), StoreError> {
        if let Some(page) = self.page.take() {
            let data = codec::pack(&self.text)?;
            db.prepare_cached(sql::UPDATE_BODY)?.execute((page, data))?;
            self.text.clear();
        }
        Ok(())
    }
}

/// Reads texts, and unpacks what they stand in once for all that follow each other.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    last: Option<(i64, Vec<u8>)>,
    quotes: Quotes,
}

impl Pages {
    /// A text of an event that was read from a generation of a feed.
    pub(crate) fn text(
        &mut self,
        db: &Connection,
        place: Place,
        from: Option<(i64, i64)>,
    ) -> Result<Cow<'_, str>, StoreError> {
        match (place, from) {
            (Place::Nowhere, _) => Ok(Cow::Borrowed("")),
            (Place::Page { page, start, n_bytes }, _) => {
                let bytes = self.page(db, page)?.get(range(start, n_bytes));
                let bytes = bytes.ok_or_else(|| StoreError::Damaged {
                    what: format!("body page {page} is shorter than its events say"),
                })?;
                Ok(String::from_utf8_lossy(bytes))
            }
            (Place::Archive(quote), Some((feed, generation))) => {
                self.quotes.text(db, feed, generation, quote)
            }
            (Place::Archive(_), None) => Err(StoreError::Damaged {
                what: "an event in the archive that was read from no feed".to_owned(),
            }),
        }
    }

    fn page(&mut self, db: &Connection, page: i64) -> Result<&[u8], StoreError> {
        if self.last.as_ref().is_none_or(|it| it.0 != page) {
            self.last = Some((page, read(db, page)?));
        }
        Ok(self.last.as_ref().map(|it| it.1.as_slice()).unwrap_or_default())
    }
}

fn range(start: usize, n_bytes: usize) -> Range<usize> {
    start..start.saturating_add(n_bytes)
}

fn read(db: &Connection, page: i64) -> Result<Vec<u8>, StoreError> {
    let packed: Option<Vec<u8>> =
        db.prepare_cached(sql::SELECT_BODY)?.query_row([page], |row| row.get(0)).optional()?;
    match packed {
        Some(packed) => codec::unpack(&packed),
        None => Err(StoreError::Damaged { what: format!("body page {page} is not there") }),
    }
}
