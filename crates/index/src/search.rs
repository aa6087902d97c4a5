//! Searching a view, together with what is not indexed yet.

use std::sync::Arc;

use tantivy::{
    ReloadPolicy, Searcher, Term,
    collector::{Count, TopDocs},
    directory::RamDirectory,
    query::{Bm25StatisticsProvider, Query},
    schema::Field,
};

use crate::{
    Doc, IndexError, Plan, View,
    compile::compile,
    error::{is_damage, unless_damaged},
    limits::{MAX_DEPTH, TAIL_TABLE_BYTES},
    rank::{Order, Rank},
    record::{Queue, Record},
    schema,
};

/// Which of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// How many.
    pub limit: usize,
    /// After how many. Past [`MAX_DEPTH`] there are none.
    pub offset: usize,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The page, the best first.
    pub hits: Vec<Hit>,
    /// How many there are in all.
    pub total: u64,
}

/// An event that matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its row.
    pub row: u64,
    /// Its session's row.
    pub session: u64,
    /// How well it matches. Comparable within one search. 0 where nothing was to be matched.
    pub score: f64,
}

impl View {
    /// Looks for `plan`. What is indexed and the tail are ranked by the same measure.
    ///
    /// An index that turns out to be damaged while it is read counts as empty from then on:
    /// [`Index::view`](crate::Index::view) then gives an empty one, which says so.
    pub fn search(&self, plan: &Plan, page: Page) -> Result<Found, IndexError> {
        let what = match unless_damaged(|| self.search_files(plan, page)) {
            Some(Err(IndexError::Engine(error))) if is_damage(&error) => error.to_string(),
            Some(searched) => return searched,
            None => "a file contradicts itself".to_owned(),
        };
        self.condemn();
        Err(IndexError::Damaged { what })
    }

    fn search_files(&self, plan: &Plan, page: Page) -> Result<Found, IndexError> {
        let (_, fields) = schema::schema();
        let query = compile(plan, &fields);
        let now_ms = plan.now.map(|it| it.0);
        let is_listing = plan.clauses.is_empty();
        let order = if is_listing { Order::Newest } else { Order::Match { now_ms } };
        let wanted = page.offset.saturating_add(page.limit).min(MAX_DEPTH);
        let searchers = self.searchers();
        let statistics = Statistics { searchers: &searchers };
        let mut found = Found::default();
        let mut ranked: Vec<(Rank, Hit)> = Vec::new();
        for searcher in &searchers {
            found.total += search_one(searcher, &*query, order, wanted, &statistics, &mut ranked)?;
        }
        ranked.sort_unstable_by(|a, b| b.0.0.total_cmp(&a.0.0).then(b.0.1.cmp(&a.0.1)));
        let on_page = ranked.into_iter().take(wanted).skip(page.offset);
        found.hits = on_page.map(|it| it.1).collect();
        Ok(found)
    }
}

/// An index of `docs` in memory. `None` if there are none.
pub(crate) fn index_tail<'a>(
    docs: impl Iterator<Item = &'a Doc<'a>>,
) -> Result<Option<Searcher>, IndexError> {
    let mut docs = docs.peekable();
    if docs.peek().is_none() {
        return Ok(None);
    }
    let (schema, fields) = schema::schema();
    // No threads: most often there are a few events.
    let mut writer =
        tantivy::Index::builder()
            .schema(schema)
            .tokenizers(schema::tokenizers())
            .single_segment_index_writer::<Record>(RamDirectory::create(), TAIL_TABLE_BYTES)?;
    let queue = Arc::new(Queue::default());
    for doc in docs {
        writer.add_document(Record::new(doc, &fields, &queue))?;
    }
    let mut index = writer.finalize()?;
    schema::speak(&mut index);
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    Ok(Some(reader.searcher()))
}

/// Adds the best `wanted` of `searcher` to `ranked`, and says how many match.
fn search_one(
    searcher: &Searcher,
    query: &dyn Query,
    order: Order,
    wanted: usize,
    statistics: &Statistics<'_>,
    ranked: &mut Vec<(Rank, Hit)>,
) -> Result<u64, IndexError> {
    if wanted == 0 {
        return Ok(searcher.search(query, &Count)? as u64);
    }
    let in_segment = move |segment: &tantivy::SegmentReader| order.in_segment(segment);
    let best = TopDocs::with_limit(wanted).tweak_score(in_segment);
    let collector = (best, Count);
    let (best, total) = searcher.search_with_statistics_provider(query, &collector, statistics)?;
    for (rank, address) in best {
        let segment = searcher.segment_reader(address.segment_ord);
        let session = segment.fast_fields().u64("session")?.first(address.doc_id).unwrap_or(0);
        let score = if order == Order::Newest { 0.0 } else { rank.0 };
        ranked.push((rank, Hit { row: rank.1, session, score }));
    }
    Ok(total as u64)
}

/// How often terms are in all searchers together, so that their scores can be compared.
struct Statistics<'a> {
    searchers: &'a [&'a Searcher],
}

impl Bm25StatisticsProvider for Statistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.searchers.iter().map(|it| it.total_num_tokens(field)).sum()
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.searchers.iter().map(|it| it.total_num_docs()).sum()
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        self.searchers.iter().map(|it| it.doc_freq(term)).sum()
    }
}
