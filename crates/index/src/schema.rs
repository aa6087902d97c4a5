//! The fields, and our words in tantivy's terms.

use tantivy::{
    Index, IndexSettings,
    schema::{
        FAST, Field, INDEXED, IndexRecordOption, Schema, SchemaBuilder, TextFieldIndexing,
        TextOptions,
    },
    store::Compressor,
    tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager},
};

use crate::words::{Place, Words};

/// Raised with every change of the fields or of what goes into them. An index of another number
/// is built anew.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// Raised with every change of what the terms of a text are.
pub(crate) const WORDS_VERSION: u32 = 1;

const WORDS: &str = "words";
const EXACT: &str = "raw";

/// The fields. Weights are not here: each event has one main text, so one field holds them all,
/// and a kind's weight is applied to the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) row: Field,
    pub(crate) session: Field,
    pub(crate) kind: Field,
    pub(crate) at: Field,
    pub(crate) agent: Field,
    pub(crate) project: Field,
    pub(crate) tool: Field,
    pub(crate) path: Field,
    pub(crate) text: Field,
}

/// The schema and its fields.
pub(crate) fn schema() -> (Schema, Fields) {
    let mut builder = SchemaBuilder::new();
    let fields = Fields {
        row: builder.add_u64_field("row", INDEXED | FAST),
        session: builder.add_u64_field("session", INDEXED | FAST),
        kind: builder.add_u64_field("kind", INDEXED | FAST),
        at: builder.add_i64_field("at", FAST),
        agent: builder.add_text_field("agent", text(EXACT, IndexRecordOption::Basic, Norm::None)),
        project: builder.add_text_field("project", named()),
        tool: builder.add_text_field("tool", named()),
        path: builder.add_text_field("path", named()),
        text: builder.add_text_field(
            "text",
            text(WORDS, IndexRecordOption::WithFreqsAndPositions, Norm::Kept),
        ),
    };
    (builder.build(), fields)
}

/// A new index of our schema.
pub(crate) fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::None,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

/// Makes `index` take texts apart in our way.
pub(crate) fn speak(index: &mut Index) {
    index.set_tokenizers(tokenizers());
}

pub(crate) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(WORDS, TextAnalyzer::from(WordTokenizer::default()));
    manager
}

/// Whether a field knows how long its texts are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Norm {
    Kept,
    None,
}

/// A name of parts, which is looked up and not ranked.
fn named() -> TextOptions {
    text(WORDS, IndexRecordOption::WithFreqsAndPositions, Norm::None)
}

fn text(tokenizer: &str, record: IndexRecordOption, norm: Norm) -> TextOptions {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(tokenizer)
        .set_index_option(record)
        .set_fieldnorms(norm == Norm::Kept);
    TextOptions::default().set_indexing_options(indexing)
}

#[derive(Debug, Clone, Default)]
struct WordTokenizer {
    token: Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { words: Words::new(text), token: &mut self.token }
    }
}

#[derive(Debug)]
struct WordStream<'a> {
    words: Words<'a>,
    token: &'a mut Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(place) = self.words.next(&mut self.token.text) else {
            return false;
        };
        let Place { range, position, n_positions, .. } = place;
        self.token.offset_from = range.start;
        self.token.offset_to = range.end;
        self.token.position = position;
        self.token.position_length = n_positions;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
