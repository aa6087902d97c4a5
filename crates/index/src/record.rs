//! A document on its way to the threads that index.

use std::{
    iter,
    ops::Range,
    sync::{Arc, Condvar, Mutex, PoisonError},
};

use tantivy::schema::{
    Field, Value,
    document::{Document, ReferenceValue, ReferenceValueLeaf},
};

use crate::{Doc, excerpt, limits::MAX_QUEUED_BYTES, schema::Fields};

/// A document on its way to the threads that index.
#[derive(Debug)]
pub(crate) struct Record {
    numbers: [(Field, u64); 3],
    at: Option<(Field, i64)>,
    /// All texts, one after the other.
    text: String,
    pieces: Vec<(Field, Range<usize>)>,
    _permit: Permit,
}

impl Record {
    /// What is indexed of `doc`. Waits until there is room for it in `queue`.
    pub(crate) fn new(doc: &Doc<'_>, fields: &Fields, queue: &Arc<Queue>) -> Self {
        let mut text = String::with_capacity(doc.text.len() + 128);
        let mut pieces = Vec::with_capacity(8);
        let mut add = |field: Field, fill: &dyn Fn(&mut String)| {
            let start = text.len();
            fill(&mut text);
            if start < text.len() {
                pieces.push((field, start..text.len()));
            }
        };
        add(fields.agent, &|it| it.push_str(doc.agent));
        add(fields.project, &|it| it.push_str(doc.project));
        add(fields.tool, &|it| it.push_str(doc.tool));
        add(fields.path, &|it| it.push_str(doc.path));
        // A tool or a file is also found by its name as a word.
        add(fields.text, &|it| it.push_str(doc.tool));
        add(fields.text, &|it| it.push_str(doc.path));
        add(fields.text, &|it| excerpt::take(doc.text, it));
        Self {
            numbers: [
                (fields.row, doc.row),
                (fields.session, doc.session),
                (fields.kind, doc.kind as u64),
            ],
            at: doc.at.map(|it| (fields.at, it.0)),
            _permit: queue.enter(text.len()),
            text,
            pieces,
        }
    }
}

impl Document for Record {
    type Value<'a> = Piece<'a>;
    type FieldsValuesIter<'a> = Box<dyn Iterator<Item = (Field, Piece<'a>)> + 'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        let numbers = self.numbers.iter().map(|it| (it.0, Piece::Number(it.1)));
        let at = self.at.iter().map(|it| (it.0, Piece::Time(it.1)));
        let texts = self.pieces.iter().map(|it| (it.0, Piece::Text(&self.text[it.1.clone()])));
        Box::new(numbers.chain(at).chain(texts))
    }
}

/// One value of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece<'a> {
    Number(u64),
    Time(i64),
    Text(&'a str),
}

impl<'a> Value<'a> for Piece<'a> {
    type ArrayIter = iter::Empty<Self>;
    type ObjectIter = iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match self {
            Self::Number(it) => ReferenceValueLeaf::U64(*it),
            Self::Time(it) => ReferenceValueLeaf::I64(*it),
            Self::Text(it) => ReferenceValueLeaf::Str(it),
        })
    }
}

/// Counts the bytes that wait, because tantivy counts documents.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    n_bytes: Mutex<usize>,
    shrunk: Condvar,
}

impl Queue {
    fn enter(self: &Arc<Self>, n_bytes: usize) -> Permit {
        let mut waiting = self.n_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while 0 < *waiting && MAX_QUEUED_BYTES < *waiting + n_bytes {
            waiting = self.shrunk.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        *waiting += n_bytes;
        Permit { queue: Arc::clone(self), n_bytes }
    }
}

/// The room of one record, given back when it was indexed or thrown away.
#[derive(Debug)]
struct Permit {
    queue: Arc<Queue>,
    n_bytes: usize,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut waiting = self.queue.n_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = waiting.saturating_sub(self.n_bytes);
        self.queue.shrunk.notify_one();
    }
}
