//! Where a walk through the results goes on.

use ai_hist_model::Timestamp;

use crate::{QueryError, stage::Stage};

/// Where a walk through the results goes on, and what keeps its pages one whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// How many hits went before.
    pub(crate) offset: u64,
    /// The last row when the walk began. What came later is not in it.
    pub(crate) last_row: u64,
    /// The present when the walk began.
    pub(crate) now: Timestamp,
    /// How near to the query's words the hits are.
    pub(crate) stage: Stage,
}

const VERSION: u64 = 1;

impl Cursor {
    /// As text. It fits only `query`.
    pub(crate) fn to_text(self, query: &str) -> String {
        let numbers = self.numbers();
        let sealed = numbers.into_iter().chain([seal(&numbers, query)]);
        sealed.map(|it| format!("{it:x}")).collect::<Vec<_>>().join("-")
    }

    /// The cursor that was given out as `text` for `query`.
    pub(crate) fn parse(text: &str, query: &str) -> Result<Self, QueryError> {
        let mut numbers = [0; 6];
        let mut parts = text.split('-');
        for number in &mut numbers {
            let part = parts.next().ok_or(QueryError::Cursor)?;
            *number = u64::from_str_radix(part, 16).map_err(|_| QueryError::Cursor)?;
        }
        let seal_given = parts.next().and_then(|it| u64::from_str_radix(it, 16).ok());
        let [_, offset, last_row, now, stage, unknown] = numbers;
        let cursor = Self {
            offset,
            last_row,
            now: Timestamp(now.cast_signed()),
            stage: Stage::from_numbers(stage, unknown).ok_or(QueryError::Cursor)?,
        };
        let is_ours = seal_given == Some(seal(&cursor.numbers(), query));
        let is_whole = parts.next().is_none() && text == cursor.to_text(query);
        if is_ours && is_whole { Ok(cursor) } else { Err(QueryError::Cursor) }
    }

    fn numbers(self) -> [u64; 6] {
        let (stage, unknown) = self.stage.numbers();
        [VERSION, self.offset, self.last_row, self.now.0.cast_unsigned(), stage, unknown]
    }
}

/// Tells whether numbers and query belong together. It guards against mistakes, not against
/// malice: whoever may ask may also ask for any page.
fn seal(numbers: &[u64], query: &str) -> u64 {
    let bytes = numbers.iter().flat_map(|it| it.to_le_bytes()).chain(query.bytes());
    // FNV-1a.
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_fits_its_query_alone() {
        let cursor = Cursor {
            offset: 20,
            last_row: 12_345,
            now: Timestamp(-5),
            stage: Stage::from_numbers(3, 5).unwrap(),
        };
        let text = cursor.to_text("fix login");
        assert_eq!(Cursor::parse(&text, "fix login").unwrap(), cursor);
        assert!(Cursor::parse(&text, "fix logi").is_err());
        for i in 0..text.len() {
            let mut altered = text.clone();
            let other = if &text[i..=i] == "1" { "2" } else { "1" };
            altered.replace_range(i..=i, other);
            assert!(Cursor::parse(&altered, "fix login").is_err(), "`{altered}`");
            assert!(Cursor::parse(&text[..i], "fix login").is_err());
        }
        for bad in ["", "-", "x", "1-2-3-4-5-6-7", "é", "1-1-1-1-1-1-1-1"] {
            assert!(Cursor::parse(bad, "").is_err(), "`{bad}`");
        }
    }
}
