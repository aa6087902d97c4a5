//! Giving back the bytes that were read.

use std::io::Write;

use rusqlite::{OptionalExtension as _, params};

use crate::{FeedAccount, Store, StoreError, body, statements as sql};

impl Store {
    /// Writes every byte that was read of the present generation of `feed`, the torn end
    /// included. Gives the number of bytes.
    pub fn restore(&self, feed: &FeedAccount, to: &mut dyn Write) -> Result<u64, StoreError> {
        let fail = |source| StoreError::Open {
            path: feed.path.clone().unwrap_or_else(|| feed.name.clone().into()),
            source,
        };
        let db = self.connection()?;
        let mut select = db.prepare_cached(sql::SELECT_ARCHIVE)?;
        let mut at: u64 = 0;
        loop {
            let from = i64::try_from(at).unwrap_or(i64::MAX);
            let chunk = select
                .query_row(params![feed.id, feed.generation, from], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
                })
                .optional()?;
            let Some((first_byte, packed)) = chunk else { break };
            if first_byte.unsigned_abs() != at {
                return Err(StoreError::Damaged {
                    what: format!("the archive of `{}` lacks byte {at}", feed.name),
                });
            }
            let bytes = body::unpack(&packed)?;
            to.write_all(&bytes).map_err(fail)?;
            at += bytes.len() as u64;
        }
        let rest: Option<Vec<u8>> = db
            .prepare_cached(sql::SELECT_REST)?
            .query_row((feed.id, feed.generation), |row| row.get(0))?;
        if let Some(packed) = rest {
            let bytes = body::unpack(&packed)?;
            to.write_all(&bytes).map_err(fail)?;
            at += bytes.len() as u64;
        }
        Ok(at)
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
